// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// changeKind is what a change changes.
type changeKind int

const (
	named   changeKind = iota // a name was given, taken away, or both at once
	written                   // bytes were written
	grown                     // a write made the file longer
	resized                   // the length was set
	punched                   // bytes were given back
)

// change is the smallest thing that a power cut keeps or loses, except that writes can be torn.
type change struct {
	kind changeKind
	ino  *inode // the file; nil for a removal
	name string // named: its new name, or ""
	gone string // named: the name that is no more, or ""
	off  int64  // written, punched: where; grown, resized: the length
	n    int64  // punched: how much
	data []byte // written; shared, never changed
}

// apply makes the change in a state: names, and the contents that of returns.
func (ch change) apply(state names, of func(*inode) *contents) {
	switch ch.kind {
	case named:
		delete(state, ch.gone)
		if ch.name != "" {
			state[ch.name] = ch.ino
		}
	case written:
		of(ch.ino).write(ch.off, ch.data)
	case grown:
		of(ch.ino).grow(ch.off)
	case resized:
		of(ch.ino).resize(ch.off)
	case punched:
		of(ch.ino).zero(ch.off, ch.n)
	}
}

// dir is the directory whose names are changed.
func (ch change) dir() string {
	if ch.name != "" {
		return filepath.Dir(ch.name)
	}
	return filepath.Dir(ch.gone)
}

// describe says what the change is, for test logs. name is that of the file.
func (ch change) describe(name string) string {
	switch ch.kind {
	case written:
		return fmt.Sprintf("write %s [%d,%d)", name, ch.off, ch.off+int64(len(ch.data)))
	case grown:
		return fmt.Sprintf("grow %s to %d", name, ch.off)
	case resized:
		return fmt.Sprintf("truncate %s to %d", name, ch.off)
	case punched:
		return fmt.Sprintf("punch %s [%d,%d)", name, ch.off, ch.off+ch.n)
	}
	switch {
	case ch.gone == "":
		return "create " + ch.name
	case ch.name == "":
		return "remove " + ch.gone
	}
	return fmt.Sprintf("rename %s to %s", ch.gone, ch.name)
}

// outside returns what a written change has outside [start, end).
func (ch change) outside(start, end int64) (parts []change) {
	if ch.off < start {
		part := ch
		part.data = ch.data[:min(start-ch.off, int64(len(ch.data)))]
		parts = append(parts, part)
	}
	if last := ch.off + int64(len(ch.data)); last > end {
		part := ch
		part.off = max(ch.off, end)
		part.data = ch.data[part.off-ch.off:]
		parts = append(parts, part)
	}
	return parts
}

// maxCuts bounds the pieces a torn write falls into.
const maxCuts = 4

// torn returns pieces of a written change that survive, at least one and not all. A change that lies within one sector
// cannot be torn: it is then kept or lost.
func (ch change) torn(r *rand.Rand, sector int) []change {
	end := ch.off + int64(len(ch.data))
	cuts := cutsWithin(r, ch.off, end, int64(sector))
	kept := r.IntN(2) == 0
	var pieces []change
	start := ch.off
	for _, cut := range append(cuts, end) {
		if kept {
			piece := ch
			piece.off, piece.data = start, ch.data[start-ch.off:cut-ch.off]
			pieces = append(pieces, piece)
		}
		start, kept = cut, !kept
	}
	return pieces
}

// cutsWithin picks some multiples of sector strictly between start and end, ascending.
func cutsWithin(r *rand.Rand, start, end, sector int64) []int64 {
	if sector == 0 {
		return nil
	}
	first := start/sector + 1
	candidates := (end-1)/sector - first + 1
	if candidates <= 0 {
		return nil
	}
	var cuts []int64
	for range 1 + r.IntN(maxCuts) {
		cuts = append(cuts, (first+r.Int64N(candidates))*sector)
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}
