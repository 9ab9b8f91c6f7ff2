// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/holtdb/holt/kv"
)

// TestTxStatsMethods goes through the fields: each has a method to read it, one to add to it, and is in Sub.
func TestTxStatsMethods(t *testing.T) {
	var s, other kv.TxStats
	v := reflect.ValueOf(&s)
	for i := range v.Elem().NumField() {
		field := v.Elem().Type().Field(i)
		inc, get := v.MethodByName("Inc"+field.Name), v.MethodByName("Get"+field.Name)
		if !inc.IsValid() || !get.IsValid() {
			t.Errorf("%s has no Get or Inc", field.Name)
			continue
		}
		step := reflect.ValueOf(int64(i + 1)).Convert(field.Type)
		inc.Call([]reflect.Value{step})
		if sum := inc.Call([]reflect.Value{step})[0].Int(); sum != int64(2*i+2) {
			t.Errorf("Inc%s returns %d, want %d", field.Name, sum, 2*i+2)
		}
		if have := get.Call(nil)[0].Int(); have != int64(2*i+2) {
			t.Errorf("Get%s returns %d, want %d", field.Name, have, 2*i+2)
		}
		reflect.ValueOf(&other).Elem().Field(i).SetInt(int64(i))
	}
	diff := reflect.ValueOf(s.Sub(&other))
	for i := range diff.NumField() {
		if have := diff.Field(i).Int(); have != int64(i+2) {
			t.Errorf("Sub: %s is %d, want %d", diff.Type().Field(i).Name, have, i+2)
		}
	}
}

func TestStatsSub(t *testing.T) {
	a := kv.Stats{
		TxStats:   kv.TxStats{Write: 5, WriteTime: 3 * time.Second},
		FreePageN: 1, PendingPageN: 2, FreeAlloc: 3, FreelistInuse: 4, TxN: 10, OpenTxN: 6,
	}
	b := kv.Stats{
		TxStats:   kv.TxStats{Write: 2, WriteTime: time.Second},
		FreePageN: 7, PendingPageN: 7, FreeAlloc: 7, FreelistInuse: 7, TxN: 7, OpenTxN: 7,
	}
	want := kv.Stats{
		TxStats:   kv.TxStats{Write: 3, WriteTime: 2 * time.Second},
		FreePageN: 1, PendingPageN: 2, FreeAlloc: 3, FreelistInuse: 4, TxN: 3,
	}
	if have := a.Sub(&b); have != want {
		t.Errorf("have %+v, want %+v", have, want)
	}
	if have := a.Sub(nil); have != a {
		t.Errorf("nothing subtracted: have %+v, want %+v", have, a)
	}
}

// TestDBStats counts transactions and what they write.
func TestDBStats(t *testing.T) {
	db := openTemp(t, nil)
	before := db.Stats()
	if before.TxN != 0 || before.OpenTxN != 0 {
		t.Errorf("%d read transactions, %d of them open, right after Open; want none", before.TxN, before.OpenTxN)
	}
	tx, err := db.Begin(false)
	must(t, err)
	must(t, db.Update(func(tx *kv.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		if err != nil {
			return err
		}
		return b.Put([]byte("k"), make([]byte, 10_000))
	}))
	open := db.Stats()
	must(t, tx.Rollback())
	after := db.Stats()

	if open.TxN != 1 || open.OpenTxN != 1 || after.TxN != 1 || after.OpenTxN != 0 {
		t.Errorf("TxN %d then %d, OpenTxN %d then %d; want 1, 1 and 1, 0", open.TxN, after.TxN, open.OpenTxN, after.OpenTxN)
	}
	diff := after.Sub(&before)
	if pages := diff.TxStats.PageCount; diff.TxStats.PageAlloc != pages*int64(db.Info().PageSize) || pages < 4 {
		t.Errorf("%d pages allocated, of %d bytes", pages, diff.TxStats.PageAlloc)
	}
	if diff.TxStats.Write < 2 || diff.TxStats.Spill == 0 || diff.TxStats.CursorCount == 0 || diff.TxStats.NodeCount == 0 {
		t.Errorf("nothing counted: %+v", diff.TxStats)
	}
	if n := (after.FreePageN + after.PendingPageN) * db.Info().PageSize; after.FreeAlloc != n {
		t.Errorf("FreeAlloc %d, want %d", after.FreeAlloc, n)
	}
}

func TestNoStatistics(t *testing.T) {
	db := openTemp(t, &kv.Options{NoSync: true, NoStatistics: true})
	must(t, db.Update(func(tx *kv.Tx) error {
		_, err := tx.CreateBucket([]byte("b"))
		return err
	}))
	if have := db.Stats(); have != (kv.Stats{}) {
		t.Errorf("have %+v, want zeros", have)
	}
}
