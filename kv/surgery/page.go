// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package surgery

import (
	"iter"

	"github.com/holtdb/holt/kv/internal/page"
)

// Page is a page of a [File] whose header and element table have been found sound. Keys, values and ids are read when
// asked for, one at a time, so that a page with a large value needs no memory until then.
type Page struct {
	f     *File
	id    uint64
	table page.Page // the header, and the element table of a branch or leaf page
	size  int64     // of the run: the page and its overflow pages
}

// Item is one element of a branch or leaf page.
type Item struct {
	Key []byte

	// Of a branch page.
	Child uint64

	// Of a leaf page. The value of a bucket begins with its root page, 0 when its only page is stored inline in the
	// value, and its sequence.
	Value    []byte
	IsBucket bool
	Root     uint64
	Sequence uint64
}

// Page reads the header and the element table of page id. It gives a [*PageError] for a page that is not what its
// header says: one with another id, of no known type, or reaching beyond the file.
func (f *File) Page(id uint64) (*Page, error) {
	head, err := f.Raw(id)
	if err != nil {
		return nil, err
	}
	p := &Page{f: f, id: id, table: head}
	if err := p.checkHeader(); err != nil {
		return nil, err
	}
	p.size = int64(f.pageSize) * (int64(p.Overflow()) + 1)
	if p.hasTable() {
		return p, p.readTable()
	}
	return p, nil
}

func (p *Page) checkHeader() error {
	switch f := p.f; {
	case p.table.ID() != p.id:
		return f.errorAt(p.id, "unexpected page id %d in its header", p.table.ID())
	case !page.ValidFlags(p.table.Flags()):
		return f.errorAt(p.id, "unexpected page type %s", p.Type())
	case p.Overflow() > 0 && p.id+uint64(p.Overflow()) >= f.HWM():
		return f.errorAt(p.id, "claims %d overflow pages, beyond the last page in use (%d)",
			p.Overflow(), int64(f.HWM())-1)
	}
	return nil
}

// readTable reads the element table and makes sure that the elements share the run without overlapping more than once:
// together they are no larger than it is. That bounds the work a damaged page can cause.
func (p *Page) readTable() error {
	n := int64(page.HeaderSize + page.ElemSize*p.Count())
	if n > p.size {
		return p.f.errorAt(p.id, "%d elements do not fit into %d bytes", p.Count(), p.size)
	}
	if n > int64(len(p.table)) {
		p.table = make(page.Page, n)
		if _, err := p.f.f.ReadAt(p.table, p.f.offset(p.id)); err != nil {
			return err
		}
	}
	p.table = p.table[:n]
	used := n
	for i := range p.Count() {
		off, ksize, vsize := p.span(i)
		if off < n || off+ksize+vsize > p.size {
			return p.f.errorAt(p.id, "element %d leads out of the page", i)
		}
		used += ksize + vsize
	}
	if used > p.size {
		return p.f.errorAt(p.id, "its elements overlap: they claim %d of %d bytes", used, p.size)
	}
	return nil
}

// span locates element i: the key starts at off of the run, the value directly behind it.
func (p *Page) span(i int) (off, ksize, vsize int64) {
	o, k, v, _ := p.table.Span(i)
	return int64(o), int64(k), int64(v)
}

// ID is the id of the page.
func (p *Page) ID() uint64 { return p.id }

// Type names the type of the page: branch, leaf, meta or freelist.
func (p *Page) Type() string { return page.TypeName(p.table.Flags()) }

// IsBranch says whether this is a branch page.
func (p *Page) IsBranch() bool { return p.table.Flags() == page.Branch }

// IsLeaf says whether this is a leaf page.
func (p *Page) IsLeaf() bool { return p.table.Flags() == page.Leaf }

// IsMeta says whether this is a meta page.
func (p *Page) IsMeta() bool { return p.table.Flags() == page.Meta }

// IsFreelist says whether this is a free list page.
func (p *Page) IsFreelist() bool { return p.table.Flags() == page.Freelist }

func (p *Page) hasTable() bool { return p.IsBranch() || p.IsLeaf() }

// Count is the number of elements as the header has it; see [Page.FreelistLen] for a free list.
func (p *Page) Count() int { return p.table.Count() }

// Overflow is the number of pages that continue this one.
func (p *Page) Overflow() uint32 { return p.table.Overflow() }

// Size is the number of bytes of the page and its overflow pages.
func (p *Page) Size() int64 { return p.size }

// Item reads element i of a branch or leaf page.
func (p *Page) Item(i int) (Item, error) {
	if !p.hasTable() || i < 0 || i >= p.Count() {
		return Item{}, p.f.errorAt(p.id, "no element %d in a %s page of %d", i, p.Type(), p.Count())
	}
	off, ksize, vsize := p.span(i)
	buf := make([]byte, ksize+vsize)
	if err := p.readAt(buf, off); err != nil {
		return Item{}, err
	}
	it := Item{Key: buf[:ksize:ksize]}
	if p.IsBranch() {
		it.Child = p.table.Child(i)
		return it, nil
	}
	it.Value = buf[ksize:]
	if it.IsBucket = page.LeafFlags(p.table.Elem(i))&page.BucketFlag != 0; it.IsBucket {
		var ok bool
		if it.Root, it.Sequence, _, ok = page.BucketValue(it.Value); !ok {
			return Item{}, p.f.errorAt(p.id, "element %d holds no sound bucket", i)
		}
	}
	return it, nil
}

func (p *Page) readAt(buf []byte, off int64) error {
	_, err := p.f.f.ReadAt(buf, p.f.offset(p.id)+off)
	return err
}

// FreelistLen is the number of ids in a free list page, which may be more than its header can count.
func (p *Page) FreelistLen() (int64, error) {
	n, _, err := p.freelist()
	return n, err
}

// freelist gives the number of ids and the place of the first.
func (p *Page) freelist() (n, off int64, err error) {
	n, off = int64(p.Count()), page.HeaderSize
	if n == page.MaxCount {
		var slot [8]byte
		if err := p.readAt(slot[:], off); err != nil {
			return 0, 0, err
		}
		n, off = int64(page.FreelistID(slot[:], 0)), off+8
	}
	if n < 0 || n > (p.size-off)/8 {
		return 0, 0, p.f.errorAt(p.id, "a free list of %d pages does not fit into %d bytes", uint64(n), p.size)
	}
	return n, off, nil
}

// FreelistIDs reads the ids of a free list page. An error ends the loop and comes with the id 0.
func (p *Page) FreelistIDs() iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		n, off, err := p.freelist()
		if err != nil {
			yield(0, err)
			return
		}
		var buf [512 * 8]byte
		for end := off + 8*n; off < end; {
			chunk := buf[:min(int64(len(buf)), end-off)]
			if err := p.readAt(chunk, off); err != nil {
				yield(0, err)
				return
			}
			off += int64(len(chunk))
			for ; len(chunk) > 0; chunk = chunk[8:] {
				if !yield(page.FreelistID(chunk, 0), nil) {
					return
				}
			}
		}
	}
}

// Meta is the record of a meta page.
func (p *Page) Meta() (Meta, error) {
	if !p.IsMeta() {
		return Meta{}, p.f.errorAt(p.id, "no meta record in a %s page", p.Type())
	}
	if p.id < 2 {
		return p.f.Meta(int(p.id))
	}
	return metaOf(p.table), nil
}
