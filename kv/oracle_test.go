// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// oracle reads a file by the letter of the format and with no code of the engine, to know what a damaged file says. It
// takes pages as they come: in the order of the elements, without searching.
type oracle struct {
	file     []byte
	pageSize int
	root     uint64
	freelist uint64
	hwm      uint64

	text   string              // what the file holds, in the words of contentOf
	err    error               // a page, element or bucket that is not what it has to be, where reading met it
	flaws  []string            // what reading need not notice
	muddle map[uint64]bool     // pages whose keys are not in order, 0 for an inline one
	astray map[uint64]bool     // pages with a key that does not belong under the branch element that leads there
	used   map[uint64]int      // how often a page is referred to
	free   map[uint64]bool     // pages in the free list
	owners map[uint64][]string // top-level buckets that refer to a page
	covers map[uint64][]string // and those with a page that goes on there, or claims to

	circular bool // buckets lie in each other, so that there is no end to the text

	out    strings.Builder
	owner  string // the top-level bucket that is being read
	visits int    // pages that have been read
}

const (
	oracleDepth = 64
	// visitLimit bounds the walk where pages lie in each other.
	visitLimit = 5000
)

var errNoMeta = errors.New("no meta is valid")

// consult reads a file whose pages are known to have pageSize bytes.
func consult(file []byte, pageSize int) *oracle {
	o := &oracle{
		file: file, pageSize: pageSize,
		muddle: map[uint64]bool{}, astray: map[uint64]bool{}, used: map[uint64]int{}, free: map[uint64]bool{},
		owners: map[uint64][]string{}, covers: map[uint64][]string{},
	}
	if !o.chooseMeta() {
		o.err = errNoMeta
		return o
	}
	o.tree(o.root, 0, nil, nil, "")
	o.text = o.out.String()
	o.readFreelist()
	o.findLost()
	return o
}

// sound says whether there is nothing wrong with the file.
func (o *oracle) sound() bool { return o.err == nil && len(o.flaws) == 0 && !o.circular }

// chooseMeta takes the valid meta of the later transaction.
func (o *oracle) chooseMeta() bool {
	found, newest := false, uint64(0)
	for id := range 2 {
		at := id * o.pageSize
		if at+80 > len(o.file) {
			continue
		}
		m := o.file[at+16 : at+80]
		size := binary.NativeEndian.Uint32(m[8:])
		txid := binary.NativeEndian.Uint64(m[48:])
		if binary.NativeEndian.Uint32(m) != 0xED0CDAED || binary.NativeEndian.Uint32(m[4:]) != 2 ||
			int(size) != o.pageSize || binary.NativeEndian.Uint64(m[56:]) != fnv1a(m[:56]) {
			continue
		}
		if header := o.file[at:]; binary.NativeEndian.Uint64(header) != uint64(id) || binary.NativeEndian.Uint16(header[8:]) != 4 {
			o.flaw("header of meta %d", id)
		}
		if found && txid <= newest {
			continue
		}
		found, newest = true, txid
		o.root = binary.NativeEndian.Uint64(m[16:])
		o.freelist = binary.NativeEndian.Uint64(m[32:])
		o.hwm = binary.NativeEndian.Uint64(m[40:])
	}
	return found
}

func (o *oracle) flaw(format string, args ...any) {
	o.flaws = append(o.flaws, fmt.Sprintf(format, args...))
}

// fail records what reading has to notice.
func (o *oracle) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf(format, args...)
	}
}

