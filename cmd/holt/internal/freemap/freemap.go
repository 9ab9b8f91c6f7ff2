// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package freemap draws which parts of a payload are used and which are free, as text and as SVG.
//
// A picture consists of cells of equal size, in rows of 64 and not more than 2048. What is not free is used: the
// allocator's header is too.
package freemap

import (
	"math/bits"

	"github.com/holtdb/holt/stack/alloc"
)

const (
	columns  = 64
	maxCells = 32 * columns
	minCell  = 16 // bytes
)

// Map is a picture.
type Map struct {
	Length   int64 // of the payload, in bytes
	CellSize int64
	Free     []int64 // bytes, of each cell
}

// New makes the picture of a layout, whose spans lie one behind the other.
func New(spans []alloc.Span) *Map {
	m := &Map{CellSize: minCell}
	if n := len(spans); n > 0 {
		m.Length = spans[n-1].Off + spans[n-1].Len
	}
	if least := (m.Length + maxCells - 1) / maxCells; least > minCell {
		m.CellSize = 1 << bits.Len64(uint64(least-1))
	}
	m.Free = make([]int64, (m.Length+m.CellSize-1)/m.CellSize)
	for _, sp := range spans {
		if sp.Kind == alloc.Free {
			m.addFree(sp.Off, sp.Off+sp.Len)
		}
	}
	return m
}

func (m *Map) addFree(from, to int64) {
	for from < to {
		cell := from / m.CellSize
		end := min(to, (cell+1)*m.CellSize)
		m.Free[cell] += end - from
		from = end
	}
}

// tenths is how much of a cell is used, from 0 to 10; 0 and 10 are exact.
func (m *Map) tenths(cell int) int {
	size := min(m.CellSize, m.Length-int64(cell)*m.CellSize)
	switch used := size - m.Free[cell]; used {
	case 0:
		return 0
	case size:
		return 10
	default:
		return min(max(int(10*float64(used)/float64(size)), 1), 9)
	}
}
