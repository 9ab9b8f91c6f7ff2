// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package surgery

import (
	"fmt"

	"github.com/holtdb/holt/kv/internal/page"
)

// ClearPage drops all elements of a branch or leaf page. See [Editor.ClearElements].
func (e *Editor) ClearPage(id uint64) (orphans bool, err error) {
	p, err := e.tree(id)
	if err != nil {
		return false, err
	}
	return e.clear(p, 0, p.Count())
}

// ClearElements drops elements start to end-1 of a branch or leaf page, an end of -1 standing for all that follow. It
// rewrites the page packed, with as many overflow pages as it still needs. orphans says that pages became unreferenced
// which the stored free list does not know: children of the page, roots of buckets, overflow pages.
func (e *Editor) ClearElements(id uint64, start, end int) (orphans bool, err error) {
	p, err := e.tree(id)
	if err != nil {
		return false, err
	}
	n := p.Count()
	switch {
	case start < 0 || start >= n:
		return false, fmt.Errorf("the start index (%d) is out of range [0, %d)", start, n)
	case end < -1 || end > n:
		return false, fmt.Errorf("the end index (%d) is out of range [0, %d]", end, n)
	case end == -1:
		end = n
	}
	switch {
	case start > end:
		return false, fmt.Errorf("the start index (%d) is larger than the end index (%d)", start, end)
	case start == end:
		return false, fmt.Errorf("the start index (%d) is equal to the end index (%d)", start, end)
	}
	return e.clear(p, start, end)
}

// tree reads a page that must be a branch or a leaf.
func (e *Editor) tree(id uint64) (*Page, error) {
	if id < 2 {
		return nil, fmt.Errorf("the pageId must be at least 2, but got %d", id)
	}
	p, err := e.Page(id)
	if err == nil && !p.hasTable() {
		err = fmt.Errorf("can't clear elements in %q page", p.Type())
	}
	return p, err
}

func (e *Editor) clear(p *Page, start, end int) (orphans bool, err error) {
	for i := start; i < end && !orphans; i++ {
		if orphans, err = p.refers(i); err != nil {
			return false, err
		}
	}
	buf, err := e.without(p, start, end)
	if err != nil {
		return false, err
	}
	shrunk := int64(len(buf)) < p.size
	return orphans || shrunk, e.write(buf, p.id)
}

// refers says whether element i refers to another page. A bucket that cannot be read refers to nothing.
func (p *Page) refers(i int) (bool, error) {
	if p.IsBranch() {
		return true, nil
	}
	if page.LeafFlags(p.table.Elem(i))&page.BucketFlag == 0 {
		return false, nil
	}
	off, ksize, vsize := p.span(i)
	value := make([]byte, min(vsize, page.BucketHeader))
	if err := p.readAt(value, off+ksize); err != nil {
		return false, err
	}
	root, _, _, _ := page.BucketValue(value)
	return root != 0, nil
}

// without makes the image of the page without elements start to end-1, in whole pages.
func (e *Editor) without(p *Page, start, end int) (page.Page, error) {
	keep := make([]int, 0, p.Count())
	used := int64(page.HeaderSize)
	for i := range p.Count() {
		if i < start || i >= end {
			_, ksize, vsize := p.span(i)
			used += page.ElemSize + ksize + vsize
			keep = append(keep, i)
		}
	}
	pages := (used + int64(e.pageSize) - 1) / int64(e.pageSize)
	buf := make(page.Page, pages*int64(e.pageSize))
	buf.PutHeader(p.id, p.table.Flags(), len(keep), uint32(pages-1))
	at := page.HeaderSize + page.ElemSize*len(keep)
	for to, from := range keep {
		off, ksize, vsize := p.span(from)
		if err := p.readAt(buf[at:at+int(ksize+vsize)], off); err != nil {
			return nil, err
		}
		if p.IsBranch() {
			buf.PutBranchElem(to, at, uint32(ksize), p.table.Child(from))
		} else {
			flags := page.LeafFlags(p.table.Elem(from))
			buf.PutLeafElem(to, flags, at, uint32(ksize), uint32(vsize))
		}
		at += int(ksize + vsize)
	}
	return buf, nil
}
