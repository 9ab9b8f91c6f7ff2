// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

// reportPageSize is the page size of the images that are damaged here.
const reportPageSize = 1024

func reportPage(image []byte, id uint64) page.Page {
	return page.Page(image[id*reportPageSize:][:reportPageSize])
}

func setChild(p page.Page, i int, id uint64) { binary.NativeEndian.PutUint64(p.Elem(i)[8:], id) }

func isBranch(p page.Page) bool { return p.Flags() == page.Branch }

func setCount(p page.Page, n int) { p.PutHeader(p.ID(), p.Flags(), n, p.Overflow()) }

// newestMeta is the meta page in use.
func newestMeta(image []byte) *page.MetaView {
	m0, m1 := page.MetaOf(reportPage(image, 0)), page.MetaOf(reportPage(image, 1))
	if m0.TxID() > m1.TxID() {
		return m0
	}
	return m1
}

// eachMeta changes both meta pages and makes their checksums right again.
func eachMeta(image []byte, change func(m *page.MetaView)) {
	for id := range uint64(2) {
		m := page.MetaOf(reportPage(image, id))
		change(m)
		m.Seal()
	}
}

// damageImage is a database whose bucket "b" has three levels, with one of children beside it, and free pages.
func damageImage(t *testing.T) []byte {
	t.Helper()
	return imageOf(t, &kv.Options{PageSize: reportPageSize},
		putNumbered("b", 2500, 16),
		func(tx *kv.Tx) error {
			nest := mustCreate(t, tx, "nest")
			inChild("inline", putAll("a=1"))(t, nest)
			inChild("large", putMany)(t, nest)
			return nest.SetSequence(3)
		},
		putNumbered("b", 300, 17))
}

// rootOf is the root page of a top-level bucket of an undamaged image.
func rootOf(t *testing.T, image []byte, name string) (id uint64) {
	t.Helper()
	db := mustOpenSim(t, memoryWith(t, image), kv.Options{})
	must(t, db.View(func(tx *kv.Tx) error {
		id = uint64(tx.Bucket([]byte(name)).Root())
		return nil
	}))
	must(t, db.Close())
	return id
}

// damagedUses are what a program may do to a damaged database without knowing.
var damagedUses = []struct {
	name     string
	writable bool
	use      func(tx *kv.Tx) error
}{
	{"get", false, func(tx *kv.Tx) error {
		b, err := bucketOf(tx, "b")
		for i := 0; i < 2500 && err == nil; i += 7 {
			b.Get(numbered(i))
		}
		return err
	}},
	{"scan", false, func(tx *kv.Tx) error { return walk(tx.Cursor().Bucket(), 0) }},
	{"scan back", false, func(tx *kv.Tx) error {
		b, err := bucketOf(tx, "b")
		if err == nil {
			for range b.Backward() {
				continue
			}
		}
		return err
	}},
	{"seek", false, func(tx *kv.Tx) error {
		b, err := bucketOf(tx, "b")
		for i := 0; i < 2500 && err == nil; i += 7 {
			b.Cursor().Seek(numbered(i))
		}
		return err
	}},
	{"stats", false, func(tx *kv.Tx) error { tx.Cursor().Bucket().Stats(); return nil }},
	{"inspect", false, func(tx *kv.Tx) error { tx.Inspect(); return nil }},
	{"copy", false, func(tx *kv.Tx) error { return tx.Copy(io.Discard) }},
	{"put", true, func(tx *kv.Tx) error {
		b, err := bucketOf(tx, "b")
		for i := 0; i < 2500 && err == nil; i += 7 {
			err = b.Put(numbered(i), []byte("new"))
		}
		return err
	}},
	{"delete", true, func(tx *kv.Tx) error {
		b, err := bucketOf(tx, "b")
		for i := 0; i < 2500 && err == nil; i += 3 {
			err = b.Delete(numbered(i))
		}
		return err
	}},
	{"delete buckets", true, func(tx *kv.Tx) error {
		return errors.Join(tx.DeleteBucket([]byte("b")), tx.DeleteBucket([]byte("nest")))
	}},
}