// page returns a page with those that continue it, or nil.
func (o *oracle) page(id uint64) []byte {
	limit := min(o.hwm, uint64(len(o.file)/o.pageSize))
	if id < 2 || id >= limit {
		o.fail("page %d does not exist", id)
		return nil
	}
	p := o.file[int(id)*o.pageSize:]
	flags, overflow := binary.NativeEndian.Uint16(p[8:]), uint64(binary.NativeEndian.Uint32(p[12:]))
	switch {
	case binary.NativeEndian.Uint64(p) != id:
		o.fail("page %d has another id", id)
		return nil
	case flags != 1 && flags != 2:
		o.fail("page %d has flags %x", id, flags)
		return nil
	case id+overflow >= limit:
		o.fail("page %d goes on beyond the end", id)
		return nil
	}
	for n := id; n <= id+overflow; n++ {
		o.used[n]++
		o.covers[n] = append(o.covers[n], o.owner)
	}
	if !slices.Contains(o.owners[id], o.owner) {
		o.owners[id] = append(o.owners[id], o.owner)
	}
	return p[:int(overflow+1)*o.pageSize]
}

// bucket describes a bucket: one with a root page, or else the one in the inline page.
func (o *oracle) bucket(root uint64, inline []byte, indent string) {
	switch {
	case len(indent) > maxSimDepth:
		o.circular = true
	case root != 0:
		o.tree(root, 0, nil, nil, indent)
	default:
		o.leaf(0, inline, nil, nil, indent)
	}
}

// tree describes what is under a page, all keys of which have to be in [lo, hi).
func (o *oracle) tree(id uint64, depth int, lo, hi []byte, indent string) {
	if depth > oracleDepth {
		o.fail("page %d lies too deep", id)
		return
	}
	if o.visits++; o.visits > visitLimit {
		o.circular = true
		return
	}
	p := o.page(id)
	if p == nil {
		return
	}
	if binary.NativeEndian.Uint16(p[8:]) == 2 {
		o.leaf(id, p, lo, hi, indent)
		return
	}
	n := int(binary.NativeEndian.Uint16(p[10:]))
	if n == 0 {
		o.fail("branch %d is empty", id)
		return
	}
	keys := make([][]byte, n)
	for i := range n {
		if 16+16*(i+1) > len(p) {
			o.fail("branch %d has too many elements", id)
			return
		}
		keys[i], _, _ = element(p, i, 0, 4, -1) // nil if it lies elsewhere: only searches need notice
	}
	o.order(id, keys, lo, hi)
	o.room(id, p, keys)
	o.even(id, p, n)
	for i := range n {
		end := hi
		if i+1 < n {
			end = keys[i+1]
		}
		o.tree(binary.NativeEndian.Uint64(p[16+16*i+8:]), depth+1, keys[i], end, indent)
	}
}

// even notes the children of a branch that are leaves where those around them are branches, or the other way round.
func (o *oracle) even(id uint64, branch []byte, n int) {
	for i := range n {
		if o.odd(branch, n, i) {
			o.flaw("branch %d: child %d is of another type than its siblings", id, i)
			o.astray[childOf(branch, i)] = true
		}
	}
}

func childOf(branch []byte, i int) uint64 { return binary.NativeEndian.Uint64(branch[16+16*i+8:]) }

// odd says whether child i of a branch with n of them is of another type than the first two of those from i-2 on, which
// agree, or the only other one.
func (o *oracle) odd(branch []byte, n, i int) bool {
	var around []uint16
	for j := max(i-2, 0); j < n && len(around) < 2; j++ {
		if j != i {
			around = append(around, o.typeOf(childOf(branch, j)))
		}
	}
	agree := len(around) == 1 || len(around) == 2 && around[0] == around[1]
	return agree && around[0] != 0 && o.typeOf(childOf(branch, i)) != around[0]
}

// typeOf is what a page says of its type, 0 if it does not say that it is that page.
func (o *oracle) typeOf(id uint64) uint16 {
	if id < 2 || id >= min(o.hwm, uint64(len(o.file)/o.pageSize)) {
		return 0
	}
	p := o.file[int(id)*o.pageSize:]
	if binary.NativeEndian.Uint64(p) != id {
		return 0
	}
	return binary.NativeEndian.Uint16(p[8:])
}

