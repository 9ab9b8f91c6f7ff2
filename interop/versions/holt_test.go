// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/holtdb/holt/kv"
)

// A format is what a file is made with.
type format struct {
	pageSize       int
	noFreelistSync bool
	boltPlacement  bool // of kv only
}

func (f format) String() string {
	return fmt.Sprintf("page size %d, no freelist %t, bolt placement %t", f.pageSize, f.noFreelistSync, f.boltPlacement)
}

func openHolt(t *testing.T, file string, f format) *kv.DB {
	t.Helper()
	opts := &kv.Options{}
	opts.PageSize = f.pageSize
	opts.NoFreelistSync = f.noFreelistSync
	opts.BoltPlacement = f.boltPlacement
	opts.NoSync = true
	db, err := kv.Open(file, 0o600, opts)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func closeHolt(t *testing.T, db *kv.DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// applyHolt runs a script with kv.
func applyHolt(t *testing.T, file string, f format, s script) {
	t.Helper()
	db := openHolt(t, file, f)
	runHolt(t, db, s)
	closeHolt(t, db)
}

func runHolt(t *testing.T, db *kv.DB, s script) {
	t.Helper()
	for len(s) > 0 {
		err := db.Update(func(tx *kv.Tx) error {
			for len(s) > 0 {
				c := s[0]
				s = s[1:]
				if c.verb == "commit" {
					break
				}
				if err := applyCommand(tx, c); err != nil {
					return fmt.Errorf("%s %q %.20q: %w", c.verb, c.at, c.key, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func applyCommand(tx *kv.Tx, c command) (err error) {
	outer := tx.Cursor().Bucket()
	for _, name := range c.at[:len(c.at)-1] {
		outer = outer.Bucket([]byte(name))
	}
	name := []byte(c.at[len(c.at)-1])
	switch c.verb {
	case "bucket":
		_, err = outer.CreateBucket(name)
	case "drop":
		err = outer.DeleteBucket(name)
	case "put":
		err = outer.Bucket(name).Put([]byte(c.key), []byte(c.value))
	case "delete":
		err = outer.Bucket(name).Delete([]byte(c.key))
	case "sequence":
		err = outer.Bucket(name).SetSequence(c.sequence)
	}
	return err
}

// verifyHolt demands that kv reads what it should and finds no damage.
func verifyHolt(t *testing.T, file string, want []string) {
	t.Helper()
	db := openHolt(t, file, format{})
	defer closeHolt(t, db)
	var got []string
	err := db.View(func(tx *kv.Tx) error {
		for err := range tx.Check() {
			t.Errorf("check: %v", err)
		}
		return tx.ForEach(func(name []byte, b *kv.Bucket) error {
			got = dumpHolt(got, hex.EncodeToString(name), b)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, got, want)
}

// dumpHolt lists a bucket as the driver does.
func dumpHolt(lines []string, at string, b *kv.Bucket) []string {
	lines = append(lines, fmt.Sprintf("bucket %s %d", at, b.Sequence()))
	var subs [][]byte
	for k, v := range b.All() {
		if v == nil {
			subs = append(subs, k)
		} else {
			lines = append(lines, fmt.Sprintf("pair %s %s %s", at, word(string(k)), word(string(v))))
		}
	}
	for _, name := range subs {
		lines = dumpHolt(lines, at+"/"+hex.EncodeToString(name), b.Bucket(name))
	}
	return lines
}

// compare shows the first line in which two dumps differ.
func compare(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("line %d of %d: got %.200q, want %.200q (of %d)", i, len(got), at(got, i), at(want, i), len(want))
		}
	}
}

func at(lines []string, i int) string {
	if i >= len(lines) {
		return "nothing"
	}
	return lines[i]
}
