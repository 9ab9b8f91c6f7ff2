// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"slices"

	"github.com/holtdb/holt/content/segment"
)

// trailerSize is what the trailer records of a segment, at most.
func (d *described) trailerSize() int {
	n := indexRow2 + idSize + 4 + idSize*len(d.references)
	if len(d.blobs) > 0 {
		n += 13 + idSize + 4
	}
	for _, id := range d.blobs {
		n += 4 + len(id)
	}
	return n
}

// finish writes the trailer. The data of the index comes last, after a sync: if it is there after a crash all else is.
func (w *Writer) finish() error {
	graph, blobs := w.describe()
	at := w.size
	for _, part := range []struct {
		suffix string
		data   []byte
	}{
		{".brf", blobs.encode(magicBlobs2)},
		{".gph", graph.encode()},
	} {
		size := ceilBlock(len(part.data))
		if err := w.write(at, w.name+part.suffix, size, part.data, padding[:size-len(part.data)]); err != nil {
			return err
		}
		at += blockSize + size
	}
	index := newIndex(slices.Clone(w.entries)).encode()
	size := ceilBlock(len(index))
	if err := w.write(at, w.name+".idx", size, nil, nil); err != nil {
		return err
	}
	if err := w.sync(); err != nil {
		return err
	}
	at += blockSize
	end := [][]byte{padding[:size-len(index)], index, padding[:], padding[:]}
	if _, err := w.file.WriteVecAt(end, int64(at)); err != nil {
		return err
	}
	if err := w.cut(at + size + endSize); err != nil {
		return err
	}
	return w.sync()
}

// describe puts together what the trailer has.
func (w *Writer) describe() (Graph, BlobReferences) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return trailerOf(w.entries, func(id segment.ID) described { return *w.about[id] })
}

// cut takes away what appends that failed may have left behind the end.
func (w *Writer) cut(end int) error {
	size, err := w.file.Size()
	if err == nil && size != int64(end) {
		err = w.file.Truncate(int64(end))
	}
	return err
}
