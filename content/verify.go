// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"cmp"
	"context"
	"fmt"

	"github.com/holtdb/holt/content/segment"
)

// verifier reads all there is below nodes, every node once.
type verifier struct {
	descent
	read     tally
	ticks    int    // see tick
	marks    marker // of nodes
	large    marker // of values that take long to read: whole, or unknown
	binary   bool   // the bytes of binaries are read too
	ahead    bool   // what is not whole is left to another verifier
	found    func(error) error
	revision segment.RecordID // that found is told
	findings int              // since the caller set it to zero
}

func newVerifier(ctx context.Context, s *Store, binary bool) verifier {
	return verifier{
		descent: descent{walk: &walk{store: s}, ctx: ctx}, binary: binary,
		marks: marker{marks: newMarks()}, large: marker{marks: newMarks()},
	}
}

// tally is how much was read.
type tally struct{ nodes, values, binaries, outside int64 }

func (t *tally) add(by tally) {
	t.nodes += by.nodes
	t.values += by.values
	t.binaries += by.binaries
	t.outside += by.outside
}

func (t tally) minus(by tally) tally {
	return tally{t.nodes - by.nodes, t.values - by.values, t.binaries - by.binaries, t.outside - by.outside}
}

// tick is pace for what there may be much of in one node.
func (v *verifier) tick() error {
	if v.ticks++; v.ticks%reportEvery == 0 && v.ctx.Err() != nil {
		return context.Cause(v.ctx)
	}
	return nil
}

// notWhole stands in the place of the number of levels below a node if not everything there can be read.
const notWhole = -1

// node reads everything in a node and below it. It returns how many levels there are below, or notWhole.
func (v *verifier) node(n segment.Node) (levels int, err error) {
	m := v.marks.mark(n.Record())
	before := m.state()
	switch {
	case before == damaged, v.ahead && (before == left || before == begun):
		return notWhole, nil
	case before == begun:
		return notWhole, v.report(fmt.Errorf("node %s is among its own descendants", n.ID()))
	case before >= whole:
		levels = v.marks.levels(n.ID(), before)
		if v.at.Depth+levels <= MaxDepth || v.ahead {
			return levels, nil
		}
		// Here it is too deep, though it was not where it was read before: the place is to be found.
	}
	if v.at.Depth > MaxDepth {
		return notWhole, v.report(errTooDeep)
	}
	if err := v.pace(); err != nil {
		return notWhole, err
	}
	if !m.change(before, begun) { // another worker was faster
		return notWhole, nil
	}
	levels, err = v.all(n, before)
	m.change(begun, v.after(n, levels))
	return levels, err
}

// all reads a node of which the mark said something, and what is below it.
func (v *verifier) all(n segment.Node, before state) (levels int, err error) {
	start, good := v.read, true
	if before < whole {
		v.read.nodes++
		if good, err = v.content(n); err != nil {
			return notWhole, err
		}
	}
	own := v.read.minus(start)
	levels, err = v.below(n)
	if !good {
		levels = notWhole
	}
	if v.ahead && levels == notWhole {
		v.read = v.read.minus(own) // who reads it again counts it
	}
	return levels, err
}

// after is the state of a node that was read.
func (v *verifier) after(n segment.Node, levels int) state {
	switch {
	case levels != notWhole:
		return v.marks.wholeState(n.ID(), levels)
	case v.ahead:
		return left
	}
	return damaged
}

// report tells where something was found.
func (v *verifier) report(err error) error {
	if v.ahead {
		return nil
	}
	v.findings++
	return v.found(fmt.Errorf("revision %s: %w", v.revision, v.at.Fail(err)))
}

// below reads the children of a node.
func (v *verifier) below(n segment.Node) (levels int, err error) {
	parent, good := v.at, true
	c := n.Children()
	for c.Next() {
		v.at = Visit{appendName(parent.Path, c.Name), parent.Depth + 1, n, v.store}
		under, err := v.child(&c)
		if err != nil {
			return notWhole, err
		}
		good = good && under != notWhole
		levels = max(levels, under+1)
		parent.Path = v.at.Path[:len(parent.Path)]
	}
	v.at = parent
	if c.Err() != nil {
		return notWhole, v.report(c.Err())
	}
	if !good {
		return notWhole, nil
	}
	return levels, nil
}

func (v *verifier) child(c *segment.Entries) (levels int, err error) {
	n, err := c.Node()
	if err != nil {
		return notWhole, v.report(err)
	}
	// What becomes of a node that another worker has is not waited for.
	if v.ahead && v.waiting.Load() > 0 && v.marks.mark(n.Record()).state() == unknown && v.hand(&v.at, n) {
		return notWhole, nil
	}
	return v.node(n)
}

// content reads what is in the node itself.
func (v *verifier) content(n segment.Node) (good bool, err error) {
	good = true
	if _, err := n.StableID(); err != nil {
		good = false
		if err := v.report(err); err != nil {
			return false, err
		}
	}
	p := n.Properties()
	for p.Next() {
		whole, err := v.property(&p.Property)
		if err != nil {
			return false, err
		}
		good = good && whole
	}
	if p.Err() != nil {
		return false, v.report(p.Err())
	}
	return good, nil
}

// mostBad bounds what is reported of one property. Damage to its list can make millions of values of it, all bad.
const mostBad = 16

// property reads the values of a property.
func (v *verifier) property(p *segment.Property) (good bool, err error) {
	bad := 0
	for i := range p.Count() {
		v.read.values++
		err := cmp.Or(v.value(p, i), v.tick())
		if err == nil {
			continue
		}
		if v.ctx.Err() != nil {
			return false, context.Cause(v.ctx)
		}
		bad++
		if bad > mostBad {
			err = fmt.Errorf("%d values of %d cannot be read, and those that follow were not looked at", bad, p.Count())
		}
		if err := v.report(fmt.Errorf("property %q: %w", p.Name, v.store.Locate(err))); err != nil || bad > mostBad {
			return false, err
		}
	}
	return bad == 0, nil
}
