// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package surgery_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
	"github.com/holtdb/holt/kv/surgery"
)

// paired makes a file as a killed process leaves it, whose commits had a single sync each: the last set new in the bucket
// b, the one before old. It returns a page of the last as well.
func paired(t testing.TB) (path string, written uint64) {
	t.Helper()
	live := filepath.Join(t.TempDir(), "live.db")
	db, err := kv.Open(live, 0o600, &kv.Options{PageSize: pageSize, SingleSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"first", "old", "new"} {
		err := db.Update(func(tx *kv.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			if err != nil {
				return err
			}
			return b.Put([]byte(key), make([]byte, 2000))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	image, err := os.ReadFile(live)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "killed.db")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	sums, ok := page.Page(image[:pageSize]).PairedSums()
	if m := page.MetaOf(image); !ok || !m.Paired() || m.TxID() != 4 || len(sums) == 0 {
		t.Fatalf("meta page of transaction %d, paired %t, with %v, %t", m.TxID(), m.Paired(), sums, ok)
	}
	return path, sums[0].ID
}

// TestTornCommit has a last commit of which not all pages arrived: the one before is the state, here as in Open.
func TestTornCommit(t *testing.T) {
	path, written := paired(t)
	f := open(t, path)
	if m, ok := f.Active(); !ok || m.TxID != 4 {
		t.Errorf("all there, and the state is that of transaction %d, %t", m.TxID, ok)
	}
	hwm := f.HWM()

	torn := damaged(t, path, int64(written+1)*pageSize-1, 1)
	f = open(t, torn)
	if m, ok := f.Active(); !ok || m.TxID != 3 || m.HWM != f.HWM() || f.HWM() > hwm {
		t.Errorf("torn, and the state is that of transaction %d, %t, up to page %d", m.TxID, ok, f.HWM())
	}
	for id, want := range []error{surgery.ErrIncomplete, nil} {
		m, err := f.Meta(id)
		if err != nil || !errors.Is(m.Err, want) {
			t.Errorf("meta %d: %v, %v, want %v", id, m.Err, err, want)
		}
		p, err := f.Page(uint64(id))
		if err != nil {
			t.Fatal(err)
		}
		if m, err := p.Meta(); err != nil || !errors.Is(m.Err, want) {
			t.Errorf("page %d: %v, %v, want %v", id, m.Err, err, want)
		}
	}
	if _, err := edit(t, torn, (*surgery.Editor).RevertMeta); !errors.Is(err, surgery.ErrIncomplete) {
		t.Errorf("reverting to it: %v", err)
	}
	dst := mustEdit(t, torn, (*surgery.Editor).AbandonFreelist)
	if get(t, dst, "b", "old") == nil || get(t, dst, "b", "new") != nil {
		t.Error("an edit has made the torn commit valid")
	}
	dst = mustEdit(t, torn, func(e *surgery.Editor) error {
		_, err := e.UpdateMeta(0, surgery.MetaFields{})
		return err
	})
	if m, ok := open(t, dst).Active(); !ok || m.TxID != 4 {
		t.Errorf("the meta page repaired, and the state is that of transaction %d, %t", m.TxID, ok)
	}
}

// TestEditsKeepPairedCommit edits what the checksums of the last commit are about: it must not be taken for one that did
// not arrive.
func TestEditsKeepPairedCommit(t *testing.T) {
	path, written := paired(t)
	for _, test := range []struct {
		name string
		edit func(e *surgery.Editor) error
	}{
		{"AbandonFreelist", (*surgery.Editor).AbandonFreelist},
		{"CopyPage", func(e *surgery.Editor) error { return e.CopyPage(unused(t, path), written) }},
		{"ClearPage", func(e *surgery.Editor) error {
			_, err := e.ClearPage(written)
			return err
		}},
	} {
		f := open(t, mustEdit(t, path, test.edit))
		if m, ok := f.Active(); !ok || m.TxID != 4 || m.Flags != 0 {
			t.Errorf("%s: the state is that of transaction %d, %t, with flags %x", test.name, m.TxID, ok, m.Flags)
		}
	}
	dst := mustEdit(t, path, (*surgery.Editor).RevertMeta)
	if get(t, dst, "b", "old") == nil || get(t, dst, "b", "new") != nil {
		t.Error("the last commit is not undone")
	}
}

// unused is a page below the high water mark that the last commit did not write.
func unused(t testing.TB, path string) uint64 {
	t.Helper()
	f := open(t, path)
	raw, err := f.Raw(0)
	if err != nil {
		t.Fatal(err)
	}
	sums, _ := page.Page(raw).PairedSums()
	for id := uint64(2); id < f.HWM(); id++ {
		if id < sums[0].ID || id >= sums[len(sums)-1].ID+uint64(sums[len(sums)-1].Pages) {
			return id
		}
	}
	t.Fatal("the last commit wrote every page")
	return 0
}
