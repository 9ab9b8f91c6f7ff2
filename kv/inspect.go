// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

// BucketStructure is the tree of buckets below one, with the numbers of their keys.
type BucketStructure struct {
	Name     string            `json:"name"`
	KeyN     int               `json:"keyN"` // keys that are not buckets
	Children []BucketStructure `json:"buckets,omitempty"`
}

// Inspect describes all buckets of the database. The topmost is called root.
func (tx *Tx) Inspect() BucketStructure { return tx.top().Inspect() }

// Inspect describes the bucket and all buckets below it, as this transaction sees them. The topmost is called root,
// whatever its name.
func (b *Bucket) Inspect() BucketStructure {
	d := newDescent(b.tx)
	return d.inspect(b, "root")
}

func (d *descent) inspect(b *Bucket, name string) BucketStructure {
	s := BucketStructure{Name: name}
	c := b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		if !c.onBucket() {
			s.KeyN++
			continue
		}
		s.Children = append(s.Children, d.inspect(d.enter(c, k), string(k)))
		d.leave()
	}
	return s
}

// maxNesting bounds the depth of buckets in buckets for walks over all of them.
const maxNesting = 10_000

// descent is a walk over buckets in buckets. It notices when damaged pages would have it go in circles: a bucket that
// is not inline has pages of its own, so that there cannot be more of them than pages.
type descent struct {
	depth int
	left  uint64 // buckets with pages that there can still be
}

func newDescent(tx *Tx) *descent { return &descent{left: tx.limit} }

// enter goes down into the bucket that c stands on, whose name is given.
func (d *descent) enter(c *Cursor, name []byte) *Bucket {
	tx := c.tx
	child := c.bucket.Bucket(name)
	switch {
	case child == nil:
		id := c.home()
		tx.corrupt(id, "bucket %q of page %d is not where its name belongs", name, id)
	case child.root != 0 && d.left == 0:
		tx.tooMany(child.root)
	case d.depth == maxNesting:
		tx.tooNested(child.root)
	}
	if child.root != 0 {
		d.left--
	}
	d.depth++
	return child
}

// leave goes up again.
func (d *descent) leave() { d.depth-- }
