// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"cmp"
	"errors"
	"slices"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// piece is a live region, and what it holds.
type piece struct {
	r    alloc.Region
	data []byte // never changed
}

// world is an open allocator, and what is in it.
type world struct {
	kind *kind
	fs   file.FS
	opts stack.Options
	a    alloc.Allocator
	live []piece
	// blind worlds take every result for right, and know where regions are but not what they hold: for histories whose
	// outcome is known from somewhere else.
	blind bool
}

func newWorld(k *kind, fs file.FS) *world {
	return &world{kind: k, fs: fs, opts: stack.Options{FS: fs}}
}

// open opens the stack and the allocator. The stack is closed again if that fails.
func (w *world) open() error {
	s, err := stack.Open(name, &w.opts)
	if err != nil {
		return err
	}
	a, err := w.kind.open(s)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	w.a, w.live = a, anybodys(w.live)
	return nil
}

// anybodys are pieces as they can be read from a file.
func anybodys(live []piece) []piece {
	live = slices.Clone(live)
	for i := range live {
		live[i].r = alloc.RegionFrom(live[i].r.Bytes())
	}
	return live
}

func (w *world) close() error { return w.a.Stack().Close() }

// operations are what an allocator and a batch have in common.
type operations interface {
	Alloc(n int64) (alloc.Region, error)
	AllocUninit(n int64) (alloc.Region, error)
	AllocBulk(lens []int64) ([]alloc.Region, error)
	Realloc(r alloc.Region, n int64) (alloc.Region, error)
	ReallocUninit(r alloc.Region, n int64) (alloc.Region, error)
	Resize(r alloc.Region, before, after int64) (alloc.Region, error)
	Free(r alloc.Region) error
	FreeBulk(rs []alloc.Region) error
}

func read(on operations, r alloc.Region) ([]byte, error) {
	p := make([]byte, r.Len)
	if b, ok := on.(*alloc.Batch); ok {
		return p, b.ReadAt(r, p, 0)
	}
	_, err := on.(alloc.Allocator).View(r).ReadAt(p, 0)
	return p, err
}

func write(on operations, r alloc.Region, p []byte, off int64) error {
	if b, ok := on.(*alloc.Batch); ok {
		return b.WriteAt(r, p, off)
	}
	_, err := on.(alloc.Allocator).View(r).WriteAt(p, off)
	return err
}

// errGivenUp and errPanicked are how updates end that do not commit.
var (
	errGivenUp  = errors.New("given up")
	errPanicked = errors.New("panicked")
)

// do makes an operation. It returns an error if the operation failed when nothing forbids it; then nothing is
// different.
func (w *world) do(t rapid.TB, o op) error {
	t.Helper()
	var arena []byte
	if o.adversarial() {
		p, err := w.a.Stack().Peek(0)
		if err != nil {
			return err
		}
		arena = p
	}
	switch {
	case o.verb == doUpdate:
		return w.update(t, o, arena)
	case o.verb == doReopen:
		return w.reopen(t)
	case o.room && len(w.live) > 0:
		before, after, err := w.room(w.live[w.choose(o)].r)
		if err != nil {
			return err
		}
		o.a, o.b = o.a*before, o.b*after
	}
	return w.doOn(t, w.a, o, arena)
}

// choose is which region an operation is for.
func (w *world) choose(o op) int {
	if !o.last {
		return o.pick % len(w.live)
	}
	last := 0
	for i, p := range w.live {
		if p.r.End() > w.live[last].r.End() {
			last = i
		}
	}
	return last
}

// room says how many free bytes lie on both sides of a region's block.
func (w *world) room(r alloc.Region) (before, after int64, err error) {
	spans, err := w.a.Layout()
	for i, sp := range spans {
		if r.Off < sp.Off || r.End() > sp.Off+sp.Len {
			continue
		}
		if i > 0 && spans[i-1].Kind == alloc.Free {
			before = spans[i-1].Len
		}
		if i+1 < len(spans) && spans[i+1].Kind == alloc.Free {
			after = spans[i+1].Len
		}
	}
	return before, after, err
}

func (o op) adversarial() bool { return o.copied || slices.ContainsFunc(o.inside, op.adversarial) }

// update makes all operations of an update at once.
func (w *world) update(t rapid.TB, o op, arena []byte) (err error) {
	t.Helper()
	was := slices.Clone(w.live)
	defer func() {
		if e := recover(); e != nil {
			if e != errPanicked { //nolint:errorlint // the very value
				panic(e)
			}
			w.live, err = was, nil
		}
	}()
	err = w.a.Update(func(b *alloc.Batch) error {
		for _, in := range o.inside {
			if err := w.doOn(t, b, in, arena); err != nil {
				return err
			}
		}
		switch o.ending {
		case givesUp:
			return errGivenUp
		case panics:
			panic(errPanicked)
		}
		return nil
	})
	if err != nil {
		w.live = was
	}
	if errors.Is(err, errGivenUp) {
		return nil
	}
	return err
}

