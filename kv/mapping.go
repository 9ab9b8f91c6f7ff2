// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"errors"
	"math"
	"math/bits"
	"runtime"
	"slices"

	"github.com/holtdb/holt/internal/file"
)

// mapping is a view of the file. When the file outgrows it a longer one takes its place, and this one is retired: it stays
// until the last transaction that reads through it has ended, and nobody waits.
type mapping struct {
	m      file.Mapping
	refs   int    // one while it is current, one of the write transaction; those of readers are in their places
	locked int    // bytes held in memory
	first  uint64 // n of the first snapshot that it shows
	end    uint64 // of the first that another shows, once retired
	held   heldPages
}

func (m *mapping) bytes() []byte { return m.m.Bytes() }

const (
	minMapSize = 1 << 15
	mapStep    = 1 << 30 // mappings double up to this size, then grow by it
)

// maxMapSize is the longest mapping, 256 TiB; an int may hold less.
const maxMapSize = 0xFFFFFFFFFFFF

var errMapTooLarge = errors.New("mmap too large")

// mapSize rounds a length up to the one that is mapped.
func mapSize(n int64, pageSize int) (int64, error) {
	if n > min(maxMapSize, math.MaxInt) {
		return 0, errMapTooLarge
	}
	if n <= mapStep {
		return max(minMapSize, int64(1)<<bits.Len64(uint64(n-1))), nil
	}
	n = (n + mapStep - 1) / mapStep * mapStep
	if ps := int64(pageSize); n%ps != 0 {
		n = (n/ps + 1) * ps
	}
	return min(n, maxMapSize, math.MaxInt), nil
}

// newMapping maps the file for at least n bytes.
func (db *DB) newMapping(n int64) (*mapping, error) {
	size, err := mapSize(n, db.pageSize)
	if err != nil {
		return nil, err
	}
	if limit := int64(db.MaxSize); runtime.GOOS == "windows" && limit > 0 && size > max(limit, db.fileSize) {
		return nil, ErrMaxSizeReached // the file would become as long as its mapping
	}
	m, err := db.file.Map(int(size), file.MapOptions{Flags: db.MmapFlags, Random: true})
	if err != nil {
		return nil, err
	}
	return &mapping{m: m, refs: 1, held: newHeldPages(uint64(size) / uint64(db.pageSize))}, nil
}

// lockMemory keeps the part of the mapping that the file fills in physical memory, if Mlock asks for it.
func (db *DB) lockMemory(m *mapping, fileSize int64) error {
	n := int(min(fileSize, int64(len(m.bytes()))))
	if !db.Mlock || n <= m.locked {
		return nil
	}
	if err := m.m.Lock(n); err != nil {
		return err
	}
	m.locked = n
	return nil
}

// reap ends the mappings that nobody uses any more, and the wait of Close. It is to be called after a transaction has
// ended that read through a retired mapping, or while the database is being closed.
func (db *DB) reap() {
	db.mu.Lock()
	var unused []*mapping
	db.retired = slices.DeleteFunc(db.retired, func(m *mapping) bool {
		if m.refs > 0 || db.readers.use(m) {
			return false
		}
		unused = append(unused, m)
		return true
	})
	if db.closing != nil && !db.ended && db.readers.open() == 0 {
		db.ended = true
		close(db.closing)
	}
	db.mu.Unlock()
	for _, m := range unused {
		db.unmap(m)
	}
}

// unmap ends a mapping that nobody uses. The error of a mapping that will not go away is of no use to the
// transaction that happened to be its last.
func (db *DB) unmap(m *mapping) {
	if err := m.close(); err != nil {
		db.logger.Errorf("unmapping %s failed: %v", db.file.Name(), err)
	}
}

func (m *mapping) close() error {
	var err error
	if m.locked > 0 {
		err = m.m.Unlock(m.locked)
	}
	return errors.Join(err, m.m.Unmap())
}
