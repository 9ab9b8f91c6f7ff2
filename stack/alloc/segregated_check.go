// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/holtdb/holt/stack"
)

// segSurvey is what the lists and the marks of the blocks say.
type segSurvey struct {
	listed  blockSet // first units of the blocks; empty if there is listErr
	listErr error
	scan
	lost []scanned // free blocks that are on no list
}

// survey reads the lists and the marks. visit may be nil.
func (p *segregated) survey(u *stack.Unit, visit func(scanned)) (v segSurvey, err error) {
	v.listErr = p.walk(u, func(b segBlock) bool {
		first := run{b.run().first, 1}
		known := v.listed.overlaps(first)
		v.listed.add(first)
		return !known
	})
	if v.listErr != nil {
		if !isDamage(v.listErr) {
			return v, v.listErr
		}
		v.listed = blockSet{}
	}
	v.scan, err = p.scan(u, &v.listed, func(s scanned) error {
		if s.use == unused && v.listErr == nil && !v.listed.has(s.run.first) {
			v.lost = append(v.lost, s)
		}
		if visit != nil {
			visit(s)
		}
		return nil
	})
	return v, err
}

// walk calls visit with the blocks of all lists. It ends when visit says that it knows one already.
func (p *segregated) walk(u *stack.Unit, visit func(segBlock) bool) error {
	if err := p.readHeads(u); err != nil {
		return err
	}
	for list := range segLists {
		from := segHeadsAt + int64(8*list)
		for next := p.head(list); next != 0; {
			b, after, err := p.listed(u, list, next, from)
			if err != nil {
				return err
			}
			if !visit(b) {
				return corruptAt(p.path, from, "a free list leads to the block at %d for the second time", b.off)
			}
			from, next = b.off+segMark, after
		}
	}
	return nil
}

// recover repairs what the survey finds.
func (p *segregated) recover(s *stack.Stack, c *core) error {
	var v segSurvey
	err := s.View(func(u *stack.Unit) (err error) {
		v, err = p.survey(u, nil)
		return err
	})
	switch {
	case err != nil:
		return err
	case v.damaged:
		return v.listErr
	}
	if v.blank != 0 { // apart from the rest, as both at once would be costly: see cheapCut
		c.repaired = append(c.repaired, fmt.Sprintf("cut off %d zero bytes that are no block", s.Len()-v.blank))
		if err := s.Discard(s.Len() - v.blank); err != nil {
			return err
		}
	}
	if damage, ok := errors.AsType[*stack.CorruptError](v.listErr); ok {
		why := fmt.Sprintf("made new free lists, because %s (at offset %d)", damage.Reason, damage.Off)
		c.repaired = append(c.repaired, why)
	} else if lost := len(v.lost); lost > 0 {
		c.repaired = append(c.repaired, fmt.Sprintf("made new free lists, as %d free blocks were on none", lost))
	} else {
		return nil
	}
	return s.Do(segRelink{p})
}

// segRelink makes the lists anew from the marks, as the reference implementation does.
type segRelink struct{ p *segregated }

func (r segRelink) Apply(u *stack.Unit) error {
	if err := r.p.dropLists(u); err != nil {
		return err
	}
	_, err := r.p.scan(u, &blockSet{}, func(s scanned) error {
		if s.use != unused {
			return nil
		}
		return r.p.carve(u, segOf(s.run))
	})
	return err
}

func (segRelink) Undo() {}

func (p *segregated) dropLists(u *stack.Unit) error {
	clear(p.heads[:])
	_, err := u.WriteAt(p.heads[:], segHeadsAt)
	return err
}

// check implements policy.
func (p *segregated) check(u *stack.Unit, report func(error)) {
	if odd := (u.Len() - segArena) % segUnit; odd != 0 {
		report(corruptAt(p.path, u.Len()-odd, "the payload ends inside a block"))
	}
	v, err := p.survey(u, func(s scanned) {
		if s.use == unknown {
			report(corruptAt(p.path, segOf(s.run).off, "%d bytes without a mark that could be theirs", s.run.n*segUnit))
		}
	})
	switch {
	case v.listErr != nil:
		report(v.listErr)
	case err != nil:
		report(err)
	}
	if v.blank != 0 {
		report(corruptAt(p.path, v.blank, "%d zero bytes that are no block", u.Len()-v.blank))
	}
	for _, s := range v.lost {
		report(corruptAt(p.path, segOf(s.run).off, "a free block that is on no list"))
	}
}

// layout implements policy.
func (p *segregated) layout(u *stack.Unit) ([]Span, error) {
	spans := []Span{{0, segMagicAt, Reserved}, {segMagicAt, segArena - segMagicAt, Header}}
	v, err := p.survey(u, func(s scanned) { spans = append(spans, p.span(s)) })
	if err == nil {
		err = v.listErr
	}
	if err != nil {
		return nil, err
	}
	if v.blank != 0 {
		spans = append(spans, Span{v.blank, u.Len() - v.blank, Used})
	}
	return spans, nil
}

// reclaim implements policy. Neighbours that become free are merged. If the lists are damaged, new ones are made.
func (p *segregated) reclaim(u *stack.Unit, live []Region) (int64, error) {
	var used []segBlock
	for _, r := range live {
		b, err := p.region(u, r)
		if err != nil {
			return 0, err
		}
		if k := len(used) - 1; k >= 0 && used[k].end() > b.off {
			return 0, fmt.Errorf("%w: the blocks of %v and of the region before overlap", ErrNotAllocated, r)
		}
		used = append(used, b)
	}
	var free []segBlock
	err := p.walk(u, func(b segBlock) bool {
		free = append(free, b)
		return int64(len(free)) <= u.Len()/segUnit // otherwise it goes round in circles
	})
	if err != nil && !isDamage(err) {
		return 0, err
	}
	gaps, total, ok := segGaps(used, free, u.Len())
	rebuild := err != nil || !ok
	if rebuild {
		gaps, total, _ = segGaps(used, nil, u.Len())
	}
	switch {
	case rebuild:
		err = p.dropLists(u)
	case len(gaps) == 1 && gaps[0].end() == u.Len():
		return total, u.Truncate(gaps[0].off)
	}
	for _, gap := range gaps {
		if err == nil {
			err = p.carve(u, gap)
		}
	}
	return total, err
}

// segGaps is what lies between blocks, and how many bytes that is. ok is not set if blocks overlap.
func segGaps(used, free []segBlock, length int64) (gaps []segBlock, total int64, ok bool) {
	busy := slices.Concat(used, free)
	slices.SortFunc(busy, func(a, b segBlock) int { return int(min(max(a.off-b.off, -1), 1)) })
	at := int64(segArena)
	for _, b := range append(busy, segBlock{length, 0}) {
		if b.off < at {
			return nil, 0, false
		}
		if b.off > at {
			gaps = append(gaps, segBlock{at, b.off - at})
			total += b.off - at
		}
		at = b.end()
	}
	return gaps, total, true
}
