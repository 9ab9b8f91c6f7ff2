// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"errors"
	"fmt"
	"io"
)

// View gives access to the bytes of a region, and to no others. Its methods may be called from several goroutines.
// Writes are durable and all or nothing; reads see what is durable.
type View struct {
	core *core
	r    Region
}

// View implements [Allocator].
func (c *core) View(r Region) View { return View{c, r} }

// Region is where the bytes lie.
func (v View) Region() Region { return v.r }

// Len is the length in bytes.
func (v View) Len() int64 { return v.r.Len }

// Slice is a view of the bytes from start up to end. [ErrRange] if they are not all there.
func (v View) Slice(start, end int64) (View, error) {
	r, err := v.r.part(start, end-start)
	return View{v.core, r}, err
}

// ReadAt implements [io.ReaderAt].
func (v View) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("%w: reading at %d", ErrRange, off)
	}
	n := min(int64(len(p)), max(v.r.Len-off, 0))
	if n > 0 {
		if err := v.core.stack.GetInto(v.r.Off+off, p[:n]); err != nil {
			return 0, err
		}
	}
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// Bytes returns a copy of all bytes.
func (v View) Bytes() ([]byte, error) {
	if !v.r.sane() {
		return nil, fmt.Errorf("%w: %v", ErrRange, v.r)
	}
	return v.core.stack.Get(v.r.Off, v.r.End())
}

// WriteAt implements [io.WriterAt]. What does not fit is not written at all: [ErrRange].
func (v View) WriteAt(p []byte, off int64) (int, error) {
	if _, err := v.r.part(off, int64(len(p))); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	q := v.core.request(opWrite)
	q.r, q.data, q.n = v.r, p, off
	if _, err := q.do(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Reader returns a reader that stands at the first byte.
func (v View) Reader() *io.SectionReader { return io.NewSectionReader(v, 0, v.r.Len) }

// Writer returns a writer that stands at the first byte.
func (v View) Writer() *Writer { return &Writer{v: v} }

// Writer writes a region from its beginning on, for one goroutine at a time. It is an [io.WriteSeeker]. Every Write is
// durable when it returns; one that reaches the end of the region writes what fits and returns [io.ErrShortWrite].
type Writer struct {
	v   View
	off int64
}

// Write implements [io.Writer].
func (w *Writer) Write(p []byte) (int, error) {
	fits := p[:min(int64(len(p)), max(w.v.r.Len-w.off, 0))]
	if len(fits) > 0 {
		if _, err := w.v.WriteAt(fits, w.off); err != nil {
			return 0, err
		}
		w.off += int64(len(fits))
	}
	if len(fits) < len(p) {
		return len(fits), io.ErrShortWrite
	}
	return len(p), nil
}

// Seek implements [io.Seeker].
func (w *Writer) Seek(off int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		off += w.off
	case io.SeekEnd:
		off += w.v.r.Len
	default:
		return w.off, errors.New("alloc: bad whence")
	}
	if off < 0 {
		return w.off, fmt.Errorf("%w: seeking to %d", ErrRange, off)
	}
	w.off = off
	return off, nil
}