// errBucketLost says that a bucket of the image is not found, which damage may lead to.
var errBucketLost = errors.New("the bucket is lost")

func bucketOf(tx *kv.Tx, name string) (*kv.Bucket, error) {
	if b := tx.Bucket([]byte(name)); b != nil {
		return b, nil
	}
	return nil, errBucketLost
}

// walk visits everything in a bucket, down to a depth that is reached only in circles.
func walk(b *kv.Bucket, depth int) error {
	if depth > 20 {
		return errors.New("buckets in circles")
	}
	return b.ForEach(func(k, v []byte) error {
		if child := b.Bucket(k); v == nil && child != nil {
			return walk(child, depth+1)
		}
		return nil
	})
}

// useDamaged does everything to copies of a damaged image, each open in its own right. Nothing may panic or go on for
// ever; what fails has to return an error of the kinds that say so. It returns the errors by name, those of Open under
// "open" and those of Check, joined, under "check".
func useDamaged(t *testing.T, image []byte, o kv.Options) map[string]error {
	t.Helper()
	errs := map[string]error{}
	note := func(name string, err error) {
		var damage *kv.CorruptError
		switch {
		case err == nil:
			return
		case errors.As(err, &damage), errors.Is(err, errBucketLost), errors.Is(err, kv.ErrBucketNotFound):
		case errors.Is(err, kv.ErrIncompatibleValue), name == "open", name == "scan":
		default:
			t.Errorf("%s: an error that does not tell of damage: %v", name, err)
		}
		errs[name] = err
	}
	for _, u := range damagedUses {
		if u.writable && o.ReadOnly {
			continue
		}
		db, err := openSim(memoryWith(t, image), o)
		if err != nil {
			note("open", err)
			return errs
		}
		run := db.View
		if u.writable {
			run = db.Update
		}
		note(u.name, run(u.use))
		must(t, db.Close())
	}
	db := mustOpenSim(t, memoryWith(t, image), o)
	must(t, db.View(func(tx *kv.Tx) error {
		note("check", checked(tx))
		return nil
	}))
	must(t, db.Close())
	return errs
}

// wantCheck demands that Check reports the damage.
func wantCheck(t *testing.T, errs map[string]error, text string) {
	t.Helper()
	if err := errs["check"]; err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("check found %v, want %q", err, text)
	}
}

// wantCorrupt demands that a use returned a CorruptError.
func wantCorrupt(t *testing.T, errs map[string]error, uses ...string) {
	t.Helper()
	for _, use := range uses {
		var damage *kv.CorruptError
		if err := errs[use]; !errors.As(err, &damage) {
			t.Errorf("%s returned %v, want a *CorruptError", use, err)
		} else if damage.Path != simPath || damage.Off != int64(damage.Page)*reportPageSize || damage.Reason == "" {
			t.Errorf("%s: the error does not say where: %+v", use, damage)
		}
	}
}

