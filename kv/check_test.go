// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

const samplePageSize = 1024

// pages is a file that a test does damage to.
type pages []byte

func (f pages) page(id uint64) page.Page { return page.Page(f[id*samplePageSize:]) }

// meta is the newest meta.
func (f pages) meta() page.MetaRecord {
	a, b := page.MetaOf(f).Record(), page.MetaOf(f[samplePageSize:]).Record()
	if a.TxID > b.TxID {
		return a
	}
	return b
}

// setMeta changes both metas.
func (f pages) setMeta(change func(*page.MetaView)) {
	for id := range 2 {
		m := page.MetaOf(f[id*samplePageSize:])
		change(m)
		m.Seal()
	}
}

// root is the root page of the top-level bucket that has a page of its own.
func (f pages) bucketRoot() uint64 {
	leaf := f.page(f.meta().Root)
	for i := range leaf.Count() {
		_, _, value, _ := leaf.LeafElem(i)
		if root, _, _, _ := page.BucketValue(value); root != 0 {
			return root
		}
	}
	panic("no bucket has a page")
}

// branch is the root page of that bucket, which has several leaves.
func (f pages) branch() page.Page { return f.page(f.bucketRoot()) }

// sampleFile is a sound file: an inline bucket called inline, and one called tree with a branch, a value of several
// pages and a bucket inside. Some pages are free.
func sampleFile(t testing.TB) pages {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample.db")
	db, err := kv.Open(path, 0o600, &kv.Options{NoSync: true, PageSize: samplePageSize})
	must(t, err)
	for round := range 3 {
		must(t, db.Update(func(tx *kv.Tx) error { return fillSample(tx, round) }))
	}
	checkClean(t, db)
	must(t, db.Close())
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

func fillSample(tx *kv.Tx, round int) error {
	inline, err := tx.CreateBucketIfNotExists([]byte("inline"))
	if err != nil {
		return err
	}
	tree, err := tx.CreateBucketIfNotExists([]byte("tree"))
	if err != nil {
		return err
	}
	inside, err := tree.CreateBucketIfNotExists([]byte("inside"))
	if err != nil {
		return err
	}
	errs := []error{
		inline.Put([]byte("a"), []byte("1")),
		inline.Put([]byte("b"), []byte("2")),
		tree.Put([]byte("large"), make([]byte, 3000)),
	}
	for i := range 100 {
		key := fmt.Appendf(nil, "key %02d", i)
		errs = append(errs, tree.Put(key, fmt.Appendf(nil, "value %d of round %d", i, round)))
		if i < 40 {
			errs = append(errs, inside.Put(key, make([]byte, 30)))
		}
	}
	return errors.Join(errs...)
}

// openPages opens a file for reading.
func openPages(t testing.TB, f pages) *kv.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "damaged.db")
	writeFile(t, path, f)
	db, err := kv.Open(path, 0o600, &kv.Options{ReadOnly: true})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

// findings returns what Check finds.
func findings(t testing.TB, db *kv.DB, o ...kv.CheckOption) (all []error) {
	t.Helper()
	must(t, db.View(func(tx *kv.Tx) error {
		for err := range tx.Check(o...) {
			all = append(all, err)
		}
		return nil
	}))
	return all
}

// checkTest is one kind of damage.
type checkTest struct {
	name   string
	damage func(pages)
	want   string // an expression that a finding matches as a whole
}

