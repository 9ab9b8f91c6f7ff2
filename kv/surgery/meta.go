// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package surgery

import (
	"cmp"
	"errors"
	"io"
	"os"

	"github.com/holtdb/holt/kv/internal/page"
)

// metaEnd is the number of bytes of a meta page that mean something.
const metaEnd = page.HeaderSize + page.MetaSize

// maxPageSize bounds what a damaged meta page may claim; larger pages could not be found again from the second one.
const maxPageSize = 16 << 20

// Meta is one of the two meta records of a file.
type Meta struct {
	Magic    uint32
	Version  uint32
	PageSize uint32
	Flags    uint32
	Root     uint64 // root page of the root bucket
	Sequence uint64 // of the root bucket
	Freelist uint64 // page of the free list, or NoFreelist
	HWM      uint64 // first page never allocated
	TxID     uint64 // of the transaction that wrote it
	Checksum uint64

	// Err says what is wrong with the record, nil when it is valid. It is kv.ErrInvalid, which a page size that is not
	// that of the file is too, kv.ErrVersionMismatch, kv.ErrChecksum, or ErrIncomplete.
	Err error
}

// ErrIncomplete is what is wrong with the meta page of a commit with a single sync that a crash has cut off: some of the
// pages that went down together with it are not there, and the other meta page counts.
var ErrIncomplete = page.ErrIncomplete

func metaOf(buf []byte) Meta {
	v := page.MetaOf(buf)
	return Meta{
		Magic: v.Magic(), Version: v.Version(), PageSize: v.PageSize(), Flags: v.Flags(),
		Root: v.Root(), Sequence: v.Sequence(), Freelist: v.Freelist(), HWM: v.HWM(), TxID: v.TxID(),
		Checksum: v.Checksum(), Err: v.Validate(),
	}
}

// HasFreelist says whether the record names a stored free list.
func (m Meta) HasFreelist() bool { return m.Freelist != NoFreelist }

// Meta reads meta record 0 or 1, valid or not. The error is that of reading what would show which of the two counts.
func (f *File) Meta(id int) (Meta, error) {
	_, metas, err := f.metas()
	return metas[id], err
}

// Active is the valid meta record of the latest transaction that is there as a whole; ok is false when neither is valid.
func (f *File) Active() (m Meta, ok bool) {
	id, metas, err := f.metas()
	return metas[id], err == nil && metas[id].Err == nil
}

// metas reads both meta records, and says which of them is the current state as opening a database would. If neither is
// valid it is any.
func (f *File) metas() (active int, metas [2]Meta, err error) {
	var pages [2]page.Page
	var unread [2]error
	for id := range pages {
		pages[id], unread[id] = f.metaPage(id)
		metas[id] = metaOf(pages[id])
	}
	active, errs, err := page.Newest(pages, f.f, f.size)
	for id := range metas {
		metas[id].Err = cmp.Or(unread[id], errs[id])
	}
	return active, metas, err
}

// metaPage reads a meta page, with zeros where there is nothing to read. The file may end behind its record.
func (f *File) metaPage(id int) (page.Page, error) {
	buf := make([]byte, f.pageSize)
	n, err := f.f.ReadAt(buf, f.offset(uint64(id)))
	if errors.Is(err, io.EOF) && n >= metaEnd {
		err = nil
	}
	return buf, err
}

// detectPageSize finds the page size as opening a database does: from meta 0, else from the first place where a valid
// meta 1 lies. When neither is valid it still believes a meta 0 with a sound page size, and at last assumes that of the
// operating system, so that the rest of a damaged file can be read.
func detectPageSize(f io.ReaderAt, size int64) (int, error) {
	if m, ok := readMeta(f, 0); ok && m.Err == nil && plausible(m.PageSize, size) {
		return int(m.PageSize), nil
	}
	for off := int64(page.MinSize); off <= maxPageSize && off+metaEnd <= size; off *= 2 {
		if m, ok := readMeta(f, off); ok && m.Err == nil && int64(m.PageSize) == off {
			return int(off), nil
		}
	}
	if m, ok := readMeta(f, 0); ok && m.PageSize&(m.PageSize-1) == 0 && plausible(m.PageSize, size) {
		return int(m.PageSize), nil
	}
	if guess := os.Getpagesize(); plausible(uint32(guess), size) {
		return guess, nil
	}
	return 0, ErrNotDatabase
}

func readMeta(f io.ReaderAt, off int64) (m Meta, ok bool) {
	var buf [metaEnd]byte
	if _, err := f.ReadAt(buf[:], off); err != nil {
		return Meta{}, false
	}
	return metaOf(buf[:]), true
}

// plausible says whether pages of that size can hold a meta record, and the file two of them.
func plausible(pageSize uint32, size int64) bool {
	return metaEnd <= pageSize && pageSize <= maxPageSize && 2*int64(pageSize) <= size
}
