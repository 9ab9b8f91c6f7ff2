// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"

	"github.com/holtdb/holt/kv/internal/page"
)

// bucketEdit is what a write transaction knows of a bucket beside its header.
type bucketEdit struct {
	bucket     *Bucket // whose this is
	parent     *Bucket
	node       *node              // the root, once there is a node for it
	base       uint64             // where the inline page lies, like slot.loc
	children   map[string]*Bucket // those that have been asked for
	unbalanced []*node            // in the order in which they lost elements
	recent     recentLeaf
}

// recentLeaf remembers the leaf that was last changed and which keys belong to it, to spare the way down for keys close
// to each other. The shape of the tree stays until commit, and with it the bounds.
type recentLeaf struct {
	leaf   *node
	lo, hi []byte // nil where the bucket ends
}

func (r *recentLeaf) holds(key []byte) bool {
	return r.leaf != nil && (r.lo == nil || bytes.Compare(key, r.lo) >= 0) && (r.hi == nil || bytes.Compare(key, r.hi) < 0)
}

// editable is Bucket in a write transaction.
func (b *Bucket) editable(name []byte) *Bucket {
	if child := b.edit.children[string(name)]; child != nil {
		return child
	}
	at := b.find(name)
	if !at.exact {
		return nil
	}
	flags, _, v := at.element(b.tx)
	if flags&page.BucketFlag == 0 {
		return nil
	}
	return b.child(name, v, at.valueLoc(b), at.id)
}

// child returns the handle of the bucket under name, whose value lies at loc and was found in page id.
func (b *Bucket) child(name, value []byte, loc, id uint64) *Bucket {
	if child := b.edit.children[string(name)]; child != nil {
		return child
	}
	child := &Bucket{FillPercent: DefaultFillPercent, tx: b.tx}
	child.parse(value, id)
	child.edit = &bucketEdit{bucket: child, parent: b, base: loc + page.BucketHeader}
	b.adopt(name, child)
	return child
}

// adopt keeps the handle of a child.
func (b *Bucket) adopt(name []byte, child *Bucket) {
	if b.edit.children == nil {
		b.edit.children = make(map[string]*Bucket)
	}
	b.edit.children[string(name)] = child
}

// valueLoc is where the value at a place in b lies, like slot.loc. The values of buckets are never external.
func (at *place) valueLoc(b *Bucket) uint64 {
	if at.node != nil {
		s := &at.node.slots[at.index]
		return s.loc + uint64(s.ksize)
	}
	base := at.id * uint64(b.tx.pageSize)
	if at.id == 0 { // inline; not that there should be buckets
		base = b.edit.base
	}
	_, off, ksize, _, _ := at.page.LeafSpan(at.index)
	return base + off + uint64(ksize)
}

// rootNode returns the node of the root page.
func (b *Bucket) rootNode() *node {
	e := b.edit
	if e.node == nil {
		if b.root == 0 {
			e.node, _ = b.tx.w.read(b.inline, e.base, 0)
		} else {
			e.node = b.tx.w.load(b.root, keyRange{})
		}
	}
	return e.node
}

// lastNode goes down the nodes toward key: to a leaf, or to the branch whose element i leads to a page.
func (b *Bucket) lastNode(key []byte) (n *node, i int) {
	e, w := b.edit, b.tx.w
	if e.recent.holds(key) {
		return e.recent.leaf, 0
	}
	search := page.SearchFor(key)
	for n = e.node; !n.leaf; {
		i = w.searchChild(n, key, &search)
		ref := w.refAt(n, i)
		if ref&nodeRef == 0 {
			return n, i
		}
		n = w.nodes[uint32(ref)]
	}
	return n, 0
}

// leaf returns the node of the leaf that key belongs to, opened.
func (b *Bucket) leaf(key []byte) *node {
	n := b.anyLeaf(key)
	b.tx.w.open(n)
	return n
}

// anyLeaf returns the node of the leaf that key belongs to, the recent one from now on, with nodes for the whole way to it.
func (b *Bucket) anyLeaf(key []byte) *node {
	e, w := b.edit, b.tx.w
	if e.recent.holds(key) {
		return e.recent.leaf
	}
	n := b.rootNode()
	var r recentLeaf
	search := page.SearchFor(key)
	for depth := 0; !n.leaf; depth++ {
		if depth == maxDepth-1 {
			b.tx.tooDeep(n.id)
		}
		i := w.searchChild(n, key, &search)
		if i > 0 {
			r.lo = w.keyAt(n, i)
		}
		if i+1 < n.children() {
			r.hi = w.keyAt(n, i+1)
		}
		n = w.leafOf(n, i)
	}
	r.leaf = n
	e.recent = r
	return n
}

