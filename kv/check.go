// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/holtdb/holt/kv/internal/page"
	"github.com/holtdb/holt/kv/internal/pageset"
)

// CheckOption adjusts [Tx.Check].
type CheckOption func(options *checkConfig)

type checkConfig struct {
	keys     KVStringer
	from     uint64 // check only what is under this page; 0 for everything
	progress func(pages int64)
}

// KVStringer formats keys and values for messages.
type KVStringer interface {
	KeyToString([]byte) string
	ValueToString([]byte) string
}

// WithKVStringer has keys formatted by kvStringer; the default is [HexKVStringer].
func WithKVStringer(kvStringer KVStringer) CheckOption {
	return func(c *checkConfig) { c.keys = kvStringer }
}

// WithPageId has only the page and what is under it checked; 0 means everything.
func WithPageId(pageId uint64) CheckOption {
	return func(c *checkConfig) { c.from = pageId }
}

// WithProgress has progress told now and then how many pages more have been looked at, by any goroutine.
func WithProgress(progress func(pages int64)) CheckOption {
	return func(c *checkConfig) { c.progress = progress }
}

// HexKVStringer formats in hexadecimal.
func HexKVStringer() KVStringer { return hexStringer{} }

type hexStringer struct{}

func (hexStringer) KeyToString(key []byte) string     { return hex.EncodeToString(key) }
func (hexStringer) ValueToString(value []byte) string { return hex.EncodeToString(value) }

// Check looks at every page and sends what is wrong, one error at a time, to the channel, which it closes at the end.
// Nothing coming means a sound database: keys ascend, and every page is either reached once or free. Errors that have
// to do with a page are [*CorruptError] to errors.As. A large file is checked on all CPUs, and its errors come in any
// order.
//
// Receive until the channel is closed, or end the transaction: that ends the check, with [ErrTxClosed] as its last error
// if there is room for it. What a write transaction has changed is not checked, it has no pages yet.
func (tx *Tx) Check(options ...CheckOption) <-chan error {
	return tx.CheckContext(context.Background(), options...)
}

// CheckWithOptions is Check.
//
// Deprecated: use Check.
func (tx *Tx) CheckWithOptions(options ...CheckOption) <-chan error { return tx.Check(options...) }

// CheckContext is Check that ends with ctx too, whose error is then the last one if there is room for it: ask ctx
// before you take nothing for sound.
func (tx *Tx) CheckContext(ctx context.Context, options ...CheckOption) <-chan error {
	found := make(chan error, 1) // room for a last word when nobody listens
	if tx.db == nil {
		found <- ErrTxClosed
		close(found)
		return found
	}
	config := checkConfig{keys: HexKVStringer()}
	for _, o := range options {
		o(&config)
	}
	own := tx.note()
	if own.checks == nil {
		own.checks = &checks{ended: make(chan struct{})}
	}
	view := *tx.snapshot
	c := &checker{
		done: ctx.Done(), ended: own.checks.ended, found: found, checkConfig: config,
		reached: pageset.NewShared(tx.limit), crew: new(crew[checkTask]),
		// A transaction of its own, so that what it meets is not taken for damage that tx met.
		tx: Tx{snapshot: &view, notes: new(notes)},
	}
	if tx.meta.Freelist == page.NoFreelist {
		c.freeKnown = tx.copyFree(&c.free)
	}
	own.checks.running.Go(func() { c.run(ctx, config.from) })
	return found
}

// checks are the goroutines that check the pages of a transaction.
type checks struct {
	running sync.WaitGroup
	ended   chan struct{} // closed when they are to end
}

// stop waits for them to end: they read the mapping, which must not go away before.
func (c *checks) stop() {
	if c != nil {
		close(c.ended)
		c.running.Wait()
	}
}

// checker visits pages. It holds a bit for each page of the file and no more than one bucket for each. In a large file
// several do it, each with a copy of the first that has a tx, buckets and a stack of its own.
type checker struct {
	done  <-chan struct{} // closed when the caller wants no more
	ended <-chan struct{} // closed when the transaction ends
	found chan<- error
	checkConfig
	tx   Tx
	crew *crew[checkTask]

	reached   *pageset.Shared
	free      pageset.Set // does not change once trees are visited
	freeKnown bool

	buckets []uint64 // root pages of buckets still to be visited
	stack   []Pgid   // from the root of a bucket down to the page that is being visited
	visited int64    // pages that progress has not been told of
}

// checkTask is a tree: that of a bucket and all buckets in it, or part of one, with the pages above it.
type checkTask struct {
	id     uint64
	flags  uint16
	lo, hi []byte
	stack  []Pgid
}

// stopped is the panic that ends a check before it is through.
type stopped struct{}

