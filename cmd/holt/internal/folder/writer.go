// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"fmt"
	"slices"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/kv"
)

// TxMaxSize is the number of bytes that a [Writer] gathers before it commits them: few enough to be kept in memory, and
// enough for the sync of a commit not to count.
const TxMaxSize = 8 << 20

// Writer puts folders and files into the buckets of a database, many in one transaction.
type Writer struct {
	db   *kv.DB
	into bucket.Path // the bucket of the topmost folder

	pending []item
	size    int64
}

// item is a folder or a file yet to be written.
type item struct {
	folder  bucket.Path
	name    []byte // of a file; nil for the folder itself
	content []byte
}

// NewWriter makes a writer that puts the topmost folder into the bucket at path.
func NewWriter(db *kv.DB, path bucket.Path) *Writer { return &Writer{db: db, into: path} }

// Folder makes the bucket of a folder.
func (w *Writer) Folder(ctx context.Context, names []string) error {
	return w.add(ctx, item{folder: w.bucket(names)})
}

// File stores a file, in place of one of the same name. The content must not be changed until the next Flush.
func (w *Writer) File(ctx context.Context, names []string, content []byte) error {
	last := len(names) - 1
	return w.add(ctx, item{folder: w.bucket(names[:last]), name: []byte(names[last]), content: content})
}

func (w *Writer) bucket(names []string) bucket.Path {
	path := slices.Clone(w.into)
	for _, name := range names {
		path = append(path, []byte(name))
	}
	return path
}

func (w *Writer) add(ctx context.Context, it item) error {
	w.pending = append(w.pending, it)
	w.size += int64(len(it.name) + len(it.content) + 100) // the rest of an item is memory too
	if w.size < TxMaxSize {
		return nil
	}
	return w.Flush(ctx)
}

// Flush commits what has been added.
func (w *Writer) Flush(ctx context.Context) error {
	if len(w.pending) == 0 {
		return nil
	}
	err := w.db.UpdateContext(ctx, func(tx *kv.Tx) error {
		for _, it := range w.pending {
			if err := it.write(tx); err != nil {
				return err
			}
		}
		return nil
	})
	w.pending, w.size = nil, 0
	return err
}

func (it item) write(tx *kv.Tx) error {
	b, err := it.folder.Create(tx)
	if err != nil || it.name == nil {
		return err
	}
	if err := b.Put(it.name, it.content); err != nil {
		return fmt.Errorf("storing %s: %w", it.folder.Child(it.name), err)
	}
	return nil
}
