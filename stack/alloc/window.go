// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"bytes"
	"io"
)

// payload is a stack or a unit of it, to be read.
type payload interface {
	io.ReaderAt
	Len() int64
}

// wideWindow is the width of windows that look at everything, in bytes.
const wideWindow = 64 << 10

// window reads small pieces of a payload that does not change meanwhile, one behind the other, with few calls.
type window struct {
	p   payload
	buf []byte // its capacity is how much is read at once
	off int64  // of buf
}

func newWindow(p payload, buf []byte) window { return window{p: p, buf: buf[:0]} }

// at returns n bytes, no more than the window is wide, until the next call.
func (w *window) at(off, n int64) ([]byte, error) {
	if off < w.off || off+n > w.off+int64(len(w.buf)) {
		w.buf = w.buf[:min(max(n, w.p.Len()-off), int64(cap(w.buf)))]
		w.off = off
		if _, err := w.p.ReadAt(w.buf, off); err != nil {
			w.buf = w.buf[:0]
			return nil, err
		}
	}
	return w.buf[off-w.off:][:n], nil
}

// nonZero is the offset of the first byte from off on that is not zero, or end if there is none before.
func (w *window) nonZero(off, end int64) (int64, error) {
	for off < end {
		b, err := w.at(off, min(end-off, int64(cap(w.buf))))
		if err != nil {
			return 0, err
		}
		if rest := bytes.TrimLeft(b, "\x00"); len(rest) > 0 {
			return off + int64(len(b)-len(rest)), nil
		}
		off += int64(len(b))
	}
	return end, nil
}

func isZero(p []byte) bool { return len(bytes.TrimLeft(p, "\x00")) == 0 }
