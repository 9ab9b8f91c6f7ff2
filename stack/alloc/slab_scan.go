// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"slices"

	"github.com/holtdb/holt/stack"
)

// use says what a block is for.
type use uint8

const (
	unknown use = iota // nothing that makes sense
	inUse
	unused
)

// marks describes an arena in which each block begins with a word that says how long it is and whether it is in use.
// Blocks are runs of units.
type marks struct {
	path        string
	arena, unit int64
	parse       func(mark uint64) (units int64, use use)
}

// scanned is a block, or a run of units of which nothing is known.
type scanned struct {
	run run
	use use
}

// scanAhead is how many bytes a scan reads at once.
const scanAhead = 4 << 10

// scan is what was found on the way.
type scan struct {
	damaged bool // some marks make no sense

	// blank is where the zeros begin that end the payload, if a block cannot have them: 0 if there are none.
	blank int64
}

// scan calls visit for what the arena consists of, from its beginning to its end. What is on the free list is where
// it can go on behind a mark that makes no sense.
func (m *marks) scan(u *stack.Unit, listed *blockSet, visit func(scanned) error) (s scan, err error) {
	total := (u.Len() - m.arena) / m.unit
	w := newWindow(u, make([]byte, scanAhead))
	var resume []int64
	for i := int64(0); i < total; {
		p, err := w.at(m.arena+i*m.unit, 8)
		if err != nil {
			return s, err
		}
		mark := le.Uint64(p)
		b, kind := m.block(i, mark, total, listed)
		if kind == unknown {
			if s.blank, err = m.blankAt(u, i, mark); err != nil || s.blank != 0 {
				return s, err
			}
			if !s.damaged {
				s.damaged, resume = true, listed.sorted()
			}
			b = run{i, nextAfter(resume, i, total) - i}
		}
		if err := visit(scanned{b, kind}); err != nil {
			return s, err
		}
		i = b.end()
	}
	return s, nil
}

// blankAt is where a unit begins if there are only zeros from there to the end, and 0 otherwise.
func (m *marks) blankAt(u *stack.Unit, i int64, mark uint64) (int64, error) {
	if mark != 0 {
		return 0, nil
	}
	at := m.arena + i*m.unit
	blank, err := isBlank(u, at)
	if err != nil || !blank {
		return 0, err
	}
	return at, nil
}

// block is the block that has this mark, if it makes sense: no free block lies in it, and the payload does not end in
// it.
func (m *marks) block(i int64, mark uint64, total int64, listed *blockSet) (run, use) {
	n, kind := m.parse(mark)
	b := run{i, n}
	inside := b
	if kind == unused {
		inside = run{i + 1, n - 1}
	}
	if kind == unknown || n > total-i || listed.overlaps(inside) {
		return b, unknown
	}
	return b, kind
}

func nextAfter(sorted []int64, i, otherwise int64) int64 {
	k, found := slices.BinarySearch(sorted, i)
	if found {
		k++
	}
	if k < len(sorted) {
		return sorted[k]
	}
	return otherwise
}

// isBlank says whether there are only zeros from off to the end.
func isBlank(u *stack.Unit, off int64) (bool, error) {
	w := newWindow(u, make([]byte, min(wideWindow, u.Len()-off)))
	at, err := w.nonZero(off, u.Len())
	return at == u.Len(), err
}

// span is a block in a layout.
func (m *marks) span(s scanned) Span {
	kind := Used // also what nobody knows
	if s.use == unused {
		kind = Free
	}
	return Span{m.arena + s.run.first*m.unit, s.run.n * m.unit, kind}
}
