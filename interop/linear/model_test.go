// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package linear

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// registers is the number of keys. Transactions touch one or two of them, so
// the history cannot be checked key by key, and few keys keep them in conflict.
const registers = 4

// state are the values of all keys.
type state [registers]uint64

// An input is a transaction. It reads a and b, which may be the same key, and
// adds to the first and takes from the second; both deltas are 0 if it only
// reads.
type input struct {
	kind     kind
	a, b     int
	addA     uint64
	addB     uint64
	expected uint64 // of cas: what a must hold for anything to be added
}

type kind string

const (
	read  kind = "view"
	add   kind = "update"
	cas   kind = "update if"
	batch kind = "batch"
	fail  kind = "failing update"
	panik kind = "panicking update"
)

// An output is what the transaction read.
type output struct{ a, b uint64 }

// effective tells whether a transaction that read out changes the state.
func (in input) effective(out output) bool {
	switch in.kind {
	case add, batch:
		return true
	case cas:
		return out.a == in.expected
	default:
		return false
	}
}

// apply is the state after the transaction.
func (in input) apply(s state, out output) state {
	if in.effective(out) {
		s[in.a] += in.addA
		s[in.b] += in.addB
	}
	return s
}

var model = porcupine.Model{
	Init: func() any { return state{} },
	Step: func(st, in, out any) (bool, any) {
		s, i, o := st.(state), in.(input), out.(output)
		return s[i.a] == o.a && s[i.b] == o.b, i.apply(s, o)
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %+v", in, out) },
	DescribeState:     func(s any) string { return fmt.Sprint(s) },
}
