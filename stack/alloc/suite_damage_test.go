// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// FuzzOpen opens any bytes with any allocator. They are refused, or can be used: if nothing is wrong with them without
// any error, otherwise with errors that say what is, and change nothing.
func FuzzOpen(f *testing.F) {
	for i := range kinds {
		for seed := range uint64(2) {
			disk, _ := prepared(f, &kinds[i], seed)
			p := payloadOf(f, disk)
			f.Add(byte(i), p)
			f.Add(byte(i), p[:len(p)-9])
			for at := range p {
				if at%101 == 40 { // in the header, and here and there
					spoilt := bytes.Clone(p)
					spoilt[at] ^= 8
					f.Add(byte(i), spoilt)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, which byte, payload []byte) {
		if len(payload) == 0 || len(payload) > 1<<16 {
			return
		}
		k := &kinds[int(which)%len(kinds)]
		w := newWorld(k, ghostImage(payload).disk(t))
		w.blind = true
		if err := w.open(); err != nil {
			explained(t, "open", err)
			same(t, "the file that was refused", raw(t, w.fs)[headerSize:], payload)
			return
		}
		whole := seemsWhole(t, w.a)
		before := mustPeek(t, w.a.Stack())
		used := usedOf(w.a)
		d := newDice(uint64(len(payload)))
		for range 30 {
			if !w.tryOne(t, everything.op(d), whole) {
				return
			}
		}
		if whole {
			w.intact(t, before, used)
		}
		check(t, w.close())
	})
}

// explained makes sure that an error is one that damage may have.
func explained(t testing.TB, what string, err error) {
	t.Helper()
	damage, ok := errors.AsType[*stack.CorruptError](err)
	switch {
	case ok && damage.Path == name && damage.Off >= headerSize && damage.Reason != "":
	case errors.Is(err, alloc.ErrNotAllocated), errors.Is(err, alloc.ErrFormat), errors.Is(err, alloc.ErrRange):
	default:
		t.Fatalf("%s: %v", what, err)
	}
}

// seemsWhole says whether nothing can be found wrong with a file.
func seemsWhole(t testing.TB, a alloc.Allocator) bool {
	t.Helper()
	whole := true
	for err := range a.Check() {
		explained(t, "Check", err)
		whole = false
	}
	_, err := a.Layout()
	_, serr := a.Stats()
	for _, err := range []error{err, serr} {
		if err == nil {
			continue
		}
		if explained(t, "Layout or Stats", err); whole {
			t.Fatalf("Check finds nothing, but there is: %v", err)
		}
	}
	return whole
}

// usedOf are the parts of a file in use, if it says so.
func usedOf(a alloc.Allocator) (used []alloc.Span) {
	spans, _ := a.Layout()
	for _, sp := range spans {
		if sp.Kind == alloc.Used {
			used = append(used, sp)
		}
	}
	return used
}

// tryOne makes an operation, which may fail if the file is not whole, and then changes nothing. It returns whether the
// file is open.
func (w *world) tryOne(t *testing.T, o op, whole bool) bool {
	t.Helper()
	rest(t, w.a.Stack())
	was := raw(t, w.fs)
	err := w.do(t, o)
	if err == nil {
		return true
	}
	if explained(t, o.String(), err); whole {
		t.Fatalf("Check found nothing, but %v: %v", o, err)
	}
	if o.verb == doReopen {
		same(t, "the file that was refused when it was reopened", raw(t, w.fs), was)
		return false
	}
	rest(t, w.a.Stack())
	same(t, "the file when an operation had failed: "+o.String(), raw(t, w.fs), was)
	return true
}

// intact demands of a file that was whole that it is so, that regions do not overlap, and that what was in use before
// is as it was.
func (w *world) intact(t *testing.T, before []byte, used []alloc.Span) {
	t.Helper()
	for err := range w.a.Check() {
		t.Fatalf("Check: %v", err)
	}
	after := mustPeek(t, w.a.Stack())
	for _, sp := range used {
		same(t, "bytes in use", after[sp.Off:sp.Off+sp.Len], before[sp.Off:sp.Off+sp.Len])
	}
	owner := make([]bool, len(after))
	for _, p := range w.live {
		for at := p.r.Off; at < p.r.End(); at++ {
			if owner[at] {
				t.Fatalf("%v overlaps another region at %d", p.r, at)
			}
			owner[at] = true
		}
	}
}
