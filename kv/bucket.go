// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"fmt"

	"github.com/holtdb/holt/kv/internal/page"
)

// Pgid is the number of a page: page n starts at byte n × page size of the file.
type Pgid uint64

// InBucket is the header of a bucket as it is stored. Its methods are for programs that look at files; ordinary ones
// use those of [Bucket].
type InBucket struct {
	root uint64
	seq  uint64
}

// RootPage is the root page, 0 for an inline bucket.
func (b *InBucket) RootPage() Pgid { return Pgid(b.root) }

// SetRootPage changes the header in memory.
func (b *InBucket) SetRootPage(id Pgid) { b.root = uint64(id) }

// InSequence is the sequence.
func (b *InBucket) InSequence() uint64 { return b.seq }

// SetInSequence changes the header in memory.
func (b *InBucket) SetInSequence(v uint64) { b.seq = v }

// IncSequence adds one to the sequence in memory.
func (b *InBucket) IncSequence() { b.seq++ }

// InlinePage is the page inside v, the value of an inline bucket; nil if v is too short to have one.
func (b *InBucket) InlinePage(v []byte) *InlinePage {
	if len(v) < page.BucketHeader+page.HeaderSize {
		return nil
	}
	p := InlinePage(v[page.BucketHeader:])
	return &p
}

func (b *InBucket) String() string { return fmt.Sprintf("<pgid=%d,seq=%d>", b.root, b.seq) }

// InlinePage is a leaf page inside the value of a bucket.
type InlinePage []byte

// Bucket is a sorted collection of keys, each with a value or with a bucket of its own. It belongs to a transaction.
type Bucket struct {
	InBucket

	// FillPercent says how full a page is made when it has to be split, between 0.1 and 1. At [DefaultFillPercent]
	// the engine chooses. It is not stored.
	FillPercent float64

	tx     *Tx
	inline page.Page   // the leaf inside the parent's value, while root is 0
	edit   *bucketEdit // nil in a read transaction
}

// Tx is the transaction the bucket belongs to.
func (b *Bucket) Tx() *Tx { return b.tx }

// Root is the root page, 0 for a bucket stored inside its parent.
func (b *Bucket) Root() Pgid { return Pgid(b.root) }

// Writable says whether the bucket can be changed.
func (b *Bucket) Writable() bool { return b.tx.Writable() }

// Sequence is the current number of the bucket's sequence.
func (b *Bucket) Sequence() uint64 { return b.seq }

// Cursor returns a cursor that stands nowhere yet.
func (b *Bucket) Cursor() *Cursor {
	b.tx.cursors.add(1)
	return &Cursor{bucket: b, tx: b.tx}
}

// Get returns the value of key: nil if there is none or if it is a bucket, and an empty slice that is not nil for an
// empty value.
func (b *Bucket) Get(key []byte) []byte {
	flags, v, _, ok := b.get(key)
	if !ok || flags&page.BucketFlag != 0 {
		return nil
	}
	return v
}

// Bucket returns the bucket stored under name, nil if there is none. In a write transaction repeated calls return the
// same pointer.
func (b *Bucket) Bucket(name []byte) *Bucket {
	return b.lookup(name, new(Bucket)) // inlined, so that a handle which does not leave the caller needs no heap
}

// lookup is Bucket, with room for the handle of a read transaction.
func (b *Bucket) lookup(name []byte, child *Bucket) *Bucket {
	if b.edit != nil {
		return b.edit.bucket.editable(name) // b itself, but by a way on which it does not escape
	}
	flags, v, id, ok := b.get(name)
	if !ok || flags&page.BucketFlag == 0 {
		return nil
	}
	child.FillPercent, child.tx = DefaultFillPercent, b.tx
	child.parse(v, id)
	return child
}

// parse reads the value of a bucket's element, found in page id.
func (b *Bucket) parse(value []byte, id uint64) {
	root, seq, inline, ok := page.BucketValue(value)
	if !ok {
		b.tx.badBucket(id, value)
	}
	if root == 0 && inline.Flags() != page.Leaf {
		b.tx.corrupt(b.tx.home(id, value), "invalid page type: 0: %x", inline.Flags())
	}
	b.InBucket = InBucket{root, seq}
	b.inline = inline
}