// reopen closes everything and opens it again, which writes nothing, unless something failed before.
func (w *world) reopen(t rapid.TB) error {
	t.Helper()
	failed := w.failed()
	if err := w.close(); err != nil {
		return err
	}
	if w.blind {
		return w.open()
	}
	was := raw(t, w.fs)
	if err := w.open(); err != nil {
		return err
	}
	if !failed {
		same(t, "the file after opening it", raw(t, w.fs), was)
	}
	return nil
}

// failed says whether the stack refuses everything until it is reopened.
func (w *world) failed() bool {
	return errors.Is(w.a.Stack().Update(func(*stack.Unit) error { return nil }), stack.ErrFailed)
}

// doOn makes an operation other than those two.
func (w *world) doOn(t rapid.TB, on operations, o op, arena []byte) error {
	t.Helper()
	switch o.verb {
	case doAlloc, doAllocUninit:
		return w.alloc(t, on, o)
	case doAllocBulk:
		return w.allocBulk(t, on, o)
	}
	if len(w.live) == 0 {
		return nil
	}
	i := w.choose(o)
	switch o.verb {
	case doRealloc, doReallocUninit:
		return w.realloc(t, on, o, i)
	case doResize:
		return w.resize(t, on, o, i)
	case doFree:
		if err := on.Free(w.live[i].r); err != nil {
			return err
		}
		w.live = slices.Delete(slices.Clone(w.live), i, i+1)
	case doFreeBulk:
		return w.freeBulk(on, o, i)
	case doWrite:
		return w.write(on, o, i, arena)
	}
	return nil
}

func (w *world) alloc(t rapid.TB, on operations, o op) error {
	t.Helper()
	call := on.Alloc
	if o.verb == doAllocUninit {
		call = on.AllocUninit
	}
	r, err := call(o.n)
	if err != nil {
		return err
	}
	w.add(w.look(t, on, r, o.n, nil, 0, o.verb == doAlloc))
	return nil
}

func (w *world) allocBulk(t rapid.TB, on operations, o op) error {
	t.Helper()
	rs, err := on.AllocBulk(o.many)
	if err != nil {
		return err
	}
	if len(rs) != len(o.many) {
		t.Fatalf("%d regions of %d", len(rs), len(o.many))
	}
	for i, r := range rs {
		w.add(w.look(t, on, r, o.many[i], nil, 0, true))
	}
	return nil
}

func (w *world) realloc(t rapid.TB, on operations, o op, i int) error {
	t.Helper()
	call := on.Realloc
	if o.verb == doReallocUninit {
		call = on.ReallocUninit
	}
	r, err := call(w.live[i].r, o.n)
	if errors.Is(err, alloc.ErrUnsupported) && !w.kind.resizes {
		return nil
	}
	if err != nil {
		return err
	}
	keep := w.live[i].data
	w.set(i, w.look(t, on, r, o.n, keep[:min(int64(len(keep)), o.n)], 0, o.verb == doRealloc))
	return nil
}

func (w *world) resize(t rapid.TB, on operations, o op, i int) error {
	t.Helper()
	old := w.live[i]
	r, err := on.Resize(old.r, o.a, o.b)
	passes := o.a < -old.r.Len || o.b < -old.r.Len || o.a+o.b < -old.r.Len // one end the other
	if errors.Is(err, alloc.ErrUnsupported) || passes && errors.Is(err, alloc.ErrRange) {
		return nil
	}
	if err != nil {
		return err
	}
	if r.Off != old.r.Off-o.a || r.End() != old.r.End()+o.b {
		t.Fatalf("%v: of %v it made %v", o, old.r, r)
	}
	keep := old.data
	if !w.blind {
		keep = keep[max(-o.a, 0) : int64(len(keep))+min(o.b, 0)]
	}
	w.set(i, w.look(t, on, r, r.Len, keep, max(o.a, 0), true))
	return nil
}

func (w *world) freeBulk(on operations, o op, i int) error {
	end := min(i+int(o.n), len(w.live))
	rs := make([]alloc.Region, 0, end-i+1)
	for _, p := range slices.Backward(w.live[i:end]) {
		rs = append(rs, p.r)
	}
	if err := on.FreeBulk(append(rs, alloc.Region{})); err != nil {
		return err
	}
	w.live = slices.Delete(slices.Clone(w.live), i, end)
	return nil
}

func (w *world) write(on operations, o op, i int, arena []byte) error {
	p := w.live[i]
	off := int64(o.at) % p.r.Len
	data := text(int(min(o.n, p.r.Len-off)), o.seed)
	if o.copied && len(arena) >= 8 {
		copy(data, arena[8*o.from%(len(arena)&^7):])
	}
	if err := write(on, p.r, data, off); err != nil {
		return err
	}
	if !w.blind {
		p.data = slices.Concat(p.data[:off], data, p.data[off+int64(len(data)):])
	}
	w.set(i, p)
	return nil
}

