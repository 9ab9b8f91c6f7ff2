// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"fmt"
	"io"
)

// vecHeader is the size in bytes of what precedes the bytes of a vector in its region: length and capacity.
const vecHeader = 16

// vecLeast is the capacity that the first growth gives.
const vecLeast = 4

// ByteVec is a sequence of bytes in a region, which moves to a larger one as it grows: length, capacity, and then the
// bytes. Whoever keeps the region has to keep the new one after a growth; with [ByteVec.In] both can be one step.
//
// Every method reads the length from the file, and is durable and all or nothing. Indexes and lengths outside the
// vector get [ErrRange]. A vector is for one goroutine at a time.
type ByteVec struct {
	home vecHome
	path string // of the file, for errors
	r    Region
}

// vecHome is where a vector lives: in an allocator, or in a batch that is under way.
type vecHome interface {
	update(fn func(b *Batch) error) error
	readAt(r Region, p []byte, off int64) error
}

type settled struct{ a Allocator }

func (h settled) update(fn func(b *Batch) error) error { return h.a.Update(fn) }

func (h settled) readAt(r Region, p []byte, off int64) error {
	if _, err := r.part(off, int64(len(p))); err != nil {
		return err
	}
	_, err := h.a.View(r).ReadAt(p, off)
	return err
}

type underWay struct{ b *Batch }

func (h underWay) update(fn func(b *Batch) error) error       { return fn(h.b) }
func (h underWay) readAt(r Region, p []byte, off int64) error { return h.b.ReadAt(r, p, off) }

// NewByteVec makes an empty vector with room for capacity bytes.
func NewByteVec(a Allocator, capacity int64) (*ByteVec, error) {
	v := OpenByteVec(a, Region{})
	return v, v.change(func(e *vecEdit) error { return e.create(capacity) })
}

// OpenByteVec is the vector in a region. That in the null region is empty, and gets a region when something is added.
func OpenByteVec(a Allocator, r Region) *ByteVec { return &ByteVec{settled{a}, a.Stack().Path(), r} }

// In is the vector with methods that add to a batch. It knows about growths in the batch, v does not: take its Region
// when the batch has been made durable.
func (v *ByteVec) In(b *Batch) *ByteVec { return &ByteVec{underWay{b}, v.path, v.r} }

// Region is where the vector is.
func (v *ByteVec) Region() Region { return v.r }

// change runs fn in a batch, and takes the region over that it leaves.
func (v *ByteVec) change(fn func(e *vecEdit) error) error {
	r := v.r
	err := v.home.update(func(b *Batch) error {
		e := vecEdit{vec{ByteVec: *v.In(b)}, b}
		if err := e.load(); err != nil {
			return err
		}
		err := fn(&e)
		r = e.r
		return err
	})
	if err == nil {
		v.r = r
	}
	return err
}

// look reads the header.
func (v *ByteVec) look() (*vec, error) {
	e := &vec{ByteVec: *v}
	return e, e.load()
}

// Len is the length in bytes.
func (v *ByteVec) Len() (int64, error) {
	e, err := v.look()
	return e.length, err
}

// Cap is how long the vector can become where it is.
func (v *ByteVec) Cap() (int64, error) {
	e, err := v.look()
	return e.capacity, err
}

