// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import "fmt"

// put stores n pairs; the keys after the first continue it with a counter that
// advances by stride, so that one op can split or empty pages.
type put struct {
	at   path
	keys keyRun
	val  value
}

type del struct {
	at   path
	keys keyRun
}

type get struct {
	at   path
	keys keyRun
}

// A keyRun is n keys: prefix alone, or prefix and counters when n > 1.
type keyRun struct {
	prefix string
	n      int
	from   int
	stride int
}

func (r keyRun) each(fn func(i int, key []byte)) {
	if r.n == 1 {
		fn(0, []byte(r.prefix))
		return
	}
	for i := range r.n {
		fn(i, fmt.Appendf(nil, "%s%04d", r.prefix, (r.from+i*r.stride)%10007))
	}
}

func (r keyRun) String() string {
	if r.n == 1 {
		return show([]byte(r.prefix))
	}
	return fmt.Sprintf("%s[%d × %d from %d]", show([]byte(r.prefix)), r.n, r.stride, r.from)
}

func (o put) String() string { return fmt.Sprintf("put %v %v = %v", o.at, o.keys, o.val) }
func (o del) String() string { return fmt.Sprintf("delete %v %v", o.at, o.keys) }
func (o get) String() string { return fmt.Sprintf("get %v %v", o.at, o.keys) }

func (o put) apply(p *player, tx transaction) {
	b := p.open(tx, o.at, o)
	if b == nil {
		return
	}
	p.change(tx, o.at)
	o.keys.each(func(i int, key []byte) {
		v := o.val
		v.tag += byte(i)
		p.noteErr(o, b.Put(key, v.bytes()))
	})
}

func (o del) apply(p *player, tx transaction) {
	b := p.open(tx, o.at, o)
	if b == nil {
		return
	}
	o.keys.each(func(_ int, key []byte) {
		p.deletion(tx, o.at)
		p.noteErr(o, b.Delete(key))
	})
}

func (o get) apply(p *player, tx transaction) {
	b := p.open(tx, o.at, o)
	if b == nil {
		return
	}
	o.keys.each(func(_ int, key []byte) { p.notef("%v: %s", o, show(b.Get(key))) })
}

// open finds the bucket at b, creating it and its parents if the transaction
// can; it notes why there is none.
func (p *player) open(tx transaction, at path, o op) bucket {
	if b := lookup(tx, at); b != nil || !tx.Writable() {
		if b == nil {
			p.notef("%v: no bucket", o)
		}
		return b
	}
	b := tx.Root()
	for i, name := range at {
		next := b.Bucket([]byte(name))
		if next == nil {
			var err error
			p.change(tx, at[:i])
			if next, err = b.CreateBucket([]byte(name)); err != nil {
				p.noteErr(o, err)
				return nil
			}
			p.change(tx, at[:i+1])
		}
		b = next
	}
	return b
}

// sequence sets the sequence of a bucket, or takes the next number.
type sequence struct {
	at   path
	next bool
	to   uint64
}

func (o sequence) String() string {
	if o.next {
		return fmt.Sprintf("next sequence %v", o.at)
	}
	return fmt.Sprintf("sequence %v = %d", o.at, o.to)
}

func (o sequence) apply(p *player, tx transaction) {
	b := p.open(tx, o.at, o)
	if b == nil {
		return
	}
	p.change(tx, o.at)
	if o.next {
		n, err := b.NextSequence()
		p.notef("%v: %d %s", o, n, p.engine.errorName(err))
	} else {
		p.noteErr(o, b.SetSequence(o.to))
	}
	p.notef("sequence now %d", b.Sequence())
}

// fill sets the fill percent of a bucket's handle.
type fill struct {
	at      path
	percent float64
}

func (o fill) String() string { return fmt.Sprintf("fill %v to %v", o.at, o.percent) }

func (o fill) apply(p *player, tx transaction) {
	if b := p.open(tx, o.at, o); b != nil {
		b.SetFillPercent(o.percent)
	}
}

// list walks a bucket with the callback helpers; it stops after limit
// elements, if limit is not zero.
type list struct {
	at      path
	buckets bool
	limit   int
}

func (o list) String() string {
	if o.buckets {
		return fmt.Sprintf("list buckets %v limit %d", o.at, o.limit)
	}
	return fmt.Sprintf("list %v limit %d", o.at, o.limit)
}

func (o list) apply(p *player, tx transaction) {
	b := p.open(tx, o.at, o)
	if b == nil {
		return
	}
	seen := 0
	visit := func(k, v []byte) error {
		p.notef("%v: %s %s", o, show(k), show(v))
		if seen++; seen == o.limit {
			return errAbandon
		}
		return nil
	}
	switch {
	case o.buckets:
		p.noteErr(o, b.ForEachBucket(func(k []byte) error { return visit(k, nil) }))
	case len(o.at) == 0:
		p.noteErr(o, tx.ForEach(func(name []byte, sub bucket) error {
			p.notef("%v: bucket: %t", o, sub != nil)
			return visit(name, nil)
		}))
	default:
		p.noteErr(o, b.ForEach(visit))
	}
}

// measure notes the statistics and the structure of a bucket.
type measure struct{ at path }

func (o measure) String() string { return fmt.Sprintf("measure %v", o.at) }

func (o measure) apply(p *player, tx transaction) {
	b := p.open(tx, o.at, o)
	if b == nil {
		return
	}
	p.notef("%v: sequence %d writable %t", o, b.Sequence(), b.Writable())
	p.notef("%v: %s", o, b.Inspect())
	if p.changed.below(o.at) {
		return // of a changed inline bucket bbolt counts a wrong page
	}
	stats := b.Stats()
	p.notef("%v: keys %d buckets %d", o, stats.KeyN, stats.BucketN)
	if p.sameFiles {
		p.notef("%v: inline %t %+v", o, b.Inline(), stats)
	}
}