// TestReportPageCycles is bbolt #701 and #402: after a power cut the pages of a bucket formed a cycle, and every use of
// it ran until the stack was exhausted.
func TestReportPageCycles(t *testing.T) {
	clean := damageImage(t)
	root := rootOf(t, clean, "b")
	if !isBranch(reportPage(clean, root)) || !isBranch(reportPage(clean, reportPage(clean, root).Child(0))) {
		t.Fatal("the bucket has less than three levels")
	}
	for name, damage := range map[string]func(image []byte){
		"first child is the root": func(image []byte) { setChild(reportPage(image, root), 0, root) },
		"last child is the root": func(image []byte) {
			p := reportPage(image, root)
			setChild(p, p.Count()-1, root)
		},
		"all children are the root": func(image []byte) {
			p := reportPage(image, root)
			for i := range p.Count() {
				setChild(p, i, root)
			}
		},
		"a grandchild is the root": func(image []byte) {
			setChild(reportPage(image, reportPage(image, root).Child(1)), 2, root)
		},
		"all grandchildren are the root": func(image []byte) {
			for i := range reportPage(image, root).Count() {
				p := reportPage(image, reportPage(image, root).Child(i))
				for j := range p.Count() {
					setChild(p, j, root)
				}
			}
		},
		"two children are the same": func(image []byte) {
			p := reportPage(image, root)
			setChild(p, 1, p.Child(0))
		},
		"a bucket lies in itself": func(image []byte) {
			top := newestMeta(image).Root()
			at := bytes.Index(reportPage(image, top), binary.NativeEndian.AppendUint64([]byte("nest"), rootOf(t, image, "nest")))
			binary.NativeEndian.PutUint64(reportPage(image, top)[at+4:], top)
		},
	} {
		t.Run(name, func(t *testing.T) {
			image := bytes.Clone(clean)
			damage(image)
			wantCheck(t, useDamaged(t, image, kv.Options{}), "multiple references")
			wantCheck(t, useDamaged(t, image, kv.Options{ReadOnly: true}), "multiple references")
			abandonFreelist(image) // so that all pages are looked at to find those that are free
			wantCorrupt(t, useDamaged(t, image, kv.Options{PreLoadFreelist: true}), "open")
			errs := useDamaged(t, image, kv.Options{})
			wantCorrupt(t, errs, "put", "delete", "delete buckets")
			wantCheck(t, errs, "multiple references")
		})
	}
}

// abandonFreelist makes both meta pages say that no free list is stored.
func abandonFreelist(image []byte) {
	eachMeta(image, func(m *page.MetaView) { m.SetFreelist(page.NoFreelist) })
}

// TestReportGarbagePages is bbolt #335 and #1011, and #105 before them: a page whose bytes had been replaced by others
// made the program crash.
func TestReportGarbagePages(t *testing.T) {
	clean := damageImage(t)
	pages := newestMeta(clean).HWM()
	step := uint64(times(23, 1))
	for name, garbage := range map[string]func(p page.Page, id uint64){
		"zeros": func(p page.Page, _ uint64) { clear(p) },
		"ones":  func(p page.Page, _ uint64) { copy(p, bytes.Repeat([]byte{0xFF}, len(p))) },
		"text": func(p page.Page, _ uint64) {
			copy(p, bytes.Repeat([]byte("/registry/leases/kube-system "), len(p)))
		},
		"another page":     func(p page.Page, id uint64) { copy(p, reportPage(clean, 2+(id+5)%(pages-2))) },
		"all but header":   func(p page.Page, _ uint64) { copy(p[16:], bytes.Repeat([]byte{0xA5}, len(p))) },
		"table of zeros":   func(p page.Page, _ uint64) { clear(p[16:]) },
		"count too high":   func(p page.Page, _ uint64) { setCount(p, 0xFFFE) },
		"no elements":      func(p page.Page, _ uint64) { setCount(p, 0) },
		"endless overflow": func(p page.Page, _ uint64) { copy(p[12:16], "\xFF\xFF\xFF\xFF") },
	} {
		t.Run(name, func(t *testing.T) {
			found := 0
			for id := uint64(2); id < pages; id += step {
				image := bytes.Clone(clean)
				garbage(reportPage(image, id), id)
				errs := useDamaged(t, image, kv.Options{})
				if len(errs) > 0 {
					found++
				}
				if t.Failed() {
					t.Fatalf("page %d", id)
				}
			}
			if found == 0 {
				t.Error("the damage was not noticed in any page")
			}
		})
	}
}

