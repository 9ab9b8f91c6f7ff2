// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/holtdb/holt/kv/internal/page"
)

// CorruptError reports bytes that no version of this format could have left in the file.
//
// View, Update and Batch return it. A transaction from [DB.Begin] panics with the pointer, since methods like
// [Bucket.Get] have no error to return; whoever recovers can go on using the database, and [Tx.Err] keeps it. A write
// transaction that met damage cannot commit.
type CorruptError struct {
	Path   string
	Page   Pgid  // the page that was being read
	Off    int64 // where in the file, in bytes, to point a hex dump
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("kv: %s: page %d, offset %d: %s", e.Path, e.Page, e.Off, e.Reason)
}

// corrupt records damage found in page id and panics with it. Kept out of line, so that the searches stay small.
//
//go:noinline
func (tx *Tx) corrupt(id uint64, format string, args ...any) {
	panic(tx.damage(id, fmt.Sprintf(format, args...)))
}

// damage records what is wrong with page id. The first finding stays.
func (tx *Tx) damage(id uint64, reason string) *CorruptError {
	e := &CorruptError{Path: tx.path, Page: Pgid(id), Off: int64(id) * int64(tx.pageSize), Reason: reason}
	n := tx.note()
	if n.err == nil {
		n.err = e
	}
	n.thrown = e
	return e
}

// Err returns the damage that this transaction has met, or nil. Inside View and Update nobody needs to ask: they
// return it.
func (tx *Tx) Err() error {
	if tx.notes == nil || tx.notes.err == nil {
		return nil
	}
	return tx.notes.err
}

// catch turns a panic with this transaction's damage into an error, and lets every other panic pass. It is to be
// deferred, and looks for a panic only where there was damage, so that others keep their stack.
func (tx *Tx) catch(err *error) {
	if tx.Err() == nil {
		return
	}
	if r := recover(); r != nil {
		if e, ok := r.(*CorruptError); !ok || e != tx.notes.thrown {
			panic(r)
		}
	}
	if *err == nil {
		*err = tx.notes.err
	}
}

func (tx *Tx) badPageID(id uint64) {
	switch {
	case tx.db == nil:
		panic("assertion failed: tx closed")
	case id < 2:
		tx.corrupt(id, "page %d: invalid type: meta", id)
	case id < tx.meta.HWM:
		tx.corrupt(id, "page %d lies beyond the end of the file", id)
	}
	tx.corrupt(id, "page %d: out of bounds: %d", id, tx.meta.HWM)
}

func (tx *Tx) badHeader(id uint64, p page.Page) {
	switch flags := p.Flags(); {
	case p.ID() != id:
		tx.corrupt(id, "assertion failed: Page expected to be: %d, but self identifies as %d", id, p.ID())
	case !page.ValidFlags(flags):
		tx.corrupt(id, "assertion failed: page %d: has unexpected type/flags: %x", id, flags)
	default:
		tx.corrupt(id, "invalid page type: %d: %x", id, flags)
	}
}

// home is the page with the bytes p, which are those of page id: id itself, or if that is 0 because they belong to an
// inline bucket, the page whose value this is; 0 if it is not in the file.
func (tx *Tx) home(id uint64, p []byte) uint64 {
	if id != 0 {
		return id
	}
	off := tx.offset(p)
	if off >= uint64(len(tx.data)) {
		return 0
	}
	return off / uint64(tx.pageSize)
}

// offset is where in the mapping the bytes p lie, not below its length if elsewhere.
func (tx *Tx) offset(p []byte) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p))) - uintptr(unsafe.Pointer(unsafe.SliceData(tx.data))))
}

func (tx *Tx) badElement(id uint64, i int) {
	tx.corrupt(id, "element %d of page %d leads out of the page", i, id)
}

// misplaced says what of page id is not in the range r.
func (tx *Tx) misplaced(id uint64, p page.Page, r keyRange) {
	last := p.Count() - 1
	for _, i := range []int{0, last} {
		switch key, ok := p.Key(i); {
		case !ok:
			tx.badElement(id, i)
		case r.lo != nil && bytes.Compare(key, r.lo) < 0:
			tx.corrupt(id, "key %d of page %d is %x, below %x, which leads there", i, id, key, r.lo)
		case r.hi != nil && bytes.Compare(key, r.hi) >= 0:
			tx.corrupt(id, "key %d of page %d is %x, not below %x, the next that leads elsewhere", i, id, key, r.hi)
		}
	}
}

func (tx *Tx) unordered(id uint64, i int, key []byte) {
	tx.corrupt(id, "key %d of page %d is %x, not above the one before", i, id, key)
}

func (tx *Tx) badBucket(id uint64, value []byte) {
	id = tx.home(id, value)
	tx.corrupt(id, "bucket value of %d bytes in page %d is no bucket", len(value), id)
}

func (tx *Tx) badInline(id uint64, i int) {
	tx.corrupt(id, "element %d of an inline bucket in page %d is a bucket", i, id)
}

func (tx *Tx) overlapping(id uint64, size int64, p page.Page) {
	id = tx.home(id, p)
	tx.corrupt(id, "the elements of page %d take %d bytes, and it has %d: they overlap", id, size, len(p))
}

func (tx *Tx) emptyBranch(id uint64) { tx.corrupt(id, "branch page %d has no elements", id) }

func (tx *Tx) badChild(id uint64, i int, child uint64) {
	tx.corrupt(id, "element %d of branch page %d: page %d: out of bounds: %d", i, id, child, tx.meta.HWM)
}

func (tx *Tx) tooDeep(id uint64) {
	tx.corrupt(id, "page %d lies more than %d levels deep: the pages form a cycle", id, maxDepth)
}

func (tx *Tx) tooNested(id uint64) {
	tx.corrupt(id, "page %d is the root of a bucket that lies in itself, or more than %d deep", id, maxNesting)
}

func (tx *Tx) tooManyLeaves(id uint64) {
	tx.corrupt(id, "page %d is one of more leaves than there are pages: several pages refer to some", id)
}

func (tx *Tx) tooMany(id uint64) {
	tx.corrupt(id, "page %d is one of more than there are: several refer to some, or they form a cycle", id)
}
