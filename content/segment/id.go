// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var be = binary.BigEndian

// IDSize is the size of an ID in bytes, as it is stored.
const IDSize = 16

// ID names a segment: a version-4 UUID of which one digit says whether it is a data or a bulk segment. The zero ID
// names none.
type ID struct{ MSB, LSB uint64 }

// ErrID is wrapped by the errors of the parsers of ids.
var ErrID = errors.New("segment: not an id")

// NewDataID returns a random id for a data segment.
func NewDataID() ID { return newID(0xA) }

// NewBulkID returns a random id for a bulk segment.
func NewBulkID() ID { return newID(0xB) }

func newID(kind uint64) ID {
	var b [IDSize]byte
	_, _ = rand.Read(b[:]) // never fails
	id := GetID(b[:])
	id.MSB = id.MSB&^0xF000 | 0x4000
	id.LSB = id.LSB&^(0xF<<60) | kind<<60
	return id
}

// GetID is the ID stored in the first IDSize bytes of b.
func GetID(b []byte) ID { return ID{be.Uint64(b[0:8]), be.Uint64(b[8:16])} }

// Put stores the id in the first IDSize bytes of b.
func (id ID) Put(b []byte) {
	be.PutUint64(b[0:8], id.MSB)
	be.PutUint64(b[8:16], id.LSB)
}

// IsData says whether the id is that of a data segment.
func (id ID) IsData() bool { return id.LSB>>60 == 0xA }

// IsBulk says whether the id is that of a bulk segment.
func (id ID) IsBulk() bool { return id.LSB>>60 == 0xB }

// Compare orders ids as the indexes of archives do: as two signed numbers.
func (id ID) Compare(other ID) int {
	if c := cmp.Compare(int64(id.MSB), int64(other.MSB)); c != 0 {
		return c
	}
	return cmp.Compare(int64(id.LSB), int64(other.LSB))
}

// String is the text form of a UUID.
func (id ID) String() string {
	var b [IDSize]byte
	id.Put(b[:])
	text := make([]byte, 0, uuidLen)
	for i, part := range [][]byte{b[0:4], b[4:6], b[6:8], b[8:10], b[10:16]} {
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, part)
	}
	return string(text)
}

// uuidLen is the length of the text form.
const uuidLen = 36

// ParseID is the inverse of String: it takes lower-case digits only.
func ParseID(s string) (ID, error) {
	bad := func() error { return fmt.Errorf("%w: %.80q", ErrID, s) }
	if len(s) != uuidLen || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ID{}, bad()
	}
	digits := s[0:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	if strings.ContainsAny(digits, "ABCDEF") {
		return ID{}, bad()
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return ID{}, bad()
	}
	return GetID(b), nil
}

// RecordID names a record: by the segment it is in, and its number there. In a bulk segment the number is the virtual
// offset of a block.
type RecordID struct {
	Segment ID
	Number  uint32
}

// String is the form of the journal: the segment, a colon and the number.
func (r RecordID) String() string {
	return r.Segment.String() + ":" + strconv.FormatUint(uint64(r.Number), 10)
}

// Hex is the form of Oak's tools: the segment, a full stop and eight digits of the number.
func (r RecordID) Hex() string { return fmt.Sprintf("%s.%08x", r.Segment, r.Number) }

// ParseRecordID takes both forms.
func ParseRecordID(s string) (RecordID, error) {
	bad := func() error { return fmt.Errorf("%w of a record: %.80q", ErrID, s) }
	if len(s) <= uuidLen+1 {
		return RecordID{}, bad()
	}
	id, err := ParseID(s[:uuidLen])
	if err != nil {
		return RecordID{}, bad()
	}
	number, base := s[uuidLen+1:], 10
	switch s[uuidLen] {
	case ':':
		if len(number) > 1 && number[0] == '0' {
			return RecordID{}, bad()
		}
	case '.':
		if base = 16; len(number) != 8 || strings.ContainsAny(number, "ABCDEF") {
			return RecordID{}, bad()
		}
	default:
		return RecordID{}, bad()
	}
	n, err := strconv.ParseUint(number, base, 32)
	if err != nil || number[0] == '+' {
		return RecordID{}, bad()
	}
	return RecordID{id, uint32(n)}, nil
}

// Generation says when a segment was written: which compactions had been there, and whether it is the work of one.
type Generation struct {
	Generation int32
	Full       int32 // counts full compactions only
	Compacted  bool
}

func (g Generation) String() string {
	return fmt.Sprintf("%d,%d,%t", g.Generation, g.Full, g.Compacted)
}
