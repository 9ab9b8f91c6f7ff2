// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack/alloc"
)

// ffModel is the policy on paper: blocks in order, and which of them are in the list, newest first.
type ffModel struct {
	blocks []*ffModelBlock
	list   []*ffModelBlock
}

type ffModelBlock struct {
	size int64
	data []byte // of the region; nil if it is free
}

func (b *ffModelBlock) free() bool { return b.data == nil }

func (m *ffModel) state() string {
	text := ""
	for _, b := range m.blocks {
		if b.free() {
			text += "-"
		}
		text += fmt.Sprint(b.size, " ")
	}
	text += "/"
	for _, b := range m.list {
		text += fmt.Sprint(slices.Index(m.blocks, b), " ")
	}
	return ffTrim(text)
}

func (m *ffModel) live() (all []*ffModelBlock) {
	for _, b := range m.blocks {
		if !b.free() {
			all = append(all, b)
		}
	}
	return all
}

// region is where a block of the model is.
func (m *ffModel) region(b *ffModelBlock) alloc.Region {
	off := int64(64)
	for _, other := range m.blocks[:slices.Index(m.blocks, b)] {
		off += other.size + 24
	}
	return alloc.Region{Off: off, Len: int64(len(b.data))}
}

func (m *ffModel) beside(b *ffModelBlock, by int) *ffModelBlock {
	if i := slices.Index(m.blocks, b) + by; i >= 0 && i < len(m.blocks) && m.blocks[i].free() {
		return m.blocks[i]
	}
	return nil
}

func (m *ffModel) isLast(b *ffModelBlock) bool { return m.blocks[len(m.blocks)-1] == b }

func (m *ffModel) remove(b *ffModelBlock) {
	m.blocks = slices.DeleteFunc(m.blocks, func(x *ffModelBlock) bool { return x == b })
	m.unlink(b)
}

func (m *ffModel) unlink(b *ffModelBlock) {
	m.list = slices.DeleteFunc(m.list, func(x *ffModelBlock) bool { return x == b })
}

func ffRounded(n int64) int64 { return max(16, (n+7)/8*8) }

func (m *ffModel) alloc(data []byte) *ffModelBlock {
	need := ffRounded(int64(len(data)))
	for _, b := range m.list {
		switch {
		case b.size >= need+40:
			b.size -= need + 24
			return m.behind(b, &ffModelBlock{need, data})
		case b.size >= need:
			m.unlink(b)
			b.data = data
			return b
		}
	}
	b := &ffModelBlock{need, data}
	m.blocks = append(m.blocks, b)
	return b
}

func (m *ffModel) behind(b, next *ffModelBlock) *ffModelBlock {
	m.blocks = slices.Insert(m.blocks, slices.Index(m.blocks, b)+1, next)
	return next
}

func (m *ffModel) release(b *ffModelBlock) {
	b.data = nil
	for m.isLast(b) {
		m.remove(b)
		if len(m.blocks) == 0 || !m.blocks[len(m.blocks)-1].free() {
			return
		}
		b = m.blocks[len(m.blocks)-1]
	}
	for _, by := range []int{1, -1} {
		if other := m.beside(b, by); other != nil {
			b.size += other.size + 24
			m.remove(other)
		}
	}
	m.list = slices.Insert(m.list, 0, b)
}

// fits says whether a block can be made that long where it is.
func (m *ffModel) fits(b *ffModelBlock, need int64) bool {
	next := m.beside(b, 1)
	return need <= b.size || m.isLast(b) || next != nil && b.size+24+next.size >= need
}

func (m *ffModel) grow(b *ffModelBlock, need int64) {
	switch next := m.beside(b, 1); {
	case need <= b.size:
	case m.isLast(b):
		b.size = need
	default:
		b.size += 24 + next.size
		m.remove(next)
		if b.size >= need+40 {
			rest := m.behind(b, &ffModelBlock{size: b.size - need - 24})
			b.size = need
			m.list = slices.Insert(m.list, 0, rest)
		}
	}
}

func ffResized(data []byte, n int64) []byte {
	return slices.Concat(data[:min(n, int64(len(data)))], make([]byte, max(0, n-int64(len(data)))))
}

func (m *ffModel) realloc(b *ffModelBlock, n int64) *ffModelBlock {
	data := ffResized(b.data, n)
	if need := ffRounded(n); m.fits(b, need) {
		m.grow(b, need)
		b.data = data
		return b
	}
	to := m.alloc(data)
	m.release(b)
	return to
}

