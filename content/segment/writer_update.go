// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"cmp"
	"math/bits"
	"slices"
)

// UpdateMap writes a map with changes, of different names. What does not change is referred to, so the base must not be of
// an older generation. A single new value becomes a diff on top of the base.
func (w *Writer) UpdateMap(base Map, changes []Child) (RecordID, error) {
	if len(changes) == 0 {
		return base.id(), nil
	}
	entries, err := mapEntries(changes)
	if err != nil {
		return RecordID{}, err
	}
	if len(entries) == 1 && entries[0].value != (RecordID{}) {
		r, ok, err := base.Get(entries[0].name)
		if err != nil {
			return RecordID{}, err
		}
		if ok && r.ID() == entries[0].value {
			return base.id(), nil
		}
	}
	if base.diff.seg != nil {
		if entries, err = base.unpack(entries); err != nil {
			return RecordID{}, err
		}
	}
	if len(entries) == 1 && entries[0].value != (RecordID{}) {
		leaf, i, ok, err := base.top.find(entries[0].hash, entries[0].name)
		if err != nil {
			return RecordID{}, err
		}
		if ok {
			return w.diff(base.top, leaf, i, entries[0])
		}
	}
	return w.top(w.update(base.top, 0, entries))
}

func (m Map) id() RecordID {
	if m.diff.seg != nil {
		return m.diff.ID()
	}
	return m.top.ID()
}

// unpack puts the entry of a diff among changes, which come first.
func (m Map) unpack(changes []mapEntry) ([]mapEntry, error) {
	d := m.diff
	name, err := d.seg.name(d.at + keyInDiff)
	if err != nil {
		return nil, err
	}
	e := mapEntry{hash: d.word(wordSize), name: cleanText(string(name))}
	if e.key, err = d.seg.recordID(d.at + keyInDiff); err != nil {
		return nil, err
	}
	if e.value, err = d.seg.recordID(d.at + keyInDiff + ridSize); err != nil {
		return nil, err
	}
	out := make([]mapEntry, 0, len(changes)+1)
	for i, c := range changes {
		switch order := compareEntries(e, c); {
		case order == 0:
			return changes, nil
		case order < 0:
			return append(append(out, e), changes[i:]...), nil
		}
		out = append(out, c)
	}
	return append(out, e), nil
}

// diff writes a new value for the i-th entry of a leaf. The key is the very record of the base: Oak compares ids.
func (w *Writer) diff(base, leaf trie, i uint32, e mapEntry) (RecordID, error) {
	old, err := leaf.entry(i)
	if err != nil || old.value == e.value {
		return base.ID(), err
	}
	var head [2 * wordSize]byte
	be.PutUint32(head[:], diffHead)
	be.PutUint32(head[wordSize:], old.hash)
	return w.recordOf(RecordBranch, head[:], []RecordID{old.key, e.value, base.ID()}, []kinds{isText, isNode, isMap}, nil)
}

// entry is the i-th entry of a leaf.
func (t *trie) entry(i uint32) (mapEntry, error) {
	at := t.keysAt() + i*entrySize
	key, err := t.seg.recordID(at)
	if err != nil {
		return mapEntry{}, err
	}
	value, err := t.seg.recordID(at + ridSize)
	return mapEntry{hash: t.hash(i), key: key, value: value, leaf: t, index: i}, err
}

// update writes a part of a map with changes.
func (w *Writer) update(t trie, level uint32, changes []mapEntry) (mapPart, error) {
	if len(changes) == 0 {
		return mapPart{t.ID(), int(t.size())}, nil
	}
	if !t.isBranch() || t.level() != level || int(t.size())-deletions(changes) <= maxLeaf {
		return w.rewrite(t, level, changes)
	}
	return w.updateBranch(t, changes)
}

func deletions(changes []mapEntry) int {
	n := 0
	for _, c := range changes {
		if c.value == (RecordID{}) {
			n++
		}
	}
	return n
}

func (w *Writer) updateBranch(t trie, changes []mapEntry) (mapPart, error) {
	parts, err := t.parts()
	if err != nil {
		return mapPart{}, err
	}
	changed := false
	for i, run := range runs(t.level(), changes) {
		before := parts[i]
		if before.size == 0 {
			parts[i], err = w.build(t.level()+1, additions(run))
		} else {
			parts[i], err = w.updateBucket(t, i, run)
		}
		if err != nil {
			return mapPart{}, err
		}
		changed = changed || parts[i] != before
	}
	if !changed {
		return mapPart{t.ID(), int(t.size())}, nil
	}
	return w.branch(t.level(), parts)
}

