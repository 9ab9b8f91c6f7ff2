// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import "fmt"

// Array writes a LIST: the values of a property of an array type.
func (w *Writer) Array(ids []RecordID) (RecordID, error) {
	var head [wordSize]byte
	be.PutUint32(head[:], uint32(len(ids)))
	if len(ids) == 0 {
		return w.record(RecordList, head[:], nil, nil)
	}
	id, err := w.list(ids)
	if err != nil {
		return RecordID{}, err
	}
	return w.record(RecordList, head[:], []RecordID{id}, nil)
}

// list writes the buckets of a list, and returns what stands for it.
func (w *Writer) list(ids []RecordID) (RecordID, error) {
	switch n := len(ids); {
	case n == 1:
		return ids[0], nil
	case n <= fanout:
		return w.record(RecordBucket, nil, ids, nil)
	}
	b := listBuilder{w: w}
	for _, id := range ids {
		if err := b.add(id); err != nil {
			return RecordID{}, err
		}
	}
	return b.finish()
}

// listBuilder writes a list while its entries become known. A level has the entries, or buckets, that are not in a bucket
// yet: fewer than fanout.
type listBuilder struct {
	w      *Writer
	levels [][]RecordID
	size   int
}

func (b *listBuilder) add(id RecordID) error {
	if b.size == MaxList {
		return fmt.Errorf("%w: a list of more than %d entries", ErrTooBig, MaxList)
	}
	b.size++
	return b.addTo(0, id)
}

func (b *listBuilder) addTo(level int, id RecordID) error {
	if level == len(b.levels) {
		b.levels = append(b.levels, nil)
	}
	b.levels[level] = append(b.levels[level], id)
	if len(b.levels[level]) < fanout {
		return nil
	}
	return b.pass(level)
}

// pass makes a bucket of what a level has. One entry alone is passed up as it is.
func (b *listBuilder) pass(level int) error {
	ids := b.levels[level]
	id := ids[0]
	if len(ids) > 1 {
		var err error
		if id, err = b.w.record(RecordBucket, nil, ids, nil); err != nil {
			return err
		}
	}
	b.levels[level] = ids[:0]
	return b.addTo(level+1, id)
}

// finish returns what stands for the list, which must not be empty.
func (b *listBuilder) finish() (RecordID, error) {
	for level := 0; ; level++ {
		ids := b.levels[level]
		if level == len(b.levels)-1 && len(ids) == 1 {
			return ids[0], nil
		}
		if len(ids) > 0 {
			if err := b.pass(level); err != nil {
				return RecordID{}, err
			}
		}
	}
}
