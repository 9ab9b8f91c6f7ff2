// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"errors"
	"math"
	"testing"

	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

func TestPage(t *testing.T) {
	db, _ := openSample(t, kv.Options{})
	f := sampleFile(t)
	must(t, db.View(func(tx *kv.Tx) error {
		root, branch := int(f.meta().Root), int(f.bucketRoot())
		for _, want := range []kv.PageInfo{
			{ID: 0, Type: "meta"},
			{ID: 1, Type: "meta"},
			{ID: root, Type: "leaf", Count: 2},
			{ID: branch, Type: "branch", Count: f.branch().Count()},
			{ID: int(f.meta().Freelist), Type: "freelist", Count: len(freeIDs(f)) / 8},
		} {
			have, err := tx.Page(want.ID)
			if err != nil || have == nil || *have != want {
				t.Errorf("have %+v, %v; want %+v", have, err, want)
			}
		}
		for _, id := range []int{int(f.meta().HWM), math.MaxInt, -1} {
			if have, err := tx.Page(id); have != nil || err != nil {
				t.Errorf("page %d: have %+v, %v; want nothing", id, have, err)
			}
		}
		return nil
	}))
}

// TestPageTypes counts the pages of each type: they add up, and a free page is one whatever it holds.
func TestPageTypes(t *testing.T) {
	db, _ := openSample(t, kv.Options{SyncFreelist: true})
	must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("tree")) }))
	types := make(map[string]int)
	overflow := 0
	must(t, db.View(func(tx *kv.Tx) error {
		for id := 0; ; id++ {
			info, err := tx.Page(id)
			if info == nil || err != nil {
				return err
			}
			types[info.Type]++
			if info.Type != "free" {
				overflow += info.OverflowCount
				id += info.OverflowCount
			}
		}
	}))
	s := db.Stats()
	if free := s.FreePageN + s.PendingPageN; types["free"] != free || free < 10 {
		t.Errorf("%d free pages, want %d", types["free"], free)
	}
	if types["meta"] != 2 || types["leaf"] != 1 || types["freelist"] != 1 || len(types) != 4 {
		t.Errorf("have %v", types)
	}
}

func TestPageErrors(t *testing.T) {
	f := sampleFile(t)
	f.setMeta(func(m *page.MetaView) { m.SetHWM(1 << 30) })
	db := openPages(t, f)
	tx, err := db.Begin(false)
	must(t, err)
	_, err = tx.Page(0)
	wantErr(t, err, kv.ErrFreePagesNotLoaded)
	must(t, tx.Rollback())
	_, err = tx.Page(0)
	wantErr(t, err, kv.ErrTxClosed)
	_, err = kv.Open(db.Path(), 0o600, &kv.Options{ReadOnly: true, PreLoadFreelist: true})
	if _, ok := errors.AsType[*kv.CorruptError](err); !ok {
		t.Errorf("high water mark beyond the file: have %v, want a CorruptError", err)
	}
}
