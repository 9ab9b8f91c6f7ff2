// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"hash/crc32"

	"github.com/holtdb/holt/content/segment"
)

// scanned is what a scan found: the entries of segments in the order in which they stand, each id once.
type scanned struct {
	entries []Entry // without generations
	known   map[segment.ID]int
	budget  int64 // bytes that are yet to be summed up for damaged headers
	damaged bool
	lost    []Part
	open    bool // damage goes on: the last one of lost
	zeros   int  // bytes of blocks of zeros just passed, unless damage goes on
	stopped bool // the last one of lost is where the writer was stopped
	tail    tail // that it was, unless a segment is found behind
	ended   bool // the trailer has begun, so that all segments are ahead of it
}

// tail is what begins with a sound header of an entry that passes the end.
type tail struct {
	open  bool
	at    int // of the header
	named bool
	lost  int // parts that were lost ahead of it
}

// scan goes through an archive from its start, for want of an index. An entry counts if its bytes have the checksum in its
// name; of two with one id the second does, as in an index. An entry that passes the end is where the writer was stopped,
// if there is no segment behind; otherwise its size is damaged. What is no entry at all is damage, and passed by a block
// at a time: so it costs the entries it is in and no others. Behind either an entry does not replace another any more, as
// it may be part of a binary that contains an archive.
func scan(data []byte) scanned {
	s := scanned{known: map[segment.ID]int{}, budget: maxSums * int64(len(data))}
	at := 0
	for at+blockSize <= len(data) {
		h := (*tarHeader)(data[at:])
		size, content := h.size(), at+blockSize
		fits := size <= int64(len(data)-content) && !h.isZero()
		switch {
		case fits && s.take(h, content, data[content:content+int(size)]):
			s.gap(at)
			at = content + ceilBlock(int(size))
			s.open, s.tail.open, s.ended = false, false, false
		case fits && h.valid():
			s.gap(at)
			s.pass(h, at, data[content:content+int(size)])
			at = content + ceilBlock(int(size))
		case h.valid() && !s.tail.open:
			s.gap(at)
			s.passEnd(h, at)
			at = content
		default:
			s.damaged = true
			s.damage(h, at)
			at = content
		}
	}
	if s.tail.open {
		s.cutOff(data)
		return s
	}
	if at < len(data) {
		s.lose(Part{Off: int64(at), Len: int64(len(data) - at), Reason: "less than a header"})
		s.stopped = true
	}
	return s
}

// maxSums is how often all bytes may be summed up for damaged headers: each is looked at, as what follows may be whole,
// and in a crafted file each block can be one of a large segment. Without crafting once is enough.
const maxSums = 4

// sums says whether content has a checksum.
func (s *scanned) sums(h *tarHeader, content []byte, sum uint32) bool {
	if !h.valid() {
		if s.budget -= int64(len(content)); s.budget < 0 {
			return false
		}
	}
	return crc32.ChecksumIEEE(content) == sum
}

// take adds an entry with its content, if it is a segment's and whole.
func (s *scanned) take(h *tarHeader, off int, content []byte) bool {
	id, sum, hasSum, ok := parseEntryName(h.name())
	i, known := s.known[id]
	switch {
	case !ok || len(content) == 0 || len(content) > segment.MaxSize || !id.IsData() && !id.IsBulk():
		return false
	case hasSum && !s.sums(h, content, sum):
		return false
	case known && s.damaged, !hasSum && (known || !h.valid()):
		return false
	}
	e := Entry{ID: id, Off: int64(off), Len: len(content)}
	if known {
		s.entries[i] = e
		return true
	}
	s.known[id] = len(s.entries)
	s.entries = append(s.entries, e)
	return true
}
