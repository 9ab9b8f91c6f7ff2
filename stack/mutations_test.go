// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"slices"

	"github.com/holtdb/holt/stack"
)

// mutation is a call that changes a stack: what it does, and what becomes of the payload by it. The tests of results,
// crashes, faults and counts make all of them.
type mutation struct {
	name string
	size int // of the payload that it is made for
	cost cost
	run  func(s *stack.Stack) (any, error)
	want func(p []byte) (after []byte, result any) // p may be changed
}

// cost is how many syncs a mutation needs until it is acknowledged, and altogether.
type cost struct {
	acked, total int
	tears        bool // is a single write in place, which has to be atomic
}

var (
	growth  = cost{2, 2, false} // the bytes, the record
	zeroing = cost{1, 1, false} // the record
	cutting = cost{1, 1, false} // the record
	block   = cost{1, 1, true}  // the bytes
	journal = cost{2, 4, false} // what is staged, the record; the bytes, the record
)

// large is more than what is staged byte by byte.
const large = 64<<10 + 100

// before is the payload that a mutation is made on.
func (m mutation) before() []byte { return text(m.size, 0) }

// after is what becomes of p.
func (m mutation) after(p []byte) []byte {
	after, _ := m.want(bytes.Clone(p))
	return after
}

// over puts data into p.
func over(p []byte, off int, data []byte) []byte {
	copy(p[off:], data)
	return p
}

// swapped is the result of SwapIf.
type swapped struct {
	old []byte
	ok  bool
}

func swapIf(s *stack.Stack, at int64, c stack.Condition, off int64, data []byte) (any, error) {
	old, ok, err := s.SwapIf(at, c, off, data)
	return swapped{old, ok}, err
}

// grows returns what a mutation makes that appends data and tells where.
func grows(data []byte) func(p []byte) ([]byte, any) {
	return func(p []byte) ([]byte, any) { return append(p, data...), int64(len(p)) }
}

// sets returns what a mutation makes that puts data at off and tells nothing.
func sets(off int, data []byte) func(p []byte) ([]byte, any) {
	return func(p []byte) ([]byte, any) { return over(p, off, data), nil }
}

// replaces returns what a mutation makes that cuts n bytes off and appends data. It tells what it cut.
func replaces(n int, data []byte, tells bool) func(p []byte) ([]byte, any) {
	return func(p []byte) ([]byte, any) {
		cut := bytes.Clone(p[len(p)-n:])
		p = append(p[:len(p)-n], data...)
		if tells {
			return p, cut
		}
		return p, nil
	}
}

var zeros = make([]byte, 2*large)

// mutations are grouped by what they do to the file. Block limits are at 224 and 480 of the payload.
var mutations = slices.Concat(growing, shrinking, inPlace, replacing, together)