var checkTests = []checkTest{
	{
		"equal keys",
		func(f pages) {
			leaf := f.page(f.branch().Child(1))
			copy(leafKey(leaf, 1), leafKey(leaf, 0))
		},
		`key\[1\]=\(hex\)6b6579[0-9a-f]+ on leaf page\(\d+\) needs to be > \(found =\) than previous element \(hex\)6b6579[0-9a-f]+\. Stack: \[\d+ \d+\]`,
	},
	{
		"descending keys",
		func(f pages) { leafKey(f.page(f.branch().Child(1)), 1)[0] = 'a' },
		`key\[1\]=\(hex\)616579[0-9a-f]+ on leaf page\(\d+\) needs to be > \(found <\) than previous element \(hex\)6b6579[0-9a-f]+\. Stack: \[\d+ \d+\]`,
	},
	{
		"first key below the branch's",
		func(f pages) { leafKey(f.page(f.branch().Child(1)), 0)[0] = 'a' },
		`the first key\[0\]=\(hex\)616579[0-9a-f]+ on leaf page\(\d+\) needs to be >= the key in the ancestor \(6b6579[0-9a-f]+\)\. Stack: \[\d+ \d+\]`,
	},
	{
		"last key above the branch's next",
		func(f pages) {
			leaf := f.page(f.branch().Child(1))
			leafKey(leaf, leaf.Count()-1)[0] = 'z'
		},
		`key\[\d+\]=\(hex\)7a6579[0-9a-f]+ on leaf page\(\d+\) needs to be < than key of the next element in ancestor \(hex\)6b6579[0-9a-f]+\. Pages stack: \[\d+ \d+\]`,
	},
	{
		"order in a branch",
		func(f pages) { key, _ := f.branch().BranchKey(2); key[0] = 'a' },
		`key\[2\]=\(hex\)616579[0-9a-f]+ on branch page\(\d+\) needs to be > \(found <\) than previous element \(hex\)6b[0-9a-f]+\. Stack: \[\d+\]`,
	},
	{
		"empty key",
		func(f pages) { clear(f.page(f.branch().Child(1)).Elem(0)[8:12]) },
		`key\[0\] on leaf page\(\d+\) is empty\. Stack: \[\d+ \d+\]`,
	},
	{
		"two ways to a page",
		func(f pages) { putChild(f.branch(), 2, f.branch().Child(1)) },
		`page \d+: multiple references \(stack: \[\d+ \d+\]\)`,
	},
	{
		"cycle",
		func(f pages) { putChild(f.branch(), 2, f.bucketRoot()) },
		`page \d+: multiple references \(stack: \[(\d+) \d+\]\)`,
	},
	{
		"way to a meta page",
		func(f pages) { putChild(f.branch(), 2, 1) },
		`page 1: multiple references \(stack: \[\d+ 1\]\)`,
	},
	{
		"way to the high water mark",
		func(f pages) { putChild(f.branch(), 2, f.meta().HWM) },
		`page (\d+): out of bounds: \d+ \(stack: \[\d+ \d+\]\)`,
	},
	{
		"way to nowhere",
		func(f pages) { putChild(f.branch(), 2, 1<<63) },
		`page 9223372036854775808: out of bounds: \d+ \(stack: \[\d+ 9223372036854775808\]\)`,
	},
	{
		"lost page",
		func(f pages) { putChild(f.branch(), 2, 1<<63) },
		`page \d+: unreachable unfreed`,
	},
	{
		"wrong type",
		func(f pages) { f.page(f.branch().Child(1)).PutHeader(f.branch().Child(1), page.Freelist, 0, 0) },
		`page \d+: invalid type: freelist \(stack: \[\d+ \d+\]\)`,
	},
	{
		"no type",
		func(f pages) { f.page(f.branch().Child(1)).PutHeader(f.branch().Child(1), 0x3, 0, 0) },
		`page \d+: invalid type: unknown<03> \(stack: \[\d+ \d+\]\)`,
	},
	{
		"wrong id",
		func(f pages) { f.page(f.branch().Child(1)).SetID(77) },
		`assertion failed: Page expected to be: \d+, but self identifies as 77`,
	},
	{
		"element out of the page",
		func(f pages) { f.page(f.branch().Child(1)).Elem(1)[15] = 0x7f },
		`element 1 of page \d+ leads out of the page \(stack: \[\d+ \d+\]\)`,
	},
	{
		"too many elements",
		func(f pages) { f.page(f.branch().Child(1)).PutHeader(f.branch().Child(1), page.Leaf, 0xfffe, 0) },
		`65534 elements do not fit the page`,
	},
	{
		"overflow beyond the end",
		func(f pages) { f.page(f.branch().Child(1)).PutHeader(f.branch().Child(1), page.Leaf, 0, 1<<31) },
		`overflow of 2147483648 pages leads beyond the end, \d+`,
	},
	{
		"overflow over other pages",
		func(f pages) { f.page(f.branch().Child(0)).PutHeader(f.branch().Child(0), page.Leaf, 1, 20) },
		`page \d+: multiple references \(stack: \[.*\]\)`,
	},
	{
		"empty branch",
		func(f pages) { f.branch().PutHeader(f.bucketRoot(), page.Branch, 0, 0) },
		`branch page \d+ has no elements \(stack: \[\d+\]\)`,
	},
	{
		"bucket in itself",
		func(f pages) { page.PutBucketHeader(insideValue(f), f.bucketRoot(), 0) },
		`page \d+: multiple references \(stack: \[\d+\]\)`,
	},
	{
		"short bucket value",
		func(f pages) { f.page(f.meta().Root).Elem(1)[12] = 9 },
		`element 1 of page \d+: bucket value of 9 bytes is no bucket \(stack: \[\d+\]\)`,
	},
	{
		"wrong type of an inline page",
		func(f pages) { inlinePage(f).PutHeader(0, page.Branch, 1, 0) },
		`element 0 of page \d+: inline page: invalid type: branch \(stack: \[\d+\]\)`,
	},
	{
		"order in an inline page",
		func(f pages) { leafKey(inlinePage(f), 1)[0] = 'a' },
		`key\[1\]=\(hex\)61 on leaf page\(\d+\) needs to be > \(found =\) than previous element \(hex\)61\. Stack: \[\d+\]`,
	},
	{
		"bucket in an inline page",
		func(f pages) { inlinePage(f).Elem(1)[0] = page.BucketFlag },
		`key\[1\]=\(hex\)62 of an inline bucket on page\(\d+\) is a bucket\. Stack: \[\d+\]`,
	},
	{
		"page that is used and free",
		func(f pages) { binary.NativeEndian.PutUint64(freeIDs(f), f.bucketRoot()) },
		`page \d+: reachable freed`,
	},
	{
		"page that is free twice",
		func(f pages) { copy(freeIDs(f)[8:16], freeIDs(f)) },
		`page \d+: already freed`,
	},
	{
		"page that is no longer free",
		func(f pages) { copy(freeIDs(f)[8:16], freeIDs(f)) },
		`page \d+: unreachable unfreed`,
	},
	{
		"free page beyond the end",
		func(f pages) { binary.NativeEndian.PutUint64(freeIDs(f), f.meta().HWM) },
		`invalid freelist page: \d+: page (\d+): out of bounds: \d+`,
	},
	{
		"free list too long",
		func(f pages) { f.page(f.meta().Freelist).PutHeader(f.meta().Freelist, page.Freelist, 1000, 0) },
		`invalid freelist page: \d+: the list is longer than the page`,
	},
	{
		"free list of another type",
		func(f pages) { f.page(f.meta().Freelist).PutHeader(f.meta().Freelist, page.Leaf, 0, 0) },
		`invalid freelist page: \d+, page type is leaf`,
	},
	{
		"free list nowhere",
		func(f pages) { f.setMeta(func(m *page.MetaView) { m.SetFreelist(m.HWM() + 1) }) },
		`invalid freelist page: \d+, out of bounds: \d+`,
	},
	{
		"root nowhere",
		func(f pages) { f.setMeta(func(m *page.MetaView) { m.SetRoot(m.HWM()) }) },
		`page \d+: out of bounds: \d+ \(stack: \[\d+\]\)`,
	},
	{
		"file that ends early",
		func(f pages) { f.setMeta(func(m *page.MetaView) { m.SetHWM(1 << 40) }) },
		`page \d+ lies beyond the end of the file: high water mark 1099511627776`,
	},
}