// look makes sure of the bytes of a region that is new: it has n, keep is at off in it, and the others are zero, if
// they are to be.
func (w *world) look(t rapid.TB, on operations, r alloc.Region, n int64, keep []byte, off int64, zero bool) piece {
	t.Helper()
	if r.Len != n {
		t.Fatalf("%v has %d bytes, not %d", r, r.Len, n)
	}
	if w.blind || n == 0 {
		return piece{r, nil}
	}
	got, err := read(on, r)
	failed := errors.Is(err, stack.ErrFailed) // it was made durable, and what failed is what follows
	if !failed {
		check(t, err)
	}
	want := make([]byte, n)
	if !zero {
		copy(want, got)
	}
	copy(want[off:], keep)
	if failed {
		return piece{r, want}
	}
	same(t, "a new region", got, want)
	return piece{r, want}
}

func (w *world) add(p piece) {
	if !p.r.IsEmpty() {
		w.live = append(slices.Clip(w.live), p)
	}
}

func (w *world) set(i int, p piece) {
	w.live = slices.Clone(w.live)
	if w.live[i] = p; p.r.IsEmpty() {
		w.live = slices.Delete(w.live, i, i+1)
	}
}

// verify makes sure that everything is as it should be.
func (w *world) verify(t rapid.TB) {
	t.Helper()
	payload, err := w.a.Stack().Peek(0)
	check(t, err)
	for _, p := range w.live {
		if p.r.End() > int64(len(payload)) {
			t.Fatalf("%v of %d bytes", p.r, len(payload))
		}
		if !w.blind {
			same(t, "region "+p.r.String(), payload[p.r.Off:p.r.End()], p.data)
		}
	}
	for err := range w.a.Check() {
		t.Fatalf("Check: %v", err)
	}
	spans, err := w.a.Layout()
	check(t, err)
	w.verifyLayout(t, spans, int64(len(payload)))
	stats, err := w.a.Stats()
	check(t, err)
	verifyStats(t, stats, spans, int64(len(payload)))
}

// verifyLayout makes sure that spans tile the payload, and that the live regions are in those that are in use.
func (w *world) verifyLayout(t rapid.TB, spans []alloc.Span, length int64) {
	t.Helper()
	live := slices.SortedFunc(slices.Values(w.live), func(a, b piece) int { return cmp.Compare(a.r.Off, b.r.Off) })
	var at, used, least, most, blocks, empty int64
	for i, sp := range spans {
		if sp.Off != at || sp.Len <= 0 || sp.Kind > alloc.Free {
			t.Fatalf("span %d of %v; the one before ends at %d", i, spans, at)
		}
		at += sp.Len
		switch sp.Kind {
		case alloc.Used:
			used += sp.Len
			blocks++
			n := 0
			for len(live) > 0 && live[0].r.Off >= sp.Off && live[0].r.End() <= at {
				sp.Len -= live[0].r.End() - sp.Off
				sp.Off = live[0].r.End()
				live = live[1:]
				n++
			}
			if w.kind.apart && n != 1 {
				t.Fatalf("%d live regions in a block that ends at %d of %v", n, at, spans)
			}
		case alloc.Free:
			empty++
			if w.kind.merges && i > 0 && spans[i-1].Kind == alloc.Free {
				t.Fatalf("free neighbours at %d: %v", sp.Off, spans)
			}
		}
	}
	if at != length || len(live) > 0 {
		t.Fatalf("spans %v of %d bytes; live regions that are not in them, or overlap: %v", spans, length, live)
	}
	for _, p := range w.live {
		a, b := w.kind.takes(p.r.Len)
		least, most = least+a, most+b
	}
	if used < least || w.kind.reuses && used > most {
		t.Fatalf("%d live regions take %d bytes, but at least %d and at most %d: %v", len(w.live), used, least, most, spans)
	}
}

// verifyStats makes sure that stats are those of spans.
func verifyStats(t rapid.TB, stats alloc.Stats, spans []alloc.Span, length int64) {
	t.Helper()
	want := alloc.Stats{Length: length}
	for _, sp := range spans {
		switch sp.Kind {
		case alloc.Used:
			want.Used += sp.Len
		case alloc.Free:
			want.Free += sp.Len
			want.FreeBlocks++
			want.Largest = max(want.Largest, sp.Len)
		}
	}
	counted := 0
	for _, n := range stats.Histogram {
		counted += n
	}
	if stats.Histogram = want.Histogram; stats != want || counted != want.FreeBlocks {
		t.Fatalf("stats %+v, want %+v; the histogram counts %d", stats, want, counted)
	}
}
