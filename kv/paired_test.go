// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

// pairedImage returns a file that was not closed, whose last commit, number 4, set b to new and has a paired meta page,
// and the runs that this commit wrote.
func pairedImage(t *testing.T) (image []byte, sums []page.RunSum) {
	t.Helper()
	disk := file.NewMemory()
	db := mustOpenSim(t, disk, kv.Options{PageSize: 1024, SingleSync: true})
	must(t, db.Update(putAllIn("b", "k=old")))
	must(t, db.Update(putNumbered("c", 100, 20)))
	must(t, db.Update(putAllIn("b", "k=new")))
	image = readSim(t, disk, simPath)
	must(t, db.Close())
	m := page.MetaOf(image)
	sums, ok := page.Page(image[:1024]).PairedSums()
	if !m.Paired() || !ok || m.TxID() != 4 || len(sums) == 0 {
		t.Fatalf("meta page of transaction %d, paired %t, with %v, %t", m.TxID(), m.Paired(), sums, ok)
	}
	return image, sums
}

// putAllIn makes a bucket and puts pairs written as k=v into it.
func putAllIn(bucket string, pairs ...string) func(tx *kv.Tx) error {
	return func(tx *kv.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte(bucket))
		if err != nil {
			return err
		}
		for _, p := range pairs {
			k, v, _ := bytes.Cut([]byte(p), []byte("="))
			if err := b.Put(k, v); err != nil {
				return err
			}
		}
		return nil
	}
}

func valueIn(t *testing.T, db *kv.DB) (value string) {
	t.Helper()
	must(t, db.View(func(tx *kv.Tx) error {
		value = string(tx.Bucket([]byte("b")).Get([]byte("k")))
		return nil
	}))
	return value
}

// TestTornCommit damages what a paired meta page depends on, byte by byte: the commit before is what is left.
func TestTornCommit(t *testing.T) {
	image, sums := pairedImage(t)
	var places []int
	for _, s := range sums {
		for i := range int(s.Pages) * 1024 {
			if i%97 == 0 || i%1024 < 16 {
				places = append(places, int(s.ID)*1024+i)
			}
		}
	}
	for i := 80; i < 88+16*len(sums); i++ {
		places = append(places, i)
	}
	for _, at := range places {
		torn := bytes.Clone(image)
		torn[at] ^= 0x20
		disk := memoryWith(t, torn)

		db := mustOpenSim(t, disk, kv.Options{ReadOnly: true})
		if v := valueIn(t, db); v != "old" {
			t.Errorf("byte %d changed: read-only, the value is %q", at, v)
		}
		must(t, db.Close())
		if !bytes.Equal(readSim(t, disk, simPath), torn) {
			t.Fatalf("byte %d changed: a read-only Open wrote to the file", at)
		}

		db = mustOpenSim(t, disk, kv.Options{})
		if v := valueIn(t, db); v != "old" {
			t.Errorf("byte %d changed: the value is %q", at, v)
		}
		m := page.MetaOf(readSim(t, disk, simPath))
		if m.Validate() != nil || m.Paired() || m.TxID() != 3 {
			t.Errorf("byte %d changed: the meta page is of transaction %d, %v", at, m.TxID(), m.Validate())
		}
		must(t, db.Update(putAllIn("b", "k=newer")))
		closeClean(t, db)
	}
}

// TestPairedCommit opens what arrived as a whole, and leaves a plain meta page behind.
func TestPairedCommit(t *testing.T) {
	image, _ := pairedImage(t)
	disk := memoryWith(t, image)
	db := mustOpenSim(t, disk, kv.Options{})
	if v := valueIn(t, db); v != "new" {
		t.Errorf("the value is %q", v)
	}
	closeClean(t, db)
	after := readSim(t, disk, simPath)
	if m := page.MetaOf(after[1024:]); m.TxID() != 5 || m.Paired() || m.Flags() != 0 {
		t.Errorf("Close left the meta page of transaction %d, paired %t", m.TxID(), m.Paired())
	}
}

// TestPairedMarkIsNotCopied has a meta page whose flags were taken over from the one before, as bbolt does.
func TestPairedMarkIsNotCopied(t *testing.T) {
	image, sums := pairedImage(t)
	p := page.Page(image[:1024])
	m := page.MetaOf(p)
	m.SetTxID(m.TxID() + 2)
	m.Seal()
	clear(p[80:])
	image[sums[0].ID*1024+1023] ^= 1 // of the rest of a page
	db := mustOpenSim(t, memoryWith(t, image), kv.Options{})
	if v := valueIn(t, db); v != "new" {
		t.Errorf("the value is %q", v)
	}
	closeClean(t, db)
}

// TestPairedCalls counts what a commit with a single sync does, and that a large one has two.
func TestPairedCalls(t *testing.T) {
	db, disk := openMemory(t, &kv.Options{PageSize: 1024, SingleSync: true})
	must(t, db.Update(putNumbered("b", 1000, 32)))
	must(t, db.Update(putNumbered("gone", 20_000, 1000)))
	must(t, db.Update(func(tx *kv.Tx) error { return tx.DeleteBucket([]byte("gone")) }))
	for _, test := range []struct {
		name   string
		change func(tx *kv.Tx) error
		syncs  int
	}{
		{"small", putNumbered("b", 1, 32), 1},
		{"a large value", putAllIn("b", "k="+string(make([]byte, 3<<20))), 1},
		{"too large a value", putAllIn("b", "k="+string(make([]byte, 5<<20))), 2},
		{"many pages", putNumbered("many", 2000, 600), 2},
		{"small again", putNumbered("b", 1, 32), 1},
	} {
		before := disk.Counts()
		must(t, db.Update(test.change))
		after := disk.Counts()
		if got := after.DataSyncs + after.Throughs - before.DataSyncs - before.Throughs; got != test.syncs {
			t.Errorf("%s: %d syncs, want %d", test.name, got, test.syncs)
		}
		if got := after.Syncs - before.Syncs; got != 0 {
			t.Errorf("%s: %d full syncs", test.name, got)
		}
	}
}
