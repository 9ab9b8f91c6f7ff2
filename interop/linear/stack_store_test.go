// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package linear

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"

	"github.com/holtdb/holt/stack"
)

// cellSize is more than a block that the stack takes for atomic, so that most changes take a journal.
const cellSize = 300

// cell is what is stored for a byte, all of which depends on it, so that half of another one is noticed.
func cell(v byte) []byte {
	p := bytes.Repeat([]byte{v * 31}, cellSize)
	p[0] = v
	return p
}

// parse is the cells of some bytes.
func parse(p []byte) (c cells, err error) {
	for ; len(p) >= cellSize; p = p[cellSize:] {
		if !bytes.Equal(p[:cellSize], cell(p[0])) {
			return c, fmt.Errorf("half a cell: %x", p[:cellSize])
		}
		c += cells(p[:1])
	}
	if len(p) > 0 {
		return c, fmt.Errorf("part of a cell: %x", p)
	}
	return c, nil
}

// A cellStore keeps cells in a stack.
type cellStore struct{ s *stack.Stack }

// make makes a move.
func (c cellStore) make(m move) (r result, err error) {
	var p []byte // read, or replaced
	off, at := int64(m.i)*cellSize, int64(m.j)*cellSize
	switch m.what {
	case "Push":
		r.n, err = count(c.s.Push(cell(m.data)))
	case "TryExtend":
		r.ok, err = c.s.TryExtend(off, cell(m.data))
	case "Pop":
		p, err = c.s.Pop(off)
	case "Discard":
		err = c.s.Discard(off)
	case "Splice":
		p, err = c.s.Splice(off, cell(m.data))
	case "Set":
		err = c.s.Set(off, cell(m.data))
	case "Swap":
		p, err = c.s.Swap(off, cell(m.data))
	case "CompareAndSwap":
		r.ok, err = c.s.CompareAndSwap(off, cell(m.old), cell(m.data))
	case "CrossExchange":
		err = c.s.CrossExchange(off, at, cellSize)
	case "SetBatched":
		err = c.s.SetBatched([]stack.Piece{{Off: off, Data: cell(m.data)}, {Off: at, Data: cell(m.old)}})
	case "Get":
		p, err = c.s.Get(off, off+cellSize)
	case "GetBatched":
		var two [][]byte
		two, err = c.s.GetBatched([]stack.Range{{Start: off, End: off + cellSize}, {Start: at, End: at + cellSize}})
		p = bytes.Join(two, nil)
	case "Peek":
		p, err = c.s.Peek(0)
	case "Len":
		r.n, err = count(c.s.Len(), nil)
	case "View":
		err = c.s.View(func(u *stack.Unit) error {
			p = make([]byte, u.Len())
			_, err := u.ReadAt(p, 0)
			return err
		})
		r.n = len(p) / cellSize
	case "Process":
		err = c.s.Process(off, off+cellSize, func(p []byte) error {
			copy(p, cell(p[0]+m.data))
			return nil
		})
	case "Update", "failing Update":
		p, r.n, err = c.update(m)
	default:
		p, r.ok, err = c.s.SwapIf(off, conditions[m.what](cell(m.old)), at, cell(m.data))
	}
	if errors.Is(err, stack.ErrRange) {
		return result{refused: true}, nil
	}
	if err == nil {
		r.cells, err = parse(p)
	}
	return r, err
}

// count is a place or a length in cells.
func count(n int64, err error) (int, error) { return int(n / cellSize), err }

var oneBit = append([]byte{1}, make([]byte, cellSize-1)...)

var conditions = map[string]func(want []byte) stack.Condition{
	"SwapIf equal":         stack.Equal,
	"SwapIf not equal":     stack.NotEqual,
	"SwapIf masked":        func(want []byte) stack.Condition { return stack.MaskedEqual(want, oneBit) },
	"SwapIf masked differ": func(want []byte) stack.Condition { return stack.MaskedNotEqual(want, oneBit) },
}

// update reads and writes in a unit, and may fail in the end.
func (c cellStore) update(m move) (old []byte, n int, err error) {
	old = make([]byte, cellSize)
	err = c.s.Update(func(u *stack.Unit) error {
		if _, err := u.ReadAt(old, int64(m.i)*cellSize); err != nil {
			return err
		}
		runtime.Gosched() // lets others in
		n, _ = count(u.Len(), nil)
		if _, err := u.WriteAt(cell(m.data), int64(m.i)*cellSize); err != nil {
			return err
		}
		if _, err := u.Push(cell(m.data)); err != nil {
			return err
		}
		if m.what == "failing Update" {
			return errOnPurpose
		}
		return nil
	})
	if errors.Is(err, errOnPurpose) {
		err = nil
	}
	return old, n, err
}