func leafKey(p page.Page, i int) []byte {
	_, key, _, _ := p.LeafElem(i)
	return key
}

func putChild(p page.Page, i int, id uint64) { binary.NativeEndian.PutUint64(p.Elem(i)[8:], id) }

// inlinePage is the page of the inline bucket, which is the first of all.
func inlinePage(f pages) page.Page {
	_, _, value, _ := f.page(f.meta().Root).LeafElem(0)
	_, _, inline, _ := page.BucketValue(value)
	return inline
}

// insideValue is the value of the bucket in the bucket called tree.
func insideValue(f pages) []byte {
	_, _, value, _ := f.page(f.branch().Child(0)).LeafElem(0)
	return value
}

func freeIDs(f pages) []byte {
	p := f.page(f.meta().Freelist)
	ids, _ := p.FreelistIDs()
	return ids
}

func TestCheckFinds(t *testing.T) {
	sound := sampleFile(t)
	if n := len(freeIDs(sound)) / 8; n < 3 {
		t.Fatalf("%d pages are free, want some to damage the list of", n)
	}
	for _, test := range checkTests {
		t.Run(test.name, func(t *testing.T) {
			f := slices.Clone(sound)
			test.damage(f)
			found := findings(t, openPages(t, f))
			want := regexp.MustCompile("^" + test.want + "$")
			i := slices.IndexFunc(found, func(err error) bool { return want.MatchString(err.Error()) })
			if i < 0 {
				t.Fatalf("have %q, want a match of %s", found, want)
			}
			var corrupt *kv.CorruptError
			if !errors.As(found[i], &corrupt) {
				t.Fatalf("%v is no CorruptError", found[i])
			}
			if corrupt.Off != int64(corrupt.Page)*samplePageSize || !strings.HasSuffix(corrupt.Path, "damaged.db") {
				t.Errorf("have page %d, offset %d, path %s", corrupt.Page, corrupt.Off, corrupt.Path)
			}
		})
	}
}

