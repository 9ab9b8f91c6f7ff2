// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"cmp"

	"github.com/holtdb/holt/stack"
)

// survey is what the blocks of a file should be: an older program may have been interrupted half way through a change
// of them, or forgotten some. Nothing but the headers is trusted, and these not blindly.
type survey struct {
	end    int64     // of the payload: what lies behind is no block
	free   []ffBlock // neighbours merged, by address
	size   []ffMark  // sizes that are not what they should be: of headers
	footer []ffMark  // and of footers
	freed  int64     // bytes of blocks that were live
}

// ffMark is a size that has to be written.
type ffMark struct{ off, size int64 }

// examine walks through a file. dead says which live blocks are free now.
func (p *firstFit) examine(u *stack.Unit, dead func(b ffBlock) (bool, error)) (*survey, error) {
	v := &survey{end: u.Len()}
	w := p.openWindow(u)
	for start := int64(ffArena); start < v.end; {
		b, err := p.blockAt(w, v, start)
		if err != nil || v.end == start {
			return v, err
		}
		free := b.free
		if !free {
			if free, err = dead(b); err != nil {
				return v, err
			}
			if free {
				v.freed += b.end() - b.start()
			}
		}
		if free {
			v.merge(b)
		}
		start = b.end()
	}
	return v, nil
}

// merge adds a free block, behind all others.
func (v *survey) merge(b ffBlock) {
	if k := len(v.free) - 1; k >= 0 && v.free[k].end() == b.start() {
		v.free[k].size += b.size + ffOverhead
		return
	}
	v.free = append(v.free, ffBlock{data: b.data, size: b.size, free: true})
}

// blockAt finds out what is at start: a block, perhaps with a wrong footer, or split half way; or the end.
func (p *firstFit) blockAt(w *ffWindow, v *survey, start int64) (ffBlock, error) {
	if v.end-start < ffOverhead {
		v.end = start
		return ffBlock{}, nil
	}
	b, err := w.header(start)
	if err != nil {
		return b, err
	}
	if !b.sane(v.end) {
		return b, p.remainder(w, v, b)
	}
	footer, err := w.word(b.footer())
	if err != nil || footer == b.size {
		return b, err
	}
	rest, err := splitAt(w, b, footer)
	switch {
	case err != nil:
		return b, err
	case rest > 0:
		b.size = rest
		v.size = append(v.size, ffMark{b.start(), b.size})
		return b, nil
	}
	if err := p.believe(w, b, footer); err != nil {
		return b, err
	}
	v.footer = append(v.footer, ffMark{b.footer(), b.size})
	return b, nil
}

// splitAt is the size of the front of a block that was being split: all but its header was written. Otherwise it is 0.
func splitAt(w *ffWindow, b ffBlock, back int64) (rest int64, err error) {
	if !ffSane(back) || back > b.size-ffSmallest {
		return 0, nil
	}
	rest = b.size - back - ffOverhead
	footer, err := w.word(b.data + rest)
	if err != nil || footer != rest {
		return 0, err
	}
	if size, err := w.word(b.data + rest + ffFooter); err != nil || size != back {
		return 0, err
	}
	return rest, nil
}

// believe says whether the header of a block is right when its footer says something else. It is not if blocks end with
// it that it cannot have absorbed, or if what is behind it is not a block with marks that agree, and not zeros or the
// end.
func (p *firstFit) believe(w *ffWindow, b ffBlock, footer int64) error {
	damage := p.corrupt(b.start(), "block of %d bytes, but its footer says %d", b.size, uint64(footer))
	if whole, err := swallowed(w, b); err != nil || whole {
		return cmp.Or(err, damage)
	}
	if zero, err := w.zero(b.end(), w.p.Len()); err != nil || zero {
		return err
	}
	if w.p.Len()-b.end() < ffSmallest {
		return damage
	}
	next, err := w.header(b.end())
	if err != nil || !next.sane(w.p.Len()) {
		return cmp.Or(err, damage)
	}
	size, err := w.word(next.footer())
	if err != nil || size == next.size {
		return err
	}
	if rest, err := splitAt(w, next, size); err != nil || rest > 0 {
		return err
	}
	return damage
}

// swallowed says whether there are whole blocks inside one, up to its end, that are not all free, or it is not.
func swallowed(w *ffWindow, b ffBlock) (bool, error) {
	for end := b.end(); ; {
		size, err := w.word(end - ffFooter)
		if err != nil || !ffSane(size) || size > end-ffOverhead-b.data {
			return false, err
		}
		in, err := w.header(end - ffOverhead - size)
		if err != nil || in.size != size {
			return false, err
		}
		if !b.free || !in.free {
			return true, nil
		}
		end = in.start()
	}
}

// remainder decides about what has no sound header: if all is zero, a block was being appended; if it is a block that
// is not all there, the payload was cut. Both go. But if there is a whole block at the end, this one or a later one,
// the header is damaged.
func (p *firstFit) remainder(w *ffWindow, v *survey, b ffBlock) error {
	zero, err := w.zero(b.start(), v.end)
	if err != nil {
		return err
	}
	if !zero {
		damage := p.corrupt(b.start(), "block of %d bytes", uint64(b.size))
		if !ffSane(b.size) {
			return damage
		}
		last, err := p.last(w.u)
		if err != nil || last.data > b.data {
			return cmp.Or(err, damage)
		}
		if size, err := w.word(v.end - ffFooter); err != nil || v.end-ffFooter-size == b.data {
			return cmp.Or(err, damage)
		}
	}
	v.end = b.start()
	return nil
}

// zero says whether all bytes of a range are.
func (w *ffWindow) zero(off, end int64) (bool, error) {
	at, err := w.nonZero(off, end)
	return at == end, err
}

// cutTail makes free space at the end a part of what is cut off.
func (v *survey) cutTail() {
	if k := len(v.free) - 1; k >= 0 && v.free[k].end() == v.end {
		v.end = v.free[k].start()
		v.free = v.free[:k]
	}
}
