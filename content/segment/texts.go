// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import "hash/maphash"

// texts remembers the records of texts: of each that is written, which are many, and most of them for nothing. So it has
// no object for each, and finds out that it has not got a text without going to where it would be.
type texts struct {
	seed       maphash.Seed
	young, old textTable
	half       int // bytes that young may have, before it becomes old and what is older is forgotten
}

// textKey is a text to be looked up.
type textKey struct {
	text []byte
	hash uint32
}

// textTable is a hash table of texts, with open addressing.
type textTable struct {
	index   []uint64 // hash, then 1 + number of the entry; 0 where nothing is
	entries []textEntry
	bytes   []byte // of all texts
	size    int    // bytes that this counts for
}

type textEntry struct {
	id       RecordID
	from, to int // in bytes
}

func (t *texts) init(size, normal int) {
	if size == 0 {
		size = normal
	}
	t.half = size / 2
	t.seed = maphash.MakeSeed()
}

func (t *texts) key(text []byte) textKey { return textKey{text, uint32(maphash.Bytes(t.seed, text))} }

// get finds a text, which is young again then.
func (t *texts) get(k textKey) (RecordID, bool) {
	if id, ok := t.young.find(k); ok {
		return id, true
	}
	id, ok := t.old.find(k)
	if ok {
		t.put(k, id)
	}
	return id, ok
}

func (t *texts) put(k textKey, id RecordID) {
	n := len(k.text) + entryCost
	if n > t.half {
		return
	}
	if t.young.size+n > t.half {
		t.young, t.old = t.old, t.young
		t.young.clear()
	}
	t.young.add(k, id)
	t.young.size += n
}

func (t *textTable) find(k textKey) (RecordID, bool) {
	mask := len(t.index) - 1
	for i := int(k.hash); mask >= 0; i++ {
		slot := t.index[i&mask]
		if slot == 0 {
			break
		}
		if uint32(slot>>32) == k.hash {
			if e := &t.entries[uint32(slot)-1]; string(t.bytes[e.from:e.to]) == string(k.text) {
				return e.id, true
			}
		}
	}
	return RecordID{}, false
}

// add adds a text that is not there.
func (t *textTable) add(k textKey, id RecordID) {
	if 4*len(t.entries) >= 3*len(t.index) {
		t.grow()
	}
	from := len(t.bytes)
	t.bytes = append(t.bytes, k.text...)
	t.entries = append(t.entries, textEntry{id, from, len(t.bytes)})
	t.place(k.hash, len(t.entries))
}

func (t *textTable) place(hash uint32, number int) {
	mask := len(t.index) - 1
	i := int(hash) & mask
	for t.index[i] != 0 {
		i = (i + 1) & mask
	}
	t.index[i] = uint64(hash)<<32 | uint64(number)
}

func (t *textTable) grow() {
	const least = 64
	before := t.index
	t.index = make([]uint64, max(least, 2*len(before)))
	for _, slot := range before {
		if slot != 0 {
			t.place(uint32(slot>>32), int(uint32(slot)))
		}
	}
}

func (t *textTable) clear() {
	clear(t.index)
	t.entries, t.bytes, t.size = t.entries[:0], t.bytes[:0], 0
}
