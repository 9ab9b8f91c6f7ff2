// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"slices"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content/segment"
)

// How much is remembered of values.
const (
	maxRemembered = 1 << 19 // different values, of some 50 bytes each
	mostRepeated  = 10      // that are shown
)

// repeatedStats is about values that are stored more than once.
type repeatedStats struct {
	Values int64           `json:"values"` // that need not be there
	Bytes  int64           `json:"bytes"`  // which they have
	All    bool            `json:"all"`    // false if there are too many values to remember each
	Most   []repeatedValue `json:"most"`
}

// repeatedValue is a value that is stored more than once.
type repeatedValue struct {
	Record string `json:"record"` // where it is one time
	Length int    `json:"length"`
	Times  int64  `json:"times"`
}

// repeats finds values that lie in one piece and are stored more than once.
type repeats struct {
	seed maphash.Seed
	seen map[uint64]*repeated
	full bool
}

type repeated struct {
	id     segment.RecordID
	length int
	times  int64
}

func newRepeats() *repeats { return &repeats{seed: maphash.MakeSeed(), seen: map[uint64]*repeated{}} }

func (r *repeats) add(row segment.Row) {
	v, err := row.Value()
	if err != nil {
		return // that is the matter of a check
	}
	b, ok := v.Bytes()
	if !ok {
		return
	}
	sum := maphash.Bytes(r.seed, b)
	if known := r.seen[sum]; known != nil {
		if known.length == len(b) {
			known.times++
		}
		return
	}
	if len(r.seen) == maxRemembered {
		r.full = true
		return
	}
	r.seen[sum] = &repeated{row.ID(), len(b), 1}
}

func (r *repeats) stats() repeatedStats {
	s := repeatedStats{All: !r.full, Most: []repeatedValue{}}
	var list []*repeated
	for _, v := range r.seen {
		if v.times > 1 {
			s.Values += v.times - 1
			s.Bytes += v.wasted()
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b *repeated) int {
		return cmp.Or(cmp.Compare(b.wasted(), a.wasted()), cmp.Compare(a.id.String(), b.id.String()))
	})
	for _, v := range list[:min(len(list), mostRepeated)] {
		s.Most = append(s.Most, repeatedValue{v.id.String(), v.length, v.times})
	}
	return s
}

func (v *repeated) wasted() int64 { return (v.times - 1) * int64(v.length) }

func (s *repeatedStats) print(out io.Writer) {
	about := ""
	if !s.All {
		about = ", as far as there was memory to find them"
	}
	fmt.Fprintf(out, "Stored again: %s, %s%s\n", text.Plural(s.Values, "value"), text.Size(s.Bytes), about)
	for _, v := range s.Most {
		fmt.Fprintf(out, "  %6d times %8d bytes  %s\n", v.Times, v.Length, v.Record)
	}
}
