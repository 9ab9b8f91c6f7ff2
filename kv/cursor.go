// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"slices"

	"github.com/holtdb/holt/kv/internal/page"
)

// cursorFrames is the number of branch levels a cursor holds without memory of its own: 6 levels of even thin branches
// lead to millions of leaves.
const cursorFrames = 6

// Cursor walks over the elements of a bucket in the order of their keys. It holds no pointer into itself: a copy of it
// is a cursor of its own at the same place.
//
// In a write transaction the bucket may change under it. A cursor that stands in a leaf that had not been changed when
// it got there goes on over that leaf as it was, and deleted elements of it are still seen; anywhere else it follows the
// changes. Neither way deleting makes it skip or repeat an element.
type Cursor struct {
	bucket *Bucket
	tx     *Tx // of bucket

	// The leaf it stands in: a page, or a node, or neither before the first move.
	page  page.Page
	id    uint64 // of the page
	count int    // of the page's elements, 0 in a node
	node  *node

	// Its place there, by the records of the elements: a page in the mapping has them so many bytes behind the start of
	// that, and all others are taken to have them from 0 on. A step within a page looks at little else.
	first uint64 // the record of the first element
	ahead uint64 // the one behind that of the element it stands on
	table uint64 // where they end in the mapping, 0 if they are not there
	limit uint64 // where the page ends there

	// In a node: the element it stands on, to find it again when gen has changed, and how.
	cur    slot
	gen    uint32
	stance stance

	// The way from the root to the leaf, as the index taken in each branch. Trees deeper than the array go on in deep,
	// which is replaced, never written to, since copies share it.
	depth  int
	path   [cursorFrames]frame
	deep   []frame
	walked int64 // leaves passed since it was last turned round, backwards if negative
	loose  bool  // a page on the way is not known to have been held against its range
}

// stance is how a cursor stands in a node with regard to cur.
type stance uint8

const (
	on     stance = iota // cur is the element at index
	gap                  // cur is gone; index is the element behind it
	behind               // behind all elements, the last of which is or was cur
)

// frame is a branch on the way to a leaf.
type frame struct {
	id    uint64 // of the page; unused in write transactions, which go down from the root again
	index uint32
	count uint32
}

// Bucket is the bucket the cursor walks over.
func (c *Cursor) Bucket() *Bucket { return c.bucket }

// First moves to the first element and returns it, nil if there is none.
func (c *Cursor) First() (key, value []byte) {
	c.start()
	c.descend(0, toFirst, nil)
	if c.leafLen() == 0 && !c.nextLeaf() {
		return nil, nil
	}
	return c.current()
}

// Last moves to the last element and returns it, nil if there is none.
func (c *Cursor) Last() (key, value []byte) {
	c.start()
	c.descend(0, toLast, nil)
	if c.leafLen() == 0 && !c.prevLeaf() {
		return nil, nil
	}
	return c.current()
}

// Seek moves to the first element whose key is not below seek and returns it. If there is none it returns nil and
// stands behind the last element.
func (c *Cursor) Seek(seek []byte) (key, value []byte) {
	c.start()
	if !c.seekPages(seek) {
		c.descend(0, toKey, seek)
	}
	if c.index() >= c.leafLen() && !c.nextLeaf() {
		return nil, nil
	}
	return c.current()
}

// SeekForPrev moves to the last element whose key is not above seek and returns it. If there is none it returns nil and
// stands on the first element.
func (c *Cursor) SeekForPrev(seek []byte) (key, value []byte) {
	if k, v := c.Seek(seek); k != nil && bytes.Equal(k, seek) {
		return k, v
	}
	return c.Prev()
}

// Next moves to the following element and returns it. At the end it returns nil and stays where it is.
func (c *Cursor) Next() (key, value []byte) {
	if at := c.ahead; at < c.table { // the next element of the same page
		if data := c.tx.data; data != nil {
			e := page.LeafRecordAt(data, at)
			k, ksize, vsize := uint64(e.Off), e.KeySize, e.ValueSize
			v := k + uint64(ksize)
			if at+v+uint64(vsize) <= c.limit && e.Flags == 0 {
				c.ahead = at + page.ElemSize
				return e.Bytes(k, ksize), e.Bytes(v, vsize)
			}
		}
	}
	return c.next()
}