func (c *checker) run(ctx context.Context, from uint64) {
	defer close(c.found)
	if !c.guarded(ctx, func() { c.begin() }) {
		return
	}
	switch hwm := c.tx.meta.HWM; {
	case from == 0:
		if c.trees(ctx, c.tx.meta.Root) {
			c.guarded(ctx, c.unreachable)
		}
	case from < 2 || from >= hwm:
		c.guarded(ctx, func() { c.send(fmt.Errorf("page ID (%d) out of range [%d, %d)", from, 2, hwm)) })
	default:
		c.trees(ctx, from)
	}
}

// guarded runs part of a check and says whether it came to its end. If not, it leaves the last word.
func (c *checker) guarded(ctx context.Context, part func()) (ok bool) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		ok = false
		last := fmt.Errorf("check: panic: %v", r)
		if _, ok := r.(stopped); ok {
			if last = ctx.Err(); last == nil {
				last = ErrTxClosed
			}
		}
		select {
		case c.found <- last:
		default:
		}
	}()
	// A page that the file has lost while it was mapped is one more error.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	part()
	return true
}

// begin looks at everything but the trees.
func (c *checker) begin() {
	if limit := c.tx.meta.HWM; c.tx.limit < limit {
		c.report(c.tx.limit, "page %d lies beyond the end of the file: high water mark %d", c.tx.limit, limit)
	}
	c.free.Grow(c.tx.limit)
	for id := range min(2, c.tx.limit) {
		c.reached.Add(id)
		c.metaHeader(id)
	}
	if c.tx.meta.Freelist != page.NoFreelist {
		c.freeKnown = c.storedFreelist()
	}
}

// trees visits the bucket whose root is page id, and all buckets below it, and says whether it came to the end.
func (c *checker) trees(ctx context.Context, id uint64) bool {
	var broken atomic.Bool
	c.crew.run(crewSize(c.tx.limit), checkTask{id: id}, func(t checkTask) {
		view := *c.tx.snapshot
		mine := *c
		mine.tx, mine.buckets, mine.stack = Tx{snapshot: &view, notes: new(notes)}, nil, t.stack
		if !mine.guarded(ctx, func() { mine.task(t) }) {
			broken.Store(true)
			c.crew.stop()
		}
	})
	return !broken.Load()
}

// task visits a tree and the buckets found in it, but for what others take over.
func (c *checker) task(t checkTask) {
	c.tree(t.id, t.flags, t.lo, t.hi)
	for len(c.buckets) > 0 {
		c.stack = nil
		last := len(c.buckets) - 1
		id := c.buckets[last]
		c.buckets = c.buckets[:last]
		if last > 0 && c.crew.wanted() {
			c.crew.offer(checkTask{id: id})
			continue
		}
		c.tree(id, 0, nil, nil)
	}
	c.tell()
}

// tell tells progress.
func (c *checker) tell() {
	if c.progress != nil && c.visited > 0 {
		c.progress(c.visited)
	}
	c.visited = 0
}

// metaHeader looks at the header of a meta page, which nothing else does. One that is not valid anyway is of no account:
// a crash leaves such.
func (c *checker) metaHeader(id uint64) {
	p := page.Page(c.tx.data[id*uint64(c.tx.pageSize):])
	if page.MetaOf(p).ValidateFor(c.tx.pageSize) == nil && (p.ID() != id || p.Flags() != page.Meta) {
		c.report(id, "meta page %d calls itself page %d of type %s", id, p.ID(), page.TypeName(p.Flags()))
	}
}

// report sends what is wrong with page id.
func (c *checker) report(id uint64, format string, args ...any) {
	c.send(&finding{CorruptError{
		Path: c.tx.path, Page: Pgid(id), Off: int64(id) * int64(c.tx.pageSize), Reason: fmt.Sprintf(format, args...),
	}})
}

// finding is a CorruptError that says no more than the reason, as a report of many of them should.
type finding struct{ corrupt CorruptError }

func (f *finding) Error() string { return f.corrupt.Reason }
func (f *finding) Unwrap() error { return &f.corrupt }

func (c *checker) send(err error) {
	c.proceed() // of several cases that are ready select takes any
	select {
	case c.found <- err:
	case <-c.done:
		panic(stopped{})
	case <-c.ended:
		panic(stopped{})
	}
}

// proceed ends the check if it is to end.
func (c *checker) proceed() {
	select {
	case <-c.done:
		panic(stopped{})
	case <-c.ended:
		panic(stopped{})
	default:
	}
}