// TestCheckGoesOn damages one leaf and expects what is wrong with another to be found too.
func TestCheckGoesOn(t *testing.T) {
	f := sampleFile(t)
	for i := range 4 {
		f.page(f.branch().Child(i)).SetID(1000 + uint64(i))
	}
	found := findings(t, openPages(t, f))
	for i := range 4 {
		want := fmt.Sprintf("self identifies as %d", 1000+i)
		if !slices.ContainsFunc(found, func(err error) bool { return strings.Contains(err.Error(), want) }) {
			t.Errorf("have %q, want one with %q", found, want)
		}
	}
}

type upperStringer struct{}

func (upperStringer) KeyToString(b []byte) string   { return strings.ToUpper(string(b)) }
func (upperStringer) ValueToString(b []byte) string { panic("no value is to be formatted") }

func TestCheckOptions(t *testing.T) {
	f := sampleFile(t)
	leaf := f.branch().Child(2)
	leafKey(f.page(leaf), 1)[0] = 'a'
	db := openPages(t, f)

	found := findings(t, db, kv.WithKVStringer(upperStringer{}))
	if len(found) != 1 || !strings.HasPrefix(found[0].Error(), "key[1]=(hex)AEY ") {
		t.Errorf("have %q, want one about AEY …", found)
	}
	for _, test := range []struct {
		from uint64
		want string // a part of the one finding, or nothing
	}{
		{0, "needs to be >"},
		{leaf, "needs to be >"},
		{f.bucketRoot(), "needs to be >"},
		{f.branch().Child(1), ""},
		{1, fmt.Sprintf("page ID (1) out of range [2, %d)", f.meta().HWM)},
		{f.meta().HWM, fmt.Sprintf("page ID (%d) out of range [2, %[1]d)", f.meta().HWM)},
		{f.meta().Freelist, "multiple references"},
	} {
		found := findings(t, db, kv.WithPageId(test.from))
		switch {
		case test.want == "" && len(found) == 0:
		case len(found) != 1 || test.want == "" || !strings.Contains(found[0].Error(), test.want):
			t.Errorf("from page %d: have %q, want %q", test.from, found, test.want)
		}
	}
	if s := kv.HexKVStringer(); s.KeyToString([]byte("ab")) != "6162" || s.ValueToString([]byte("ab")) != "6162" {
		t.Error("HexKVStringer is not hexadecimal")
	}
}

// TestCheckPanics has the formatter of keys panic.
func TestCheckPanics(t *testing.T) {
	f := sampleFile(t)
	leafKey(f.page(f.branch().Child(2)), 1)[0] = 'a'
	found := findings(t, openPages(t, f), kv.WithKVStringer(nil))
	if len(found) != 1 || !strings.Contains(found[0].Error(), "panic") {
		t.Errorf("have %q, want the panic", found)
	}
}

