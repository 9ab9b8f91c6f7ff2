// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"bytes"
	"io"
)

// Outside keeps binaries outside of the segments.
type Outside interface {
	// Write keeps all that r has and returns the id of it, of a MiB at most. It must be durable by then: the record
	// with the id may be soon.
	Write(r io.Reader) (id string, err error)
}

// threshold is how many bytes a binary must have not to be in line.
func (o *Options) threshold() int {
	if o.Outside == nil || o.Threshold == 0 {
		return mediumMax
	}
	return max(0, min(o.Threshold, mediumMax))
}

// Binary writes a binary, up to the end of r: in line if it has less than 16,512 bytes, or than the threshold among the
// options if it can be kept outside. If it cannot it is in bulk segments otherwise, so that compaction need not copy
// it.
func (w *Writer) Binary(r io.Reader) (RecordID, error) {
	if w.piece == nil {
		w.piece = make([]byte, MaxSize)
	}
	n, more, err := fill(r, w.piece[:w.opts.threshold()])
	switch {
	case err != nil:
		return RecordID{}, err
	case !more:
		return w.inline(w.piece[:n])
	case w.opts.Outside == nil:
		return w.bulks(r, n)
	}
	id, err := w.opts.Outside.Write(io.MultiReader(bytes.NewReader(w.piece[:n]), r))
	if err != nil {
		return RecordID{}, err
	}
	return w.BlobID(id)
}

// bulks writes the first n bytes of the piece and what follows in r to bulk segments.
func (w *Writer) bulks(r io.Reader, n int) (RecordID, error) {
	size := int64(0)
	blocks := listBuilder{w: w}
	for more := true; more; n = 0 {
		var k int
		var err error
		k, more, err = fill(r, w.piece[n:])
		if n += k; n > 0 && err == nil {
			err = w.bulk(w.piece[:n], &blocks)
		}
		if err != nil {
			return RecordID{}, err
		}
		size += int64(n)
	}
	return w.long(size, &blocks)
}

// fill reads until b is full; more is false if r ended before. Unlike with [io.ReadFull], an [io.ErrUnexpectedEOF] of
// r's own is an error and not its end.
func fill(r io.Reader, b []byte) (n int, more bool, err error) {
	for n < len(b) && err == nil {
		var k int
		k, err = r.Read(b[n:])
		n += k
	}
	switch {
	case n == len(b):
		return n, true, nil
	case err == io.EOF:
		return n, false, nil
	}
	return n, false, err
}
