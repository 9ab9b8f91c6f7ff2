// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import "github.com/holtdb/holt/stack"

// ffAhead is how many bytes a walk reads at once: enough for many small blocks, and no great loss with large ones.
const ffAhead = 8 << 10

// ffWindow reads the marks of blocks.
type ffWindow struct {
	window
	u *stack.Unit
}

func (p *firstFit) openWindow(u *stack.Unit) *ffWindow {
	if p.window == nil {
		p.window = make([]byte, ffAhead)
	}
	return &ffWindow{newWindow(u, p.window), u}
}

// header is the block that begins at start. Its links are zero if the payload ends before them.
func (w *ffWindow) header(start int64) (ffBlock, error) {
	var h [ffHeader + ffLinks]byte
	b, err := w.at(start, min(int64(len(h)), w.p.Len()-start))
	copy(h[:], b)
	return ffParse(start+ffHeader, h[:]), err
}

func (w *ffWindow) word(off int64) (int64, error) {
	b, err := w.at(off, 8)
	if err != nil {
		return 0, err
	}
	return int64(le.Uint64(b)), nil
}

// walk calls fn for each block in turn, as the headers say, with what its footer says. Whatever fn returns ends it.
// Damage is a header that cannot be one.
func (p *firstFit) walk(u *stack.Unit, fn func(b ffBlock, footer int64) error) error {
	w := p.openWindow(u)
	for start := int64(ffArena); start < u.Len(); {
		if u.Len()-start < ffSmallest {
			return p.corrupt(start, "the payload ends inside a block")
		}
		b, err := w.header(start)
		if err != nil {
			return err
		}
		if !b.sane(u.Len()) {
			return p.corrupt(start, "block of %d bytes", uint64(b.size))
		}
		footer, err := w.word(b.footer())
		if err != nil {
			return err
		}
		if err := fn(b, footer); err != nil {
			return err
		}
		start = b.end()
	}
	return nil
}

// layout implements policy.
func (p *firstFit) layout(u *stack.Unit) ([]Span, error) {
	spans := []Span{{0, ffMagicAt, Reserved}, {ffMagicAt, ffArena - ffMagicAt, Header}}
	err := p.walk(u, func(b ffBlock, _ int64) error {
		kind := Used
		if b.free {
			kind = Free
		}
		spans = append(spans, Span{b.start(), b.end() - b.start(), kind})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return spans, nil
}