// put stores an element, whatever was there. The bytes of key are those of s.
func (b *Bucket) put(key []byte, s slot) {
	n := b.leaf(key)
	i, exact := b.tx.w.search(n, key)
	n.insert(i, exact, s)
}

// drop removes the element of key if it is there.
func (b *Bucket) drop(key []byte) {
	n := b.leaf(key)
	if i, exact := b.tx.w.search(n, key); exact {
		b.dropAt(n, i)
	}
}

func (b *Bucket) dropAt(n *node, i int) {
	b.tx.w.forget(n.slots[i])
	n.remove(i)
	b.lost(n)
}

// lost has rebalance look at n.
func (b *Bucket) lost(n *node) {
	if !n.unbalanced {
		n.unbalanced = true
		b.edit.unbalanced = append(b.edit.unbalanced, n)
	}
}

// change says whether the bucket can be changed.
func (b *Bucket) change() error {
	if b.tx.db == nil {
		return ErrTxClosed
	}
	if !b.tx.Writable() {
		return ErrTxNotWritable
	}
	return nil
}

// Put stores value under key, in place of the value that is there. The key is copied. The value may be kept as it is
// until the transaction ends: do not change it before. Errors: [ErrKeyRequired], [ErrKeyTooLarge], [ErrValueTooLarge],
// [ErrIncompatibleValue] if key names a bucket, [ErrTxNotWritable], [ErrTxClosed].
func (b *Bucket) Put(key, value []byte) error {
	if err := b.change(); err != nil {
		return err
	}
	b.logStart("Putting key", key)
	err := b.set(key, value)
	b.logEnd("Putting key", key, err)
	return err
}

func (b *Bucket) set(key, value []byte) error {
	switch {
	case len(key) == 0:
		return ErrKeyRequired
	case len(key) > MaxKeySize:
		return ErrKeyTooLarge
	case int64(len(value)) > MaxValueSize:
		return ErrValueTooLarge
	}
	w := b.tx.w
	s := w.element(key, value)
	key = w.key(&s)   // not the caller's, who might change it
	if b.tx.db.bolt { // where a Put that is refused touches no page
		if at := b.find(key); at.exact {
			if flags, _, _ := at.element(b.tx); flags&page.BucketFlag != 0 {
				return ErrIncompatibleValue
			}
		}
	} else {
		b.tx.cursors.add(1)
	}
	b.anyLeaf(key)
	if !w.put(&b.edit.recent, key, s) {
		return ErrIncompatibleValue
	}
	return nil
}

// Delete removes key; it is no error if it is not there. [ErrIncompatibleValue] if it names a bucket.
func (b *Bucket) Delete(key []byte) error {
	if err := b.change(); err != nil {
		return err
	}
	b.logStart("Deleting key", key)
	err := b.unset(key)
	b.logEnd("Deleting key", key, err)
	return err
}

func (b *Bucket) unset(key []byte) error {
	at := b.find(key)
	if !at.exact {
		return nil
	}
	if flags, _, _ := at.element(b.tx); flags&page.BucketFlag != 0 {
		return ErrIncompatibleValue
	}
	if at.node != nil {
		b.dropAt(at.node, at.index)
		return nil
	}
	b.drop(key)
	return nil
}

// SetSequence sets the bucket's sequence.
func (b *Bucket) SetSequence(v uint64) error {
	if err := b.change(); err != nil {
		return err
	}
	b.rootNode() // so that the header is written
	b.seq = v
	return nil
}

// NextSequence adds one to the bucket's sequence and returns it.
func (b *Bucket) NextSequence() (uint64, error) {
	if err := b.change(); err != nil {
		return 0, err
	}
	if err := b.SetSequence(b.seq + 1); err != nil {
		return 0, err
	}
	return b.seq, nil
}

// logStart and logEnd report an operation to loggers that listen.
func (b *Bucket) logStart(what string, name []byte) {
	if db := b.tx.db; db.logs {
		db.logger.Debugf("%s %q", what, name)
	}
}

func (b *Bucket) logEnd(what string, name []byte, err error) {
	switch db := b.tx.db; {
	case !db.logs:
	case err != nil:
		db.logger.Errorf("%s %q failed: %v", what, name, err)
	default:
		db.logger.Debugf("%s %q successfully", what, name)
	}
}
