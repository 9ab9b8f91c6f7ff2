// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"math"
	"slices"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv/internal/page"
)

// compactWalk goes over everything that a transaction sees and plans the copy: which elements make up which leaf. It
// looks at sizes and keys only. Its slots lie in the file of the source.
type compactWalk struct {
	tx       *Tx
	pageSize int // of the destination
	send     func(*compactBatch)
	batch    *compactBatch
	ids      []uint64         // room for those of the children of a branch
	open     []*plannedBucket // from the root bucket down

	left      int64  // bytes that keys and values can still have: those of the whole file, at first
	pagesLeft uint64 // likewise
}

// compactBatch is what is handed over at once. Its leaves are built by whoever is free.
type compactBatch struct {
	steps []compactStep
	size  int64         // of keys and values
	built chan struct{} // closed when there is a page for each leaf
	pages *writer       // one dirty run for each leaf, nil without leaves

	failure any // what building them panicked with
}

// compactStep is what a walk comes by.
type compactStep struct {
	what     int
	key      []byte // not of a leaf
	value    []byte
	sequence uint64 // of a bucket
	leaf     plannedLeaf
	size     int64 // of keys and values
}

const (
	putPair     = iota // a pair beside the top-level buckets
	putInline          // a top-level bucket of one small leaf
	enterBucket        // what follows is in the bucket with this name, which has pages of its own
	addLeaf            // behind all others of the bucket
	leaveBucket
)

// plannedLeaf are the elements of a leaf that is not built yet.
type plannedLeaf struct {
	slots []slot
	ext   [][]byte // values that do not lie behind their keys, or are large
	kids  []int    // the elements that are buckets with pages, in the order of leaveBucket
	size  int64
}

// plannedBucket is a bucket that the walk is in, with the elements that are in no leaf yet.
type plannedBucket struct {
	plannedLeaf
	name     []byte
	sequence uint64
	entered  bool // there was a step for it
	buckets  bool // it has buckets in it
	last     []byte
}

const (
	compactBatchSize  = 256 << 10 // bytes of keys and values, about
	compactBatchSteps = 512       // at most

	nearby    = 8        // pages, so close to each other that what lies between them is read too
	longValue = 32 << 10 // bytes that are worth being read ahead
)

func (w *compactWalk) run() {
	w.batch = new(compactBatch)
	root := new(plannedBucket)
	w.open = append(w.open, root)
	w.tree(root, w.tx.rootHeader().root, keyRange{}, 0)
	w.flush()
}

// flush hands over what has come together.
func (w *compactWalk) flush() {
	w.send(w.batch)
	w.batch = new(compactBatch)
}

func (w *compactWalk) step(s compactStep) {
	b := w.batch
	b.steps = append(b.steps, s)
	if b.size += s.size; b.size >= compactBatchSize || len(b.steps) >= compactBatchSteps {
		w.flush()
	}
}

// tree walks over page id, whose keys are to be in r, and those below it.
func (w *compactWalk) tree(b *plannedBucket, id uint64, r keyRange, depth int) {
	tx := w.tx
	if depth == maxDepth {
		tx.tooDeep(id)
	}
	if w.pagesLeft == 0 {
		tx.tooMany(id)
	}
	w.pagesLeft--
	p := tx.page(id)
	tx.hold(id, p, r)
	if p.Flags() == page.Leaf {
		w.leaf(b, id, p, id*uint64(tx.pageSize))
		return
	}
	if p.Count() == 0 {
		tx.emptyBranch(id)
	}
	w.readAhead(p)
	for i := range p.Count() {
		w.tree(b, p.Child(i), tx.below(id, p, i, r), depth+1)
	}
}

