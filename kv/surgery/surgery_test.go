// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package surgery_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
	"github.com/holtdb/holt/kv/surgery"
)

const pageSize = 4096

var ne = binary.NativeEndian

// sample makes a database with a branch page, overflow pages, inline and nested buckets and free pages.
func sample(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample.db")
	db, err := kv.Open(path, 0o600, &kv.Options{PageSize: pageSize, NoSync: true, BoltPlacement: true})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		err = db.Update(func(tx *kv.Tx) error { return fill(tx, round) })
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func fill(tx *kv.Tx, round int) error {
	numbers, err := tx.CreateBucketIfNotExists([]byte("numbers"))
	if err != nil {
		return err
	}
	for i := range 300 {
		if err := numbers.Put(fmt.Appendf(nil, "%08d", i+50*round), bytes.Repeat([]byte{'x'}, 32)); err != nil {
			return err
		}
	}
	large, err := tx.CreateBucketIfNotExists([]byte("large"))
	if err != nil {
		return err
	}
	if err := large.Put([]byte("big"), bytes.Repeat([]byte("0123456789abcdef"), 700)); err != nil {
		return err
	}
	if err := large.Put([]byte("small"), []byte("s")); err != nil {
		return err
	}
	nested, err := large.CreateBucketIfNotExists([]byte("nested"))
	if err != nil {
		return err
	}
	return nested.Put([]byte("k"), []byte("v"))
}

func open(t testing.TB, path string) *surgery.File {
	t.Helper()
	f, err := surgery.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// damaged makes a copy of the file with some bytes overwritten.
func damaged(t testing.TB, path string, off int64, patch ...byte) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(content[off:], patch)
	out := filepath.Join(t.TempDir(), "damaged.db")
	if err := os.WriteFile(out, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// find gives the first page in use with the type and at least so many overflow pages.
func find(t testing.TB, path, typ string, overflow int) uint64 {
	t.Helper()
	db, err := kv.Open(path, 0, &kv.Options{ReadOnly: true, PreLoadFreelist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read from
	var id uint64
	err = db.View(func(tx *kv.Tx) error {
		for i := 2; ; i++ {
			p, err := tx.Page(i)
			if err != nil || p == nil {
				return errors.Join(err, errors.New("no such page"))
			}
			if p.Type == typ && p.OverflowCount >= overflow {
				id = uint64(i)
				return nil
			}
			if p.Type != "free" {
				i += p.OverflowCount
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// findings runs kv's own check.
func findings(t testing.TB, path string) []string {
	t.Helper()
	db, err := kv.Open(path, 0, &kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read from
	var found []string
	err = db.View(func(tx *kv.Tx) error {
		for err := range tx.Check() {
			found = append(found, err.Error())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func mustBeSound(t testing.TB, path string) {
	t.Helper()
	if found := findings(t, path); len(found) > 0 {
		t.Errorf("%s: %q", path, found)
	}
}

func TestReadAllPages(t *testing.T) {
	f := open(t, sample(t))
	if f.PageSize() != pageSize {
		t.Errorf("page size %d", f.PageSize())
	}
	active, ok := f.Active()
	if !ok || active.TxID != 3 || f.HWM() != active.HWM {
		t.Errorf("active meta %+v, %v, HWM %d", active, ok, f.HWM())
	}
	count := map[string]int{}
	keys := map[string]bool{}
	for id := uint64(0); id < f.HWM(); id++ {
		p, err := f.Page(id)
		if err != nil {
			t.Fatal(err)
		}
		if p.ID() != id || p.Size() != int64(pageSize)*(int64(p.Overflow())+1) {
			t.Errorf("page %d has id %d, size %d, overflow %d", id, p.ID(), p.Size(), p.Overflow())
		}
		count[p.Type()]++
		id += uint64(p.Overflow())
		if p.IsBranch() || p.IsLeaf() {
			for i := range p.Count() {
				it, err := p.Item(i)
				if err != nil {
					t.Fatal(err)
				}
				keys[string(it.Key)] = true
				if string(it.Key) == "big" && len(it.Value) != 16*700 {
					t.Errorf("big has %d bytes", len(it.Value))
				}
				if string(it.Key) == "numbers" && (!it.IsBucket || it.Root < 2) {
					t.Errorf("numbers: %+v", it)
				}
				if string(it.Key) == "nested" && (!it.IsBucket || it.Root != 0) {
					t.Errorf("nested: %+v", it)
				}
				if p.IsBranch() && (it.Child < 2 || it.Child >= f.HWM()) {
					t.Errorf("child %d", it.Child)
				}
			}
		}
	}
	for _, typ := range []string{"meta", "freelist", "branch", "leaf"} {
		if count[typ] == 0 {
			t.Errorf("no %s page in %v", typ, count)
		}
	}
	for _, key := range []string{"00000000", "00000349", "big", "small", "nested"} {
		if !keys[key] {
			t.Errorf("key %q not seen", key)
		}
	}
}

func TestRaw(t *testing.T) {
	path := sample(t)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	for id := range f.Pages() {
		raw, err := f.Raw(id)
		if err != nil || !bytes.Equal(raw, content[id*pageSize:(id+1)*pageSize]) {
			t.Errorf("page %d is something else (%v)", id, err)
		}
	}
	for _, id := range []uint64{f.Pages(), f.Pages() + 1, 1 << 52, ^uint64(0)} {
		if _, err := f.Raw(id); err == nil {
			t.Errorf("page %d beyond the end was read", id)
		}
	}
}

func TestPageSizes(t *testing.T) {
	for _, size := range []int{1024, 4096, 16384, 65536} {
		path := filepath.Join(t.TempDir(), "sized.db")
		db, err := kv.Open(path, 0o600, &kv.Options{PageSize: size})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if f := open(t, path); f.PageSize() != size {
			t.Errorf("found %d instead of %d", f.PageSize(), size)
		}
		if f := open(t, damaged(t, path, 16, 0)); f.PageSize() != size { // only meta 1 is valid
			t.Errorf("without meta 0: found %d instead of %d", f.PageSize(), size)
		}
		// Neither is valid, but meta 0 still knows.
		if f := open(t, damaged(t, damaged(t, path, 30, 7), int64(size)+30, 7)); f.PageSize() != size {
			t.Errorf("without valid metas: found %d instead of %d", f.PageSize(), size)
		}
	}
}

func TestOpenNoDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	for _, content := range []string{"", "text", strings.Repeat("text", 100)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := surgery.Open(path); !errors.Is(err, surgery.ErrNotDatabase) {
			t.Errorf("%d bytes: %v", len(content), err)
		}
	}
	if _, err := surgery.Open(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestDamagedPages(t *testing.T) {
	path := sample(t)
	leaf, branch, large, free := find(t, path, "leaf", 0), find(t, path, "branch", 0), find(t, path, "leaf", 2), find(t, path, "freelist", 0)
	all := func(n int) []byte { return bytes.Repeat([]byte{0xff}, n) }
	for _, c := range []struct {
		name  string
		page  uint64
		off   int64 // in the page
		patch []byte
		want  string
	}{
		{"id", leaf, 0, []byte{99}, "unexpected page id 99"},
		{"type", leaf, 8, []byte{3}, "unexpected page type unknown<03>"},
		{"count", leaf, 10, all(2), "65535 elements do not fit into 4096 bytes"},
		{"overflow", leaf, 12, all(4), "claims 4294967295 overflow pages"},
		{"overflow by one", large, 12, []byte{200}, "claims 200 overflow pages"},
		{"position", leaf, 20, all(4), "element 0 leads out of the page"},
		{"position in the table", leaf, 20, []byte{0, 0}, "element 0 leads out of the page"},
		{"key size", leaf, 24, all(4), "element 0 leads out of the page"},
		{"value size", leaf, 28, all(4), "element 0 leads out of the page"},
		{"value too long", leaf, 28, []byte{0, 11}, "its elements overlap"},
		{"branch key size", branch, 20, all(4), "element 0 leads out of the page"},
		{"free list", free, 10, append(all(2), append(make([]byte, 4), all(8)...)...), "a free list of 18446744073709551615 pages"},
	} {
		f := open(t, damaged(t, path, int64(c.page)*pageSize+c.off, c.patch...))
		p, err := f.Page(c.page)
		if err == nil && p.IsFreelist() {
			_, err = p.FreelistLen()
			for _, ferr := range p.FreelistIDs() {
				if ferr == nil || err == nil {
					t.Errorf("%s: ids can be read", c.name)
				}
			}
		}
		var pe *surgery.PageError
		if !errors.As(err, &pe) || pe.Page != c.page || pe.Off != int64(c.page)*pageSize || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestItemsThatAreNone(t *testing.T) {
	path := sample(t)
	f := open(t, path)
	leaf, err := f.Page(find(t, path, "leaf", 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{-1, leaf.Count()} {
		if _, err := leaf.Item(i); err == nil {
			t.Errorf("item %d was read", i)
		}
	}
	meta, err := f.Page(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := meta.Item(0); err == nil {
		t.Error("an item of a meta page was read")
	}
	if _, err := leaf.Meta(); err == nil {
		t.Error("the meta record of a leaf page was read")
	}
}

// TestExtendedFreelist reads a free list that is too long for its header to count.
func TestExtendedFreelist(t *testing.T) {
	const n = 70000
	pages := page.FreelistSize(n)/pageSize + 1
	content := make([]byte, (2+pages)*pageSize)
	record := page.MetaRecord{PageSize: pageSize, Root: 3, Freelist: 2, HWM: uint64(2 + pages), TxID: 2}
	page.PutMeta(content[:pageSize], record)
	record.TxID = 1
	page.PutMeta(content[pageSize:2*pageSize], record)
	ids := page.Page(content[2*pageSize:]).PutFreelistCount(2, n, uint32(pages-1))
	for i := range n {
		ne.PutUint64(ids[8*i:], uint64(10+i))
	}
	path := filepath.Join(t.TempDir(), "free.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := open(t, path).Page(2)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.FreelistLen(); err != nil || got != n {
		t.Errorf("length %d, %v", got, err)
	}
	next := uint64(10)
	for id, err := range p.FreelistIDs() {
		if err != nil || id != next {
			t.Fatalf("id %d, %v; want %d", id, err, next)
		}
		next++
	}
	if next != 10+n {
		t.Errorf("%d ids", next-10)
	}
}

// TestFlippedBytes reads every page of files with a byte changed.
func TestFlippedBytes(t *testing.T) {
	path := sample(t)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, seed))
	out := filepath.Join(t.TempDir(), "flipped.db")
	for range 300 {
		b := bytes.Clone(content)
		at := rng.IntN(20)*pageSize + rng.IntN(200)
		b[at] = byte(rng.Uint32())
		if err := os.WriteFile(out, b, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := surgery.Open(out)
		if err != nil {
			t.Fatalf("byte %d: %v", at, err)
		}
		readEverything(f)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func readEverything(f *surgery.File) {
	for id := range f.Pages() {
		p, err := f.Page(id)
		if err != nil {
			continue
		}
		for i := range p.Count() {
			_, _ = p.Item(i)
		}
		if p.IsFreelist() {
			for _, err := range p.FreelistIDs() {
				if err != nil {
					break
				}
			}
		}
	}
}
