// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import "math/bits"

// A Map finds the children of a node by name. It is a trie over hashes of the names: a branch has up to 32 buckets,
// which are maps of the next level, a leaf has entries by ascending hash, then name. On top there may be a diff:
// another value for one of the names.
type Map struct {
	top  trie
	diff Record // its seg is nil if there is none
}

// trie is a leaf or a branch.
type trie struct {
	place
	head uint32
}

const (
	diffHead   = 1<<32 - 1
	levelShift = 29
	sizeMask   = 1<<levelShift - 1
	levelBits  = 5 // of the hash
	maxLevel   = 7 // where the hash is used up: leaves of any size
	maxLeaf    = 32

	wordSize  = 4
	entrySize = 2 * ridSize
	diffSize  = 2*wordSize + 3*ridSize
	keyInDiff = 2 * wordSize
)

func (t trie) size() uint32   { return t.head & sizeMask }
func (t trie) level() uint32  { return t.head >> levelShift }
func (t trie) isBranch() bool { return t.size() > maxLeaf && t.level() < maxLevel }
func (t trie) bitmap() uint32 { return t.word(wordSize) }

// bucketsAt is where the record ids of a branch are.
func (t trie) bucketsAt() uint32 { return t.at + 2*wordSize }

// keysAt is where the pairs of record ids of a leaf are.
func (t trie) keysAt() uint32 { return t.at + wordSize + wordSize*t.size() }

func (t trie) hash(i uint32) uint32 { return t.word(wordSize + wordSize*i) }

// Map takes the record for a LEAF or BRANCH.
func (r Record) Map() (Map, error) {
	if !r.isDiff() {
		top, err := r.trie()
		if err != nil {
			return Map{}, err
		}
		return Map{top: top}, nil
	}
	if !r.fits(diffSize) {
		return Map{}, r.corrupt("the diff of a map passes the end")
	}
	base, err := r.seg.record(r.at + keyInDiff + entrySize)
	if err != nil {
		return Map{}, err
	}
	top, err := base.trie()
	if err != nil {
		return Map{}, err
	}
	return Map{top, r}, nil
}

func (r Record) isDiff() bool { return r.word(0) == diffHead }

func (r Record) trie() (trie, error) {
	t := trie{r.place, r.word(0)}
	switch {
	case r.isDiff():
		return t, r.corrupt("the diff of a map below another part of it")
	case !t.isBranch() && (t.size() > MaxSize || !r.fits(int(wordSize+(wordSize+entrySize)*t.size()))):
		return t, r.corrupt("the leaf of a map, with %d entries, passes the end", t.size())
	case t.isBranch() && (!r.fits(2*wordSize) || !r.fits(2*wordSize+ridSize*bits.OnesCount32(t.bitmap()))):
		return t, r.corrupt("the branch of a map passes the end")
	}
	return t, nil
}

// bucket is the i-th bucket of a branch, of those that are there. Only a branch of a higher level may be in it: so
// nothing is deeper than the levels there are.
func (t trie) bucket(i uint32) (trie, error) {
	r, err := t.seg.record(t.bucketsAt() + i*ridSize)
	if err != nil {
		return trie{}, err
	}
	b, err := r.trie()
	if err == nil && b.isBranch() && b.level() <= t.level() {
		err = r.corrupt("the branch of a map of level %d below one of level %d", b.level(), t.level())
	}
	return b, err
}

// Len is the number of entries.
func (m Map) Len() int { return int(m.top.size()) }

// Get is the value of a name.
func (m Map) Get(name string) (r Record, ok bool, err error) {
	hash := mapHash(name)
	if d := m.diff; d.seg != nil && d.word(wordSize) == hash {
		key, err := d.seg.name(d.at + keyInDiff)
		if err != nil {
			return r, false, err
		}
		if compareText(key, name) == 0 {
			r, err = d.seg.record(d.at + keyInDiff + ridSize)
			return r, err == nil, err
		}
	}
	leaf, i, ok, err := m.top.find(hash, name)
	if !ok {
		return r, false, err
	}
	r, err = leaf.seg.record(leaf.keysAt() + i*entrySize + ridSize)
	return r, err == nil, err
}

// find finds the leaf that has a name, and which entry it is there.
func (t trie) find(hash uint32, name string) (leaf trie, i uint32, ok bool, err error) {
	for t.isBranch() {
		bit := uint32(1) << bucketIndex(hash, t.level())
		if t.bitmap()&bit == 0 {
			return t, 0, false, nil
		}
		if t, err = t.bucket(uint32(bits.OnesCount32(t.bitmap() & (bit - 1)))); err != nil {
			return t, 0, false, err
		}
	}
	i, ok, err = t.search(hash, name)
	return t, i, ok, err
}

// bucketIndex is five bits of the hash from the top. For level 6 only two are left; what Java makes of the negative
// shift is the top three with their sign: each entry there has the same.
func bucketIndex(hash, level uint32) uint32 {
	shift := (32 - levelBits*(level+1)) & 31
	return uint32(int32(hash)>>shift) & 31
}

// search finds a name in a leaf.
func (t trie) search(hash uint32, name string) (i uint32, ok bool, err error) {
	lo, hi := uint32(0), t.size()
	for lo < hi {
		mid := (lo + hi) / 2
		order := 0
		if h := t.hash(mid); h != hash {
			order = 1
			if h < hash {
				order = -1
			}
		} else {
			key, err := t.seg.name(t.keysAt() + mid*entrySize)
			if err != nil {
				return 0, false, err
			}
			order = compareText(key, name)
		}
		switch {
		case order < 0:
			lo = mid + 1
		case order > 0:
			hi = mid
		default:
			return mid, true, nil
		}
	}
	return 0, false, nil
}