var growing = []mutation{
	{"Push", 10, growth, func(s *stack.Stack) (any, error) { return s.Push(text(5, 1)) }, grows(text(5, 1))},
	{"Push on nothing", 0, growth, func(s *stack.Stack) (any, error) { return s.Push(text(5, 1)) }, grows(text(5, 1))},
	{
		"Push across blocks", 200, growth,
		func(s *stack.Stack) (any, error) { return s.Push(text(600, 1)) },
		grows(text(600, 1)),
	},
	{"Write", 10, growth, func(s *stack.Stack) (any, error) { return s.Write(text(5, 1)) }, func(p []byte) ([]byte, any) {
		return append(p, text(5, 1)...), 5
	}},
	{"Extend", 10, zeroing, func(s *stack.Stack) (any, error) { return s.Extend(300) }, grows(zeros[:300])},
	{
		"ExtendSparse", 10, growth,
		func(s *stack.Stack) (any, error) { return s.ExtendSparse(text(5, 1), 40) },
		func(p []byte) ([]byte, any) {
			return over(append(p, zeros[:40]...), 10, text(5, 1)), int64(10)
		},
	},
	{"ExtendPieces", 10, growth, func(s *stack.Stack) (any, error) {
		return s.ExtendPieces([]stack.Piece{{Off: 290, Data: text(10, 2)}, {Off: 3}, {Off: 5, Data: text(5, 1)}}, 300)
	}, func(p []byte) ([]byte, any) {
		return over(over(append(p, zeros[:300]...), 15, text(5, 1)), 300, text(10, 2)), int64(10)
	}},
	{"Resize to more", 10, zeroing, func(s *stack.Stack) (any, error) { return s.Resize(15) }, grows(zeros[:5])},
	{"Ensure", 10, zeroing, func(s *stack.Stack) (any, error) { return s.Ensure(15) }, grows(zeros[:5])},
	{"EnsureFunc", 10, growth, func(s *stack.Stack) (any, error) {
		return s.EnsureFunc(15, func(p []byte) error {
			copy(p[1:], text(3, 1))
			return nil
		})
	}, func(p []byte) ([]byte, any) { return over(append(p, zeros[:5]...), 11, text(3, 1)), int64(10) }},
	{
		"TryExtend", 10, growth,
		func(s *stack.Stack) (any, error) { return s.TryExtend(10, text(5, 1)) },
		func(p []byte) ([]byte, any) {
			return append(p, text(5, 1)...), true
		},
	},
	{
		"TryExtendZeros", 10, zeroing,
		func(s *stack.Stack) (any, error) { return s.TryExtendZeros(10, 5) },
		func(p []byte) ([]byte, any) {
			return append(p, zeros[:5]...), true
		},
	},
	{"TryExtendPieces", 10, growth, func(s *stack.Stack) (any, error) {
		return s.TryExtendPieces(10, []stack.Piece{{Off: 2, Data: text(3, 1)}}, 9)
	}, func(p []byte) ([]byte, any) { return over(append(p, zeros[:9]...), 12, text(3, 1)), true }},
}

var shrinking = []mutation{
	{"Pop", 700, cutting, func(s *stack.Stack) (any, error) { return s.Pop(300) }, replaces(300, nil, true)},
	{"Pop all", 10, cutting, func(s *stack.Stack) (any, error) { return s.Pop(10) }, replaces(10, nil, true)},
	{"PopInto", 10, cutting, func(s *stack.Stack) (any, error) {
		p := make([]byte, 4)
		return p, s.PopInto(p)
	}, replaces(4, nil, true)},
	{"Discard", 700, cutting, func(s *stack.Stack) (any, error) { return nil, s.Discard(300) }, replaces(300, nil, false)},
	{
		"Resize to less", 700, cutting,
		func(s *stack.Stack) (any, error) { return s.Resize(15) },
		func(p []byte) ([]byte, any) {
			return p[:15], int64(700)
		},
	},
	{
		"TryDiscard", 10, cutting,
		func(s *stack.Stack) (any, error) { return s.TryDiscard(10, 4) },
		func(p []byte) ([]byte, any) {
			return p[:6], true
		},
	},
}