// TestReportEmptyBranchStats is bbolt #1170: Bucket.Stats went beyond a branch page without elements.
func TestReportEmptyBranchStats(t *testing.T) {
	image := damageImage(t)
	root := rootOf(t, image, "b")
	inner := reportPage(image, root).Child(1)
	setCount(reportPage(image, inner), 0)
	errs := useDamaged(t, image, kv.Options{})
	wantCheck(t, errs, "has no elements")
	wantCorrupt(t, errs, "get", "scan", "scan back", "put")

	db := mustOpenSim(t, memoryWith(t, image), kv.Options{})
	must(t, db.View(func(tx *kv.Tx) error {
		s := tx.Bucket([]byte("b")).Stats()
		if s.BranchPageN < 3 || s.LeafPageN == 0 || s.Depth != 3 || s.BranchInuse < 16*s.BranchPageN {
			t.Errorf("statistics of what is left: %+v", s)
		}
		return nil
	}))
	must(t, db.Close())
}

// TestReportWrongKindOfPage is bbolt #537 and #446: the root or the free list of a meta page with a right checksum was
// the number of another kind of page.
func TestReportWrongKindOfPage(t *testing.T) {
	clean := damageImage(t)
	m := newestMeta(clean)
	leaf := rootOf(t, clean, "b")
	for isBranch(reportPage(clean, leaf)) {
		leaf = reportPage(clean, leaf).Child(0)
	}
	for _, test := range []struct {
		name     string
		freelist bool
		set      func(m *page.MetaView, id uint64)
		id       uint64
		text     string // of what Open says about a free list, Check about a root
	}{
		{"the root is the free list", false, (*page.MetaView).SetRoot, m.Freelist(), "multiple references"},
		{"the root is a meta page", false, (*page.MetaView).SetRoot, 0, "multiple references"},
		{"the root is the other meta page", false, (*page.MetaView).SetRoot, 1, "multiple references"},
		{"the root lies at the end", false, (*page.MetaView).SetRoot, m.HWM(), "out of bounds"},
		{"the root lies far beyond the end", false, (*page.MetaView).SetRoot, 1 << 60, "out of bounds"},
		{"the free list is a leaf", true, (*page.MetaView).SetFreelist, leaf, "page type is leaf"},
		{"the free list is a branch", true, (*page.MetaView).SetFreelist, rootOf(t, clean, "b"), "page type is branch"},
		{"the free list is a meta page", true, (*page.MetaView).SetFreelist, 0, "invalid freelist page: 0"},
		{"the free list lies at the end", true, (*page.MetaView).SetFreelist, m.HWM(), "invalid freelist page"},
		{"the free list lies far beyond the end", true, (*page.MetaView).SetFreelist, 1 << 60, "invalid freelist page"},
	} {
		t.Run(test.name, func(t *testing.T) {
			image := bytes.Clone(clean)
			eachMeta(image, func(m *page.MetaView) { test.set(m, test.id) })
			if !test.freelist {
				wantRootRefused(t, image, test.text)
				return
			}
			errs := useDamaged(t, image, kv.Options{})
			wantCorrupt(t, errs, "open")
			if err := errs["open"]; err != nil && !strings.Contains(err.Error(), test.text) {
				t.Errorf("open says %v, want %q", err, test.text)
			}
			errs = useDamaged(t, image, kv.Options{ReadOnly: true}) // does without the free list
			wantCheck(t, errs, "invalid freelist page")
			delete(errs, "check")
			if len(errs) > 0 {
				t.Errorf("a database that is only read cannot do without its free list: %v", errs)
			}
		})
	}
}

func wantRootRefused(t *testing.T, image []byte, text string) {
	t.Helper()
	for _, readOnly := range []bool{false, true} {
		errs := useDamaged(t, image, kv.Options{ReadOnly: readOnly})
		if errs["open"] != nil {
			wantCorrupt(t, errs, "open")
			continue
		}
		wantCorrupt(t, errs, "get", "scan", "stats", "inspect")
		wantCheck(t, errs, text)
	}
}

