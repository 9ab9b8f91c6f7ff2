// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator draws commands that suit a payload, few of them to be refused.
type generator struct {
	*rand.Rand
	older bool // only commands that bstack 0.2 has
}

func newGenerator(seed uint64) generator {
	return generator{Rand: rand.New(rand.NewPCG(seed, 1))}
}

// small is a length below the size of a few atomic blocks, 0 among them.
func (g generator) small() int64 {
	return g.Int64N([]int64{2, 10, 100, 300, 800}[g.IntN(5)])
}

// within is a range of n bytes inside length, or rarely outside.
func (g generator) within(n, length int64) int64 {
	if n > length || g.IntN(50) == 0 {
		return g.Int64N(length + 2)
	}
	return g.Int64N(length - n + 1)
}

// span is the length of something inside a payload, up to all of it.
func (g generator) span(length int64) int64 {
	if g.IntN(3) == 0 {
		return g.Int64N(length + 1)
	}
	return min(g.small(), length)
}

func (g generator) data(n int64) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.Uint32())
	}
	return b
}

func (g generator) word(n int64) string { return bytesWord(g.data(n)) }

// next draws a command that changes m.
func (g generator) next(m *model) string {
	length := m.Len()
	if length > 1<<20 || length > 4000 && g.IntN(30) == 0 {
		return fmt.Sprint("discard ", length-g.Int64N(2000))
	}
	choices := changes
	if g.older {
		choices = changes[1:]
	}
	return choices[g.IntN(len(choices))](g, m, length)
}

// changes are the commands; the first is the one that bstack 0.2 lacks.
var changes = []func(g generator, m *model, length int64) string{
	func(g generator, _ *model, length int64) string {
		var b strings.Builder
		b.WriteString("set_batched")
		pieces := 1 + g.Int64N(6)
		share := length / pieces // most often each piece has its own part of the payload
		for i := range pieces {
			n := min(g.small(), share)
			fmt.Fprintf(&b, " %d %s", i*share+g.within(n, share), g.word(n))
		}
		return b.String()
	},
	func(g generator, _ *model, _ int64) string { return "push " + g.word(g.small()) },
	func(g generator, _ *model, _ int64) string { return "push " + g.word(g.small()) },
	func(g generator, _ *model, _ int64) string { return fmt.Sprint("extend ", g.small()) },
	func(g generator, _ *model, _ int64) string { return fmt.Sprint("extend ", g.Int64N(150_000)) },
	func(g generator, _ *model, _ int64) string {
		n := 10 + g.small()
		a, b := g.Int64N(n/2), g.Int64N(n/2)
		return fmt.Sprintf("extend_pieces %d %d %s %d %s", n, n/2-a, g.word(a), n-b, g.word(b))
	},
	func(g generator, _ *model, length int64) string {
		return fmt.Sprint("resize ", max(length+g.small()-g.small(), 0))
	},
	func(g generator, _ *model, length int64) string {
		return fmt.Sprint("ensure ", max(length+g.small()-g.small(), 0))
	},
	func(g generator, _ *model, _ int64) string { return fmt.Sprint("pop ", g.small()) },
	func(g generator, _ *model, _ int64) string { return fmt.Sprint("discard ", g.small()) },
	func(g generator, _ *model, length int64) string {
		return fmt.Sprintf("try_extend %d %s", max(length-g.Int64N(2), 0), g.word(g.small()))
	},
	func(g generator, _ *model, length int64) string {
		return fmt.Sprintf("try_discard %d %d", max(length-g.Int64N(2), 0), g.small())
	},
	func(g generator, _ *model, length int64) string {
		return fmt.Sprintf("atrunc %d %s", g.span(length), g.word(g.small()))
	},
	func(g generator, _ *model, length int64) string {
		return fmt.Sprintf("splice %d %s", min(g.small(), length), g.word(g.small()))
	},
	func(g generator, _ *model, length int64) string {
		n := g.small()
		return fmt.Sprintf("set %d %s", g.within(n, length), g.word(n))
	},
	func(g generator, _ *model, length int64) string {
		n := g.span(length)
		return fmt.Sprintf("zero %d %d", g.within(n, length), n)
	},
	func(g generator, _ *model, length int64) string {
		n := 1 + g.Int64N(5)
		count := g.span(length) / n
		return fmt.Sprintf("repeat %d %s %d", g.within(n*count, length), g.word(n), count)
	},
	func(g generator, _ *model, length int64) string {
		n := g.span(length) / (1 + g.Int64N(2))
		return fmt.Sprintf("copy %d %d %d", g.within(n, length), g.within(n, length), n)
	},
	func(g generator, _ *model, length int64) string {
		n := g.small()
		return fmt.Sprintf("swap %d %s", g.within(n, length), g.word(n))
	},
	func(g generator, m *model, length int64) string {
		n := g.small()
		off := g.within(n, length)
		old, err := m.Get(off, off+n)
		if err != nil || n > 0 && g.IntN(4) == 0 {
			old = g.data(n)
		}
		return fmt.Sprintf("cas %d %s %s", off, bytesWord(old), g.word(n))
	},
	func(g generator, _ *model, length int64) string {
		n := g.span(length / 2)
		a, b := g.within(n, length/2), length/2+g.within(n, length/2)
		if n == 0 { // bstack looks at the offsets even so, we do not
			a, b = min(a, length), min(b, length)
		}
		if g.IntN(2) == 0 {
			a, b = b, a
		}
		return fmt.Sprintf("cross_exchange %d %d %d", a, b, n)
	},
}
