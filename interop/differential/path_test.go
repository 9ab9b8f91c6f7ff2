// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"slices"
	"strings"
)

// A path names a bucket from the root down; the empty path is the root bucket.
type path []string

func (p path) String() string { return "/" + strings.Join(p, "/") }

// child is the path of a bucket inside p.
func (p path) child(name string) path {
	return append(slices.Clip(p), name)
}

// within tells whether p is q or lies below it.
func (p path) within(q path) bool {
	if len(p) < len(q) {
		return false
	}
	for i := range q {
		if p[i] != q[i] {
			return false
		}
	}
	return true
}

// lookup finds the bucket at p, or nil.
func lookup(tx transaction, p path) bucket {
	if len(p) == 0 {
		return tx.Root()
	}
	b := tx.Bucket([]byte(p[0]))
	for _, name := range p[1:] {
		if b == nil {
			return nil
		}
		b = b.Bucket([]byte(name))
	}
	return b
}

// changes are the buckets that the running write transaction has changed, each
// with the number of its elements deleted. The player consults them to leave
// out the calls whose outcome differs by design:
//
//   - moving a bucket changed in the same transaction: bbolt loses the changes;
//   - deleting a bucket that has sub-buckets and was changed in the same
//     transaction: bbolt leaks the pages of every other sub-bucket;
//   - going on with a cursor after it deleted from a bucket changed before:
//     bbolt skips the element that moved into its place;
//   - Prev in a bucket in which a leaf may have become empty, which takes two
//     deletions, and whatever follows the end of Next in one: bbolt stops in
//     the empty leaf;
//   - page statistics of a changed bucket: of an inline one bbolt counts a
//     wrong page.
type changes map[string]*change

type change struct {
	at      path
	deleted int
}

func (c changes) add(p path) *change {
	key := p.String()
	if c[key] == nil {
		c[key] = &change{at: p}
	}
	return c[key]
}

// at tells whether the bucket p itself was changed.
func (c changes) at(p path) bool { return c[p.String()] != nil }

// below tells whether p or a bucket inside it was changed.
func (c changes) below(p path) bool {
	for _, ch := range c {
		if ch.at.within(p) {
			return true
		}
	}
	return false
}

// emptied tells whether p may have an empty leaf.
func (c changes) emptied(p path) bool {
	ch := c[p.String()]
	return ch != nil && ch.deleted > 1
}
