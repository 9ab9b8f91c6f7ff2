// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holtdb/holt/content/segment"
)

// MaxDepth is the number of nodes that may be above another. No content comes near it; only a node among its own
// descendants does.
const MaxDepth = 1 << 12

// ErrSkipChildren is returned by a visitor to have what is below the node left out.
var ErrSkipChildren = errors.New("content: skip the children")

// A Visit is what a visitor is told of a node.
type Visit struct {
	Path  []byte // from the super-root; empty for that itself; valid until the visitor returns
	Depth int    // 0 for the node where the walk begins
	Node  segment.Node

	store *Store
}

// Fail adds to an error what the node is that it is about, and the archive if it is one of a segment.
func (v *Visit) Fail(err error) error {
	path := v.Path
	if len(path) > longPath {
		path = append(slices.Clone(path[:longPath]), "…"...)
	}
	return fmt.Errorf("%s: %w", CleanPath(string(path)), v.store.Locate(err))
}

// longPath is how much of a path is shown in errors.
const longPath = 1000

// WalkOptions adjust [Store.Walk]. The zero value is good.
type WalkOptions struct {
	// Workers is the number of goroutines. With one, or zero, a node comes before its children and these before the next
	// sibling. With more, a node comes before its children and that is all; the visitor is called by several of them.
	Workers int
	// Sorted has children visited by name instead of in the order in which they are stored. It takes memory for all
	// children of the nodes on the way down.
	Sorted bool
}

// Walk visits the node at a path of a revision and all below it. Memory is taken for the nodes on the way down only. An
// error of the visitor ends the walk.
func (s *Store) Walk(
	ctx context.Context, revision segment.RecordID, path string, opts WalkOptions, visit func(v *Visit) error,
) error {
	n, err := s.Find(revision, path)
	if err != nil {
		return err
	}
	start := subtree{n, pathOf(path), 0}
	w := &walk{store: s, opts: opts, visit: visit}
	if opts.Workers > 1 {
		return w.parallel(ctx, opts.Workers, start, w.subtree)
	}
	return w.subtree(ctx, start)
}

// pathOf is a path to which names can be appended: that of the super-root is empty.
func pathOf(path string) []byte { return []byte(strings.TrimSuffix(CleanPath(path), "/")) }

// walk is one call of Walk.
type walk struct {
	store *Store
	opts  WalkOptions
	visit func(v *Visit) error

	// For several workers: a subtree is handed to another when one waits for it, so nothing piles up.
	handed  chan subtree
	waiting atomic.Int32
	pending atomic.Int64 // subtrees begun and handed over
}

// subtree is a node to be visited with all that is below it.
type subtree struct {
	node  segment.Node
	path  []byte
	depth int
}

// parallel has several goroutines walk subtrees, each by a call of one.
func (w *walk) parallel(
	ctx context.Context, workers int, start subtree, one func(context.Context, subtree) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w.handed = make(chan subtree, 1)
	w.pending.Store(1)
	w.handed <- start
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			if err := w.worker(ctx, one); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// worker walks what it is handed until nothing is pending.
func (w *walk) worker(ctx context.Context, one func(context.Context, subtree) error) error {
	for {
		w.waiting.Add(1)
		select {
		case t, ok := <-w.handed:
			w.waiting.Add(-1)
			if !ok {
				return nil
			}
			if err := one(ctx, t); err != nil {
				return err
			}
			if w.pending.Add(-1) == 0 {
				close(w.handed)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// hand gives a node to another worker, if one waits, and if it did not just get one: to be handed over takes longer than
// to be visited, mostly. A node without children goes only if visiting nodes takes long.
func (d *descent) hand(v *Visit, n segment.Node) bool {
	if d.waiting.Load() == 0 {
		return false
	}
	pause := handPause
	if !n.HasChildren() {
		pause *= 8
	}
	now := time.Now()
	if now.Sub(d.handedAt) < pause {
		return false
	}
	d.pending.Add(1)
	select {
	case d.handed <- subtree{n, append(make([]byte, 0, 2*len(v.Path)+64), v.Path...), v.Depth}:
		d.handedAt = now
		return true
	default:
		d.pending.Add(-1) // not to zero: what this goroutine is at is pending
		return false
	}
}

// handPause is some times what it takes to hand a node over.
const handPause = 20 * time.Microsecond

// subtree walks within one goroutine.
func (w *walk) subtree(ctx context.Context, t subtree) error {
	d := descent{walk: w, ctx: ctx, at: Visit{t.path, t.depth, t.node, w.store}}
	err := d.node()
	w.store.opts.Progress(d.nodes % reportEvery)
	return err
}

// reportEvery is after how many nodes somebody is told, and asked whether to go on.
const reportEvery = 128

// descent is the way down to the node at hand.
type descent struct {
	*walk
	ctx   context.Context //nolint:containedctx // lives as long as one call
	at    Visit
	shown Visit
	nodes int64

	handedAt time.Time // when a node was last given to another worker
}

// pace counts a node.
func (d *descent) pace() error {
	if d.nodes++; d.nodes%reportEvery == 0 {
		d.store.opts.Progress(reportEvery)
		if d.ctx.Err() != nil {
			return context.Cause(d.ctx)
		}
	}
	return nil
}

func (d *descent) node() error {
	if err := d.pace(); err != nil {
		return err
	}
	d.shown = d.at // a copy, which takes no memory; the visitor is free to change it
	err := d.visit(&d.shown)
	switch {
	case errors.Is(err, ErrSkipChildren):
		return nil
	case err != nil:
		return err
	case d.at.Depth >= MaxDepth:
		return d.at.Fail(errTooDeep)
	case !d.at.Node.HasChildren():
		return nil
	}
	return d.children(d.at.Node)
}

var errTooDeep = fmt.Errorf("content: more than %d levels: a node among its own descendants?", MaxDepth)

func (d *descent) children(n segment.Node) error {
	if d.opts.Sorted {
		children, err := sortedChildren(n)
		if err != nil {
			return d.at.Fail(err)
		}
		for _, c := range children {
			if err := d.child(c.name, c.node); err != nil {
				return err
			}
		}
		return nil
	}
	c := n.Children()
	for c.Next() {
		child, err := c.Node()
		if err != nil {
			return d.at.Fail(err)
		}
		if err := d.child(c.Name, child); err != nil {
			return err
		}
	}
	if c.Err() != nil {
		return d.at.Fail(c.Err())
	}
	return nil
}

func (d *descent) child(name []byte, n segment.Node) error {
	parent := d.at
	d.at = Visit{appendName(parent.Path, name), parent.Depth + 1, n, d.store}
	var err error
	if d.handed == nil || !d.hand(&d.at, n) {
		err = d.node()
	}
	parent.Path = d.at.Path[:len(parent.Path)] // which may have grown
	d.at = parent
	return err
}

func appendName(path, name []byte) []byte { return segment.AppendText(append(path, '/'), name) }