// leaf describes the elements of a leaf; id is 0 for an inline one.
func (o *oracle) leaf(id uint64, p []byte, lo, hi []byte, indent string) {
	n := int(binary.NativeEndian.Uint16(p[10:]))
	var keys, values [][]byte
	for i := range n {
		if key, value, ok := element(p, i, 4, 8, 12); ok {
			keys, values = append(keys, key), append(values, value)
		}
	}
	o.order(id, keys, lo, hi)
	o.room(id, p, keys, values)
	for i := range n {
		key, value, ok := element(p, i, 4, 8, 12)
		if !ok {
			o.fail("element %d of leaf %d", i, id)
			continue
		}
		if indent == "" {
			o.owner = string(key)
		}
		if p[16+16*i]&1 == 0 {
			writePair(&o.out, indent, key, value)
			continue
		}
		if id == 0 {
			o.flaw("element %d of an inline bucket is a bucket", i)
		}
		o.element(id, i, key, value, indent)
	}
}

// room demands that keys and values have room in the page side by side.
func (o *oracle) room(id uint64, p []byte, all ...[][]byte) {
	size := 16 + 16*len(all[0])
	for _, some := range all {
		for _, b := range some {
			size += len(b)
		}
	}
	if size > len(p) {
		o.flaw("elements of page %d overlap", id)
	}
}

// element describes a bucket in a leaf.
func (o *oracle) element(id uint64, i int, key, value []byte, indent string) {
	if len(value) < 16 {
		o.fail("element %d of leaf %d is too short for a bucket", i, id)
		return
	}
	root, inline := binary.NativeEndian.Uint64(value), value[16:]
	if root == 0 {
		if len(inline) < 16 || binary.NativeEndian.Uint16(inline[8:]) != 2 ||
			16+16*int(binary.NativeEndian.Uint16(inline[10:])) > len(inline) {
			o.fail("element %d of leaf %d is no inline bucket", i, id)
			return
		}
	}
	writeName(&o.out, indent, string(key), binary.NativeEndian.Uint64(value[8:]))
	o.bucket(root, inline, indent+" ")
}

// element returns key and value of element i, whose record has position and sizes at the given places.
func element(p []byte, i, pos, ksize, vsize int) (key, value []byte, ok bool) {
	at := 16 + 16*i
	if at+16 > len(p) {
		return nil, nil, false
	}
	e := p[at:]
	start := uint64(at) + uint64(binary.NativeEndian.Uint32(e[pos:]))
	mid := start + uint64(binary.NativeEndian.Uint32(e[ksize:]))
	end := mid
	if vsize >= 0 {
		end += uint64(binary.NativeEndian.Uint32(e[vsize:]))
	}
	if end > uint64(len(p)) {
		return nil, nil, false
	}
	return p[start:mid], p[mid:end], true
}

// order notes keys that searches may not find, and those that reading has to notice.
func (o *oracle) order(id uint64, keys [][]byte, lo, hi []byte) {
	for i, k := range keys {
		switch {
		case len(k) == 0:
			o.flaw("page %d: key %d is empty", id, i)
			o.muddle[id] = true
		case i > 0 && bytes.Compare(keys[i-1], k) >= 0:
			o.flaw("page %d: key %d is not above the one before", id, i)
			o.muddle[id] = true
		case outside(k, lo, hi):
			o.flaw("page %d: key %d does not belong there", id, i)
			o.astray[id] = true
		}
	}
}

// outside says whether key is not in [lo, hi).
func outside(key, lo, hi []byte) bool {
	return lo != nil && bytes.Compare(key, lo) < 0 || hi != nil && bytes.Compare(key, hi) >= 0
}