// ReadAt implements [io.ReaderAt].
func (v *ByteVec) ReadAt(p []byte, off int64) (int, error) {
	e, err := v.look()
	if err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, fmt.Errorf("%w: reading at %d", ErrRange, off)
	}
	n := int(min(int64(len(p)), max(e.length-off, 0)))
	if err := e.read(p[:n], off); err != nil {
		return 0, err
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Bytes returns a copy of all bytes.
func (v *ByteVec) Bytes() ([]byte, error) {
	e, err := v.look()
	if err != nil {
		return nil, err
	}
	p := make([]byte, e.length)
	return p, e.read(p, 0)
}

// Get returns byte i.
func (v *ByteVec) Get(i int64) (byte, error) {
	var p [1]byte
	e, err := v.look()
	if err != nil {
		return 0, err
	}
	if err := e.within(i, 1); err != nil {
		return 0, err
	}
	err = e.read(p[:], i)
	return p[0], err
}

// WriteAt implements [io.WriterAt] for bytes inside the vector.
func (v *ByteVec) WriteAt(p []byte, off int64) (int, error) {
	err := v.change(func(e *vecEdit) error {
		if err := e.within(off, int64(len(p))); err != nil {
			return err
		}
		return e.write(p, off)
	})
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// Set replaces byte i.
func (v *ByteVec) Set(i int64, c byte) error {
	_, err := v.WriteAt([]byte{c}, i)
	return err
}

// Write implements [io.Writer]: it is Append.
func (v *ByteVec) Write(p []byte) (int, error) {
	if err := v.Append(p...); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Append adds bytes at the end.
func (v *ByteVec) Append(p ...byte) error {
	return v.change(func(e *vecEdit) error { return e.insert(e.length, p) })
}

// Insert puts bytes before byte i, or at the end.
func (v *ByteVec) Insert(i int64, p ...byte) error {
	return v.change(func(e *vecEdit) error { return e.insert(i, p) })
}

// Pop removes the last byte and returns it.
func (v *ByteVec) Pop() (c byte, err error) {
	var p [1]byte
	err = v.change(func(e *vecEdit) error {
		if err := e.within(e.length-1, 1); err != nil {
			return err
		}
		if err := e.read(p[:], e.length-1); err != nil {
			return err
		}
		return e.truncate(e.length - 1)
	})
	return p[0], err
}

// Remove removes n bytes from byte i on. Those behind move up.
func (v *ByteVec) Remove(i, n int64) error {
	return v.change(func(e *vecEdit) error { return e.remove(i, n) })
}

// SwapRemove removes byte i and puts the last one in its place.
func (v *ByteVec) SwapRemove(i int64) error {
	return v.change(func(e *vecEdit) error {
		if err := e.within(i, 1); err != nil {
			return err
		}
		var last [1]byte
		if err := e.read(last[:], e.length-1); err != nil {
			return err
		}
		if err := e.write(last[:], i); err != nil {
			return err
		}
		return e.truncate(e.length - 1)
	})
}

// Truncate makes the vector n bytes long, which is no more than it is. The capacity stays.
func (v *ByteVec) Truncate(n int64) error {
	return v.change(func(e *vecEdit) error {
		if n < 0 || n > e.length {
			return fmt.Errorf("%w: truncating %d bytes to %d", ErrRange, e.length, n)
		}
		return e.truncate(n)
	})
}

// Resize makes the vector n bytes long. New bytes are c.
func (v *ByteVec) Resize(n int64, c byte) error {
	return v.change(func(e *vecEdit) error {
		if err := checkLen(n); err != nil {
			return err
		}
		if n <= e.length {
			return e.truncate(n)
		}
		return e.insert(e.length, repeated(c, n-e.length))
	})
}

// Fill sets all bytes to c.
func (v *ByteVec) Fill(c byte) error {
	return v.change(func(e *vecEdit) error { return e.write(repeated(c, e.length), 0) })
}

// Reserve makes room for n bytes more than there are.
func (v *ByteVec) Reserve(n int64) error {
	return v.change(func(e *vecEdit) error {
		if err := checkLen(n); err != nil {
			return err
		}
		return e.reserve(n)
	})
}

// ShrinkToFit gives back the room that is not used.
func (v *ByteVec) ShrinkToFit() error {
	return v.change(func(e *vecEdit) error { return e.setCapacity(e.length) })
}

// Free frees the region. The vector is no longer to be used.
func (v *ByteVec) Free() error {
	err := v.home.update(func(b *Batch) error { return b.Free(v.r) })
	if err == nil {
		v.r = Region{}
	}
	return err
}

func repeated(c byte, n int64) []byte {
	p := make([]byte, n)
	if c != 0 {
		for i := range p {
			p[i] = c
		}
	}
	return p
}

// vec is a vector and what its header says.
type vec struct {
	ByteVec
	length, capacity int64
}

// vecEdit is a vector inside a batch.
type vecEdit struct {
	vec
	b *Batch
}

func (e *vecEdit) create(capacity int64) (err error) {
	if err := checkLen(capacity); err != nil {
		return err
	}
	if e.r, err = e.b.Alloc(vecHeader + capacity); err != nil {
		return err
	}
	e.capacity = capacity
	return e.store()
}

// load reads the header, if there is one.
func (e *vec) load() error {
	if e.r.IsEmpty() {
		return nil
	}
	var h [vecHeader]byte
	if err := e.home.readAt(e.r, h[:], 0); err != nil {
		return err
	}
	length, capacity := le.Uint64(h[0:8]), le.Uint64(h[8:16])
	if length > capacity || capacity > uint64(e.r.Len-vecHeader) {
		return corruptAt(e.path, e.r.Off, "no byte vector: length %d, capacity %d in a region of %d",
			length, capacity, e.r.Len)
	}
	e.length, e.capacity = int64(length), int64(capacity)
	return nil
}

// store writes the header.
func (e *vecEdit) store() error {
	var h [vecHeader]byte
	le.PutUint64(h[0:8], uint64(e.length))
	le.PutUint64(h[8:16], uint64(e.capacity))
	return e.b.WriteAt(e.r, h[:], 0)
}

func (e *vec) read(p []byte, off int64) error {
	if len(p) == 0 { // also where there is no region
		return nil
	}
	return e.home.readAt(e.r, p, vecHeader+off)
}

func (e *vecEdit) write(p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	return e.b.WriteAt(e.r, p, vecHeader+off)
}

// within says whether n bytes at i are in the vector.
func (e *vec) within(i, n int64) error {
	if i < 0 || n < 0 || i > e.length || n > e.length-i {
		return fmt.Errorf("%w: %d bytes at %d of a vector of %d", ErrRange, n, i, e.length)
	}
	return nil
}

// reserve makes room for n more bytes, and for as many as there are at least, so that appending costs little.
func (e *vecEdit) reserve(n int64) error {
	if n <= e.capacity-e.length {
		return nil
	}
	return e.setCapacity(max(e.length+n, 2*e.capacity, vecLeast))
}

func (e *vecEdit) setCapacity(n int64) (err error) {
	if n == e.capacity {
		return nil
	}
	if e.r, err = e.b.Realloc(e.r, vecHeader+n); err != nil {
		return err
	}
	e.capacity = n
	return e.store()
}

func (e *vecEdit) insert(i int64, p []byte) error {
	if err := e.within(i, 0); err != nil || len(p) == 0 {
		return err
	}
	if err := e.reserve(int64(len(p))); err != nil {
		return err
	}
	behind := make([]byte, e.length-i)
	if err := e.read(behind, i); err != nil {
		return err
	}
	if err := e.write(p, i); err != nil {
		return err
	}
	if err := e.write(behind, i+int64(len(p))); err != nil {
		return err
	}
	e.length += int64(len(p))
	return e.store()
}

func (e *vecEdit) remove(i, n int64) error {
	if err := e.within(i, n); err != nil {
		return err
	}
	behind := make([]byte, e.length-i-n)
	if err := e.read(behind, i+n); err != nil {
		return err
	}
	if err := e.write(behind, i); err != nil {
		return err
	}
	return e.truncate(e.length - n)
}

// truncate cuts the vector to n bytes. What lies behind is zero.
func (e *vecEdit) truncate(n int64) error {
	cut := e.length - n
	if cut == 0 {
		return nil
	}
	e.length = n
	if err := e.b.Zero(e.r, vecHeader+n, cut); err != nil {
		return err
	}
	return e.store()
}