// storedFreelist collects the pages that the snapshot has free: those its stored list names. The list in memory is that
// of the newest snapshot. It returns false if they cannot be known.
func (c *checker) storedFreelist() bool {
	at := c.tx.meta.Freelist
	p, err := c.tx.freelistPage()
	if err != nil {
		c.send(&finding{*c.tx.notes.err})
		return false
	}
	ids, ok := p.FreelistIDs()
	if !ok {
		c.report(at, "invalid freelist page: %d: the list is longer than the page", at)
		return false
	}
	for ; len(ids) > 0; ids = ids[pageset.IDSize:] {
		switch id := page.FreelistID(ids, 0); {
		case id < pageset.FirstID || id >= c.tx.meta.HWM:
			c.report(at, "invalid freelist page: %d: page %d: out of bounds: %d", at, id, c.tx.meta.HWM)
		case id < c.tx.limit && !c.free.Add(id):
			c.report(at, "page %d: already freed", id)
		}
	}
	c.reach(at, p)
	return true
}

// copyFree copies the free and pending pages of the snapshot that tx sees when no list of them is stored with it. They
// are known only while no other transaction changes them; otherwise copyFree returns false.
func (tx *Tx) copyFree(free *pageset.Set) bool {
	db := tx.db
	if tx.w == nil {
		select {
		case db.slot <- struct{}{}:
			defer func() { <-db.slot }()
		default:
			return false
		}
	}
	newest := db.snap.Load().meta
	if !db.freelist.isLoaded() || tx.w == nil && newest.TxID != tx.meta.TxID {
		return false
	}
	db.freelist.copyTo(free)
	if tx.w != nil && tx.meta.Root == newest.Root && tx.meta.Freelist == newest.Freelist {
		for _, r := range tx.w.freed { // but not by anything that has been written
			free.RemoveRun(r.id, int(r.n))
		}
	}
	return true
}

// copyTo puts free and pending pages into one set.
func (f *freelist) copyTo(s *pageset.Set) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.CopyFrom(&f.free)
	for id := range f.pending.All() {
		s.Add(id)
	}
}

// unreachable reports the pages that are neither in use nor free.
func (c *checker) unreachable() {
	if !c.freeKnown {
		return
	}
	for id := range c.tx.limit {
		if !c.reached.Has(id) && !c.free.Has(id) {
			c.report(id, "page %d: unreachable unfreed", id)
		}
	}
}

// scanStep is the number of pages after which progress is told.
const scanStep = 1024

// tree visits page id, which is to have these flags unless they are 0, and what is under it, all of whose keys are to be
// in [lo, hi); nil is no bound.
func (c *checker) tree(id uint64, flags uint16, lo, hi []byte) {
	c.proceed()
	if c.visited++; c.visited == scanStep {
		c.tell()
	}
	c.stack = append(c.stack, Pgid(id))
	defer func() { c.stack = c.stack[:len(c.stack)-1] }()
	if p, ok := c.visit(id); ok {
		if flags != 0 && flags != p.Flags() {
			c.report(id, "page %d is a %s where its siblings are not (stack: %v)", id, page.TypeName(p.Flags()), c.stack)
		}
		c.elements(id, p, lo, hi)
	}
}

// visit returns page id, unless there is something wrong with it or it has been visited before.
func (c *checker) visit(id uint64) (page.Page, bool) {
	switch {
	case id >= c.tx.meta.HWM:
		c.report(id, "page %d: out of bounds: %d (stack: %v)", id, c.tx.meta.HWM, c.stack)
		return nil, false
	case id < c.tx.limit && c.reached.Has(id):
		c.report(id, "page %d: multiple references (stack: %v)", id, c.stack)
		return nil, false
	case len(c.stack) > maxDepth:
		c.report(id, "page %d lies more than %d levels deep (stack: %v)", id, maxDepth, c.stack)
		return nil, false
	}
	p, err := c.page(id)
	if err != nil {
		if id < c.tx.limit {
			c.reached.Add(id) // not to be reported as lost too
		}
		c.send(&finding{*c.tx.notes.err})
		return nil, false
	}
	c.reach(id, p)
	return p, true
}

// page returns a branch or leaf page, or what is wrong with it.
func (c *checker) page(id uint64) (p page.Page, err error) {
	c.tx.notes.err = nil // of the page before
	defer c.tx.catch(&err)
	if id < c.tx.limit {
		header := page.Page(c.tx.data[id*uint64(c.tx.pageSize):])
		if flags := header.Flags(); header.ID() == id && flags != page.Branch && flags != page.Leaf {
			c.tx.corrupt(id, "page %d: invalid type: %s (stack: %v)", id, page.TypeName(flags), c.stack)
		}
	}
	return c.tx.page(id), nil
}

// reach marks the run of page p. The caller has seen that the first has not been reached before.
func (c *checker) reach(id uint64, p page.Page) {
	for n := range uint64(p.Overflow()) + 1 {
		if !c.reached.Add(id + n) {
			c.report(id+n, "page %d: multiple references (stack: %v)", id+n, c.stack)
		}
		if c.free.Has(id + n) {
			c.report(id+n, "page %d: reachable freed", id+n)
		}
	}
}

