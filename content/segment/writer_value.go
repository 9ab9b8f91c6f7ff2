// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// String writes a string, or finds it in the cache. What is not UTF-8 in it becomes U+FFFD; half a surrogate pair, as
// three bytes, a question mark.
func (w *Writer) String(s string) (RecordID, error) {
	w.text = append(w.text[:0], cleanText(s)...)
	id, err := w.string(w.text)
	if cap(w.text) > MaxSize {
		w.text = nil
	}
	return id, err
}

// Long writes the text of a LONG.
func (w *Writer) Long(n int64) (RecordID, error) {
	w.text = strconv.AppendInt(w.text[:0], n, 10)
	return w.string(w.text)
}

// Double writes the text of a DOUBLE: see [FormatDouble].
func (w *Writer) Double(f float64) (RecordID, error) { return w.String(FormatDouble(f)) }

// Boolean writes the text of a BOOLEAN.
func (w *Writer) Boolean(b bool) (RecordID, error) { return w.String(strconv.FormatBool(b)) }

// string writes text that is UTF-8.
func (w *Writer) string(b []byte) (RecordID, error) {
	if len(b) >= mediumMax {
		return w.longString(b)
	}
	c := w.opts.Cache
	key := c.strings.key(b)
	if id, ok := c.text(&c.strings, key); ok {
		return id, nil
	}
	id, err := w.inline(b)
	if err == nil {
		c.putText(&c.strings, key, id)
	}
	return id, err
}

// inline writes a value of less than mediumMax bytes.
func (w *Writer) inline(b []byte) (RecordID, error) {
	if len(b) < smallMax {
		return w.record(RecordValue, []byte{byte(len(b))}, nil, b)
	}
	n := len(b) - smallMax | 0x8000
	return w.record(RecordValue, []byte{byte(n >> 8), byte(n)}, nil, b)
}

// longString has bulk segments only as far as they become full.
func (w *Writer) longString(b []byte) (RecordID, error) {
	if len(b) >= math.MaxInt32 {
		return RecordID{}, fmt.Errorf("%w: a string of %d bytes", ErrTooBig, len(b))
	}
	size := int64(len(b))
	blocks := listBuilder{w: w}
	for ; len(b) >= MaxSize; b = b[MaxSize:] {
		if err := w.bulk(b[:MaxSize], &blocks); err != nil {
			return RecordID{}, err
		}
	}
	for len(b) > 0 {
		n := min(BlockSize, len(b))
		id, err := w.record(RecordBlock, nil, nil, b[:n])
		if err == nil {
			err = blocks.add(id)
		}
		if err != nil {
			return RecordID{}, err
		}
		b = b[n:]
	}
	return w.long(size, &blocks)
}

// long writes the head of a value in blocks.
func (w *Writer) long(size int64, blocks *listBuilder) (RecordID, error) {
	list, err := blocks.finish()
	if err != nil {
		return RecordID{}, err
	}
	var head [2 * wordSize]byte
	be.PutUint64(head[:], uint64(size-mediumMax)|0xC0<<56)
	return w.record(RecordValue, head[:], []RecordID{list}, nil)
}

// BlobID writes the id of a binary that is kept outside.
func (w *Writer) BlobID(id string) (RecordID, error) {
	w.text = append(w.text[:0], cleanText(id)...)
	const shortMax = 1 << 12
	if n := len(w.text); n < shortMax {
		return w.record(RecordBlobID, []byte{0xE0 | byte(n>>8), byte(n)}, nil, w.text)
	}
	text, err := w.string(w.text)
	if err != nil {
		return RecordID{}, err
	}
	return w.record(RecordBlobID, []byte{0xF0}, []RecordID{text}, nil)
}

// cleanText is a string as it is stored.
func cleanText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	out := make([]byte, 0, len(s)+2*utf8.UTFMax)
	for i := 0; i < len(s); {
		r, n := runeAt(s, i)
		if n == 3 && r == utf8.RuneError && s[i] == 0xED { // U+FFFD itself begins with EF
			r = '?'
		}
		out = utf8.AppendRune(out, r)
		i += n
	}
	return string(out)
}
