// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// Journals as stack/FORMAT.md has them, built from what it says and without the engine.

const (
	headerSize = 32

	modeSet          = 0
	modeSpliceGrow   = 1<<64 - 2
	modeSpliceShrink = 1<<64 - 3
	modeRepeat       = 1<<64 - 4
	modeCopy         = 1<<64 - 5
	modeMultiWrite   = 1<<64 - 6
)

// A write is bytes that go to a place in the payload.
type write struct {
	off  int64
	data []byte
}

// A journal is a change on its way.
type journal struct {
	name   string
	before []byte // payload
	behind []byte // what is staged, from the end of that payload on
	armed  record
	writes []write // which bring the bytes in place; in the order of the journal
	after  []byte  // payload
}

// An image is a file that a crash may leave, and the payload that it stands for.
type image struct {
	name    string
	file    []byte
	payload []byte
}

// images are the files of all phases of a change.
func (j journal) images() []image {
	var all []image
	add := func(phase string, file, payload []byte) {
		all = append(all, image{j.name + ", " + phase, file, payload})
	}
	resting := record{length: uint64(len(j.before))}
	for _, n := range cuts(len(j.behind)) {
		add("staging", fileOf(resting, j.before, j.behind[:n]), j.before)
	}
	size := 0
	for _, w := range j.writes {
		size += len(w.data)
	}
	for _, n := range cuts(size) {
		add("armed", fileOf(j.armed, j.inPlace(n)), j.after)
	}
	done := slices.Clone(j.inPlace(size))
	add("disarmed", fileOf(record{length: uint64(len(j.after))}, done), j.after)
	add("at rest", fileOf(record{length: uint64(len(j.after))}, j.after), j.after)
	return all
}

// cuts are places to stop before n.
func cuts(n int) []int {
	all := []int{0, 1, 8, 15, n / 2, n - 1, n}
	all = slices.DeleteFunc(all, func(k int) bool { return k < 0 || k > n })
	slices.Sort(all)
	return slices.Compact(all)
}

// inPlace is all behind the header after n bytes were brought in place.
func (j journal) inPlace(n int) []byte {
	b := slices.Concat(j.before, j.behind)
	for _, w := range j.writes {
		k := min(n, len(w.data))
		copy(b[w.off:], w.data[:k])
		n -= k
	}
	return b
}

// newJournal is a change that leaves the length.
func newJournal(name string, before, behind []byte, target, mode uint64, writes ...write) journal {
	after := bytes.Clone(before)
	for _, w := range writes {
		copy(after[w.off:], w.data)
	}
	return journal{name, before, behind, record{uint64(len(before)), target, mode}, writes, after}
}

func u64(v ...int64) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}

func setJournal(before []byte, w write) journal {
	return newJournal("Set", before, w.data, uint64(headerSize+w.off), modeSet, w)
}

func repeatJournal(before []byte, off int64, pattern []byte, count int64) journal {
	data := bytes.Repeat(pattern, int(count))
	behind := slices.Concat(u64(count), pattern)
	return newJournal("Repeat", before, behind, uint64(headerSize+off), modeRepeat, write{off, data})
}

func copyJournal(before []byte, from, to, n int64) journal {
	data := bytes.Clone(before[from : from+n])
	return newJournal("Copy", before, u64(from, n), uint64(headerSize+to), modeCopy, write{to, data})
}

func multiWriteJournal(before []byte, writes ...write) journal {
	return newJournal("MultiWrite", before, blocks(writes), 0, modeMultiWrite, writes...)
}

// filledUp is a MultiWrite as our engine stages it in a file that is longer: with a block that has the first n bytes of
// another once more, and empty ones.
func filledUp(j journal, n int64, empty int) journal {
	j.name = fmt.Sprintf("%s, filled up by %d bytes of a block and %d empty ones", j.name, n, empty)
	if n > 0 {
		j.behind = slices.Concat(j.behind, blocks([]write{{j.writes[0].off, j.writes[0].data[:n]}}))
	}
	j.behind = slices.Concat(j.behind, blocks(make([]write, empty)))
	return j
}

func blocks(writes []write) (b []byte) {
	for _, w := range writes {
		b = slices.Concat(b, u64(w.off, w.off+int64(len(w.data))), w.data)
	}
	return b
}

// growing makes a change append something as well: the record has the greater length, and the journal lies behind it.
func growing(j journal, data []byte) journal {
	j.name += " with growth"
	j.armed.length += uint64(len(data))
	j.behind = slices.Concat(data, j.behind)
	j.after = slices.Concat(j.after, data)
	return j
}

// spliceJournal replaces the last n bytes by data, of another length.
func spliceJournal(before []byte, n int64, data []byte) journal {
	at := int64(len(before)) - n
	after := slices.Concat(before[:at], data)
	j := journal{
		name: "SpliceShrink", before: before, behind: data,
		armed:  record{uint64(len(before)), uint64(headerSize + at), modeSpliceShrink},
		writes: []write{{at, data}}, after: after,
	}
	if more := len(after) - len(before); more > 0 {
		j.name, j.armed.mode = "SpliceGrow", modeSpliceGrow
		j.behind = slices.Concat(make([]byte, more), data)
	}
	return j
}

// exchangeImages are the files of the phases of an exchange in which a Set is armed: first to restore what was at a,
// then to complete what comes to b.
func exchangeImages(before []byte, a, b, n int64) []image {
	at, bt := bytes.Clone(before[a:a+n]), bytes.Clone(before[b:b+n])
	restore := newJournal("exchange, first arm", before, at, uint64(headerSize+a), modeSet, write{a, bt})
	restore.after = before
	half := bytes.Clone(before)
	copy(half[a:], bt)
	complete := newJournal("exchange, second arm", half, at, uint64(headerSize+b), modeSet, write{b, at})
	return slices.Concat(armedOnly(restore), armedOnly(complete))
}

func armedOnly(j journal) []image {
	return slices.DeleteFunc(j.images(), func(i image) bool { return i.name != j.name+", armed" })
}

// journals are changes of every kind, of a payload that is drawn.
func (g generator) journals() []journal {
	p := g.data(300 + g.Int64N(900))
	length := int64(len(p))
	n := 2 + g.Int64N(length/2-2)
	a, b := g.Int64N(length/2-n+1), length/2+g.Int64N(length/2-n+1)
	size := 1 + g.Int64N(5)
	more := g.data(1 + g.Int64N(300))
	pieces := []write{{b, g.data(n)}, {a, g.data(n)}}
	return []journal{
		setJournal(p, write{a, g.data(n)}),
		growing(setJournal(p, write{b, g.data(n)}), more),
		repeatJournal(p, b, []byte{0}, n),
		repeatJournal(p, a, g.data(size), 1+n/size),
		copyJournal(p, a, b, n),
		copyJournal(p, b, a, n),
		growing(copyJournal(p, b, a, n), more),
		multiWriteJournal(p, pieces...),
		multiWriteJournal(p, pieces[1], write{a + n, nil}, pieces[0]),
		filledUp(multiWriteJournal(p, pieces...), 1+g.Int64N(min(n, 15)), g.IntN(20)),
		filledUp(multiWriteJournal(p, pieces[0]), 0, 1+g.IntN(256)),
		growing(multiWriteJournal(p, pieces...), more),
		spliceJournal(p, n, g.data(n+1+g.Int64N(400))),
		spliceJournal(p, n, g.data(n+1)),
		spliceJournal(p, n, g.data(1+g.Int64N(n-1))),
		spliceJournal(p, length, g.data(length/2)),
		spliceJournal(p, n, nil),
	}
}
