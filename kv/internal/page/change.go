// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page

// Change is an element to be put before element At of a leaf page, or in its place.
type Change struct {
	At      int
	Replace bool
	KeySize uint32
	Data    []byte // the key, and the value behind it
}

// PutChild makes element i of a branch page lead to another page.
func (p Page) PutChild(i int, child uint64) {
	at := HeaderSize + ElemSize*i + 8
	ne.PutUint64(p[at:at+8], child)
}

// PutChanged makes p the leaf page src with changes, which ascend, under a new id. The elements of src lie side by side,
// and so do those of p; what comes behind them is zeros. It returns false if they do not, or do not fit.
func (p Page) PutChanged(id uint64, src Page, changes []Change) bool {
	n := src.Count()
	count := n
	for i := range changes {
		if !changes[i].Replace {
			count++
		}
	}
	b := builder{p: p, src: src, at: HeaderSize + ElemSize*count}
	if b.at > len(p) {
		return false
	}
	p.PutHeader(id, Leaf, count, 0)
	for i := range changes {
		c := &changes[i]
		if !b.copyTo(c.At) || len(c.Data) > len(p)-b.at {
			return false
		}
		p.PutLeafElem(b.out, 0, b.at, c.KeySize, uint32(len(c.Data))-c.KeySize)
		b.at += copy(p[b.at:], c.Data)
		b.out++
		if c.Replace {
			b.in++
		}
	}
	if !b.copyTo(n) {
		return false
	}
	clear(p[b.at:])
	return true
}

// builder copies elements from one leaf page to another.
type builder struct {
	p, src  Page
	in, out int // the next element of either
	at      int // where the bytes of the next one of p go
}

// copyTo copies the elements before element end.
func (b *builder) copyTo(end int) bool {
	if b.in >= end {
		return b.in == end
	}
	from, _, _ := LeafBounds(b.src.Elem(b.in), b.in)
	_, _, to := LeafBounds(b.src.Elem(end-1), end-1)
	if from > to || to > uint64(len(b.src)) || to-from > uint64(len(b.p)-b.at) {
		return false
	}
	// An element knows the distance to its bytes: both have moved.
	moved := uint32(b.at) - uint32(from) - uint32(ElemSize*(b.out-b.in))
	table := b.src[HeaderSize+ElemSize*b.in : HeaderSize+ElemSize*end]
	dst := b.p[HeaderSize+ElemSize*b.out:][:len(table)]
	copy(dst, table)
	if moved != 0 {
		for ; len(dst) >= ElemSize; dst = dst[ElemSize:] {
			ne.PutUint32(dst[4:8], ne.Uint32(dst[4:8])+moved)
		}
	}
	b.at += copy(b.p[b.at:], b.src[from:to])
	b.out += end - b.in
	b.in = end
	return true
}
