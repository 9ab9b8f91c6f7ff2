// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/holtdb/holt/kv"
)

// TestReportCopyingABucket is bbolt #151, bolt #378: copying a bucket row by row, reading in one transaction and writing
// each row in another, worked for 100 rows and hung at 1000, since the file had to be mapped anew under the reader.
func TestReportCopyingABucket(t *testing.T) {
	const rows = 1000
	db := openTemp(t, nil)
	must(t, db.Update(putNumbered("from", rows, 300)))
	must(t, db.View(func(tx *kv.Tx) error {
		return tx.Bucket([]byte("from")).ForEach(func(k, v []byte) error {
			return db.Update(func(tx *kv.Tx) error {
				b, err := tx.CreateBucketIfNotExists([]byte("to"))
				must(t, err)
				return b.Put(k, v)
			})
		})
	}))
	must(t, db.View(func(tx *kv.Tx) error {
		if got := len(keysOf(tx.Bucket([]byte("to")))); got != rows {
			t.Errorf("copied %d rows, want %d", got, rows)
		}
		return nil
	}))
}

// TestReportReadersAndWriterHang is bbolt #854 and #59: one goroutine began a read transaction while another waited to
// map the file anew, and everything came to a standstill, above all when the first held a read transaction already.
func TestReportReadersAndWriterHang(t *testing.T) {
	const rounds = 60
	db := openTemp(t, nil)
	must(t, db.Update(putNumbered("b", 1, 8)))
	var all sync.WaitGroup
	written := make(chan struct{})
	for range 4 {
		all.Go(func() {
			for {
				err := db.View(func(outer *kv.Tx) error {
					return db.View(func(inner *kv.Tx) error { return agree(outer, inner) })
				})
				if err != nil {
					t.Error(err)
				}
				select {
				case <-written:
					return
				default:
				}
			}
		})
	}
	for i := range rounds {
		must(t, db.Update(putNumbered(fmt.Sprint("large", i), 100, 1000)))
	}
	close(written)
	all.Wait()
}

// agree demands that the inner transaction, which began later, sees no less.
func agree(outer, inner *kv.Tx) error {
	was, is := len(keysOf(outer.Cursor().Bucket())), len(keysOf(inner.Cursor().Bucket()))
	if is < was || inner.ID() < outer.ID() {
		return fmt.Errorf("a transaction sees %d buckets at %d, one begun before it %d at %d", is, inner.ID(), was, outer.ID())
	}
	return nil
}