func (c *Cursor) next() (key, value []byte) {
	c.open()
	if c.page != nil && c.index()+1 >= c.count && c.sibling(1) {
		return c.Next()
	}
	switch i := c.index() + 1; {
	case c.node != nil:
		c.sync()
		i = c.index()
		if c.stance == on {
			i++
		}
		if i < len(c.node.slots) {
			c.stand(i)
			return c.current()
		}
	case c.page == nil:
		return nil, nil
	case i < c.count:
		c.stand(i)
		return c.current()
	}
	if !c.nextLeaf() {
		return nil, nil
	}
	return c.current()
}

// Prev moves to the element before and returns it. At the beginning it returns nil and stays where it is.
func (c *Cursor) Prev() (key, value []byte) {
	if at := c.ahead - 2*page.ElemSize; at >= c.first && at < c.table { // as in Next
		if data := c.tx.data; data != nil {
			e := page.LeafRecordAt(data, at)
			k, ksize, vsize := uint64(e.Off), e.KeySize, e.ValueSize
			v := k + uint64(ksize)
			if at+v+uint64(vsize) <= c.limit && e.Flags == 0 {
				c.ahead = at + page.ElemSize
				return e.Bytes(k, ksize), e.Bytes(v, vsize)
			}
		}
	}
	return c.prev()
}

func (c *Cursor) prev() (key, value []byte) {
	c.open()
	if c.node != nil {
		c.sync()
	}
	switch i := c.index(); {
	case c.node == nil && c.page == nil:
		return nil, nil
	case i > 0:
		c.stand(i - 1)
	case c.sibling(-1):
		return c.Prev()
	case !c.prevLeaf():
		return nil, nil
	}
	return c.current()
}

// Delete removes the element the cursor stands on; nothing if it stands on none. Next moves on to the element behind
// it. [ErrIncompatibleValue] if it is a bucket, [ErrTxNotWritable], [ErrTxClosed].
func (c *Cursor) Delete() error {
	b := c.bucket
	if err := b.change(); err != nil {
		return err
	}
	if c.node == nil {
		if uint(c.index()) >= uint(c.count) {
			return nil
		}
		flags, key, _ := c.element()
		if flags&page.BucketFlag != 0 {
			return ErrIncompatibleValue
		}
		return b.unset(key) // what is under that key by now may be something else
	}
	c.sync()
	if c.stance != on {
		return nil
	}
	if c.cur.ref&slotBucket != 0 {
		return ErrIncompatibleValue
	}
	b.dropAt(c.node, c.index())
	c.gen, c.stance = c.node.gen, gap
	return nil
}

// onBucket says whether the cursor stands on a bucket.
func (c *Cursor) onBucket() bool {
	flags, _, _ := c.element()
	return flags&page.BucketFlag != 0
}

// open panics if the transaction has ended.
func (c *Cursor) open() {
	if c.tx.db == nil {
		panic("assertion failed: tx closed")
	}
}

// start forgets where the cursor stood.
func (c *Cursor) start() {
	c.open()
	c.page, c.count, c.table, c.node, c.deep, c.depth, c.walked = nil, 0, 0, nil, nil, 0, 0
}

// current returns the element the cursor stands on.
func (c *Cursor) current() (key, value []byte) {
	flags, k, v := c.element()
	if flags&page.BucketFlag != 0 {
		return k, nil
	}
	return k, v
}

func (c *Cursor) element() (flags uint32, key, value []byte) {
	at := place{page: c.page, id: c.id, node: c.node, index: c.index()}
	return at.element(c.tx)
}

// home is the page with the leaf the cursor stands in, for errors.
func (c *Cursor) home() uint64 { return c.tx.home(c.id, c.page) }

// leafLen is the number of elements of the leaf.
func (c *Cursor) leafLen() int {
	if c.node != nil {
		return len(c.node.slots)
	}
	return c.count
}

// index is the number of the element it stands on: -1 before the first.
func (c *Cursor) index() int { return int((c.ahead-c.first)/page.ElemSize) - 1 }

// goTo changes the index.
func (c *Cursor) goTo(index int) { c.ahead = c.first + page.ElemSize*uint64(index+1) }

// stand moves within the leaf. Index may be the number of its elements: behind the last.
func (c *Cursor) stand(index int) {
	c.goTo(index)
	n := c.node
	if n == nil {
		return
	}
	c.gen = n.gen
	switch {
	case index < len(n.slots):
		c.cur, c.stance = n.slots[index], on
	case index > 0:
		c.cur, c.stance = n.slots[index-1], behind
	default:
		c.cur, c.stance = slot{}, behind
	}
}

