// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"context"

	"github.com/holtdb/holt/kv/internal/page"
	"github.com/holtdb/holt/kv/internal/pageset"
)

const (
	// leastHole is the number of bytes that are worth a hole: many small ones scatter the file over the disk.
	leastHole = 16 << 10

	// holesPerTurn is how many holes are made before other writers have their turn.
	holesPerTurn = 64

	// turnsAtMost is how often PunchHoles tries to come before other writers.
	turnsAtMost = 10
)

// PunchHoles gives free pages in the middle of the file back to the file system, where 16 KiB or more lie side by side,
// and returns how many bytes those are; some may have been given back before. The length of the file stays, and the pages
// stay free: writing to them takes the space again, for which there must be room on the disk then. Only pages are given
// back that no open transaction can see, nor either of the two states that the file holds.
//
// Errors: [errors.ErrUnsupported] where the system or the file system cannot do that, as anywhere but on Linux;
// [ErrDatabaseReadOnly], [ErrDatabaseNotOpen], the [*CorruptError] of the search for free pages, that of ctx, what the
// system says.
func (db *DB) PunchHoles(ctx context.Context) (punched int64, err error) {
	tries := 0
	for at := uint64(2); ; {
		tx, err := db.beginWrite(ctx)
		if err != nil {
			return punched, err
		}
		other, same := tx.otherState()
		if !same { // which a commit that changes nothing is the end of
			if err := tx.commit(); err != nil || tries == turnsAtMost {
				return punched, err
			}
			tries++
			continue
		}
		n, next, err := tx.punch(at, other)
		tx.discard()
		punched += n
		if err != nil || next == at {
			return punched, err
		}
		at, tries = next, 0
	}
}

// otherState is the meta page that does not hold the current state, and whether it has the same trees. One that is not
// valid has none.
func (tx *Tx) otherState() (other page.MetaRecord, same bool) {
	m := page.MetaOf(tx.data[int(tx.meta.TxID%2)*tx.pageSize:]) // tx is to replace it
	if m.ValidateFor(tx.pageSize) != nil {
		return page.MetaRecord{Root: tx.meta.Root, Freelist: page.NoFreelist}, true
	}
	other = m.Record()
	return other, other.Root == tx.meta.Root
}

// punch makes holes of free pages from at on, and returns where to go on; at when there is nothing more.
func (tx *Tx) punch(at uint64, other page.MetaRecord) (punched int64, next uint64, err error) {
	if err := tx.settle(); err != nil {
		return 0, at, err
	}
	least := max(leastHole/tx.pageSize, 1)
	kept := tx.listRun(other.Freelist)
	next = at
	for _, r := range tx.db.freelist.runs(at, tx.meta.HWM, least, holesPerTurn) {
		next = r.id + uint64(r.n)
		if kept.id < next && r.id < kept.id+uint64(kept.n) {
			continue
		}
		off, length := int64(r.id)*int64(tx.pageSize), int64(r.n)*int64(tx.pageSize)
		if err := tx.db.file.PunchHole(off, length); err != nil {
			return punched, next, err
		}
		punched += length
	}
	return punched, next, nil
}

// listRun are the pages of a stored free list, none if there is none.
func (tx *Tx) listRun(id uint64) run {
	if id == page.NoFreelist || id >= uint64(len(tx.data)/tx.pageSize) {
		return run{}
	}
	p := page.Page(tx.data[id*uint64(tx.pageSize):])
	return run{id, p.Overflow() + 1}
}

// runs returns up to most runs of free pages in [from, to), each as long as it goes and of least pages or more.
func (f *freelist) runs(from, to uint64, least, most int) (runs []run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(runs) < most {
		id, ok := f.free.FirstRun(from, least)
		if !ok || id >= to {
			break
		}
		n := lengthOf(&f.free, id, to)
		runs = append(runs, run{id, n})
		from = id + uint64(n)
	}
	return runs
}

// lengthOf is the number of pages side by side from id on and below to.
func lengthOf(s *pageset.Set, id, to uint64) (n uint32) {
	for ; id < to && s.Has(id) && n < 1<<31; id++ {
		n++
	}
	return n
}
