// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/holtdb/holt/internal/file"
)

// Limits of keys and values, in bytes.
const (
	MaxKeySize   = 32768
	MaxValueSize = (1 << 31) - 2
)

// DefaultFillPercent is the share of a page that the left part of a split fills, unless Bucket.FillPercent says
// otherwise.
const DefaultFillPercent = 0.5

// What [Open] sets the fields of a [DB] to.
const (
	DefaultMaxBatchSize  int = 1000
	DefaultMaxBatchDelay     = 10 * time.Millisecond
	DefaultAllocSize         = 16 << 20
)

// IgnoreNoSync says that NoSync has no effect here: the operating system keeps no unified buffer cache, so that writes
// must be flushed to be seen through the mapping.
const IgnoreNoSync = runtime.GOOS == "openbsd"

// FreelistType is how bbolt keeps free pages in memory. Here both types behave the same.
type FreelistType string

// The types of free lists. Any other value means [FreelistArrayType].
const (
	FreelistArrayType FreelistType = "array"
	FreelistMapType   FreelistType = "hashmap"
)

// DefaultOptions are what [Open] uses in place of nil. They are shared by the whole program: a change holds for every
// database opened after it.
var DefaultOptions = &Options{FreelistType: FreelistArrayType}

// Options adjust how a database is opened. The zero value of every field is its default.
type Options struct {
	// Timeout limits how long Open waits for the lock of the file, which another process or another Open may
	// hold. Zero waits for ever. A limit below 50 ms makes a single attempt.
	Timeout time.Duration

	// NoGrowSync sets DB.NoGrowSync: the file is not extended and flushed ahead of the writes that need the space.
	NoGrowSync bool

	// Progress is told how many pages more were looked at by a walk over the whole file to find the free ones, see
	// PreLoadFreelist. It is called now and then, from several goroutines.
	Progress func(pages int64)

	// NoFreelistSync sets DB.NoFreelistSync: free pages are never stored, so that the first write transaction after the
	// next Open must walk over the whole file to find them.
	NoFreelistSync bool

	// SyncFreelist stores the free pages with each commit, as bbolt does. Otherwise they are stored by [DB.Close], so that
	// a commit costs in proportion to what it changes and not to the number of free pages; after a crash, or without
	// Close, the first write transaction walks over the whole file to find them. With SyncFreelist Open does that, and
	// stores them at once, unless NoFreelistSync forbids it. BoltPlacement implies it.
	SyncFreelist bool

	// SingleSync makes a commit durable with one flush instead of two, as long as it writes no more than about 4 MiB in
	// some hundred places: the meta page goes down together with the pages that it leads to, and has their checksums. The
	// file stays one of bbolt, but after a crash of the system it must be opened by this package first: bbolt
	// would take a commit for complete of which parts are missing. Close removes the need.
	SingleSync bool

	// PreLoadFreelist makes Open find out which pages are free, and return the damage that it meets on the way. Otherwise
	// Open reads their list if one is stored and the file is not opened read-only; if none is, as after a crash, the first
	// write transaction walks over the whole file to find them, or [DB.Shrink] or [Tx.Page] if that comes before.
	// SyncFreelist and BoltPlacement imply it for a file that is not opened read-only.
	PreLoadFreelist bool

	// FreelistType is kept for programs that set it.
	FreelistType FreelistType

	// ReadOnly opens an existing file for reading only, under a shared lock.
	ReadOnly bool

	// MmapFlags are or-ed into the flags of mmap(2), such as syscall.MAP_POPULATE. Ignored where there is no mmap.
	MmapFlags int

	// InitialMmapSize is the least number of bytes to map at first. A mapping as large as the file will ever become
	// need not be replaced. No effect when zero, or smaller than the file. On Windows the file is extended to it.
	InitialMmapSize int

	// PageSize is the size of a page of a new file, in bytes: a power of two from 1024 to 16 MiB; that of the operating
	// system when zero. An existing file knows its own.
	PageSize int

	// MaxSize is the size in bytes that the file must not exceed; no limit when zero. See [ErrMaxSizeReached].
	MaxSize int

	// NoSync sets DB.NoSync: nothing is flushed, so that a power cut or a crash of the operating system can lose
	// or damage everything. For data that can be made again.
	NoSync bool

	// OpenFile opens files in place of os.OpenFile, also for [Tx.CopyFile], and for [Tx.WriteTo] when it has to
	// reopen the database.
	OpenFile func(string, int, os.FileMode) (*os.File, error)

	// Mlock locks the mapped file in memory, so that it is never paged out. Not available on Windows.
	Mlock bool

	// Logger receives what the database logs; nothing is logged when it and Slog are nil.
	Logger Logger

	// NoStatistics leaves out the counting behind [DB.Stats], which then returns zeros.
	NoStatistics bool

	// Slog receives what the database logs when Logger is nil.
	Slog *slog.Logger

	// BoltPlacement puts every page where bbolt with its array free list puts it, so that the same operations give
	// the same bytes as long as no reader is open. Without it, pages are placed and split so that files stay smaller
	// and are written faster; either kind of file is valid for both programs.
	BoltPlacement bool

	// AutoShrink, if not nil, has the database shrink by itself, as [DB.Shrink] does with these options, whenever that
	// would make a quarter of the file free, and 1 MiB or more. It looks every few seconds at the number of free pages
	// that are known, and every minute at some 256 pages, to see whether leaves are notably less than half full on
	// average; fuller ones, which splits leave too, are no reason to shrink. BytesPerSecond is its budget,
	// [DefaultShrinkRate] by default. What goes wrong is logged as a warning. Off when nil, and when the file is opened
	// read-only. Close ends it.
	AutoShrink *ShrinkOptions

	fs        file.FS       // of the tests; nil is the operating system
	autoEvery time.Duration // of the tests; 0 is the constant
	imagesMax int           // of the tests; 0 is the constant
	gullible  bool          // of the tests: believe every meta page
}

// String lists the options that a bbolt database has too, and those of this package that are set.
func (o *Options) String() string {
	if o == nil {
		return "{}"
	}
	s := fmt.Sprintf("{Timeout: %s, NoGrowSync: %t, NoFreelistSync: %t, PreLoadFreelist: %t, FreelistType: %s, "+
		"ReadOnly: %t, MmapFlags: %x, InitialMmapSize: %d, PageSize: %d, MaxSize: %d, NoSync: %t, OpenFile: %p, "+
		"Mlock: %t, Logger: %p, NoStatistics: %t",
		o.Timeout, o.NoGrowSync, o.NoFreelistSync, o.PreLoadFreelist, o.FreelistType,
		o.ReadOnly, o.MmapFlags, o.InitialMmapSize, o.PageSize, o.MaxSize, o.NoSync, o.OpenFile,
		o.Mlock, o.Logger, o.NoStatistics)
	if o.Slog != nil {
		s += fmt.Sprintf(", Slog: %p", o.Slog)
	}
	if o.SyncFreelist {
		s += ", SyncFreelist: true"
	}
	if o.SingleSync {
		s += ", SingleSync: true"
	}
	if o.BoltPlacement {
		s += ", BoltPlacement: true"
	}
	if o.AutoShrink != nil {
		s += ", AutoShrink: true"
	}
	return s + "}"
}