// sync finds the element again after the node has changed. One that was deleted and put again is the same one.
func (c *Cursor) sync() {
	if c.gen == c.node.gen {
		return
	}
	w := c.tx.w
	i, exact := w.search(c.node, w.key(&c.cur))
	switch {
	case exact && c.stance == behind:
		i++
	case exact:
		c.cur, c.stance = c.node.slots[i], on
	case c.stance == on:
		c.stance = gap
	}
	c.goTo(i)
	c.gen = c.node.gen
}

// enter makes page id the leaf that it stands in, at a place yet to be said.
func (c *Cursor) enter(p page.Page, id uint64) {
	c.page, c.id, c.count = p, id, p.Count()
	if at := c.tx.offset(p); at < uint64(len(c.tx.data)) && page.Addressable(at) {
		c.first = at + page.HeaderSize
		c.table = c.first + page.ElemSize*uint64(c.count)
		c.limit = at + uint64(len(p))
		return
	}
	c.first, c.table = 0, 0 // those of another leaf, with a page size that is no multiple of 4
}

// Where descend goes.
const (
	toFirst = iota
	toLast
	toKey
)

// descend goes down to a leaf: from the root at level 0, else from the branch above that level, by the index that is
// there. Every page it comes to is held against its range, once, so that no other leaf is taken for the next.
func (c *Cursor) descend(level, to int, key []byte) {
	tx := c.tx
	n, p, id := c.view(level)
	c.depth = level
	search := page.SearchFor(key)
	for n == nil && p.Flags() == page.Branch || n != nil && !n.leaf {
		if c.depth == maxDepth-1 {
			tx.tooDeep(id)
		}
		f := frame{id: id, count: uint32(c.branchLen(n, p, id))}
		switch to {
		case toLast:
			f.index = f.count - 1
		case toKey:
			f.index = uint32(c.searchBranch(n, p, id, key, &search))
		}
		c.push(f)
		n, p, id = c.child(n, p, id, int(f.index))
	}
	if c.loose {
		c.holdWay()
	}
	c.node, c.page, c.id, c.count, c.first, c.table = n, p, id, 0, 0, 0
	if n == nil {
		c.enter(p, id)
	}
	switch to {
	case toFirst:
		c.stand(0)
	case toLast:
		c.stand(max(c.leafLen()-1, 0))
	case toKey:
		c.stand(c.searchLeaf(key, &search))
	}
}

// seekPages is descend to a key in a read transaction, if everything is as it mostly is; else it moves nowhere.
func (c *Cursor) seekPages(key []byte) bool {
	b, tx := c.bucket, c.tx
	if b.edit != nil || b.root == 0 {
		return false
	}
	id, search := b.root, page.SearchFor(key)
	for depth := range cursorFrames + 1 {
		p := tx.page(id)
		if p.Flags() == page.Leaf {
			i, _ := search.Leaf(p)
			if i < 0 {
				return false
			}
			c.depth = depth
			c.enter(p, id)
			c.stand(i)
			return true
		}
		i := search.Branch(p)
		if i < 0 || depth == cursorFrames {
			return false
		}
		child := p.Child(i)
		if !tx.held.has(id, i, child) {
			return false
		}
		c.path[depth] = frame{id: id, index: uint32(i), count: uint32(p.Count())}
		id = child
	}
	return false
}

// view is what lies at a level of the way: a node or a page. In a read transaction the way can be entered anywhere, in
// a write transaction nodes may have taken the place of pages since.
func (c *Cursor) view(level int) (n *node, p page.Page, id uint64) {
	if level > 0 && c.bucket.edit == nil {
		f := c.frame(level - 1)
		return c.child(nil, c.tx.page(f.id), f.id, int(f.index))
	}
	n, p, id = c.root()
	for i := range level {
		n, p, id = c.child(n, p, id, int(c.frame(i).index))
	}
	return n, p, id
}

// root is the root of the bucket as it is now.
func (c *Cursor) root() (*node, page.Page, uint64) {
	b := c.bucket
	switch {
	case b.edit != nil && b.edit.node != nil:
		b.tx.w.open(b.edit.node)
		return b.edit.node, nil, 0
	case b.root == 0:
		return nil, b.inline, 0
	}
	return nil, b.tx.page(b.root), b.root
}