// TestCheckCutFile has the file lose its end while it is mapped: an error, not the end of the process.
func TestCheckCutFile(t *testing.T) {
	db, path := openSample(t, kv.Options{ReadOnly: true})
	must(t, os.Truncate(path, 4096))
	if found := findings(t, db); len(found) == 0 {
		t.Error("no finding")
	}
}

func TestCheckClosedTx(t *testing.T) {
	db := openTemp(t, nil)
	tx, err := db.Begin(false)
	must(t, err)
	must(t, tx.Rollback())
	found := tx.Check()
	wantErr(t, <-found, kv.ErrTxClosed)
	wantErr(t, <-found, nil)
}

// manyFindings is a database of which Check finds more than fit the channel.
func manyFindings(t *testing.T) *kv.DB {
	t.Helper()
	f := sampleFile(t)
	f.setMeta(func(m *page.MetaView) { m.SetRoot(m.HWM()) })
	db := openPages(t, f)
	if n := len(findings(t, db)); n < 10 {
		t.Fatalf("%d findings, want many", n)
	}
	return db
}

// TestCheckAbandoned stops listening and ends the transaction, which must not wait for ever, nor leave the check behind.
func TestCheckAbandoned(t *testing.T) {
	db := manyFindings(t)
	var found <-chan error
	if err := db.View(func(tx *kv.Tx) error {
		found = tx.Check()
		return <-found
	}); err == nil {
		t.Error("no finding")
	}
	n := 0
	for range found {
		n++
	}
	if n > 1 {
		t.Errorf("%d findings after the end of the transaction, want at most the one that was on its way", n)
	}
}

func TestCheckContext(t *testing.T) {
	db := manyFindings(t)
	ctx, cancel := context.WithCancel(t.Context())
	must(t, db.View(func(tx *kv.Tx) error {
		found := tx.CheckContext(ctx)
		if err := <-found; err == nil {
			t.Error("no finding")
		}
		cancel()
		n := 1
		for range found {
			n++
		}
		if n > 4 {
			t.Errorf("%d findings, want one, the two that were on their way, and the last word", n)
		}
		found = tx.CheckContext(ctx)
		for last := range found {
			wantErr(t, last, context.Canceled)
			n = 0
		}
		if n != 0 {
			t.Error("a check whose context has ended says nothing")
		}
		return nil
	}))
}

// TestCheckOldReader checks a snapshot whose pages later transactions have freed.
func TestCheckOldReader(t *testing.T) {
	for _, noFreelist := range []bool{false, true} {
		db := openTemp(t, &kv.Options{NoSync: true, NoFreelistSync: noFreelist, PageSize: samplePageSize})
		must(t, db.Update(func(tx *kv.Tx) error { return fillSample(tx, 0) }))
		old, err := db.Begin(false)
		must(t, err)
		for round := range 4 {
			must(t, db.Update(func(tx *kv.Tx) error { return fillSample(tx, round) }))
			for err := range old.Check() {
				t.Error("old reader:", err)
			}
			checkClean(t, db)
		}
		must(t, old.Rollback())
	}
}

// TestCheckInWriter checks inside a transaction that has freed and changed pages, and has committed nothing.
func TestCheckInWriter(t *testing.T) {
	for _, noFreelist := range []bool{false, true} {
		db := openTemp(t, &kv.Options{NoSync: true, NoFreelistSync: noFreelist, PageSize: samplePageSize})
		must(t, db.Update(func(tx *kv.Tx) error { return fillSample(tx, 0) }))
		must(t, db.Update(func(tx *kv.Tx) error {
			if err := tx.DeleteBucket([]byte("tree")); err != nil {
				return err
			}
			for err := range tx.Check() {
				t.Error("after DeleteBucket:", err)
			}
			return fillSample(tx, 1)
		}))
	}
}

