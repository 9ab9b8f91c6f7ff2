// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package linear

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// cells are what the payload of a stack consists of: one byte stands for each, from the first to the last.
type cells string

// A move is an operation on cells. Which of the numbers count depends on what it is.
type move struct {
	what      string
	i, j      int
	old, data byte
}

// A result is what a move returned.
type result struct {
	refused bool  // what it was to work on is not there
	ok      bool  // of those that depend on something
	n       int   // a place, or a number of cells
	cells   cells // that it read, or that were there before
}

// moves are what the operations do to cells, of which there are enough.
var moves = map[string]func(m move, c []byte) ([]byte, result){
	"Push":      func(m move, c []byte) ([]byte, result) { return append(c, m.data), result{n: len(c)} },
	"TryExtend": tryExtend,
	"Pop": func(m move, c []byte) ([]byte, result) {
		rest, cut := top(c, m.i)
		return rest, result{cells: cut}
	},
	"Discard": func(m move, c []byte) ([]byte, result) { return c[:len(c)-m.i], result{} },
	"Splice": func(m move, c []byte) ([]byte, result) {
		rest, cut := top(c, m.i)
		return append(rest, m.data), result{cells: cut}
	},
	"Set":  func(m move, c []byte) ([]byte, result) { return put(c, m.i, m.data), result{} },
	"Swap": func(m move, c []byte) ([]byte, result) { return put(c, m.i, m.data), result{cells: one(c, m.i)} },
	"CompareAndSwap": func(m move, c []byte) ([]byte, result) {
		if c[m.i] != m.old {
			return c, result{}
		}
		return put(c, m.i, m.data), result{ok: true}
	},
	"CrossExchange": func(m move, c []byte) ([]byte, result) {
		return put(put(c, m.i, c[m.j]), m.j, c[m.i]), result{}
	},
	"SwapIf equal":         func(m move, c []byte) ([]byte, result) { return swapIf(c[m.i] == m.old, m, c) },
	"SwapIf not equal":     func(m move, c []byte) ([]byte, result) { return swapIf(c[m.i] != m.old, m, c) },
	"SwapIf masked":        func(m move, c []byte) ([]byte, result) { return swapIf(c[m.i]&1 == m.old&1, m, c) },
	"SwapIf masked differ": func(m move, c []byte) ([]byte, result) { return swapIf(c[m.i]&1 != m.old&1, m, c) },
	"SetBatched": func(m move, c []byte) ([]byte, result) {
		return put(put(c, m.i, m.data), m.j, m.old), result{}
	},
	"Process": func(m move, c []byte) ([]byte, result) { return put(c, m.i, c[m.i]+m.data), result{} },
	"Update": func(m move, c []byte) ([]byte, result) { // sets one, and appends it
		return append(put(c, m.i, m.data), m.data), result{n: len(c), cells: one(c, m.i)}
	},
	"failing Update": func(m move, c []byte) ([]byte, result) { return c, result{n: len(c), cells: one(c, m.i)} },
	"Get":            func(m move, c []byte) ([]byte, result) { return c, result{cells: one(c, m.i)} },
	"GetBatched":     func(m move, c []byte) ([]byte, result) { return c, result{cells: one(c, m.i) + one(c, m.j)} },
	"Peek":           func(_ move, c []byte) ([]byte, result) { return c, result{cells: cells(c)} },
	"View":           func(_ move, c []byte) ([]byte, result) { return c, result{n: len(c), cells: cells(c)} },
	"Len":            func(_ move, c []byte) ([]byte, result) { return c, result{n: len(c)} },
}

func one(c []byte, i int) cells { return cells(c[i : i+1]) }

// top takes n cells off the end.
func top(c []byte, n int) (rest []byte, cut cells) {
	return slices.Clone(c[:len(c)-n]), cells(c[len(c)-n:])
}

func put(c []byte, i int, data byte) []byte {
	c = slices.Clone(c)
	c[i] = data
	return c
}

func swapIf(ok bool, m move, c []byte) ([]byte, result) {
	if !ok {
		return c, result{}
	}
	return put(c, m.j, m.data), result{ok: true, cells: one(c, m.j)}
}

func tryExtend(m move, c []byte) ([]byte, result) {
	if len(c) != m.i {
		return c, result{}
	}
	return append(c, m.data), result{ok: true}
}

// needs is how many cells there have to be for a move not to be refused.
func (m move) needs() int {
	switch m.what {
	case "Push", "TryExtend", "Peek", "View", "Len":
		return 0
	case "Pop", "Discard", "Splice":
		return m.i
	case "Set", "Swap", "CompareAndSwap", "Process", "Update", "failing Update", "Get":
		return m.i + 1
	}
	return max(m.i, m.j) + 1
}

// on is what a move does to cells.
func (m move) on(c cells) (cells, result) {
	if m.needs() > len(c) {
		return c, result{refused: true}
	}
	after, r := moves[m.what](m, []byte(c))
	return cells(after), r
}

func cellsModel(begin cells) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return begin },
		Step: func(st, in, out any) (bool, any) {
			after, want := in.(move).on(st.(cells))
			return out.(result) == want, after
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %+v", in, out) },
		DescribeState:     func(s any) string { return fmt.Sprintf("%x", s) },
	}
}
