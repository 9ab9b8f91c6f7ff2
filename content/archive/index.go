// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"hash/crc32"
	"slices"

	"github.com/holtdb/holt/content/segment"
)

// An Entry is a segment as the index of an archive has it.
type Entry struct {
	ID         segment.ID
	Off        int64 // of its first byte in the archive
	Len        int
	Generation segment.Generation
}

// index is the table of the segments of an archive, in order of their ids, viewed in place.
type index struct {
	rows    []byte
	rowSize int
}

const (
	indexRow1 = 28
	indexRow2 = 33
)

// parseIndex finds and checks the index of an archive. Its entry begins at start.
func parseIndex(data []byte) (x index, start int, err error) {
	if len(data) < minSize || len(data)%blockSize != 0 || len(data) > maxSize {
		return index{}, 0, damaged(0, "no index: a length of %d bytes", len(data))
	}
	end := len(data) - endSize
	f, err := footerAt(data, end)
	if err != nil {
		return index{}, 0, err
	}
	switch f.magic() {
	case magicIndex1:
		x.rowSize = indexRow1
	case magicIndex2:
		x.rowSize = indexRow2
	default:
		return index{}, 0, damaged(end-4, "no index: unknown magic number %#08x", f.magic())
	}
	count, size := int64(f.count()), int64(f.size())
	length := count * int64(x.rowSize)
	if count < 1 || length > int64(end-footerSize-blockSize) || size < count*indexRow1+footerSize || size%blockSize != 0 {
		return index{}, 0, damaged(end-footerSize, "index: %d entries in %d bytes", count, size)
	}
	at := end - footerSize - int(length)
	x.rows = data[at : at+int(length)]
	if crc32.ChecksumIEEE(x.rows) != f.sum() {
		return index{}, 0, damaged(at, "index: the checksum is wrong")
	}
	start = end - ceilBlock(int(length)+footerSize) - blockSize
	return x, start, x.check(at, start)
}

// check demands that ids ascend, and that segments lie ahead of the trailer and take no more than what there is.
// Otherwise many could lie in the same place, and each be as long as the archive.
func (x index) check(at, end int) error {
	room := end
	for i := range x.len() {
		e := x.entry(i)
		switch {
		case i > 0 && x.id(i-1).Compare(e.ID) >= 0:
			return damaged(at+i*x.rowSize, "index: segment %s is out of order", e.ID)
		case e.Off < blockSize || e.Off%blockSize != 0 || e.Len < 1 || e.Off+int64(e.Len) > int64(end):
			return damaged(at+i*x.rowSize, "index: segment %s with %d bytes at %d, outside", e.ID, e.Len, e.Off)
		}
		if room -= blockSize + ceilBlock(e.Len); room < 0 {
			return damaged(at+i*x.rowSize, "index: segment %s and those ahead have more than %d bytes", e.ID, end)
		}
	}
	return nil
}

func (x index) len() int {
	if x.rowSize == 0 {
		return 0
	}
	return len(x.rows) / x.rowSize
}

func (x index) id(i int) segment.ID { return segment.GetID(x.rows[i*x.rowSize:]) }

// place is where the i-th segment lies.
func (x index) place(i int) (off, n int32) {
	r := x.rows[i*x.rowSize+idSize:]
	return int32(be.Uint32(r)), int32(be.Uint32(r[4:]))
}

func (x index) entry(i int) Entry {
	off, n := x.place(i)
	r := x.rows[i*x.rowSize : (i+1)*x.rowSize]
	g := segment.Generation{Generation: int32(be.Uint32(r[24:]))}
	if x.rowSize == indexRow1 {
		g.Full, g.Compacted = g.Generation, true
	} else {
		g.Full, g.Compacted = int32(be.Uint32(r[28:])), r[32] != 0
	}
	return Entry{x.id(i), int64(off), int(n), g}
}

// find looks an id up.
func (x index) find(id segment.ID) (int, bool) {
	lo, hi := 0, x.len()
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		switch c := x.id(mid).Compare(id); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

// newIndex makes an index of entries, which it sorts.
func newIndex(entries []Entry) index {
	slices.SortFunc(entries, func(a, b Entry) int { return a.ID.Compare(b.ID) })
	rows := make([]byte, 0, len(entries)*indexRow2)
	for _, e := range entries {
		rows = appendID(rows, e.ID)
		rows = be.AppendUint32(rows, uint32(e.Off))
		rows = be.AppendUint32(rows, uint32(e.Len))
		rows = be.AppendUint32(rows, uint32(e.Generation.Generation))
		rows = be.AppendUint32(rows, uint32(e.Generation.Full))
		rows = appendFlag(rows, e.Generation.Compacted)
	}
	return index{rows, indexRow2}
}

// encode is the data of the index's entry, with its footer.
func (x index) encode() []byte {
	magic := uint32(magicIndex2)
	if x.rowSize == indexRow1 {
		magic = magicIndex1
	}
	return appendFooter(slices.Clone(x.rows), x.len(), ceilBlock(len(x.rows)+footerSize), magic)
}
