// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import "github.com/holtdb/holt/kv/internal/page"

// BucketStats measures a bucket and all buckets below it.
type BucketStats struct {
	BranchPageN     int // branch pages, those that continue another not counted
	BranchOverflowN int // pages that continue a branch page
	LeafPageN       int // leaf pages, likewise
	LeafOverflowN   int // pages that continue a leaf page

	KeyN  int // keys, those of sub-buckets and the names of these among them
	Depth int // levels of the tree; those of the deepest sub-bucket are added

	BranchAlloc int // bytes of the branch pages
	BranchInuse int // of which hold something
	LeafAlloc   int // bytes of the leaf pages
	LeafInuse   int // of which hold something

	BucketN           int // buckets, the measured one among them
	InlineBucketN     int // of which are kept inside the value of their entry
	InlineBucketInuse int // bytes these take; LeafInuse counts them as values once more
}

// Add sums the statistics of different buckets. The depth is that of the deeper one.
func (s *BucketStats) Add(other BucketStats) {
	s.BranchPageN += other.BranchPageN
	s.BranchOverflowN += other.BranchOverflowN
	s.LeafPageN += other.LeafPageN
	s.LeafOverflowN += other.LeafOverflowN
	s.KeyN += other.KeyN
	s.Depth = max(s.Depth, other.Depth)
	s.BranchAlloc += other.BranchAlloc
	s.BranchInuse += other.BranchInuse
	s.LeafAlloc += other.LeafAlloc
	s.LeafInuse += other.LeafInuse
	s.BucketN += other.BucketN
	s.InlineBucketN += other.InlineBucketN
	s.InlineBucketInuse += other.InlineBucketInuse
}

// Stats measures the bucket and all buckets below it. It looks at pages: what a write transaction has changed counts
// from its commit on.
func (b *Bucket) Stats() BucketStats {
	if b.tx.db == nil {
		panic("assertion failed: tx closed")
	}
	m := measure{tx: b.tx, left: b.tx.limit}
	return m.bucket(b.root, b.inline, 0)
}

// measure walks over the pages of buckets.
type measure struct {
	tx   *Tx
	left uint64 // pages that can still be visited; there are more only if pages form a cycle
}

func (m *measure) bucket(root uint64, inline page.Page, nesting int) BucketStats {
	s := BucketStats{BucketN: 1}
	if root == 0 {
		s.InlineBucketN, s.Depth, s.KeyN = 1, 1, inline.Count()
		s.InlineBucketInuse = m.inuse(0, inline)
		return s
	}
	if nesting == maxNesting {
		m.tx.tooNested(root)
	}
	var below BucketStats
	m.tree(heldPage{id: root}, 1, nesting, &s, &below)
	s.BranchAlloc = (s.BranchPageN + s.BranchOverflowN) * m.tx.pageSize
	s.LeafAlloc = (s.LeafPageN + s.LeafOverflowN) * m.tx.pageSize
	s.Depth += below.Depth
	s.Add(below)
	return s
}

// tree counts a page, which is the root of a bucket at level 1, and the pages under it into s. Buckets found there are
// added to below.
func (m *measure) tree(at heldPage, level, nesting int, s, below *BucketStats) {
	id := at.id
	switch {
	case m.left == 0:
		m.tx.tooMany(id)
	case level > maxDepth:
		m.tx.tooDeep(id)
	}
	m.left--
	p := m.tx.page(id)
	m.tx.hold(id, p, at.keys)
	s.Depth = max(s.Depth, level)
	if p.Flags() == page.Branch {
		s.BranchPageN++
		s.BranchOverflowN += int(p.Overflow())
		s.BranchInuse += m.inuse(id, p)
		for i := range p.Count() {
			m.tree(heldPage{p.Child(i), m.tx.below(id, p, i, at.keys)}, level+1, nesting, s, below)
		}
		return
	}
	s.LeafPageN++
	s.LeafOverflowN += int(p.Overflow())
	s.LeafInuse += m.inuse(id, p)
	s.KeyN += p.Count()
	for i := range p.Count() {
		if page.LeafFlags(p.Elem(i))&page.BucketFlag == 0 {
			continue
		}
		_, _, value, _ := p.LeafElem(i) // inuse has seen that it lies in the page
		var sub Bucket
		sub.tx = m.tx
		sub.parse(value, id)
		below.Add(m.bucket(sub.root, sub.inline, nesting+1))
	}
}

// inuse is the number of bytes that page id holds something in: header, element table, keys and values.
func (m *measure) inuse(id uint64, p page.Page) int {
	n := page.HeaderSize + page.ElemSize*p.Count()
	for i := range p.Count() {
		_, ksize, vsize, ok := p.Span(i)
		if !ok {
			m.tx.badElement(m.tx.home(id, p), i)
		}
		n += int(ksize) + int(vsize)
	}
	return n
}
