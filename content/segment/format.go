// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

// Sizes and limits of the format.
const (
	MaxSize   = 1 << 18         // bytes of a segment
	BlockSize = 4096            // bytes of each block of a long value but the last
	MaxList   = 255 * 255 * 255 // entries of a list

	headerSize    = 32
	rowSize       = 9  // of the record table
	ridSize       = 6  // of a record id within a segment
	alignment     = 4  // of records
	sizeAlignment = 16 // of data segments

	fanout = 255 // entries of a bucket of a list

	magic      = "0aK"
	oldVersion = 12
	version    = 13

	// compactedFlag shares its word with the full generation.
	compactedFlag = 1 << 31
)

// header is the start of a data segment, viewed in place.
type header [headerSize]byte

func (h *header) magic() string     { return string(h[0:3]) }
func (h *header) version() byte     { return h[3] }
func (h *header) full() uint32      { return be.Uint32(h[4:8]) }
func (h *header) generation() int32 { return int32(be.Uint32(h[10:14])) }
func (h *header) references() int32 { return int32(be.Uint32(h[14:18])) }
func (h *header) records() int32    { return int32(be.Uint32(h[18:22])) }

// begin sets all but the counts, which are zero.
func (h *header) begin(g Generation) {
	clear(h[:])
	copy(h[0:3], magic)
	h[3] = version
	full := uint32(g.Full)
	if g.Compacted {
		full |= compactedFlag
	}
	be.PutUint32(h[4:8], full)
	be.PutUint32(h[10:14], uint32(g.Generation))
}

func (h *header) count(references, records int) {
	be.PutUint32(h[14:18], uint32(references))
	be.PutUint32(h[18:22], uint32(records))
}

// row is an entry of the record table.
type row [rowSize]byte

func (r *row) number() uint32   { return be.Uint32(r[0:4]) }
func (r *row) kind() RecordType { return RecordType(r[4]) }

// offset counts from the start of a segment of MaxSize whose end is that of this one.
func (r *row) offset() uint32 { return be.Uint32(r[5:9]) }

// RecordType says what a record is.
type RecordType uint8

// The types of records, as the record tables have them.
const (
	RecordLeaf RecordType = iota
	RecordBranch
	RecordBucket
	RecordList
	RecordValue
	RecordBlock
	RecordTemplate
	RecordNode
	RecordBlobID
)

var recordTypes = [...]string{"LEAF", "BRANCH", "BUCKET", "LIST", "VALUE", "BLOCK", "TEMPLATE", "NODE", "BLOB_ID"}

func (t RecordType) String() string {
	if int(t) < len(recordTypes) {
		return recordTypes[t]
	}
	return "?"
}
