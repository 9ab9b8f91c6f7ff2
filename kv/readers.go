// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "slices"

// readers counts the open read transactions of each snapshot, oldest first. Guarded by DB.mu.
type readers struct {
	snaps []readerCount
	open  int
}

type readerCount struct {
	txid uint64
	n    int
}

// add registers a reader of the newest snapshot.
func (r *readers) add(txid uint64) {
	r.open++
	if last := len(r.snaps) - 1; last >= 0 && r.snaps[last].txid == txid {
		r.snaps[last].n++
		return
	}
	r.snaps = append(r.snaps, readerCount{txid, 1})
}

// remove ends one reader of a snapshot.
func (r *readers) remove(txid uint64) {
	r.open--
	for i := len(r.snaps) - 1; i >= 0; i-- {
		if r.snaps[i].txid != txid {
			continue
		}
		if r.snaps[i].n--; r.snaps[i].n == 0 {
			r.snaps = slices.Delete(r.snaps, i, i+1)
		}
		return
	}
}

// appendTo adds the snapshots that have readers, ascending.
func (r *readers) appendTo(ids []uint64) []uint64 {
	for _, s := range r.snaps {
		ids = append(ids, s.txid)
	}
	return ids
}