// readAhead has the children of a branch read while the walk is at the first of them: side by side, and not one after the
// other.
func (w *compactWalk) readAhead(p page.Page) {
	ids := w.ids[:0]
	for i := range p.Count() {
		if id := p.Child(i); id < w.tx.limit {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	size := w.tx.pageSize
	for i := 0; i < len(ids); {
		first := i
		for i++; i < len(ids) && ids[i]-ids[i-1] <= nearby; i++ {
		}
		file.WillNeed(w.tx.data, int(ids[first])*size, int(ids[i-1]-ids[first]+1)*size)
	}
	w.ids = ids
}

// leaf walks over the elements of a leaf page that lies at base, in page id.
func (w *compactWalk) leaf(b *plannedBucket, id uint64, p page.Page, base uint64) {
	for i := range p.Count() {
		flags, off, ksize, vsize, ok := p.LeafSpan(i)
		if !ok {
			w.tx.badElement(id, i)
		}
		s := slot{loc: base + off, ksize: ksize, vsize: vsize, ref: uint64(flags & page.BucketFlag)}
		key := w.key(b, id, &s)
		value := w.bytes(s.loc+uint64(ksize), vsize)
		switch {
		case s.ref != 0:
			w.bucket(b, id, s, key, value)
		case len(w.open) == 1:
			w.step(compactStep{what: putPair, key: key, value: value, size: s.bytes()})
		default:
			if vsize >= externalMin {
				s.ref = b.external(value)
			}
			if vsize >= longValue {
				file.WillNeed(w.tx.data, int(s.loc)+int(ksize), int(vsize))
			}
			w.add(b, s)
		}
	}
}

func (w *compactWalk) bytes(loc uint64, n uint32) []byte { return w.tx.data[loc:][:n:n] }

func (s *slot) bytes() int64 { return int64(s.ksize) + int64(s.vsize) }

// key returns the key of an element in page id, which is to be above the one before.
func (w *compactWalk) key(b *plannedBucket, id uint64, s *slot) []byte {
	k := w.bytes(s.loc, s.ksize)
	switch {
	case len(k) == 0 || len(k) > MaxKeySize && s.ref == 0:
		w.tx.corrupt(id, "page %d has a key of %d bytes", id, len(k))
	case b.last != nil && bytes.Compare(b.last, k) >= 0:
		w.tx.corrupt(id, "key %x of page %d is not above the one before it, %x", k, id, b.last)
	}
	w.left -= int64(len(k))
	if s.ref == 0 { // what is in a bucket counts itself
		w.left -= int64(s.vsize)
	}
	if w.left < 0 {
		w.tx.corrupt(w.tx.meta.Root, "keys and values take more bytes than the file has: they overlap")
	}
	b.last = k
	return k
}

// bucket walks over the bucket that is an element of b.
func (w *compactWalk) bucket(b *plannedBucket, id uint64, s slot, name, value []byte) {
	root, sequence, inline, ok := page.BucketValue(value)
	if !ok {
		w.tx.badBucket(id, value)
	}
	if len(w.open) > maxNesting {
		w.tx.tooNested(root)
	}
	child := &plannedBucket{name: name, sequence: sequence}
	child.size = page.HeaderSize
	w.open = append(w.open, child)
	b.buckets = true
	if root != 0 {
		w.tree(child, root, keyRange{}, 0)
	} else {
		if inline.Flags() != page.Leaf {
			w.tx.corrupt(id, "invalid page type: 0: %x", inline.Flags())
		}
		w.leaf(child, id, inline, s.loc+uint64(s.ksize)+page.BucketHeader)
		if child.buckets {
			w.tx.badInline(id, 0)
		}
	}
	w.end(b, child, s, value)
}

// end gives b the element of a bucket that has been walked over.
func (w *compactWalk) end(b, child *plannedBucket, s slot, value []byte) {
	if child.inlinable(w.pageSize) {
		w.open = w.open[:len(w.open)-1]
		if v := w.inline(child, &s, value); len(w.open) == 1 {
			w.step(compactStep{what: putInline, key: child.name, value: v, size: s.bytes()})
		} else if s.vsize = uint32(len(v)); &v[0] != &value[0] {
			s.ref |= b.external(v)
			w.add(b, s)
		} else {
			w.add(b, s)
		}
		return
	}
	w.enter()
	for len(child.slots) > 0 {
		w.cut(child)
	}
	w.step(compactStep{what: leaveBucket})
	if w.open = w.open[:len(w.open)-1]; len(w.open) > 1 {
		s.vsize = page.BucketHeader
		b.kids = append(b.kids, len(b.slots))
		w.add(b, s)
	}
}

// inlinable says whether the bucket is to be stored inside its parent.
func (b *plannedBucket) inlinable(pageSize int) bool {
	return !b.entered && !b.buckets && b.size <= int64(pageSize/4) && len(b.slots) < page.MaxCount
}

// inline returns the value of bucket b, stored inside its parent: the one that it has at s, if it is such and as short.
func (w *compactWalk) inline(b *plannedBucket, s *slot, value []byte) []byte {
	size := page.BucketHeader + int(b.size)
	if root, _, p, _ := page.BucketValue(value); root == 0 && len(value) == size && p.ID() == 0 && p.Overflow() == 0 &&
		sideBySide(b.slots, s.loc+uint64(s.ksize)+uint64(page.BucketHeader+page.HeaderSize+page.ElemSize*p.Count())) {
		return value
	}
	v := make([]byte, size)
	page.PutBucketHeader(v, 0, b.sequence)
	p := page.Page(v[page.BucketHeader:])
	p.PutHeader(0, page.Leaf, len(b.slots), 0)
	pages := writer{tx: w.tx, ext: b.ext}
	pages.fill(p, b.slots, true, false)
	return v
}

// external puts a value beside the elements and returns the flags of its slot.
func (l *plannedLeaf) external(value []byte) uint64 {
	l.ext = append(l.ext, value)
	return slotExternal | uint64(len(l.ext)-1)<<32
}

// add puts an element behind the others, and makes a leaf of the first of them if there are enough for two.
func (w *compactWalk) add(b *plannedBucket, s slot) {
	if b.entered && len(b.slots) == cap(b.slots) {
		b.slots = slices.Grow(b.slots, compactBatchSteps) // for many leaves
	}
	b.slots = append(b.slots, s)
	b.size += elemSize(s)
	if enough(len(b.slots), b.size, w.pageSize) {
		w.cut(b)
	}
}

// enough says whether so many elements, of that size, are cut by split as they will be when more have come.
func enough(n int, size int64, pageSize int) bool {
	if size > math.MaxInt32 {
		return n > 1
	}
	return n >= minKeysLeft+minKeysRight && (size >= 2*int64(pageSize) || n >= page.MaxCount)
}

// cut makes a leaf of the first elements.
func (w *compactWalk) cut(b *plannedBucket) {
	w.enter()
	n, size := split(b.slots, b.size, int64(w.pageSize), 1)
	leaf := plannedLeaf{slots: b.slots[:n:n], ext: b.ext, size: size}
	rest := plannedLeaf{slots: b.slots[n:], size: b.size - size + page.HeaderSize}
	for i := range rest.slots {
		if s := &rest.slots[i]; s.ref&slotExternal != 0 {
			s.ref = s.ref&page.BucketFlag | rest.external(b.ext[s.ref>>32])
		}
	}
	at, _ := slices.BinarySearch(b.kids, n)
	leaf.kids = b.kids[:at:at]
	for _, kid := range b.kids[at:] {
		rest.kids = append(rest.kids, kid-n)
	}
	b.plannedLeaf = rest
	w.step(compactStep{what: addLeaf, leaf: leaf, size: size - page.HeaderSize - page.ElemSize*int64(n)})
}

// enter has steps for the buckets that the walk is in, now that they are to have pages.
func (w *compactWalk) enter() {
	first := len(w.open)
	for first > 1 && !w.open[first-1].entered {
		first--
	}
	for _, b := range w.open[first:] {
		b.entered = true
		w.step(compactStep{what: enterBucket, key: b.name, sequence: b.sequence})
	}
}