// place is an element of a leaf, or where one would be.
type place struct {
	page  page.Page // the leaf, or nil if it is node
	id    uint64    // of page, 0 if inline; of the page that node was read from
	node  *node
	index int
	exact bool // the key is there
}

// element returns what is at the place.
func (at *place) element(tx *Tx) (flags uint32, key, value []byte) {
	if at.node == nil {
		flags, key, value, ok := at.page.LeafElem(at.index)
		if !ok {
			tx.badElement(tx.home(at.id, at.page), at.index)
		}
		return flags, key, value
	}
	s := &at.node.slots[at.index]
	return uint32(s.ref) & page.BucketFlag, tx.w.key(s), tx.w.value(s)
}

// get returns the element with a key, if there is one, and the page it was found in.
func (b *Bucket) get(key []byte) (flags uint32, value []byte, id uint64, ok bool) {
	if b.edit != nil {
		at := b.find(key)
		if at.exact {
			flags, _, value = at.element(b.tx)
		}
		return flags, value, at.id, at.exact
	}
	b.tx.reading()
	p, id, i, exact := b.findBelow(b.root, key, true) // as find does, but with everything in registers
	if !exact {
		return 0, nil, id, false
	}
	if flags, _, value, ok = p.LeafElem(i); !ok {
		b.tx.badElement(b.tx.home(id, p), i)
	}
	return flags, value, id, true
}

// find searches the bucket from its root down, through nodes where there are, then through pages.
func (b *Bucket) find(key []byte) place {
	tx := b.tx
	tx.reading()
	id, held := b.root, true
	if b.edit != nil && b.edit.node != nil {
		n, i := b.lastNode(key)
		if n.leaf {
			tx.w.open(n)
			i, exact := tx.w.search(n, key)
			return place{node: n, id: n.id, index: i, exact: exact}
		}
		id = tx.w.refAt(n, i)
		held = tx.held.has(n.id, i, id)
	}
	p, id, i, exact := b.findBelow(id, key, held)
	return place{page: p, id: id, index: i, exact: exact}
}

// findBelow goes down from page id, or from the inline page if that is 0, to the leaf that key belongs to, and finds its
// place there. held says whether page id was held.
func (b *Bucket) findBelow(id uint64, key []byte, held bool) (p page.Page, leaf uint64, index int, exact bool) {
	tx, search := b.tx, page.SearchFor(key)
	if p = b.inline; id != 0 || p == nil { // page 0 is no child, but a damaged branch may say so
		p, id, held = tx.findLeaf(id, &search, held)
	}
	if !held {
		b.holdWay(key)
	}
	index, exact = search.Leaf(p)
	if index < 0 {
		tx.badSearch(id, p)
	}
	return p, id, index, exact
}

// findLeaf goes down from page id to the leaf that the key belongs to, and says whether held and all below it are held.
func (tx *Tx) findLeaf(id uint64, search *page.Search, held bool) (page.Page, uint64, bool) {
	for range maxDepth {
		p := tx.page(id)
		if p.Flags() == page.Leaf {
			return p, id, held
		}
		i := search.Branch(p)
		if i < 0 {
			tx.badSearch(id, p)
		}
		child := p.Child(i)
		held = held && tx.held.has(id, i, child)
		id = child
	}
	tx.tooDeep(id)
	return nil, 0, false
}

// badSearch finds out why a search of page p failed.
func (tx *Tx) badSearch(id uint64, p page.Page) {
	id = tx.home(id, p)
	for i := range p.Count() {
		if _, _, _, ok := p.Span(i); !ok {
			tx.badElement(id, i)
		}
	}
	tx.emptyBranch(id)
}

// ForEach calls fn for every element in the order of the keys, with a nil value for a bucket. It stops at the first
// error and returns it. What happens if fn changes the bucket is not defined.
func (b *Bucket) ForEach(fn func(k, v []byte) error) error {
	if b.tx.db == nil {
		return ErrTxClosed
	}
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if err := fn(k, v); err != nil {
			return err
		}
	}
	return nil
}

// ForEachBucket calls fn for the name of every bucket in this one. It stops at the first error and returns it.
func (b *Bucket) ForEachBucket(fn func(k []byte) error) error {
	if b.tx.db == nil {
		return ErrTxClosed
	}
	c := b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		if !c.onBucket() {
			continue
		}
		if err := fn(k); err != nil {
			return err
		}
	}
	return nil
}
