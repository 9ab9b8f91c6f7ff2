// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "github.com/holtdb/holt/kv/internal/page"

// snapshot is one committed state, and how to read it. It does not change, except for the one of a write transaction,
// which begins as a copy of the newest.
type snapshot struct {
	db       *DB
	n        uint64 // the first that was current after opening is 1, and each commit makes the next
	meta     page.MetaRecord
	maps     *mapping
	held     heldPages
	data     []byte // the mapping, as far as the file fills it
	limit    uint64 // page ids below it can be read
	pageSize int
	path     string
	closed   bool // no transaction may begin any more
}

func (db *DB) newSnapshot(meta page.MetaRecord, maps *mapping, data []byte) *snapshot {
	s := &snapshot{db: db, n: 1, meta: meta, maps: maps, held: maps.held, pageSize: db.pageSize, path: db.path}
	s.show(data)
	if last := db.snap.Load(); last != nil {
		s.n, s.closed = last.n+1, last.closed
	}
	if maps.first == 0 {
		maps.first = s.n
	}
	return s
}

// in is s in another mapping.
func (s *snapshot) in(maps *mapping, data []byte) *snapshot {
	moved := *s
	moved.maps, moved.held = maps, maps.held
	moved.show(data)
	maps.first = s.n
	return &moved
}

// show sets the bytes that are read.
func (s *snapshot) show(data []byte) {
	s.data = data
	s.limit = min(s.meta.HWM, uint64(len(data)/s.pageSize))
}