var inPlace = []mutation{
	{
		"Set in a block", 700, block,
		func(s *stack.Stack) (any, error) { return nil, s.Set(230, text(200, 1)) },
		sets(230, text(200, 1)),
	},
	{
		"Set a whole block", 700, block,
		func(s *stack.Stack) (any, error) { return nil, s.Set(224, text(256, 1)) },
		sets(224, text(256, 1)),
	},
	{
		"Set across blocks", 700, journal,
		func(s *stack.Stack) (any, error) { return nil, s.Set(223, text(2, 1)) },
		sets(223, text(2, 1)),
	},
	{
		"Set all", 700, journal,
		func(s *stack.Stack) (any, error) { return nil, s.Set(0, text(700, 1)) },
		sets(0, text(700, 1)),
	},
	{"Zero", 700, journal, func(s *stack.Stack) (any, error) { return nil, s.Zero(100, 500) }, sets(100, zeros[:500])},
	{
		"Zero much",
		large + 50,
		journal,
		func(s *stack.Stack) (any, error) { return nil, s.Zero(20, large) },
		sets(20, zeros[:large]),
	},
	{
		"Repeat", 700, journal,
		func(s *stack.Stack) (any, error) { return nil, s.Repeat(100, text(3, 1), 150) },
		sets(100, bytes.Repeat(text(3, 1), 150)),
	},
	{"Repeat much", large + 50, journal, func(s *stack.Stack) (any, error) {
		return nil, s.Repeat(20, text(100, 1), large/100)
	}, sets(20, bytes.Repeat(text(100, 1), large/100))},
	{
		"Copy", 700, journal,
		func(s *stack.Stack) (any, error) { return nil, s.Copy(0, 350, 350) },
		func(p []byte) ([]byte, any) {
			return over(p, 350, p[:350]), nil
		},
	},
	{
		"Copy up over itself", 700, journal,
		func(s *stack.Stack) (any, error) { return nil, s.Copy(0, 10, 400) },
		func(p []byte) ([]byte, any) {
			return over(p, 10, p[:400]), nil
		},
	},
	{
		"Copy down over itself", 700, journal,
		func(s *stack.Stack) (any, error) { return nil, s.Copy(10, 0, 400) },
		func(p []byte) ([]byte, any) {
			return over(p, 0, p[10:410]), nil
		},
	},
	{
		"Copy much",
		2*large + 3,
		journal,
		func(s *stack.Stack) (any, error) { return nil, s.Copy(large+3, 0, large) },
		func(p []byte) ([]byte, any) {
			return over(p, 0, p[large+3:]), nil
		},
	},
	{
		"Swap", 700, journal,
		func(s *stack.Stack) (any, error) { return s.Swap(220, text(20, 1)) },
		func(p []byte) ([]byte, any) {
			old := bytes.Clone(p[220:240])
			return over(p, 220, text(20, 1)), old
		},
	},
	{"SwapInto", 700, journal, func(s *stack.Stack) (any, error) {
		p := text(20, 1)
		return p, s.SwapInto(220, p)
	}, func(p []byte) ([]byte, any) {
		old := bytes.Clone(p[220:240])
		return over(p, 220, text(20, 1)), old
	}},
	{"CompareAndSwap", 700, journal, func(s *stack.Stack) (any, error) {
		return s.CompareAndSwap(100, text(700, 0)[100:400], text(300, 1))
	}, func(p []byte) ([]byte, any) { return over(p, 100, text(300, 1)), true }},
	{"SwapIf equal", 700, journal, func(s *stack.Stack) (any, error) {
		return swapIf(s, 3, stack.Equal(text(700, 0)[3:6]), 100, text(300, 1))
	}, func(p []byte) ([]byte, any) {
		old := bytes.Clone(p[100:400])
		return over(p, 100, text(300, 1)), swapped{old, true}
	}},
	{"Process", 700, journal, func(s *stack.Stack) (any, error) {
		return nil, s.Process(200, 300, func(p []byte) error {
			slices.Reverse(p)
			return nil
		})
	}, func(p []byte) ([]byte, any) {
		slices.Reverse(p[200:300])
		return p, nil
	}},
	{
		"CrossExchange", 700, journal,
		func(s *stack.Stack) (any, error) { return nil, s.CrossExchange(400, 0, 300) },
		func(p []byte) ([]byte, any) {
			return slices.Concat(p[400:700], p[300:400], p[:300]), nil
		},
	},
	{"SetBatched", 700, journal, func(s *stack.Stack) (any, error) {
		return nil, s.SetBatched(
			[]stack.Piece{{Off: 600, Data: text(100, 1)}, {Off: 0, Data: text(50, 2)}, {Off: 50, Data: text(250, 3)}},
		)
	}, func(p []byte) ([]byte, any) {
		return over(over(over(p, 600, text(100, 1)), 0, text(50, 2)), 50, text(250, 3)), nil
	}},
}

