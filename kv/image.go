// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/holtdb/holt/kv/internal/page"
)

// dirtyRun is a run of pages to be written: segs[from:to] of the writer.
type dirtyRun struct {
	id       uint64
	pages    int
	from, to int
}

// image puts the pages of a run together. Large values are not copied; the run is then made of several segments.
func (w *writer) image(id uint64, pages int, slots []slot, size int, leaf bool) {
	flags := uint16(page.Branch)
	if leaf {
		flags = page.Leaf
	}
	inner := size // bytes that are not external
	if leaf && len(w.ext) > 0 {
		for i := range slots {
			if slots[i].ref&slotExternal != 0 {
				inner -= int(slots[i].vsize)
			}
		}
	}
	from := len(w.segs)
	total := pages * w.tx.pageSize
	if inner == size {
		inner = total
	}
	_, buf := w.images.alloc(inner)
	page.Page(buf).PutHeader(id, flags, len(slots), uint32(pages-1))
	w.fill(buf, slots, leaf, inner != total)
	if inner != total && size < total {
		w.segs = append(w.segs, w.zeros[:total-size])
	}
	written := 0
	for _, seg := range w.segs[from:] {
		written += len(seg)
	}
	if written != total { // it would overwrite its neighbours
		panic(fmt.Sprintf("assertion failed: run of %d bytes for %d pages", written, pages))
	}
	w.dirty = append(w.dirty, dirtyRun{id, pages, from, len(w.segs)})
	w.notePlain(id, isPlain(buf, leaf) && pages == 1)
}

// fill writes the element table and the bytes of the elements behind the header of p, and zeros behind them. If cut is
// set it leaves external values out of p and appends the pieces of p and the values to segs; otherwise p is one
// segment, unless it is inline.
func (w *writer) fill(p page.Page, slots []slot, leaf, cut bool) {
	f := filler{w: w, buf: p, at: page.HeaderSize + page.ElemSize*len(slots)}
	off := f.at // in the run, where external values count
	for i := range slots {
		s := &slots[i]
		n := int(s.ksize)
		if leaf {
			p.PutLeafElem(i, uint32(s.ref)&page.BucketFlag, off, s.ksize, s.vsize)
			off += n + int(s.vsize)
			if s.ref&slotExternal == 0 {
				n += int(s.vsize)
			}
		} else {
			p.PutBranchElem(i, off, s.ksize, s.ref)
			off += n
		}
		if s.loc != f.loc+uint64(f.n) || f.n >= 1<<30 {
			f.flush()
			f.loc = s.loc
		}
		f.n += n
		if leaf && s.ref&slotExternal != 0 {
			f.external(w.ext[s.ref>>32], cut)
		}
	}
	f.flush()
	clear(p[f.at:])
	if p.ID() != 0 {
		w.segs = append(w.segs, p[f.cut:])
	}
}

// filler copies bytes to the end of a page. What lies side by side at the source is copied at once.
type filler struct {
	w   *writer
	buf []byte
	at  int // end of what has been copied
	cut int // end of what is in segs
	loc uint64
	n   int // bytes at loc that are still to be copied
}

func (f *filler) flush() {
	if f.n == 0 {
		return
	}
	f.at += copy(f.buf[f.at:], f.w.bytes(f.loc, uint32(f.n)))
	f.loc += uint64(f.n)
	f.n = 0
}

func (f *filler) external(value []byte, cut bool) {
	f.flush()
	if !cut {
		f.at += copy(f.buf[f.at:], value)
		return
	}
	f.w.segs = append(f.w.segs, f.buf[f.cut:f.at], value)
	f.cut = f.at
}

// imagesMax is the number of bytes of page images from which they are written before the commit is complete. Nobody
// misses what their places held, and a commit takes no memory for all its pages at once.
const imagesMax = 1 << 20

// writeEarly writes the pages that have been put together so far, if those are many.
func (w *writer) writeEarly() error {
	if w.images.size < w.tx.db.imagesMax {
		return nil
	}
	return w.writeNow()
}

func (w *writer) writeNow() error {
	if _, err := w.tx.extend(); err != nil {
		return err
	}
	if err := w.writePages(); err != nil {
		return err
	}
	w.early = true
	w.dirty, w.segs = emptied(w.dirty), emptied(w.segs)
	w.images.reset()
	return nil
}

// writePages writes the dirty runs in the order of the file, those side by side at once.
func (w *writer) writePages() error {
	slices.SortFunc(w.dirty, func(a, b dirtyRun) int { return cmp.Compare(a.id, b.id) })
	for i := 0; i < len(w.dirty); {
		start := w.dirty[i].id
		end := start
		w.iov = w.iov[:0]
		for ; i < len(w.dirty) && w.dirty[i].id == end; i++ {
			d := w.dirty[i]
			w.iov = append(w.iov, w.segs[d.from:d.to]...)
			end += uint64(d.pages)
		}
		if _, err := w.tx.db.file.WriteVecAt(w.iov, int64(start)*int64(w.tx.pageSize)); err != nil {
			return err
		}
		w.stats.Write++
		if w.tx.db.singleSync {
			sum := uint32(0)
			for _, b := range w.iov {
				sum = page.Sum(sum, b)
				w.written += len(b)
			}
			w.sums = append(w.sums, page.RunSum{ID: start, Pages: uint32(end - start), Sum: sum})
		}
	}
	return nil
}
