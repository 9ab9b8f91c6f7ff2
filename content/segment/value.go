// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// A Value is the bytes of a string or binary: in line, in blocks, or outside.
type Value struct {
	seg  *Segment
	at   uint32 // of the bytes, or of the record id of the list of blocks, or of the long id
	form form
	size int64
}

type form uint8

const (
	inline     form = iota // up to mediumMax-1 bytes
	long                   // in blocks
	external               // id of less than 4096 bytes, in line
	externalID             // id in a value of its own
)

// How many bytes the in-line forms hold, and so where the next one begins to count.
const (
	smallMax  = 0x80
	mediumMax = smallMax + 0x4000
)

// Value takes the record for a VALUE or BLOB_ID.
func (r Record) Value() (Value, error) {
	if b := r.seg.data[r.at]; b < smallMax { // at is within data: (2)
		if !r.fits(1 + int(b)) {
			return Value{}, r.corrupt("a value of %d bytes passes the end", b)
		}
		return Value{r.seg, r.at + 1, inline, int64(b)}, nil
	}
	return r.largeValue()
}

func (r Record) largeValue() (Value, error) {
	var v Value
	var need int64           // bytes behind the head
	word := int64(r.word(0)) // there are at least 4 bytes, as positions and the end are aligned
	short := word >> 16      // the first two
	switch lead := short >> 8; {
	case lead < 0xC0:
		v = Value{r.seg, r.at + 2, inline, short&0x3FFF + smallMax}
		need = v.size
	case lead < 0xE0:
		v = Value{r.seg, r.at + 8, long, 0}
		need = ridSize
	case lead < 0xF0:
		v = Value{r.seg, r.at + 2, external, short & 0xFFF}
		need = v.size
	case lead < 0xF8:
		v = Value{r.seg, r.at + 1, externalID, 0}
		need = ridSize
	default:
		return Value{}, r.corrupt("no value begins with %#x", lead)
	}
	if int64(v.at)+need > int64(len(r.seg.data)) {
		return Value{}, r.corrupt("a value passes the end")
	}
	if v.form == long {
		v.size = int64(be.Uint64(r.seg.data[r.at:])&(1<<61-1)) + mediumMax
		if v.size > MaxList*BlockSize {
			return Value{}, r.corrupt("a value of %d bytes", v.size)
		}
	}
	return v, nil
}

// Len is the number of bytes, or -1 for a binary kept outside.
func (v Value) Len() int64 {
	if v.IsExternal() {
		return -1
	}
	return v.size
}

// IsExternal says whether there is only an id here, of a binary kept outside.
func (v Value) IsExternal() bool { return v.form >= external }

// IsLong says whether the bytes are in blocks, so that there is no view of them.
func (v Value) IsLong() bool { return v.form == long }

// Bytes is a view of a value that lies in one piece: false for others.
func (v Value) Bytes() ([]byte, bool) {
	if v.form != inline {
		return nil, false
	}
	return v.inline(), true
}

func (v Value) inline() []byte { return v.seg.data[v.at : v.at+uint32(v.size)] }

// BlobID is the id of a binary kept outside, which means something to the store of these only.
func (v Value) BlobID() (Value, error) {
	switch v.form {
	case external:
		return Value{v.seg, v.at, inline, v.size}, nil
	case externalID:
		r, err := v.seg.record(v.at)
		if err != nil {
			return Value{}, err
		}
		return r.text()
	}
	return Value{}, fmt.Errorf("segment %s, offset %#x: no id of a binary kept outside", v.seg.id, v.at)
}

// text takes the record for a string.
func (r Record) text() (Value, error) {
	v, err := r.Value()
	if err == nil && v.IsExternal() {
		err = r.corrupt("the id of a binary instead of a string")
	}
	return v, err
}

// ReadAt is that of [io.ReaderAt].
func (v Value) ReadAt(p []byte, off int64) (int, error) {
	switch {
	case v.IsExternal():
		return 0, ErrExternal
	case off < 0:
		return 0, fmt.Errorf("segment: negative offset %d in a value", off)
	case off >= v.size:
		return 0, io.EOF
	}
	n, err := v.read(p[:min(int64(len(p)), v.size-off)], off)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// read fills p, which the value has from off on.
func (v Value) read(p []byte, off int64) (int, error) {
	if v.form == inline {
		return copy(p, v.inline()[off:]), nil
	}
	blocks, err := v.blocks()
	n := 0
	for n < len(p) && err == nil {
		var b []byte
		i := int(off / BlockSize)
		if b, err = v.block(blocks, i); err == nil {
			k := copy(p[n:], b[off-int64(i)*BlockSize:])
			n, off = n+k, off+int64(k)
		}
	}
	return n, err
}

// blocks is the list of them.
func (v Value) blocks() (List, error) {
	return v.seg.list(v.at, uint32((v.size+BlockSize-1)/BlockSize))
}

// block is the bytes of the i-th.
func (v Value) block(blocks List, i int) ([]byte, error) {
	s, at, err := blocks.locate(i)
	if err != nil {
		return nil, err
	}
	return s.block(at, int(min(BlockSize, v.size-int64(i)*BlockSize)))
}

// Reader reads the value from the start.
func (v Value) Reader() *io.SectionReader {
	if v.IsExternal() {
		return io.NewSectionReader(v, 0, 1) // it has to come to ReadAt for the error
	}
	return io.NewSectionReader(v, 0, v.size)
}

// WriteTo writes all bytes to w, from where they lie.
func (v Value) WriteTo(w io.Writer) (int64, error) {
	switch v.form {
	case inline:
		n, err := w.Write(v.inline())
		return int64(n), err
	case external, externalID:
		return 0, ErrExternal
	}
	blocks, err := v.blocks()
	if err != nil {
		return 0, err
	}
	done := int64(0)
	for i := range blocks.Len() {
		b, err := v.block(blocks, i)
		if err != nil {
			return done, err
		}
		n, err := w.Write(b)
		done += int64(n)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// AppendTo appends all bytes to dst, if there are no more than limit. The memory it takes grows with what was read, not
// with what the value says it has.
func (v Value) AppendTo(dst []byte, limit int64) ([]byte, error) {
	if v.Len() > limit {
		return dst, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLong, v.size, limit)
	}
	a := appender{dst}
	_, err := v.WriteTo(&a)
	return a.b, err
}

type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// Text is the value as text, if it has no more than limit bytes; what is not UTF-8 in it becomes U+FFFD.
func (v Value) Text(limit int64) (string, error) {
	if v.form == inline && v.size <= limit {
		if b := v.inline(); utf8.Valid(b) {
			return string(b), nil
		}
	}
	b, err := v.AppendTo(nil, limit)
	if err != nil {
		return "", err
	}
	return string(AppendText(nil, b)), nil
}