// elements looks at the elements of page p, whose keys are to be in [lo, hi), and follows them.
func (c *checker) elements(id uint64, p page.Page, lo, hi []byte) {
	branch := p.Flags() == page.Branch
	if branch && p.Count() == 0 {
		c.report(id, "branch page %d has no elements (stack: %v)", id, c.stack)
	}
	c.overlaps(id, p)
	previous := lo
	for i := range p.Count() {
		key, ok := c.key(id, p, i)
		if !ok {
			continue
		}
		c.order(id, p, i, key, previous, hi)
		previous = key
		if branch {
			end := hi
			if i+1 < p.Count() {
				if next, ok := p.BranchKey(i + 1); ok {
					end = next
				}
			}
			flags := siblings(p.Count(), i, func(j int) uint16 { return c.tx.flags(p.Child(j)) })
			if i+1 < p.Count() && c.crew.wanted() {
				c.crew.offer(checkTask{p.Child(i), flags, key, end, slices.Clone(c.stack)})
				continue
			}
			c.tree(p.Child(i), flags, key, end)
		} else if flags, _, value, _ := p.LeafElem(i); flags&page.BucketFlag != 0 {
			c.value(id, i, value)
		}
	}
}

// overlaps looks whether the elements of a page are more than it can hold, though each lies in it.
func (c *checker) overlaps(id uint64, p page.Page) {
	for i := range p.Count() {
		if _, _, _, ok := p.Span(i); !ok {
			return // which is said of the element
		}
	}
	if n := p.Used(); n > uint64(len(p)) {
		c.report(id, "the elements of page %d take %d bytes, and it has %d: they overlap (stack: %v)", id, n, len(p), c.stack)
	}
}

// key returns the key of element i, if the element lies in the page.
func (c *checker) key(id uint64, p page.Page, i int) (key []byte, ok bool) {
	switch key, ok = p.Key(i); {
	case !ok:
		c.report(id, "element %d of page %d leads out of the page (stack: %v)", i, id, c.stack)
	case len(key) == 0:
		c.report(id, "key[%d] on %s page(%d) is empty. Stack: %v", i, page.TypeName(p.Flags()), id, c.stack)
	}
	return key, ok
}

// order compares key with the one before it, which for the first of a page is the key that leads there, and with the
// key that is to be above all of the page.
func (c *checker) order(id uint64, p page.Page, i int, key, previous, hi []byte) {
	kind := page.TypeName(p.Flags())
	if previous != nil {
		switch cmp := bytes.Compare(key, previous); {
		case i == 0 && cmp < 0:
			c.report(id, "the first key[%d]=(hex)%s on %s page(%d) needs to be >= the key in the ancestor (%s). Stack: %v",
				i, c.keys.KeyToString(key), kind, id, c.keys.KeyToString(previous), c.stack)
		case i > 0 && cmp <= 0:
			found := "<"
			if cmp == 0 {
				found = "="
			}
			c.report(id, "key[%d]=(hex)%s on %s page(%d) needs to be > (found %s) than previous element (hex)%s. Stack: %v",
				i, c.keys.KeyToString(key), kind, id, found, c.keys.KeyToString(previous), c.stack)
		}
	}
	if hi != nil && bytes.Compare(key, hi) >= 0 {
		c.report(id, "key[%d]=(hex)%s on %s page(%d) needs to be < than key of the next element in ancestor (hex)%s. Pages stack: %v",
			i, c.keys.KeyToString(key), kind, id, c.keys.KeyToString(hi), c.stack)
	}
}

// value looks at the value of a bucket, which is element i of page id.
func (c *checker) value(id uint64, i int, value []byte) {
	root, _, inline, ok := page.BucketValue(value)
	switch {
	case !ok:
		c.report(id, "element %d of page %d: bucket value of %d bytes is no bucket (stack: %v)", i, id, len(value), c.stack)
	case root != 0:
		c.buckets = append(c.buckets, root)
	case inline.Flags() != page.Leaf:
		c.report(id, "element %d of page %d: inline page: invalid type: %s (stack: %v)",
			i, id, page.TypeName(inline.Flags()), c.stack)
	default:
		c.inline(id, inline)
	}
}

// inline looks at a page inside a value of page id.
func (c *checker) inline(id uint64, p page.Page) {
	c.overlaps(id, p)
	var previous []byte
	for i := range p.Count() {
		key, ok := c.key(id, p, i)
		if !ok {
			continue
		}
		c.order(id, p, i, key, previous, nil)
		previous = key
		if page.LeafFlags(p.Elem(i))&page.BucketFlag != 0 {
			c.report(id, "key[%d]=(hex)%s of an inline bucket on page(%d) is a bucket. Stack: %v",
				i, c.keys.KeyToString(key), id, c.stack)
		}
	}
}