func (m *ffModel) resize(b *ffModelBlock, before, after int64) bool {
	n := int64(len(b.data)) + before + after
	left := m.beside(b, -1)
	switch {
	case n <= 0, before > 0 && after < 0, before < 0 && after > 0, before%8 != 0,
		before < 0 && (before > -40 || b.size+before < 16),
		before > 0 && (before < 24 || left == nil || before > left.size-16 && before != left.size+24),
		after > 0 && !m.fits(b, ffRounded(int64(len(b.data))+after)):
		return false
	}
	if after > 0 {
		m.grow(b, ffRounded(int64(len(b.data))+after))
	}
	b.data = ffResized(b.data, int64(len(b.data))+after)
	switch {
	case before > 0:
		b.data = slices.Concat(make([]byte, before), b.data)
		if left.size -= before; left.size < 16 {
			m.remove(left)
		}
	case before < 0:
		b.data = b.data[-before:]
		front := &ffModelBlock{size: -before - 24}
		if left != nil {
			front.size += left.size + 24
			m.remove(left)
		}
		m.blocks = slices.Insert(m.blocks, slices.Index(m.blocks, b), front)
		m.list = slices.Insert(m.list, 0, front)
	}
	b.size += before
	return true
}

// ffCheck compares an allocator with the model, to the last byte that means something.
func ffCheck(t rapid.TB, a *alloc.FirstFit, m *ffModel) {
	t.Helper()
	ffIs(t, "model", a, m.state())
	for _, b := range m.live() {
		got, err := a.View(m.region(b)).Bytes()
		check(t, err)
		same(t, m.region(b).String(), got, b.data)
	}
	ffClean(t, m.state(), a)
}

// Every operation does to the blocks, and to the list, what the policy on paper does.
func TestFirstFitModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		disk := file.NewMemory()
		a, err := ffOpen(disk)
		check(t, err)
		m := &ffModel{}
		length := rapid.OneOf(rapid.Int64Range(1, 40), rapid.Int64Range(1, 300))
		pick := func() *ffModelBlock {
			if len(m.live()) == 0 {
				t.Skip("nothing is live")
			}
			return rapid.SampledFrom(m.live()).Draw(t, "block")
		}
		at := func(b *ffModelBlock, got alloc.Region) {
			if want := m.region(b); got.Bytes() != want.Bytes() {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { ffCheck(t, a, m) },
			"alloc": func(t *rapid.T) {
				n := length.Draw(t, "bytes")
				r, err := a.Alloc(n)
				check(t, err)
				at(m.alloc(make([]byte, n)), r)
			},
			"free": func(t *rapid.T) {
				b := pick()
				check(t, a.Free(m.region(b)))
				m.release(b)
			},
			"realloc": func(t *rapid.T) {
				b, n := pick(), length.Draw(t, "bytes")
				r, err := a.Realloc(m.region(b), n)
				check(t, err)
				at(m.realloc(b, n), r)
			},
			"resize": func(t *rapid.T) {
				b := pick()
				before := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-20, 20)).Draw(t, "eights before") * 8
				after := rapid.Int64Range(-50, 150).Draw(t, "bytes after")
				r, err := a.Resize(m.region(b), before, after)
				if m.resize(b, before, after) {
					check(t, err)
					at(b, r)
				} else if err == nil && (before != 0 || after != 0) {
					t.Fatalf("moved the ends by %d and %d", before, after)
				}
			},
			"write what looks like blocks": func(t *rapid.T) {
				b := pick()
				arena, err := a.Stack().Peek(0)
				check(t, err)
				from := 8 * rapid.IntRange(0, len(arena)/8).Draw(t, "eights")
				b.data = slices.Clone(b.data)
				n := copy(b.data, arena[from:])
				_, err = a.View(m.region(b)).WriteAt(b.data[:n], 0)
				check(t, err)
			},
			"reopen": func(t *rapid.T) {
				check(t, a.Stack().Close())
				was := disk.Counts().Ops
				a, err = ffOpen(disk)
				check(t, err)
				if now := disk.Counts().Ops; now != was {
					t.Fatalf("opening it made %d calls", now-was)
				}
			},
			"reclaim": func(t *rapid.T) {
				b := pick()
				var live []alloc.Region
				for _, other := range m.live() {
					if other != b {
						live = append(live, m.region(other))
					}
				}
				all := append(slices.Clone(live), m.region(b))
				if n, err := a.Reclaim(all); n != 0 || err != nil {
					t.Fatalf("reclaimed %d bytes of nobody, %v", n, err)
				}
				ffIs(t, "reclaimed nothing", a, m.state())
				n, err := a.Reclaim(live)
				check(t, err)
				if n != b.size+24 {
					t.Fatalf("reclaimed %d bytes of %d", n, b.size+24)
				}
				m.release(b)
				m.list = nil
				for _, b := range m.blocks {
					if b.free() {
						m.list = append(m.list, b)
					}
				}
			},
		})
		check(t, a.Stack().Close())
	})
}
