// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import "fmt"

// verb says what an operation does.
type verb int

const (
	doAlloc verb = iota
	doAllocUninit
	doAllocBulk
	doRealloc
	doReallocUninit
	doResize
	doFree
	doFreeBulk
	doWrite
	doUpdate
	doReopen
	verbs
)

func (v verb) String() string {
	return [...]string{
		"alloc", "alloc uninit", "alloc bulk", "realloc", "realloc uninit", "resize", "free", "free bulk", "write",
		"update", "reopen",
	}[v]
}

// ending is how the function of an update ends.
type ending int

const (
	commits ending = iota
	givesUp
	panics
)

// op is an operation as it was drawn, in numbers that fit any allocator and any state of it.
type op struct {
	verb   verb
	pick   int     // which of the live regions, modulo their number; unless
	last   bool    // the one that ends last
	n      int64   // how many bytes; of free bulk how many regions
	a, b   int64   // by how much the ends are moved; or
	room   bool    // as far as there is room on both sides, a and b being 1 where it is to be used and 0 where not
	many   []int64 // lengths
	at     int     // where to write, modulo the length
	seed   byte    // of the bytes to write
	copied bool    // instead they are those of the arena itself
	from   int     // where in the arena, in units of 8
	inside []op    // what an update does
	ending ending
}

func (o op) String() string {
	switch o.verb {
	case doAllocBulk:
		return fmt.Sprint(o.verb, " ", o.many)
	case doResize:
		return fmt.Sprintf("%v of %d by %d and %d", o.verb, o.pick, o.a, o.b)
	case doWrite:
		return fmt.Sprintf("%v %d bytes at %d of %d, copied %v from %d", o.verb, o.n, o.at, o.pick, o.copied, o.from)
	case doUpdate:
		return fmt.Sprintf("%v %v, ending %d", o.verb, o.inside, o.ending)
	}
	return fmt.Sprintf("%v of %d, %d", o.verb, o.pick, o.n)
}

// chance draws numbers from 0 up to n, exclusively.
type chance interface {
	draw(what string, n int) int
}

// habit says how often operations are drawn, and how large regions are.
type habit struct {
	weights     [verbs]int
	most        int // bytes of a region
	adversarial int // percent of the bytes written are those of the arena itself
}

// everything is the habit of the tests of this suite.
var everything = habit{
	weights: [verbs]int{
		doAlloc:         20,
		doAllocUninit:   8,
		doAllocBulk:     4,
		doRealloc:       14,
		doReallocUninit: 5,
		doResize:        10,
		doFree:          18,
		doFreeBulk:      4,
		doWrite:         20,
		doUpdate:        5,
		doReopen:        3,
	},
	most: 400, adversarial: 25,
}

// op draws an operation.
func (h *habit) op(c chance) op { return h.opOf(c, h.verb(c)) }

func (h *habit) verb(c chance) verb {
	total := 0
	for _, w := range h.weights {
		total += w
	}
	left := c.draw("verb", total)
	for v, w := range h.weights {
		if left -= w; left < 0 {
			return verb(v)
		}
	}
	panic("no verb")
}

// opOf draws the rest of an operation.
func (h *habit) opOf(c chance, v verb) op {
	o := op{verb: v, pick: c.draw("pick", 1<<16), last: c.draw("last", 8) == 0}
	switch v {
	case doAlloc, doAllocUninit, doRealloc, doReallocUninit:
		o.n = h.length(c)
	case doAllocBulk:
		for range c.draw("lengths", 5) {
			o.many = append(o.many, h.length(c))
		}
	case doResize:
		if o.room = c.draw("room", 4) == 0; o.room {
			o.a, o.b = int64(c.draw("in front", 2)), int64(c.draw("behind", 2))
		} else {
			o.a, o.b = h.ends(c)
		}
	case doFreeBulk:
		o.n = int64(c.draw("regions", 5))
	case doWrite:
		o.n, o.at, o.seed = h.length(c), c.draw("at", 1<<16), byte(c.draw("seed", 256))
		if o.copied = c.draw("adversarial", 100) < h.adversarial; o.copied {
			o.from = c.draw("from", 1<<16)
		}
	case doUpdate:
		for range 1 + c.draw("operations", 6) {
			in := h.verb(c)
			if in == doUpdate || in == doReopen {
				in = doAlloc
			}
			o.inside = append(o.inside, h.opOf(c, in))
		}
		o.ending = [...]ending{commits, commits, commits, givesUp, panics}[c.draw("ending", 5)]
	}
	return o
}

// length draws that of a region, small ones and those around multiples of 8 more often.
func (h *habit) length(c chance) int64 {
	switch c.draw("size", 8) {
	case 0:
		return int64(c.draw("length", 3))
	case 1, 2, 3:
		return int64(c.draw("length", min(h.most, 64)+1))
	case 4:
		if c.draw("large", 4) == 0 {
			return int64(c.draw("length", 12*h.most))
		}
		return int64(min(8*c.draw("eights", h.most/8+1)+c.draw("and", 2), h.most))
	}
	return int64(c.draw("length", h.most+1))
}

// ends draws by how much the ends of a region are moved: one or both, the first mostly by a multiple of 8.
func (h *habit) ends(c chance) (a, b int64) {
	move := func() int64 { return int64(c.draw("by", h.most/2) - h.most/4) }
	eights := func() int64 { return 8 * int64(c.draw("by", h.most/16)-h.most/32) }
	switch n := c.draw("ends", 20); {
	case n < 10:
		return 0, move()
	case n < 16:
		return eights(), 0
	case n < 19:
		return eights(), move()
	}
	return 0, 0
}
