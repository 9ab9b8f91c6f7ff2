// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/holtdb/holt/content/segment"
)

var be = binary.BigEndian

// Sizes of the format. An archive is a sequence of blocks: the segments, each behind a header; the three entries of the
// trailer, each behind a header too; two blocks of zeros. The trailer is found from the end, its data ends where a block
// does.
const (
	blockSize = 512
	endSize   = 2 * blockSize
	minSize   = 6 * blockSize // of an archive with an index
	maxSize   = math.MaxInt32 // of an archive: positions are signed

	footerSize = 16
	idSize     = segment.IDSize
)

// Magic numbers of the footers: a line feed, two letters, a line feed.
const (
	magicIndex1 = 0x0a304b0a
	magicIndex2 = 0x0a314b0a
	magicGraph  = 0x0a30470a
	magicBlobs1 = 0x0a30420a
	magicBlobs2 = 0x0a31420a
)

// footer ends the data of each entry of the trailer.
type footer [footerSize]byte

func (f *footer) sum() uint32   { return be.Uint32(f[0:4]) } // CRC-32 of the data, without footer and padding
func (f *footer) count() int32  { return int32(be.Uint32(f[4:8])) }
func (f *footer) size() int32   { return int32(be.Uint32(f[8:12])) } // of data and footer; of the index, with padding
func (f *footer) magic() uint32 { return be.Uint32(f[12:16]) }

// appendFooter ends data with a footer. A size of 0 stands for the size without padding.
func appendFooter(data []byte, count, size int, magic uint32) []byte {
	sum := crc32.ChecksumIEEE(data)
	if size == 0 {
		size = len(data) + footerSize
	}
	data = be.AppendUint32(data, sum)
	data = be.AppendUint32(data, uint32(count))
	data = be.AppendUint32(data, uint32(size))
	return be.AppendUint32(data, magic)
}

// footerAt is the footer that ends at a position of the archive.
func footerAt(data []byte, end int) (*footer, error) {
	if end < blockSize+footerSize || end > len(data) {
		return nil, damaged(max(end, 0), "there is no room for an entry of the trailer")
	}
	return (*footer)(data[end-footerSize:]), nil
}

// part cuts out of the archive the data of a graph or of binary references that ends at a position, with its footer; start
// is where its tar entry begins.
func part(data []byte, end int, what string, minPerItem int, magics ...uint32) (body []byte, f *footer, start int, err error) {
	f, err = footerAt(data, end)
	if err != nil {
		return nil, nil, 0, err
	}
	known := false
	for _, m := range magics {
		known = known || f.magic() == m
	}
	count, size := int64(f.count()), int64(f.size())
	switch {
	case !known:
		return nil, nil, 0, damaged(end-4, "%s: unknown magic number %#08x", what, f.magic())
	case count < 0 || size < footerSize || size > int64(end-blockSize) || size < footerSize+count*int64(minPerItem):
		return nil, nil, 0, damaged(end-footerSize, "%s: %d items in %d bytes", what, count, size)
	}
	body = data[end-int(size) : end-footerSize]
	if crc32.ChecksumIEEE(body) != f.sum() {
		return nil, nil, 0, damaged(end-int(size), "%s: the checksum is wrong", what)
	}
	return body, f, end - ceilBlock(int(size)) - blockSize, nil
}

func ceilBlock(n int) int { return (n + blockSize - 1) &^ (blockSize - 1) }

func appendID(b []byte, id segment.ID) []byte {
	b = be.AppendUint64(b, id.MSB)
	return be.AppendUint64(b, id.LSB)
}

func appendFlag(b []byte, flag bool) []byte {
	if flag {
		return append(b, 1)
	}
	return append(b, 0)
}