var replacing = []mutation{
	{
		"Atrunc to more", 700, journal,
		func(s *stack.Stack) (any, error) { return nil, s.Atrunc(300, text(400, 1)) },
		replaces(300, text(400, 1), false),
	},
	{
		"Atrunc to less", 700, journal,
		func(s *stack.Stack) (any, error) { return nil, s.Atrunc(400, text(300, 1)) },
		replaces(400, text(300, 1), false),
	},
	{
		"Atrunc to as much", 700, journal,
		func(s *stack.Stack) (any, error) { return nil, s.Atrunc(300, text(300, 1)) },
		replaces(300, text(300, 1), false),
	},
	{
		"Atrunc all", 700, journal,
		func(s *stack.Stack) (any, error) { return nil, s.Atrunc(700, text(3, 1)) },
		replaces(700, text(3, 1), false),
	},
	{
		"Atrunc to nothing", 700, cutting,
		func(s *stack.Stack) (any, error) { return nil, s.Atrunc(300, nil) },
		replaces(300, nil, false),
	},
	{
		"Splice", 700, journal,
		func(s *stack.Stack) (any, error) { return s.Splice(30, text(400, 1)) },
		replaces(30, text(400, 1), true),
	},
	{"SpliceInto", 700, journal, func(s *stack.Stack) (any, error) {
		p := make([]byte, 300)
		return p, s.SpliceInto(p, text(100, 1))
	}, replaces(300, text(100, 1), true)},
	{"Replace", 700, journal, func(s *stack.Stack) (any, error) {
		return nil, s.Replace(300, func(cut []byte) ([]byte, error) { return append(text(5, 1), cut...), nil })
	}, func(p []byte) ([]byte, any) { return slices.Concat(p[:400], text(5, 1), p[400:]), nil }},
}

var together = []mutation{
	{"Update in place and growing", 700, journal, func(s *stack.Stack) (any, error) {
		return nil, s.Update(func(u *stack.Unit) error {
			_, a := u.WriteAt(text(40, 1), 100)
			_, b := u.Push(text(300, 2))
			_, c := u.Extend(300)
			return errors.Join(a, b, c, u.Zero(300, 300))
		})
	}, func(p []byte) ([]byte, any) {
		p = over(over(p, 100, text(40, 1)), 300, zeros[:300])
		return slices.Concat(p, text(300, 2), zeros[:300]), nil
	}},
	{"Update in one place and growing by zeros", 700, journal, func(s *stack.Stack) (any, error) {
		return nil, s.Update(func(u *stack.Unit) error {
			_, a := u.WriteAt(text(40, 1), 100)
			_, b := u.Extend(300)
			return errors.Join(a, b)
		})
	}, func(p []byte) ([]byte, any) { return append(over(p, 100, text(40, 1)), zeros[:300]...), nil }},
	{"Update shrinking", 700, journal, func(s *stack.Stack) (any, error) {
		return nil, s.Update(func(u *stack.Unit) error {
			_, err := u.WriteAt(text(40, 1), 500)
			return errors.Join(err, u.Truncate(600), u.Zero(10, 10))
		})
	}, func(p []byte) ([]byte, any) { return over(over(p, 500, text(40, 1)), 10, zeros[:10])[:600], nil }},
	{"Update cutting and coming back", 700, journal, func(s *stack.Stack) (any, error) {
		return nil, s.Update(func(u *stack.Unit) error {
			a := u.Truncate(100)
			_, b := u.Extend(600)
			_, c := u.Push(text(5, 1))
			return errors.Join(a, b, c)
		})
	}, func(p []byte) ([]byte, any) { return slices.Concat(p[:100], zeros[:600], text(5, 1)), nil }},
	{"UpdateInPlace", 700, journal, func(s *stack.Stack) (any, error) {
		return nil, s.UpdateInPlace(func(u *stack.Unit) error {
			_, a := u.WriteAt(text(40, 1), 600)
			_, b := u.WriteAt(text(40, 2), 20)
			return errors.Join(a, b)
		})
	}, func(p []byte) ([]byte, any) { return over(over(p, 600, text(40, 1)), 20, text(40, 2)), nil }},
}
