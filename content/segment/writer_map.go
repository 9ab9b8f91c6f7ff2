// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// mapEntry is an entry of a map to be written. The key of a new one is not written yet.
type mapEntry struct {
	hash  uint32
	name  string
	key   RecordID
	value RecordID // zero in changes: the entry goes
	leaf  *trie    // where it is from, instead of the name, and which entry it is there
	index uint32
}

// Map writes a map from scratch. The names must differ.
func (w *Writer) Map(children []Child) (RecordID, error) {
	entries, err := mapEntries(children)
	if err != nil {
		return RecordID{}, err
	}
	for _, c := range children {
		if !c.present() {
			return RecordID{}, fmt.Errorf("%w: child %.80q is no record", ErrDraft, c.Name)
		}
	}
	return w.top(w.build(0, entries))
}

// top is a part as a map, which is written if it has no entries.
func (w *Writer) top(p mapPart, err error) (RecordID, error) {
	if err != nil || p.id != (RecordID{}) {
		return p.id, err
	}
	return w.record(RecordLeaf, make([]byte, wordSize), nil, nil)
}

// mapEntries is children in the order of maps.
func mapEntries(children []Child) ([]mapEntry, error) {
	entries := make([]mapEntry, len(children))
	for i, c := range children {
		name := cleanText(c.Name)
		entries[i] = mapEntry{hash: mapHash(name), name: name, value: c.Node}
	}
	slices.SortFunc(entries, compareEntries)
	for i := range entries {
		if i > 0 && compareEntries(entries[i-1], entries[i]) == 0 {
			return nil, fmt.Errorf("%w: two children %.80q", ErrDraft, entries[i].name)
		}
	}
	return entries, nil
}

func compareEntries(a, b mapEntry) int {
	if a.hash != b.hash {
		return cmp.Compare(a.hash, b.hash)
	}
	return compareText(a.name, b.name)
}

// mapPart is a part of a map that is written. Without entries there is no record.
type mapPart struct {
	id   RecordID
	size int
}

// build writes a part of a map from scratch.
func (w *Writer) build(level uint32, entries []mapEntry) (mapPart, error) {
	if len(entries) <= maxLeaf || level == maxLevel {
		return w.leaf(level, entries)
	}
	var parts [1 << levelBits]mapPart
	for i, run := range runs(level, entries) {
		var err error
		if parts[i], err = w.build(level+1, run); err != nil {
			return mapPart{}, err
		}
	}
	return w.branch(level, parts)
}

// runs is sorted entries by bucket: up to the last level all that are in one lie together.
func runs(level uint32, entries []mapEntry) func(yield func(uint32, []mapEntry) bool) {
	return func(yield func(uint32, []mapEntry) bool) {
		for len(entries) > 0 {
			bucket, n := bucketIndex(entries[0].hash, level), 1
			for n < len(entries) && bucketIndex(entries[n].hash, level) == bucket {
				n++
			}
			if !yield(bucket, entries[:n]) {
				return
			}
			entries = entries[n:]
		}
	}
}

func (w *Writer) leaf(level uint32, entries []mapEntry) (mapPart, error) {
	if len(entries) == 0 {
		return mapPart{}, nil
	}
	mark := len(w.stack)
	defer func() { w.stack = w.stack[:mark] }()
	for _, e := range entries {
		if e.key == (RecordID{}) {
			var err error
			if e.key, err = w.String(e.name); err != nil {
				return mapPart{}, err
			}
		}
		w.stack = append(w.stack, e.key, e.value)
	}
	front := be.AppendUint32(w.front[:0], level<<levelShift|uint32(len(entries)))
	for _, e := range entries {
		front = be.AppendUint32(front, e.hash)
	}
	w.front = front
	id, err := w.record(RecordLeaf, front, w.stack[mark:], nil)
	return mapPart{id, len(entries)}, err
}

// branch writes the branch of parts by bucket.
func (w *Writer) branch(level uint32, parts [1 << levelBits]mapPart) (mapPart, error) {
	bitmap, size := uint32(0), 0
	var ids [1 << levelBits]RecordID
	for i, p := range parts {
		if p.size > 0 {
			ids[bits.OnesCount32(bitmap)] = p.id
			bitmap |= 1 << i
			size += p.size
		}
	}
	if size > w.maxMap {
		return mapPart{}, fmt.Errorf("%w: a map of %d entries", ErrTooBig, size)
	}
	var head [2 * wordSize]byte
	be.PutUint32(head[:], level<<levelShift|uint32(size))
	be.PutUint32(head[wordSize:], bitmap)
	id, err := w.record(RecordBranch, head[:], ids[:bits.OnesCount32(bitmap)], nil)
	return mapPart{id, size}, err
}

// maxMap is where Oak refuses maps.
const maxMap = 1<<levelShift - 2
