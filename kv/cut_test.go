// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"testing"

	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

// TestShrinkBesideDamagedMeta shrinks a file whose other meta page, right by its checksum, says that there are more pages
// than a file can have: so many that their bytes are few, as a number of 64 bits goes, or less than none.
func TestShrinkBesideDamagedMeta(t *testing.T) {
	db := openTemp(t, &kv.Options{PageSize: 1024, NoSync: true})
	few.fill(t, db)
	must(t, db.Update(putNumbered("gone", 8000, 100))) // free pages at the end, which the first step cuts off
	must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("gone")) }))
	var copied bytes.Buffer
	for odd := false; !odd; { // so that the next commit replaces meta page 0
		must(t, db.Update(func(*kv.Tx) error { return nil }))
		must(t, db.View(func(tx *kv.Tx) error {
			odd = tx.ID()%2 == 1
			copied.Reset()
			_, err := tx.WriteTo(&copied)
			return err
		}))
	}
	text := content(t, db)
	for _, hwm := range []uint64{1<<54 + 10, 1 << 53, 1 << 63} {
		b := bytes.Clone(copied.Bytes())
		m := page.MetaOf(b[1024:])
		m.SetHWM(hwm)
		m.Seal()
		db := mustOpenSim(t, memoryWith(t, b), kv.Options{})
		_, err := db.Shrink(t.Context(), kv.ShrinkOptions{StepBytes: 32 << 10})
		must(t, err)
		if content(t, db) != text {
			t.Errorf("mark %d: something else is in it now", hwm)
		}
		closeClean(t, db)
	}
}
