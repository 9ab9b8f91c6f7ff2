// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import "github.com/holtdb/holt/content/segment"

// decoder takes values from the front of a part of the trailer. After the first that is not there all are zero.
type decoder struct {
	b   []byte
	at  int // in the archive
	bad bool
}

func (d *decoder) next(n int) []byte {
	if d.bad || n > len(d.b) {
		d.bad = true
		return make([]byte, min(n, idSize))
	}
	b := d.b[:n]
	d.b, d.at = d.b[n:], d.at+n
	return b
}

func (d *decoder) id() segment.ID { return segment.GetID(d.next(idSize)) }
func (d *decoder) int32() int32   { return int32(be.Uint32(d.next(4))) }

// count takes the number of items that follow, of at least size bytes each.
func (d *decoder) count(size int) int {
	n := d.int32()
	if n < 0 || int64(n)*int64(size) > int64(len(d.b)) {
		d.bad = true
	}
	if d.bad {
		return 0
	}
	return int(n)
}

// end demands that everything was there, and nothing else.
func (d *decoder) end(what string) error {
	if d.bad {
		return damaged(d.at, "%s: ends in the middle of an item", what)
	}
	if len(d.b) > 0 {
		return damaged(d.at, "%s: %d bytes behind the last item", what, len(d.b))
	}
	return nil
}
