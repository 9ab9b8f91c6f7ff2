// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package surgery_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/surgery"
)

// edit makes a copy of the database and edits it. The source must stay as it is.
func edit(t testing.TB, src string, fn func(*surgery.Editor) error) (dst string, err error) {
	t.Helper()
	before, err := os.ReadFile(src)
	if err != nil {
		t.Fatal(err)
	}
	dst = filepath.Join(t.TempDir(), "edited.db")
	err = surgery.Edit(src, dst, fn)
	if after, rerr := os.ReadFile(src); rerr != nil || !bytes.Equal(before, after) {
		t.Fatalf("the source has changed (%v)", rerr)
	}
	if _, serr := os.Stat(dst); (serr == nil) != (err == nil) {
		t.Fatalf("error %v, but the copy: %v", err, serr)
	}
	return dst, err
}

func mustEdit(t testing.TB, src string, fn func(*surgery.Editor) error) (dst string) {
	t.Helper()
	dst, err := edit(t, src, fn)
	if err != nil {
		t.Fatal(err)
	}
	return dst
}

func get(t testing.TB, path, bucket, key string) (value []byte) {
	t.Helper()
	db, err := kv.Open(path, 0, &kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read from
	err = db.View(func(tx *kv.Tx) error {
		value = bytes.Clone(tx.Bucket([]byte(bucket)).Get([]byte(key)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestRevertMeta(t *testing.T) {
	src := sample(t)
	dst := mustEdit(t, src, (*surgery.Editor).RevertMeta)
	mustBeSound(t, dst)
	if get(t, src, "numbers", "00000349") == nil || get(t, dst, "numbers", "00000349") != nil {
		t.Error("the last transaction is not undone")
	}
	if get(t, dst, "numbers", "00000000") == nil {
		t.Error("the transaction before is gone too")
	}
	f := open(t, dst)
	for id := range 2 {
		p, err := f.Page(uint64(id)) // with the right id in its header
		if err != nil {
			t.Fatal(err)
		}
		if m, err := p.Meta(); err != nil || m.Err != nil || m.TxID != 2 {
			t.Errorf("meta %d: %+v, %v", id, m, err)
		}
	}
}

func TestRevertMetaNeedsTheOther(t *testing.T) {
	src := sample(t)
	if _, err := edit(t, damaged(t, src, 30, 7), (*surgery.Editor).RevertMeta); !errors.Is(err, kv.ErrChecksum) {
		t.Errorf("meta 0 damaged: %v", err)
	}
	both := damaged(t, damaged(t, src, 30, 7), pageSize+30, 7)
	if _, err := edit(t, both, (*surgery.Editor).RevertMeta); !errors.Is(err, surgery.ErrNoMeta) {
		t.Errorf("both damaged: %v", err)
	}
}

func TestCopyPage(t *testing.T) {
	src := sample(t)
	large, free := find(t, src, "leaf", 2), find(t, src, "free", 0)
	dst := mustEdit(t, src, func(e *surgery.Editor) error { return e.CopyPage(large, free) })
	from, err := open(t, src).Page(large)
	if err != nil {
		t.Fatal(err)
	}
	to, err := open(t, dst).Page(free)
	if err != nil {
		t.Fatal(err)
	}
	if from.Count() != to.Count() || from.Overflow() != to.Overflow() {
		t.Fatalf("%d elements and %d overflow pages became %d and %d", from.Count(), from.Overflow(), to.Count(), to.Overflow())
	}
	for i := range from.Count() {
		a, aerr := from.Item(i)
		b, berr := to.Item(i)
		if aerr != nil || berr != nil || !bytes.Equal(a.Key, b.Key) || !bytes.Equal(a.Value, b.Value) {
			t.Errorf("element %d differs (%v, %v)", i, aerr, berr)
		}
	}
}

func TestCopyPageRefusals(t *testing.T) {
	src := sample(t)
	large, leaf := find(t, src, "leaf", 2), find(t, src, "leaf", 0)
	hwm := open(t, src).HWM()
	for _, c := range []struct {
		from, to uint64
		want     string
	}{
		{leaf, leaf, "cannot be copied over itself"},
		{large, large + 1, "overlap"},
		{leaf, 1, "cannot take the place of a meta page"},
		{leaf, hwm, "beyond the last page in use"},
		{large, hwm - 1, "beyond the last page in use"},
		{leaf, ^uint64(0), "beyond the last page in use"},
		{large + 1, leaf, "unexpected page id"},
		{1 << 40, leaf, "beyond the end of the file"},
	} {
		_, err := edit(t, src, func(e *surgery.Editor) error { return e.CopyPage(c.from, c.to) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d to %d: error %v, want %q", c.from, c.to, err, c.want)
		}
	}
	// A meta page may replace the other one.
	dst := mustEdit(t, src, func(e *surgery.Editor) error { return e.CopyPage(1, 0) })
	mustBeSound(t, dst)
}

func TestClearElements(t *testing.T) {
	src := sample(t)
	branch := find(t, src, "branch", 0)
	parent, err := open(t, src).Page(branch)
	if err != nil {
		t.Fatal(err)
	}
	first, err := parent.Item(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ start, end int }{{0, 1}, {3, 5}, {1, -1}, {0, -1}} {
		var orphans bool
		dst := mustEdit(t, src, func(e *surgery.Editor) (err error) {
			orphans, err = e.ClearElements(first.Child, c.start, c.end)
			return err
		})
		if orphans {
			t.Errorf("[%d, %d): orphans among plain values", c.start, c.end)
		}
		before, err := open(t, src).Page(first.Child)
		if err != nil {
			t.Fatal(err)
		}
		after, err := open(t, dst).Page(first.Child)
		if err != nil {
			t.Fatal(err)
		}
		end := c.end
		if end < 0 {
			end = before.Count()
		}
		if after.Count() != before.Count()-(end-c.start) {
			t.Fatalf("[%d, %d): %d elements left of %d", c.start, c.end, after.Count(), before.Count())
		}
		for i := range after.Count() {
			was := i
			if i >= c.start {
				was = i + end - c.start
			}
			a, aerr := before.Item(was)
			b, berr := after.Item(i)
			if aerr != nil || berr != nil || !bytes.Equal(a.Key, b.Key) || !bytes.Equal(a.Value, b.Value) {
				t.Errorf("[%d, %d): element %d is not what %d was (%v, %v)", c.start, c.end, i, was, aerr, berr)
			}
		}
		mustBeSound(t, dst)
	}
}

func TestClearMakesOrphans(t *testing.T) {
	src := sample(t)
	active, _ := open(t, src).Active()
	for _, c := range []struct {
		name string
		page uint64
	}{
		{"children of a branch page", find(t, src, "branch", 0)},
		{"overflow pages", find(t, src, "leaf", 2)},
		{"roots of buckets", active.Root},
	} {
		var orphans bool
		dst := mustEdit(t, src, func(e *surgery.Editor) (err error) {
			orphans, err = e.ClearPage(c.page)
			return err
		})
		if !orphans {
			t.Errorf("%s: no orphans", c.name)
		}
		p, err := open(t, dst).Page(c.page)
		if err != nil || p.Count() != 0 || p.Overflow() != 0 {
			t.Errorf("%s: not cleared (%v)", c.name, err)
		}
		lost := 0
		for _, finding := range findings(t, dst) {
			if strings.Contains(finding, "unreachable unfreed") {
				lost++
			}
		}
		if lost == 0 {
			t.Errorf("%s: check misses no page", c.name)
		}
		again := mustEdit(t, dst, (*surgery.Editor).AbandonFreelist)
		for _, finding := range findings(t, again) {
			if strings.Contains(finding, "unreachable unfreed") {
				t.Errorf("%s: without the free list: %s", c.name, finding)
			}
		}
	}
}

func TestClearKeepsOverflow(t *testing.T) {
	src := sample(t)
	large := find(t, src, "leaf", 2)
	p, err := open(t, src).Page(large)
	if err != nil {
		t.Fatal(err)
	}
	dst := mustEdit(t, src, func(e *surgery.Editor) error {
		orphans, err := e.ClearElements(large, p.Count()-1, -1)
		if orphans {
			t.Error("orphans")
		}
		return err
	})
	after, err := open(t, dst).Page(large)
	if err != nil || after.Overflow() != p.Overflow() {
		t.Fatalf("overflow pages changed (%v)", err)
	}
	it, err := after.Item(0)
	if err != nil || len(it.Value) != 16*700 {
		t.Errorf("the large value has %d bytes (%v)", len(it.Value), err)
	}
	mustBeSound(t, dst)
}

func TestClearRefusals(t *testing.T) {
	src := sample(t)
	branch := find(t, src, "branch", 0)
	p, err := open(t, src).Page(branch)
	if err != nil {
		t.Fatal(err)
	}
	n := p.Count()
	for _, c := range []struct {
		page       uint64
		start, end int
		want       string
	}{
		{0, 0, 1, "must be at least 2"},
		{find(t, src, "freelist", 0), 0, 1, `can't clear elements in "freelist" page`},
		{branch, -1, 1, "start index (-1) is out of range"},
		{branch, n, -1, "start index"},
		{branch, 0, n + 1, "end index"},
		{branch, 0, -2, "end index (-2) is out of range"},
		{branch, 1, 1, "equal to the end index"},
		{branch, 2, 1, "larger than the end index"},
		{1 << 50, 0, 1, "beyond the end of the file"},
	} {
		_, err := edit(t, src, func(e *surgery.Editor) error {
			_, err := e.ClearElements(c.page, c.start, c.end)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("page %d [%d, %d): error %v, want %q", c.page, c.start, c.end, err, c.want)
		}
	}
}

func TestAbandonFreelist(t *testing.T) {
	src := sample(t)
	dst := mustEdit(t, src, (*surgery.Editor).AbandonFreelist)
	f := open(t, dst)
	for id := range 2 {
		if m, err := f.Meta(id); err != nil || m.Err != nil || m.HasFreelist() {
			t.Errorf("meta %d: %+v, %v", id, m, err)
		}
	}
	mustBeSound(t, dst)
	db, err := kv.Open(dst, 0, nil) // stores a new one
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	mustBeSound(t, dst)

	// A damaged record is not made to look sound.
	dst = mustEdit(t, damaged(t, src, 30, 7), (*surgery.Editor).AbandonFreelist)
	if m, err := open(t, dst).Meta(0); err != nil || !errors.Is(m.Err, kv.ErrChecksum) {
		t.Errorf("meta 0: %+v, %v", m, err)
	}
	both := damaged(t, damaged(t, src, 30, 7), pageSize+30, 7)
	if _, err := edit(t, both, (*surgery.Editor).AbandonFreelist); !errors.Is(err, surgery.ErrNoMeta) {
		t.Errorf("both damaged: %v", err)
	}
}

func TestUpdateMeta(t *testing.T) {
	src := sample(t)
	before, err := open(t, src).Meta(1)
	if err != nil {
		t.Fatal(err)
	}
	root, hwm, freelist, size := uint64(8), uint64(77), uint64(9), uint32(8192)
	for _, c := range []struct {
		name string
		set  surgery.MetaFields
		want func(*surgery.Meta)
	}{
		{"nothing", surgery.MetaFields{}, func(*surgery.Meta) {}},
		{"root", surgery.MetaFields{Root: &root}, func(m *surgery.Meta) { m.Root = root }},
		{"freelist", surgery.MetaFields{Freelist: &freelist}, func(m *surgery.Meta) { m.Freelist = freelist }},
		{"HWM", surgery.MetaFields{HWM: &hwm}, func(m *surgery.Meta) { m.HWM = hwm }},
		{"page size", surgery.MetaFields{PageSize: &size}, func(m *surgery.Meta) { m.PageSize, m.Err = size, kv.ErrInvalid }},
	} {
		dst := mustEdit(t, src, func(e *surgery.Editor) error {
			changed, err := e.UpdateMeta(1, c.set)
			if !changed {
				t.Errorf("%s: nothing changed", c.name) // the flags do at least
			}
			return err
		})
		got, err := open(t, dst).Meta(1)
		if err != nil {
			t.Fatal(err)
		}
		want := before
		c.want(&want)
		want.Flags, want.Checksum = 4, got.Checksum
		if got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
		mustEdit(t, dst, func(e *surgery.Editor) error {
			changed, err := e.UpdateMeta(1, c.set)
			if changed {
				t.Errorf("%s: changed again", c.name)
			}
			return err
		})
	}

	// Magic, version and checksum are repaired.
	broken := damaged(t, src, pageSize+16, make([]byte, 8)...)
	mended := mustEdit(t, broken, func(e *surgery.Editor) error {
		_, err := e.UpdateMeta(1, surgery.MetaFields{})
		return err
	})
	if m, err := open(t, mended).Meta(1); err != nil || m.Err != nil || m.TxID != before.TxID {
		t.Errorf("repaired: %+v, %v", m, err)
	}
	mustBeSound(t, mended)
}

func TestCopy(t *testing.T) {
	src := sample(t)
	if err := os.Chmod(src, 0o440); err != nil {
		t.Fatal(err)
	}
	dst := filepath.Join(t.TempDir(), "copy.db")
	if err := surgery.Copy(src, dst); err != nil {
		t.Fatal(err)
	}
	a, aerr := os.ReadFile(src)
	b, berr := os.ReadFile(dst)
	if aerr != nil || berr != nil || !bytes.Equal(a, b) {
		t.Errorf("the copy differs (%v, %v)", aerr, berr)
	}
	if info, err := os.Stat(dst); err != nil || info.Mode().Perm()&0o640 != 0o640 {
		t.Errorf("permissions %v, %v", info.Mode(), err)
	}
	if err := surgery.Copy(src, dst); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("over an existing file: %v", err)
	}
	if err := surgery.Copy(src, src); err == nil {
		t.Error("over itself")
	}
	mustBeSound(t, dst)
	missing := filepath.Join(t.TempDir(), "missing", "copy.db")
	if err := surgery.Copy(src, missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("into a missing folder: %v", err)
	}
}

func TestCopyWaitsForNobody(t *testing.T) {
	src := sample(t)
	db, err := kv.Open(src, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	dst := filepath.Join(t.TempDir(), "copy.db")
	if err := surgery.Copy(src, dst); !errors.Is(err, surgery.ErrInUse) {
		t.Errorf("while a writer has it open: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := surgery.Copy(src, dst); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestEditFails(t *testing.T) {
	oops := errors.New("oops")
	if _, err := edit(t, sample(t), func(*surgery.Editor) error { return oops }); !errors.Is(err, oops) {
		t.Errorf("error %v", err)
	}
}
