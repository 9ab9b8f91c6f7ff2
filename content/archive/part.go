// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/holtdb/holt/content/segment"
)

// A Part of an archive is one that recovery reports.
type Part struct {
	File    string     // name of the archive
	Off     int64      // in the archive, of the first byte of the entry
	Len     int64      // with its header, as far as it goes
	Segment segment.ID // the zero id if it is not known
	Reason  string
}

func (s *scanned) lose(l Part) { s.lost = append(s.lost, l) }

// pass notes an entry that does not count though its header is sound: that of a segment whose bytes are others.
func (s *scanned) pass(h *tarHeader, at int, content []byte) {
	s.open = false
	s.end(h)
	id, sum, hasSum, ok := parseEntryName(h.name())
	if _, known := s.known[id]; !ok || known && (!hasSum || crc32.ChecksumIEEE(content) == sum) {
		return // of the trailer, or there is another one
	}
	l := Part{Off: int64(at), Len: int64(blockSize + len(content)), Segment: id, Reason: "the checksum is wrong"}
	if len(content) == 0 || len(content) > segment.MaxSize || !id.IsData() && !id.IsBulk() {
		l.Reason = fmt.Sprintf("no segment: %d bytes", len(content))
	}
	s.lose(l)
}

// end notes an entry of the trailer. Behind damage it may be that of another archive, in a binary.
func (s *scanned) end(h *tarHeader) {
	name, _, _ := strings.Cut(h.name(), archiveSuffix+".")
	if _, ok := ParseName(name + archiveSuffix); ok && !s.damaged {
		s.ended = true
	}
}

// gap notes zeros ahead of an entry: something was there.
func (s *scanned) gap(at int) {
	if s.zeros > 0 {
		s.lose(Part{Off: int64(at - s.zeros), Len: int64(s.zeros), Reason: "zeros"})
		s.zeros = 0
	}
}

// passEnd notes an entry that passes the end. What follows is looked at, and may be a part of it.
func (s *scanned) passEnd(h *tarHeader, at int) {
	id, _, _, named := parseEntryName(h.name())
	s.tail = tail{true, at, named, len(s.lost)}
	s.end(h)
	s.damaged = true
	if named {
		s.open = true
		reason := fmt.Sprintf("%d bytes by the header, which pass the end of the archive", h.size())
		s.lose(Part{Off: int64(at), Len: blockSize, Segment: id, Reason: reason})
	}
}

// cutOff notes that the writer was stopped at the tail: nothing that was found behind it is another's.
func (s *scanned) cutOff(data []byte) {
	s.lost = s.lost[:s.tail.lost]
	if h := (*tarHeader)(data[s.tail.at:]); s.tail.named {
		id, _, _, _ := parseEntryName(h.name())
		there := int64(len(data) - s.tail.at)
		reason := fmt.Sprintf("cut off: %d of %d bytes are there", there-blockSize, h.size())
		s.lose(Part{Off: int64(s.tail.at), Len: there, Segment: id, Reason: reason})
		s.stopped = true
	}
}

// damage notes a block that is no header. Zeros are those at the end, or belong to damage around them, unless an entry
// follows.
func (s *scanned) damage(h *tarHeader, at int) {
	id, _, _, named := parseEntryName(h.name())
	switch {
	case h.isZero() && !s.open:
		s.zeros += blockSize
		return
	case h.isZero():
	case s.open && !named:
		last := &s.lost[len(s.lost)-1]
		last.Len = int64(at+blockSize) - last.Off
	case named:
		s.open = true
		s.lose(Part{Off: int64(at), Len: blockSize, Segment: id, Reason: "the header is damaged, and nothing has the checksum"})
	default:
		s.open = true
		s.lose(Part{Off: int64(at), Len: blockSize, Reason: "no header"})
	}
	s.zeros = 0
}
