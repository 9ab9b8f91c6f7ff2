// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/holtdb/holt/internal/file"
)

// generations is a database whose commits each write all keys anew, with the number of the transaction as value, so that
// a reader which sees a page that was used again sees two numbers, or a wrong one.
type generations struct {
	*DB
	t      testing.TB
	mapped atomic.Int64 // mappings that there are
}

const generationKeys = 300

func openGenerations(t testing.TB) *generations {
	t.Helper()
	g := &generations{t: t}
	counted := file.NewFault(file.OS)
	counted.FailIf(func(op file.Op) error {
		switch op.Kind {
		case file.OpMap:
			g.mapped.Add(1)
		case file.OpUnmap:
			g.mapped.Add(-1)
		}
		return nil
	})
	db, err := Open(filepath.Join(t.TempDir(), "my.db"), 0o600, &Options{PageSize: 1024, NoSync: true, fs: counted})
	if err != nil {
		t.Fatal(err)
	}
	g.DB = db
	g.commit(1)
	return g
}

// commit makes n commits. Values become longer now and then, for the file to outgrow its mapping.
func (g *generations) commit(n int) {
	g.t.Helper()
	for range n {
		err := g.Update(func(tx *Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			if err != nil {
				return err
			}
			for i := range generationKeys {
				value := make([]byte, 8+min(tx.ID(), 400))
				binary.BigEndian.PutUint64(value, uint64(tx.ID()))
				if err := b.Put(fmt.Appendf(nil, "%04d", i), value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			g.t.Fatal(err)
		}
	}
}

// look returns an error unless tx sees one generation, its own.
func look(tx *Tx) error {
	b, n := tx.Bucket([]byte("b")), 0
	for k, v := range b.All() {
		if id := binary.BigEndian.Uint64(v); id != uint64(tx.ID()) {
			return fmt.Errorf("a reader of transaction %d sees key %s of %d", tx.ID(), k, id)
		}
		n++
	}
	if n != generationKeys {
		return fmt.Errorf("a reader of transaction %d sees %d keys", tx.ID(), n)
	}
	return tx.Err()
}

// read is beginRead in steps, with so many commits before each.
func (g *generations) read(before [3]int) *Tx {
	g.t.Helper()
	s := g.snap.Load()
	g.commit(before[0])
	at := g.readers.announce(s)
	g.commit(before[1])
	s = g.confirm(at, s)
	g.commit(before[2])
	tx := at.newTx()
	tx.snapshot, tx.reader = s, at
	return tx
}

// TestReaderHangs has a reader hang between its steps while many commits are made, which use the pages again that it
// would have seen, and have the file outgrow its mapping.
func TestReaderHangs(t *testing.T) {
	for _, before := range [][3]int{{0, 0, 0}, {40, 0, 0}, {0, 40, 0}, {0, 0, 40}, {40, 40, 40}, {1, 1, 1}, {500, 100, 200}} {
		t.Run(fmt.Sprint(before), func(t *testing.T) {
			g := openGenerations(t)
			newest := g.snap.Load().meta.TxID + uint64(before[0]+before[1])
			tx := g.read(before)
			if tx.meta.TxID != newest {
				t.Errorf("the reader sees transaction %d where %d was the newest", tx.meta.TxID, newest)
			}
			for range 3 {
				if err := look(tx); err != nil {
					t.Error(err)
				}
				g.commit(20)
			}
			other := g.read([3]int{0, 3, 0})
			for _, tx := range []*Tx{tx, other} {
				if err := errors.Join(look(tx), tx.Rollback()); err != nil {
					t.Error(err)
				}
			}
			g.commit(2)
			if pending := g.Stats().PendingPageN; pending > 1000 {
				t.Errorf("%d pages are pending once the readers are gone", pending)
			}
			if n := g.mapped.Load(); n != 1 {
				t.Errorf("%d mappings are left, want 1", n)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
			if n := g.mapped.Load(); n != 0 {
				t.Errorf("%d mappings are left of a closed database", n)
			}
		})
	}
}

// TestReaderHangsWhileMappingEnds has a reader announce a snapshot whose mapping has lost its last other user: once it
// has moved on, the mapping goes away all the same.
func TestReaderHangsWhileMappingEnds(t *testing.T) {
	g := openGenerations(t)
	s := g.snap.Load()
	other, err := g.Begin(false)
	if err != nil {
		t.Fatal(err)
	}
	at := g.readers.announce(s)
	for g.snap.Load().maps == s.maps {
		g.commit(1)
	}
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if n := g.mapped.Load(); n != 2 {
		t.Errorf("%d mappings while a reader may use the first, want 2", n)
	}
	s = g.confirm(at, s)
	if n := g.mapped.Load(); n != 1 {
		t.Errorf("%d mappings once the reader has moved on, want 1", n)
	}
	tx := at.newTx()
	tx.snapshot, tx.reader = s, at
	if err := errors.Join(look(tx), tx.Rollback(), g.Close()); err != nil {
		t.Error(err)
	}
}

// TestReaderHangsWhileClosing has a reader announce a snapshot before Close and confirm after it has begun: it is refused,
// and Close, which has waited for it, ends.
func TestReaderHangsWhileClosing(t *testing.T) {
	g := openGenerations(t)
	s := g.snap.Load()
	at := g.readers.announce(s)
	closed := make(chan error)
	go func() { closed <- g.Close() }()
	for !g.snap.Load().closed {
		if tx, err := g.Begin(false); err == nil {
			_ = tx.Rollback()
		}
	}
	if _, err := g.Begin(false); !errors.Is(err, ErrDatabaseNotOpen) {
		t.Errorf("Begin while the database is being closed: %v", err)
	}
	select {
	case err := <-closed:
		t.Errorf("Close ended before the reader: %v", err)
	default:
	}
	if g.confirm(at, s) != nil {
		t.Error("a reader goes on in a database that is being closed")
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if n := g.mapped.Load(); n != 0 {
		t.Errorf("%d mappings are left of a closed database", n)
	}
}

// TestReadersTogether has readers begin and end in several goroutines while commits are made, until the database is
// closed under them.
func TestReadersTogether(t *testing.T) {
	const goroutines, commits = 6, 60
	g := openGenerations(t)
	var all sync.WaitGroup
	for n := range uint64(goroutines) {
		r := rand.New(rand.NewPCG(n, 1))
		all.Go(func() {
			var open []*Tx
			for {
				tx, err := g.Begin(false)
				if err != nil {
					if !errors.Is(err, ErrDatabaseNotOpen) {
						t.Error(err)
					}
					break
				}
				if r.IntN(8) == 0 {
					if err := look(tx); err != nil {
						t.Error(err)
					}
				}
				if open = append(open, tx); len(open) > r.IntN(5) {
					i := r.IntN(len(open))
					if err := errors.Join(look(open[i]), open[i].Rollback()); err != nil {
						t.Error(err)
					}
					open = append(open[:i], open[i+1:]...)
				}
			}
			for _, tx := range open {
				if err := errors.Join(look(tx), tx.Rollback()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	g.commit(commits)
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	all.Wait()
	if n := g.mapped.Load(); n != 0 {
		t.Errorf("%d mappings are left of a closed database", n)
	}
	if n := g.readers.open(); n != 0 {
		t.Errorf("%d readers are left of a closed database", n)
	}
}

// TestReaderPlaces has no more places than there were ever readers at once, though the pool that keeps those that are
// free may lose any.
func TestReaderPlaces(t *testing.T) {
	const most = 20
	g := openGenerations(t)
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		var open []*Tx
		for range 200 {
			if len(open) < most && r.IntN(2) == 0 {
				tx, err := g.Begin(false)
				if err != nil {
					t.Fatal(err)
				}
				open = append(open, tx)
			} else if len(open) > 0 {
				i := r.IntN(len(open))
				if err := open[i].Rollback(); err != nil {
					t.Fatal(err)
				}
				open = append(open[:i], open[i+1:]...)
			}
			if n := g.Stats().OpenTxN; n != len(open) {
				t.Fatalf("seed %d: %d readers are open, the statistics say %d", seed, len(open), n)
			}
		}
		for _, tx := range open {
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			if err := tx.Rollback(); !errors.Is(err, ErrTxClosed) {
				t.Fatalf("a second Rollback: %v", err)
			}
		}
		if seed%5 == 0 {
			g.readers.idle = sync.Pool{} // as a garbage collection may
		}
	}
	if n := len(g.readers.places()); n > most {
		t.Errorf("%d places for %d readers", n, most)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
