// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"crypto/sha256"
	"io"
	"iter"
	"time"
)

// A Source finds binaries by their ids.
type Source interface {
	// Open opens a binary: [NotFoundError] if it is not there, [ErrID] if the id is none of this store's.
	Open(id string) (io.ReadCloser, error)
	// Digest is the SHA-256 and the length of a binary, if its id says that. It need not be there.
	Digest(id string) (sum [sha256.Size]byte, length int64, ok bool)
}

// A Store keeps binaries. blobtest has what is expected of one.
type Store interface {
	Source
	// Write keeps all that r has, and returns the id: the same for the same bytes. When it returns the binary is durable,
	// and as if it had been written just now, even if it was there. After an error, which may be that of r, there is no
	// binary more than before, unless it is the one of r as a whole.
	Write(r io.Reader) (id string, err error)
	// Key is what the ids of one binary have in common: the Key of its Entry, in which it is a prefix of the ID. It is
	// empty if the binary is in the id itself. [ErrID] if the id is none of this store's.
	Key(id string) (string, error)
	// All goes through the binaries that are kept, in order of their keys; those in ids are not. Of what is written or
	// deleted meanwhile it may show some. An error is the last.
	All() iter.Seq2[Entry, error]
	// Delete deletes a binary, if it is there and was last written before a time.
	Delete(id string, before time.Time) (deleted bool, err error)
	// Clean deletes what is left of writes that never ended, if there was no more of them since a time; or only counts it.
	Clean(before time.Time, dryRun bool) (Tally, error)
}

// Entry is a binary that is kept.
type Entry struct {
	ID       string
	Key      string
	Size     int64 // in bytes
	Modified time.Time
}

// Tally counts binaries and their bytes.
type Tally struct {
	Count int64
	Bytes int64
}

func (t *Tally) add(size int64) {
	t.Count++
	t.Bytes += size
}

var (
	_ Store = (*FileStore)(nil)
	_ Store = (*Memory)(nil)
)
