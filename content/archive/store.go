// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"iter"

	"github.com/holtdb/holt/content/segment"
)

// A Store is where a content store is kept: a [Dir], or [Memory]. storetest has what is expected of one.
type Store interface {
	// Segment is a view of the bytes of a segment, if it is there. It is looked for in the newest archive first.
	Segment(id segment.ID) ([]byte, bool)
	// Append adds a segment, whose bytes must not change afterwards. It is durable after the next Flush or SetHead. Ids of
	// binaries kept outside, that records in it have in other segments, may come later; until then BlobReferences is
	// without them.
	Append(s *segment.Segment) error
	// Flush makes durable what was appended, and the head.
	Flush() error
	// Roll closes the archive that is being written to, so that the next Append begins another. If ids of binaries are yet
	// to come, as said of Append, it is closed when they have.
	Roll() error
	// Archives are those there are, newest first; the one that is being written to is among them.
	Archives() []Archive

	// Head is the newest revision whose segment is there; false if there is none.
	Head() (segment.RecordID, bool)
	// SetHead replaces the head, if it is old: otherwise [ErrConflict]. The zero id is that of no head. The new one must be
	// there, and a node by the table of its segment: otherwise [ErrHead] or another error. When it returns the
	// new head and all segments that were appended are durable, unless the store was opened to have that done later: see
	// [Options.FlushEvery].
	SetHead(old segment.RecordID, head Revision) error
	// Journal goes through the heads there were, newest first. Some may name segments that are not there.
	Journal() iter.Seq2[Revision, error]

	// Collections goes through the garbage collections there were, newest first.
	Collections() iter.Seq2[Collection, error]
	// AddCollection notes another one.
	AddCollection(c Collection) error

	// Version is that of the store: 1 for one of Oak 1.6 that was opened read-only, 2 otherwise.
	Version() int
	// Close makes everything durable and gives the store back to others. Segments are gone with it.
	Close() error
}

// A JournalReplacer is a Store whose journal can be written anew, when it was lost or leads nowhere. One whose heads cannot
// be lost without all else need not be.
type JournalReplacer interface {
	// ReplaceJournal makes the given revisions the journal, the oldest first, and the last one the head. There must be one
	// at least, and all must be what SetHead takes. All or nothing, also if there is a crash; what was the journal is kept
	// under the name backup, which is empty if there was none, or nothing is kept. The iterator must not call the store.
	ReplaceJournal(oldestFirst iter.Seq[Revision]) (backup string, err error)
}

// An Archive is a part of a store: segments that were written one after the other.
type Archive interface {
	// Name is that of the file, without directory.
	Name() string
	// Size is the length, in bytes.
	Size() int64
	// Entries goes through the segments in the order in which they were written.
	Entries() iter.Seq[Entry]
	// Segment is a view of the bytes of a segment, if it is in this archive.
	Segment(id segment.ID) ([]byte, bool)
	// Graph is the references of the segments.
	Graph() (Graph, error)
	// BlobReferences are the ids of binaries kept outside.
	BlobReferences() (BlobReferences, error)
}

var (
	_ Store           = (*Dir)(nil)
	_ JournalReplacer = (*Dir)(nil)
	_ Store           = (*memoryStore)(nil)
	_ JournalReplacer = (*memoryStore)(nil)
	_ Archive         = (*Reader)(nil)
	_ Archive         = (*Writer)(nil)
)
