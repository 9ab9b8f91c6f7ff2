// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Sizes in bytes.
const (
	headerSize   = 32 // of generation 0.4; the payload follows
	headerSizeV1 = 16 // of generations 0.1 and 0.2
	prefixSize   = 6  // of the magic, what decides who can read the file
	recordOff    = 8  // of the commit record in the header
	recordSize   = 24
	atomicBlock  = 256 // a write inside such a block of the file is taken to be atomic
)

var (
	magic    = [8]byte{'B', 'S', 'T', 'K', 0, 4, 4, 0}
	prefixV1 = [prefixSize]byte{'B', 'S', 'T', 'K', 0, 1}
)

// Journal modes. The first is the zero of a record at rest as well: there the target is zero too.
const (
	modeSet          uint64 = 0
	modeSpliceGrow   uint64 = 1<<64 - 2
	modeSpliceShrink uint64 = 1<<64 - 3
	modeRepeat       uint64 = 1<<64 - 4
	modeCopy         uint64 = 1<<64 - 5
	modeMultiWrite   uint64 = 1<<64 - 6
)

var le = binary.LittleEndian

// record is the part of the header that a commit writes, at once: the length of the payload, and the journal's target
// and mode. It lies in the first block of the file.
type record struct {
	length uint64 // of the payload
	target uint64 // journal: an offset in the file, 0 if it is not armed or the mode has none
	mode   uint64
}

func (r record) armed() bool { return r.target != 0 || r.mode != 0 }

func (r record) put(b []byte) {
	le.PutUint64(b[0:8], r.length)
	le.PutUint64(b[8:16], r.target)
	le.PutUint64(b[16:24], r.mode)
}

func parseRecord(b []byte) record {
	return record{length: le.Uint64(b[0:8]), target: le.Uint64(b[8:16]), mode: le.Uint64(b[16:24])}
}

// newHeader is the header of an empty stack.
func newHeader(r record) []byte {
	h := make([]byte, headerSize)
	copy(h, magic[:])
	r.put(h[recordOff:])
	return h
}

// checkMagic says whether the file is of this generation.
func checkMagic(path string, h []byte) error {
	switch {
	case bytes.Equal(h[:prefixSize], magic[:prefixSize]):
		return nil
	case bytes.Equal(h[:4], magic[:4]):
		return &VersionError{path, fmt.Sprintf("%d.%d", h[4], h[5])}
	}
	return &CorruptError{path, 0, fmt.Sprintf("not a stack: begins with %x", h[:8])}
}

// block is a piece of the payload to be written, and blockHead what precedes its bytes in a MultiWrite journal.
type block struct {
	off  int64 // in the payload
	data []byte
}

const blockHead = 16

func (b block) end() int64 { return b.off + int64(len(b.data)) }

// overlay puts what the block has of the bytes at off into p, which holds them.
func (b block) overlay(p []byte, off int64) {
	from := max(b.off, off)
	if to := min(b.end(), off+int64(len(p))); from < to {
		copy(p[from-off:], b.data[from-b.off:to-b.off])
	}
}

func (b block) appendHead(to []byte) []byte {
	to = le.AppendUint64(to, uint64(b.off))
	return le.AppendUint64(to, uint64(b.end()))
}

// inOneBlock says whether a write of n > 0 bytes at an offset of the payload touches one atomic block of the file.
func inOneBlock(off, n int64) bool {
	return (headerSize+off)/atomicBlock == (headerSize+off+n-1)/atomicBlock
}
