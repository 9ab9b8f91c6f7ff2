// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "fmt"

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
	if tx.err == nil {
		tx.err = e
	}
	tx.thrown = e
	return e
}

// Err returns the damage that this transaction has met, or nil. Inside View and Update nobody needs to ask: they
// return it.
func (tx *Tx) Err() error {
	if tx.err == nil {
		return nil
	}
	return tx.err
}

// catch turns a panic with this transaction's damage into an error, and lets every other panic pass. It is to be
// deferred, and looks for a panic only where there was damage, so that others keep their stack.
func (tx *Tx) catch(err *error) {
	if tx.err == nil {
		return
	}
	if r := recover(); r != nil {
		if e, ok := r.(*CorruptError); !ok || e != tx.thrown {
			panic(r)
		}
	}
	if *err == nil {
		*err = tx.err
	}
}