// TestReportFreedPageStillReferenced is bbolt #402: the free list had pages that were in use, so that the next commits
// overwrote them. That cannot be seen without reading every page, but it must be seen before such a page is freed again,
// and by Check.
func TestReportFreedPageStillReferenced(t *testing.T) {
	clean := damageImage(t)
	root := rootOf(t, clean, "b")
	for name, target := range map[string]uint64{
		"root":  root,
		"inner": reportPage(clean, root).Child(0),
		"leaf":  reportPage(clean, reportPage(clean, root).Child(0)).Child(0),
	} {
		t.Run(name, func(t *testing.T) {
			image := bytes.Clone(clean)
			addToFreelist(t, image, target)
			errs := useDamaged(t, image, kv.Options{})
			wantCheck(t, errs, fmt.Sprintf("page %d: reachable freed", target))
			wantCorrupt(t, errs, "put", "delete", "delete buckets")
		})
	}
}

// addToFreelist puts a page in use into the stored free list, in place of a free one.
func addToFreelist(t *testing.T, image []byte, id uint64) {
	t.Helper()
	list := reportPage(image, newestMeta(image).Freelist())
	ids := list[16:][:8*list.Count()]
	for i := 0; i < len(ids); i += 8 {
		above := i+8 == len(ids) || binary.NativeEndian.Uint64(ids[i+8:]) > id
		if above || binary.NativeEndian.Uint64(ids[i:]) > id {
			binary.NativeEndian.PutUint64(ids[i:], id)
			return
		}
	}
	t.Fatal("the free list is empty")
}

// TestReportTornMetaPages is bbolt #294 and bolt #548: a meta page of which a power cut had left a part made the file
// unusable when its page size was not that of the machine. Each meta page is torn here at its bytes, from the front and
// from the back, at each page size: the file must open with the state before that meta page or after.
func TestReportTornMetaPages(t *testing.T) {
	for _, size := range []int{1024, 2048, 4096, 8192, 16384, 32768, 65536} {
		for commits := 2; commits <= 3; commits++ { // the last one wrote meta page 1, or 0
			t.Run(fmt.Sprintf("page size %d, %d commits", size, commits), func(t *testing.T) {
				tearMeta(t, size, commits)
			})
		}
	}
}

func tearMeta(t *testing.T, size, commits int) {
	t.Helper()
	var states [][]byte
	disk := file.NewMemory()
	db := mustOpenSim(t, disk, kv.Options{PageSize: size})
	for i := range commits {
		must(t, db.Update(putNumbered(fmt.Sprint(i), 3, 8)))
		states = append(states, readSim(t, disk, simPath))
	}
	must(t, db.Close())
	before, after := states[commits-2], states[commits-1]
	at := (commits + 1) % 2 * size // the first commit is transaction 2
	if bytes.Equal(before[at:][:80], after[at:][:80]) {
		t.Fatal("the last commit did not write this meta page")
	}
	for cut := 0; cut <= 80; cut += times(max(size/4096, 4), 1) {
		for _, torn := range [][]byte{
			append(bytes.Clone(after[at:][:cut]), before[at:][cut:size]...),
			append(bytes.Clone(before[at:][:cut]), after[at:][cut:size]...),
			append(bytes.Clone(after[at:][:cut]), make([]byte, size-cut)...),
		} {
			image := bytes.Clone(after)
			copy(image[at:], torn)
			want := commits - 1
			if bytes.Equal(torn, after[at:][:size]) {
				want = commits
			}
			wantTorn(t, image, size, want)
			if t.Failed() {
				t.Fatalf("meta page torn at byte %d", cut)
			}
		}
	}
}

// wantTorn demands that an image opens with the state after a number of commits, whatever page size is asked for.
func wantTorn(t *testing.T, image []byte, size, commits int) {
	t.Helper()
	db, err := openSim(memoryWith(t, image), kv.Options{PageSize: 512, ReadOnly: true})
	must(t, err)
	if got := db.Info().PageSize; got != size {
		t.Errorf("page size %d, want %d", got, size)
	}
	must(t, db.View(func(tx *kv.Tx) error {
		if got := len(keysOf(tx.Cursor().Bucket())); got != commits {
			t.Errorf("the state after %d commits, want %d", got, commits)
		}
		return nil
	}))
	must(t, db.Close())
}