// TestCheckStrict has every commit checked, with the free list stored and not.
func TestCheckStrict(t *testing.T) {
	db := openTemp(t, &kv.Options{NoSync: true, PageSize: samplePageSize})
	db.StrictMode = true
	for round := range 12 {
		db.NoFreelistSync = round/3%2 == 1
		must(t, db.Update(func(tx *kv.Tx) error {
			if round%4 == 3 {
				return tx.DeleteBucket([]byte("tree"))
			}
			return fillSample(tx, round)
		}))
	}
	must(t, db.Update(func(*kv.Tx) error { return nil }))
}

// TestCheckLeak loses a page of which no list is stored.
func TestCheckLeak(t *testing.T) {
	db, err := kv.Open(filepath.Join(t.TempDir(), "test.db"), 0o600,
		&kv.Options{NoSync: true, NoFreelistSync: true, PageSize: samplePageSize})
	must(t, err)
	defer func() { must(t, db.Close()) }()
	for round := range 3 {
		must(t, db.Update(func(tx *kv.Tx) error { return fillSample(tx, round) }))
	}
	if found := findings(t, db); len(found) != 0 {
		t.Fatalf("have %v before anything is lost", found)
	}
	tx, err := db.Begin(true) // makes pages free that were pending
	must(t, err)
	must(t, tx.Rollback())
	id := kv.LosePage(db)
	want := fmt.Sprintf("page %d: unreachable unfreed", id)
	if found := findings(t, db); len(found) != 1 || found[0].Error() != want {
		t.Errorf("have %v, want %s", found, want)
	}
}

// TestEveryByte turns over bytes of a file, one at a time. Whatever that makes of it, looking at the file must end,
// and not by a fault; what is read goes wrong with an error.
func TestEveryByte(t *testing.T) {
	sound := sampleFile(t)
	step := 37 // TestDamageBytes takes every byte of a smaller file
	if long() {
		step = 1
	}
	path := filepath.Join(t.TempDir(), "flipped.db")
	for at := 0; at < len(sound); at += step {
		f := slices.Clone(sound)
		f[at] ^= 0xff
		must(t, os.WriteFile(path, f, 0o600))
		db, err := kv.Open(path, 0o600, &kv.Options{ReadOnly: true, PageSize: samplePageSize})
		must(t, err) // the other meta is sound
		lookAtAll(t, db, fmt.Sprintf("byte %d", at))
		must(t, db.Close())
	}
}

// TestWalksEnd has a bucket lie in itself.
func TestWalksEnd(t *testing.T) {
	f := sampleFile(t)
	page.PutBucketHeader(insideValue(f), f.bucketRoot(), 0)
	db := openPages(t, f)
	for name, walk := range map[string]func(tx *kv.Tx) error{
		"Stats":   func(tx *kv.Tx) error { tx.Bucket([]byte("tree")).Stats(); return nil },
		"Inspect": func(tx *kv.Tx) error { tx.Inspect(); return nil },
		"Compact": func(*kv.Tx) error { return kv.Compact(openTemp(t, nil), db, 1<<20) },
	} {
		if _, ok := errors.AsType[*kv.CorruptError](db.View(walk)); !ok {
			t.Errorf("%s does not notice that a bucket lies in itself", name)
		}
	}
}

// lookAtAll does all that reads pages. Nothing may go wrong but by a CorruptError.
func lookAtAll(t *testing.T, db *kv.DB, where string) {
	t.Helper()
	found := len(findings(t, db))
	var corrupt *kv.CorruptError
	for what, look := range map[string]func(tx *kv.Tx) error{
		"Stats": func(tx *kv.Tx) error {
			return tx.ForEach(func(_ []byte, b *kv.Bucket) error {
				if b != nil {
					b.Stats()
				}
				return nil
			})
		},
		"Inspect": func(tx *kv.Tx) error { tx.Inspect(); return nil },
		"WriteTo": func(tx *kv.Tx) error { return tx.Copy(io.Discard) },
	} {
		err := db.View(look)
		switch {
		case err != nil && !errors.As(err, &corrupt):
			t.Errorf("%s: %s: %v is no CorruptError", where, what, err)
		case err != nil && found == 0:
			t.Errorf("%s: %s: %v, but Check finds nothing", where, what, err)
		}
	}
}
