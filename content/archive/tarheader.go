// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"

	"github.com/holtdb/holt/content/segment"
)

// tarHeader is the block ahead of each entry.
type tarHeader [blockSize]byte

const (
	tarNameLen = 100
	tarSumAt   = 148
	tarSumLen  = 8
)

// newTarHeader makes the header of an entry.
func newTarHeader(name string, size int, modTime time.Time) *tarHeader {
	h := new(tarHeader)
	copy(h[:tarNameLen], name)
	copy(h[100:], "0000400\x000000000\x000000000\x00")
	copy(h[124:], fmt.Sprintf("%011o\x00", size))
	copy(h[136:], fmt.Sprintf("%011o\x00", max(modTime.Unix(), 0)))
	h[156] = '0'
	copy(h[tarSumAt:], fmt.Sprintf("%06o\x00 ", h.sum()))
	return h
}

func (h *tarHeader) name() string {
	name, _, _ := bytes.Cut(h[:tarNameLen], []byte{0})
	return string(name)
}

// size is the length of the content: the octal digits up to the first other byte.
func (h *tarHeader) size() int64 { return octal(h[124:136]) }

func (h *tarHeader) modTime() time.Time { return time.Unix(octal(h[136:148]), 0) }

func octal(b []byte) int64 {
	n := int64(0)
	for _, c := range b { // 12 digits are 36 bits
		if c < '0' || c > '7' {
			break
		}
		n = n<<3 | int64(c-'0')
	}
	return n
}

// sum is the checksum as it should be: of the bytes of the block, its own ones taken for blanks.
func (h *tarHeader) sum() int64 {
	sum := int64(tarSumLen * ' ')
	for i, c := range h {
		if i < tarSumAt || i >= tarSumAt+tarSumLen {
			sum += int64(c)
		}
	}
	return sum
}

func (h *tarHeader) valid() bool { return octal(h[tarSumAt:tarSumAt+tarSumLen]) == h.sum() }

// isZero says whether the block is one of those at the end.
func (h *tarHeader) isZero() bool { return *h == tarHeader{} }

// check demands that a header is exactly that of an entry as they are written.
func (h *tarHeader) check(name string, size int) error {
	switch {
	case h.name() != cutName(name):
		return fmt.Errorf("the header names %q instead of %q", h.name(), name)
	case h.size() != int64(size):
		return fmt.Errorf("the header says %d bytes instead of %d", h.size(), size)
	case *h != *newTarHeader(name, size, h.modTime()):
		return fmt.Errorf("the header of %q is damaged", name)
	}
	return nil
}

func cutName(name string) string { return name[:min(len(name), tarNameLen)] }

// entryName is the name of a segment's entry.
func entryName(id segment.ID, data []byte) string {
	return fmt.Sprintf("%s.%08x", id, crc32.ChecksumIEEE(data))
}

// parseEntryName takes the name of a segment's entry apart: an id, perhaps a checksum, perhaps something else.
func parseEntryName(name string) (id segment.ID, sum uint32, hasSum, ok bool) {
	const idLen, sumLen = 36, 8
	if len(name) < idLen {
		return segment.ID{}, 0, false, false
	}
	id, err := segment.ParseID(name[:idLen])
	rest := name[idLen:]
	if err != nil || rest != "" && rest[0] != '.' {
		return segment.ID{}, 0, false, false
	}
	if len(rest) > sumLen && (len(rest) == 1+sumLen || rest[1+sumLen] == '.') {
		if n, err := strconv.ParseUint(rest[1:1+sumLen], 16, 32); err == nil {
			return id, uint32(n), true, true
		}
	}
	return id, 0, false, true
}
