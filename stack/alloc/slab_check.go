// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import "github.com/holtdb/holt/stack"

// slabSurvey is what the free list and the marks of the blocks say, read from the file.
type slabSurvey struct {
	head    int64
	listed  blockSet // empty if there is listErr
	listErr error
	scan
	lost []run // free blocks that are not on the list
}

// survey reads the list and the marks. visit may be nil.
func (p *slab) survey(u *stack.Unit, visit func(scanned)) (v slabSurvey, err error) {
	v.head, v.listed, v.listErr = p.walk(u)
	if v.listErr != nil && !isDamage(v.listErr) || p.kind.mark == 0 {
		return v, v.listErr
	}
	v.scan, err = p.marks().scan(u, &v.listed, func(s scanned) error {
		if s.use == unused && !v.listed.has(s.run.first) {
			v.lost = join(v.lost, s.run)
		}
		if visit != nil {
			visit(s)
		}
		return nil
	})
	return v, err
}

// marks are those of a CheckedSlab.
func (p *slab) marks() *marks {
	return &marks{path: p.path, arena: slabArena, unit: p.size, parse: func(mark uint64) (int64, use) {
		switch n := mark &^ slabInUse; {
		case mark == 0:
			return 1, unused
		case mark&slabInUse == 0 || n == 0 || n > uint64(maxLen):
			return 0, unknown
		default:
			return int64(n), inUse
		}
	}}
}

// check implements policy.
func (p *slab) check(u *stack.Unit, report func(error)) {
	if odd := (u.Len() - slabArena) % p.size; odd != 0 {
		report(corruptAt(p.path, u.Len()-odd, "the payload ends after %d of the %d bytes of a block", odd, p.size))
	}
	v, err := p.survey(u, func(s scanned) {
		if s.use == unknown {
			report(corruptAt(p.path, p.offset(s.run.first), "%d blocks without a mark that could be theirs", s.run.n))
		}
	})
	switch {
	case v.listErr != nil:
		report(v.listErr)
		return
	case err != nil:
		report(err)
		return
	}
	for _, b := range v.lost {
		report(corruptAt(p.path, p.offset(b.first), "%d free blocks that are not on the free list", b.n))
	}
}

// layout implements policy.
func (p *slab) layout(u *stack.Unit) ([]Span, error) {
	spans := []Span{{0, slabMagicAt, Reserved}, {slabMagicAt, slabArena - slabMagicAt, Header}}
	m := p.marks()
	v, err := p.survey(u, func(s scanned) { spans = append(spans, m.span(s)) })
	if err == nil {
		err = v.listErr
	}
	if err != nil {
		return nil, err
	}
	if p.kind.mark > 0 {
		return spans, nil
	}
	at := int64(slabArena)
	used := func(end int64) {
		if end > at {
			spans = append(spans, Span{at, end - at, Used})
		}
	}
	for _, i := range v.listed.sorted() {
		used(p.offset(i))
		spans = append(spans, Span{p.offset(i), p.size, Free})
		at = p.offset(i + 1)
	}
	used(u.Len())
	return spans, nil
}

// reclaim implements policy. If the free list is damaged a new one is made.
func (p *slab) reclaim(u *stack.Unit, live []Region) (int64, error) {
	p.unload() // somebody may have damaged the file
	err := p.load(u)
	damaged := isDamage(err)
	if err != nil && !damaged {
		return 0, err
	}
	p.loaded = true // also if it is damaged: then no block is known to be free
	n, err := p.reclaimAll(u, live, damaged)
	if err != nil && damaged {
		p.unload()
	}
	return n * p.size, err
}

func (p *slab) reclaimAll(u *stack.Unit, live []Region, damaged bool) (n int64, err error) {
	var gaps []run
	at := int64(0)
	gap := func(end int64) {
		for i := at; i < end; i++ {
			if !p.unused.has(i) {
				gaps = join(gaps, run{i, 1})
				n++
			}
		}
	}
	for _, r := range live {
		b, err := p.region(u, r)
		if err != nil {
			return 0, err
		}
		gap(b.first)
		at = b.end()
	}
	gap((u.Len() - slabArena) / p.size)
	if damaged {
		if err := p.dropList(u); err != nil {
			return 0, err
		}
	}
	switch {
	case len(gaps) == 0:
		return 0, nil
	case damaged:
		return n, p.push(u, gaps)
	}
	return n, p.release(u, gaps)
}
