// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package surgery reads and edits the raw pages of a kv database file without opening it as a database.
//
// It is for files that package kv refuses or answers with errors, and for looking at the format itself. A [File] shows
// pages as they lie on disk, reachable or not, and trusts nothing it reads: every position and length is held against
// the file before it is used, so that a damaged page gives an error and never more work or memory than its real size.
// A File may be used by several goroutines at once.
//
// Nothing is ever edited in place. [Edit] copies the source to a new file and hands an [Editor] of the copy to its
// function; the copy is durable when Edit returns, and gone when it fails. Whether an edit left a consistent database
// is for kv's Tx.Check to say.
//
// kv/FORMAT.md specifies the bytes.
package surgery

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv/internal/page"
)

// NoFreelist stands in the Freelist field of a [Meta] when no free list is stored.
const NoFreelist = page.NoFreelist

// ErrNotDatabase is returned by [Open] for a file in which not even the remains of a meta page can be found.
var ErrNotDatabase = errors.New("not a database: the file is too short to hold two meta pages")

// ErrInUse is returned by [Copy] and [Edit] when another process writes to the source.
var ErrInUse = errors.New("the database is in use by another process")

// PageError reports what is wrong with one page of a file.
type PageError struct {
	Page   uint64
	Off    int64 // where the page starts, in bytes
	Reason string
}

func (e *PageError) Error() string {
	return fmt.Sprintf("page %d, offset %d: %s", e.Page, e.Off, e.Reason)
}

// File is a database file opened for reading raw pages.
type File struct {
	f        file.File
	size     int64
	pageSize int
	hwm      uint64 // as found when the file was opened
}

// Open opens a file for reading and finds out its page size. It takes no lock: a database that is being written to can
// be looked at, at the risk of seeing a page half written.
func Open(path string) (*File, error) {
	return open(path, os.O_RDONLY)
}

func open(path string, flag int) (*File, error) {
	f, err := file.OS.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	raw := &File{f: f}
	if err := raw.survey(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return raw, nil
}

// survey finds out the measures of the file.
func (f *File) survey() (err error) {
	if f.size, err = f.f.Size(); err != nil {
		return err
	}
	if f.pageSize, err = detectPageSize(f.f, f.size); err != nil {
		return err
	}
	f.hwm = f.Pages()
	if m, ok := f.Active(); ok {
		f.hwm = min(m.HWM, f.hwm)
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

// PageSize is the size of a page in bytes.
func (f *File) PageSize() int { return f.pageSize }

// Pages is the number of whole pages the file has room for. Those from [File.HWM] on were never used.
func (f *File) Pages() uint64 { return uint64(f.size / int64(f.pageSize)) }

// HWM is the first page never allocated, as the active meta page said when the file was opened, though no more than
// the file has room for; all of the file when no meta page was valid.
func (f *File) HWM() uint64 { return f.hwm }

// Raw reads one page, whatever it holds.
func (f *File) Raw(id uint64) ([]byte, error) {
	if id >= f.Pages() {
		return nil, fmt.Errorf("page %d lies beyond the end of the file, which has %d pages", id, f.Pages())
	}
	buf := make([]byte, f.pageSize)
	_, err := f.f.ReadAt(buf, f.offset(id))
	return buf, err
}

// offset is where page id starts. The product cannot overflow for pages that are within the file.
func (f *File) offset(id uint64) int64 { return int64(id) * int64(f.pageSize) }

func (f *File) errorAt(id uint64, format string, args ...any) error {
	return &PageError{Page: id, Off: f.offset(id), Reason: fmt.Sprintf(format, args...)}
}

// syncDirOf makes the entry of a newly created file durable.
func syncDirOf(path string) error { return file.OS.SyncDir(filepath.Dir(path)) }