// child is the child at index i of a branch.
func (c *Cursor) child(n *node, p page.Page, id uint64, i int) (*node, page.Page, uint64) {
	tx, child := c.tx, uint64(0)
	if n == nil {
		if i >= p.Count() {
			tx.badElement(id, i)
		}
		child = p.Child(i)
	} else {
		id, child = n.id, n.slots[i].ref
		if child&nodeRef != 0 {
			node := tx.w.nodes[uint32(child)]
			tx.w.open(node)
			return node, nil, 0
		}
	}
	p = tx.page(child)
	if !tx.held.has(id, i, child) {
		c.loose = true
	}
	return nil, p, child
}

func (c *Cursor) branchLen(n *node, p page.Page, id uint64) int {
	if n != nil {
		return len(n.slots)
	}
	if p.Count() == 0 {
		c.tx.emptyBranch(id)
	}
	return p.Count()
}

func (c *Cursor) searchBranch(n *node, p page.Page, id uint64, key []byte, search *page.Search) int {
	if n != nil {
		return c.tx.w.searchChild(n, key, search)
	}
	i := search.Branch(p)
	if i < 0 {
		c.tx.badSearch(id, p)
	}
	return i
}

func (c *Cursor) searchLeaf(key []byte, search *page.Search) int {
	if c.node != nil {
		i, _ := c.tx.w.search(c.node, key)
		return i
	}
	i, _ := search.Leaf(c.page)
	if i < 0 {
		c.tx.badSearch(c.id, c.page)
	}
	return i
}

// sibling moves to the leaf next to this one, before its first element or behind its last, if they belong to the same
// branch and everything is as it mostly is; else nowhere.
func (c *Cursor) sibling(step int) bool {
	tx := c.tx
	if c.depth == 0 || c.depth > cursorFrames || c.bucket.edit != nil {
		return false
	}
	f := &c.path[c.depth-1]
	i := int(f.index) + step
	if uint(i) >= uint(f.count) {
		return false
	}
	child := page.Page(tx.data[f.id*uint64(tx.pageSize):]).Child(i)
	if !tx.held.has(f.id, i, child) {
		return false
	}
	p := tx.page(child)
	n := p.Count()
	if p.Flags() != page.Leaf || n == 0 {
		return false
	}
	c.walk(int64(step))
	f.index = uint32(i)
	c.enter(p, child)
	if c.goTo(-1); step < 0 {
		c.goTo(n)
	}
	return true
}

// nextLeaf moves to the first element of the next leaf that has any. If there is none it moves nowhere.
func (c *Cursor) nextLeaf() bool {
	if c.sibling(1) {
		c.stand(0)
		return true
	}
	was := *c
	for {
		c.walk(1)
		level := c.depth - 1
		for ; level >= 0; level-- {
			if f := c.frame(level); f.index+1 < f.count {
				break
			}
		}
		if level < 0 {
			*c = was
			return false
		}
		f := c.frame(level)
		f.index++
		c.depth = level
		c.push(f)
		c.descend(level+1, toFirst, nil)
		if c.leafLen() > 0 {
			return true
		}
	}
}

// prevLeaf moves to the last element of the leaf before that has any. If there is none it moves nowhere.
func (c *Cursor) prevLeaf() bool {
	if c.sibling(-1) {
		c.stand(c.count - 1)
		return true
	}
	was := *c
	for {
		c.walk(-1)
		level := c.depth - 1
		for ; level >= 0 && c.frame(level).index == 0; level-- {
		}
		if level < 0 {
			*c = was
			return false
		}
		f := c.frame(level)
		f.index--
		c.depth = level
		c.push(f)
		c.descend(level+1, toLast, nil)
		if c.leafLen() > 0 {
			return true
		}
	}
}

// walk counts the leaves that the cursor has passed in one direction. More than there are pages means that pages are
// referred to from several places, which can make more ways than anyone can go.
func (c *Cursor) walk(step int64) {
	if c.walked > 0 != (step > 0) {
		c.walked = 0
	}
	c.walked += step
	if uint64(max(c.walked, -c.walked)) > c.tx.limit {
		c.tx.tooManyLeaves(c.id)
	}
}

func (c *Cursor) frame(level int) frame {
	if level < cursorFrames {
		return c.path[level]
	}
	return c.deep[level-cursorFrames]
}

// push adds a branch to the way.
func (c *Cursor) push(f frame) {
	if c.depth < cursorFrames {
		c.path[c.depth] = f
	} else {
		c.deep = append(slices.Clip(c.deep[:c.depth-cursorFrames]), f)
	}
	c.depth++
}
