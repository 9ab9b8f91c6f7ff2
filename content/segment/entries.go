// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import "math/bits"

// An Entry is a name and what it stands for.
type Entry struct {
	Name  []byte // a view, or a copy if it is long
	Value Record
}

// Node takes the value for a node: the child.
func (e Entry) Node() (Node, error) { return e.Value.Node() }

// Entries goes through the entries of a map, or the children of a node, in the order they are stored in:
//
//	c := node.Children()
//	for c.Next() {
//		… c.Name, c.Value …
//	}
//	return c.Err()
type Entries struct {
	Entry
	leaf leaf
	path [maxLevel]branch // those above the leaf
	deep int
	left uint32 // entries behind the present leaf
	diff Record
	err  error
}

// leaf is a run of names and values at equal distances. The only child of a node is one too, whose name is with the
// template.
type leaf struct {
	keys, values     *Segment
	keysAt, valuesAt uint32
	step             uint32
	left             uint32
}

// branch is a branch of which next buckets were visited.
type branch struct {
	trie
	next, count uint32
}

// Entries goes through the map.
func (m Map) Entries() Entries {
	var c Entries
	c.diff = m.diff
	c.left = m.top.size()
	c.enter(m.top)
	return c
}

// Err is the error that ended the loop.
func (c *Entries) Err() error { return c.err }

// Next moves to the next entry, if there is one.
func (c *Entries) Next() bool {
	for c.leaf.left == 0 {
		if c.err != nil || !c.nextLeaf() {
			return false
		}
	}
	l := &c.leaf
	if c.Name, c.err = l.keys.name(l.keysAt); c.err == nil {
		if c.Value, c.err = l.values.record(l.valuesAt); c.err == nil && c.diff.seg != nil {
			c.err = c.substitute()
		}
	}
	if c.err != nil {
		l.left = 0
		return false
	}
	l.keysAt += l.step
	l.valuesAt += l.step
	l.left--
	return true
}

// nextLeaf moves on by one part of the map. The sizes of leaves add up to that of the map, none of them is empty: so
// the work is bounded by the size of the map.
func (c *Entries) nextLeaf() bool {
	for c.deep > 0 && c.path[c.deep-1].next == c.path[c.deep-1].count {
		c.deep--
	}
	if c.deep == 0 {
		if c.left > 0 {
			c.err = c.path[0].corrupt("%d of %d entries of a map are missing", c.left, c.path[0].size())
		}
		return false
	}
	b := &c.path[c.deep-1]
	t, err := b.bucket(b.next)
	b.next++
	if err == nil && (t.size() == 0 || t.size() > c.left) {
		err = t.corrupt("a part of a map with %d entries, where %d are left", t.size(), c.left)
	}
	if err != nil {
		c.err = err
		return false
	}
	c.enter(t)
	return true
}

// enter begins with a leaf or branch.
func (c *Entries) enter(t trie) {
	if t.isBranch() {
		c.path[c.deep] = branch{t, 0, uint32(bits.OnesCount32(t.bitmap()))}
		c.deep++
		return
	}
	c.left -= t.size()
	c.leaf = leaf{t.seg, t.seg, t.keysAt(), t.keysAt() + ridSize, entrySize, t.size()}
}

// substitute puts the value of the diff in its place.
func (c *Entries) substitute() error {
	d := c.diff
	if mapHash(c.Name) != d.word(wordSize) {
		return nil
	}
	key, err := d.seg.name(d.at + keyInDiff)
	if err == nil && compareText(key, c.Name) == 0 {
		c.Value, err = d.seg.record(d.at + keyInDiff + ridSize)
	}
	return err
}