// parts is the buckets of a branch. Their sizes make that of the branch: so what is written has the right kind.
func (t trie) parts() (parts [1 << levelBits]mapPart, err error) {
	size := 0
	for n, left := uint32(0), t.bitmap(); left != 0; n, left = n+1, left&(left-1) {
		b, err := t.bucket(n)
		if err != nil {
			return parts, err
		}
		parts[bits.TrailingZeros32(left)] = mapPart{b.ID(), int(b.size())}
		size += int(b.size())
	}
	if size != int(t.size()) {
		err = t.corrupt("the branch of a map of %d entries has %d", t.size(), size)
	}
	return parts, err
}

func (w *Writer) updateBucket(t trie, i uint32, changes []mapEntry) (mapPart, error) {
	b, err := t.bucket(uint32(bits.OnesCount32(t.bitmap() & (1<<i - 1))))
	if err != nil {
		return mapPart{}, err
	}
	return w.update(b, t.level()+1, changes)
}

func additions(changes []mapEntry) []mapEntry {
	var added []mapEntry
	for _, c := range changes {
		if c.value != (RecordID{}) {
			added = append(added, c)
		}
	}
	return added
}

// rewrite is update for leaves, and for branches that may become one. What is left in one bucket stays at its level.
func (w *Writer) rewrite(t trie, level uint32, changes []mapEntry) (mapPart, error) {
	var g gathering
	if err := g.trie(t, int(t.size())); err != nil {
		return mapPart{}, err
	}
	// They are in order already, but for branches of another level than they should have.
	slices.SortStableFunc(g.entries, func(a, b mapEntry) int { return cmp.Compare(a.hash, b.hash) })
	entries, changed, err := merge(g.entries, changes)
	switch {
	case err != nil:
		return mapPart{}, err
	case !changed:
		return mapPart{t.ID(), int(t.size())}, nil
	case !t.isBranch() || t.level() != level || len(entries) == 0:
		return w.build(level, entries)
	case len(entries) > maxLeaf:
		return w.updateBranch(t, changes)
	}
	first, last := bucketIndex(entries[0].hash, level), bucketIndex(entries[len(entries)-1].hash, level)
	if first != last {
		return w.leaf(level, entries)
	}
	if t.bitmap()>>first&1 == 0 {
		return w.build(level+1, entries)
	}
	for i, run := range runs(level, changes) {
		if i == first {
			return w.updateBucket(t, i, run)
		}
	}
	return w.updateBucket(t, first, nil)
}

// gathering is entries of leaves, in order.
type gathering struct{ entries []mapEntry }

// trie adds those of a part of a map, which must have just so many.
func (g *gathering) trie(t trie, size int) error {
	if int(t.size()) > size {
		return t.corrupt("a part of a map with %d entries, where %d are left", t.size(), size)
	}
	if !t.isBranch() {
		return g.leaf(t)
	}
	end := len(g.entries) + int(t.size())
	for i := range uint32(bits.OnesCount32(t.bitmap())) {
		b, err := t.bucket(i)
		if err == nil {
			err = g.trie(b, end-len(g.entries))
		}
		if err != nil {
			return err
		}
	}
	if len(g.entries) != end {
		return t.corrupt("%d of %d entries of a map are missing", end-len(g.entries), t.size())
	}
	return nil
}

func (g *gathering) leaf(t trie) error {
	for i := range t.size() {
		e, err := t.entry(i)
		if err != nil {
			return err
		}
		g.entries = append(g.entries, e)
	}
	return nil
}

// merge applies changes to entries.
func merge(entries, changes []mapEntry) (merged []mapEntry, changed bool, err error) {
	merged = make([]mapEntry, 0, len(entries)+len(changes))
	for len(entries) > 0 && len(changes) > 0 {
		e, c := entries[0], changes[0]
		order, err := e.compare(c)
		switch {
		case err != nil:
			return nil, false, err
		case order < 0:
			merged, entries = append(merged, e), entries[1:]
			continue
		case order == 0:
			entries = entries[1:]
			c.key = e.key
			changed = changed || c.value != e.value
		default:
			changed = changed || c.value != RecordID{}
		}
		changes = changes[1:]
		if c.value != (RecordID{}) {
			merged = append(merged, c)
		}
	}
	added := additions(changes)
	return append(append(merged, entries...), added...), changed || len(added) > 0, nil
}

// compare orders an entry of a leaf and a change. Names are read only where they matter.
func (e *mapEntry) compare(c mapEntry) (int, error) {
	if e.hash != c.hash {
		return cmp.Compare(e.hash, c.hash), nil
	}
	name, err := e.leaf.seg.name(e.leaf.keysAt() + e.index*entrySize)
	return compareText(name, c.name), err
}
