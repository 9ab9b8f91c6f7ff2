// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"fmt"

	"github.com/holtdb/holt/stack"
)

// alloc implements policy.
func (p *firstFit) alloc(u *stack.Unit, n int64, zero bool) (int64, error) {
	b, fresh, err := p.obtain(u, ffSize(n))
	if err == nil && zero && !fresh {
		err = u.Zero(b.data, b.size)
	}
	return b.data, err
}

// obtain makes a live block of need bytes or a few more. It is fresh if it is at the end of the payload, where all is
// zero.
func (p *firstFit) obtain(u *stack.Unit, need int64) (b ffBlock, fresh bool, err error) {
	b, err = p.find(u, need)
	if err != nil {
		return b, false, err
	}
	if b.data == 0 {
		b, err = p.extend(u, need)
		return b, true, err
	}
	b, err = p.take(u, b, need)
	return b, false, err
}

// extend makes a block at the end.
func (p *firstFit) extend(u *stack.Unit, need int64) (ffBlock, error) {
	start, err := lengthen(u, need+ffOverhead)
	b := ffBlock{data: start + ffHeader, size: need}
	if err == nil {
		err = p.put(u, b)
	}
	return b, err
}

// lengthen appends n zero bytes.
func lengthen(u *stack.Unit, n int64) (int64, error) {
	if n > maxLen-u.Len() {
		return 0, fmt.Errorf("%w: %d more bytes behind %d", ErrRange, n, u.Len())
	}
	return u.Extend(n)
}

// take makes a free block live, or the back of it if the front can remain free by itself: that keeps its place in the
// list.
func (p *firstFit) take(u *stack.Unit, b ffBlock, need int64) (ffBlock, error) {
	if b.size < need+ffSmallest {
		b.free = false
		return b, p.claim(u, b)
	}
	rest := b.size - need - ffOverhead
	back := ffBlock{data: b.data + rest + ffOverhead, size: need}
	var m [ffFooter + ffHeader]byte
	marks := back.appendHeader(le.AppendUint64(m[:0], uint64(rest)))
	if _, err := u.WriteAt(marks, b.data+rest); err != nil {
		return back, err
	}
	if err := p.putWord(u, back.footer(), back.size); err != nil {
		return back, err
	}
	return back, p.putWord(u, b.start(), rest)
}

// claim takes a whole block out of the list.
func (p *firstFit) claim(u *stack.Unit, b ffBlock) error {
	if err := p.unlink(u, b.data); err != nil {
		return err
	}
	return p.putWord(u, b.start()+8, 0)
}