// readFreelist reads the free list, if there is one.
func (o *oracle) readFreelist() {
	limit := min(o.hwm, uint64(len(o.file)/o.pageSize))
	if o.freelist == ^uint64(0) {
		return
	}
	if o.freelist < 2 || o.freelist >= limit {
		o.flaw("free list: page %d does not exist", o.freelist)
		return
	}
	p := o.file[int(o.freelist)*o.pageSize:]
	pages := uint64(binary.NativeEndian.Uint32(p[12:])) + 1
	count, at := uint64(binary.NativeEndian.Uint16(p[10:])), 16
	if o.freelist+pages > limit || binary.NativeEndian.Uint64(p) != o.freelist || binary.NativeEndian.Uint16(p[8:]) != 0x10 {
		o.flaw("free list: header of page %d", o.freelist)
		return
	}
	p = p[:int(pages)*o.pageSize]
	if count == 0xFFFF {
		count, at = binary.NativeEndian.Uint64(p[16:]), 24
	}
	if count > uint64(len(p)-at)/8 {
		o.flaw("free list: it has %d entries", count)
		return
	}
	for i := range int(count) {
		id := binary.NativeEndian.Uint64(p[at+8*i:])
		if id < 2 || id >= o.hwm || o.free[id] {
			o.flaw("free list: entry %d is %d", i, id)
		}
		o.free[id] = true
	}
	for id := o.freelist; id < o.freelist+pages; id++ {
		o.used[id]++
	}
}

// findLost notes pages that are used twice, used and free, or neither.
func (o *oracle) findLost() {
	if o.hwm > uint64(len(o.file)/o.pageSize) {
		o.flaw("the file is too short")
		return
	}
	for id := uint64(2); id < o.hwm; id++ {
		switch uses := o.used[id]; {
		case uses > 1:
			o.flaw("page %d is used %d times", id, uses)
		case uses == 1 && o.free[id]:
			o.flaw("page %d is used and free", id)
		case uses == 0 && !o.free[id] && o.freelist != ^uint64(0):
			o.flaw("page %d is lost", id)
		}
	}
}

// get looks a key up in a top-level bucket, by the keys of the branches. ok is false where damage is met.
func (o *oracle) get(bucket, key string) (value []byte, found, ok bool) {
	flags, value, found, ok := o.seek(o.root, nil, bucket)
	if !ok || !found || flags&1 == 0 {
		return nil, false, ok
	}
	if len(value) < 16 {
		return nil, false, false
	}
	flags, value, found, ok = o.seek(binary.NativeEndian.Uint64(value), value[16:], key)
	if !ok || !found || flags&1 != 0 {
		return nil, false, ok
	}
	return value, true, true
}

// seek looks a key up under page id, or in an inline page if that is 0.
func (o *oracle) seek(id uint64, inline []byte, key string) (flags byte, value []byte, found, ok bool) {
	p := inline
	var lo, hi []byte
	for range oracleDepth {
		if id != 0 {
			p = o.page(id)
		}
		if len(p) < 16 {
			return 0, nil, false, false
		}
		n := int(binary.NativeEndian.Uint16(p[10:]))
		if binary.NativeEndian.Uint16(p[8:]) == 2 {
			return find(p, n, key, lo, hi)
		}
		if n == 0 || id == 0 || 16+16*n > len(p) {
			return 0, nil, false, false
		}
		child, end := 0, hi
		for i := range n {
			k, _, ok := element(p, i, 0, 4, -1)
			switch {
			case !ok || outside(k, lo, hi):
				return 0, nil, false, false
			case string(k) <= key || i == 0:
				child, end = i, hi
			case i == child+1:
				end = k
			}
		}
		if o.odd(p, n, child) {
			return 0, nil, false, false
		}
		lo, _, _ = element(p, child, 0, 4, -1)
		id, hi = binary.NativeEndian.Uint64(p[16+16*child+8:]), end
	}
	return 0, nil, false, false
}

// find looks a key up in a leaf of n elements, all of which are to be in [lo, hi).
func find(p []byte, n int, key string, lo, hi []byte) (flags byte, value []byte, found, ok bool) {
	for i := range n {
		k, v, ok := element(p, i, 4, 8, 12)
		if !ok || outside(k, lo, hi) {
			return 0, nil, false, false
		}
		if string(k) == key {
			flags, value, found = p[16+16*i], v, true
		}
	}
	return flags, value, found, true
}
