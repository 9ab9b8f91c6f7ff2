// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import "fmt"

// create makes a bucket with the call that forbids or the one that allows that
// it exists.
type create struct {
	at       path
	name     string
	mayExist bool
}

func (o create) String() string {
	if o.mayExist {
		return fmt.Sprintf("create if not exists %v %s", o.at, show([]byte(o.name)))
	}
	return fmt.Sprintf("create %v %s", o.at, show([]byte(o.name)))
}

func (o create) apply(p *player, tx transaction) {
	parent := p.open(tx, o.at, o)
	if parent == nil {
		return
	}
	made, err := o.call(tx, parent)
	p.noteErr(o, err)
	if err != nil {
		return
	}
	p.change(tx, o.at)
	p.change(tx, o.at.child(o.name))
	p.notef("%v: sequence %d writable %t", o, made.Sequence(), made.Writable())
}

// call goes through the transaction for top-level buckets.
func (o create) call(tx transaction, parent bucket) (bucket, error) {
	name := []byte(o.name)
	switch {
	case len(o.at) == 0 && o.mayExist:
		return tx.CreateBucketIfNotExists(name)
	case len(o.at) == 0:
		return tx.CreateBucket(name)
	case o.mayExist:
		return parent.CreateBucketIfNotExists(name)
	default:
		return parent.CreateBucket(name)
	}
}

// drop deletes a bucket.
type drop struct {
	at   path
	name string
}

func (o drop) String() string { return fmt.Sprintf("drop %v %s", o.at, show([]byte(o.name))) }

func (o drop) apply(p *player, tx transaction) {
	parent := p.open(tx, o.at, o)
	if parent == nil || p.leaks(parent, o.at.child(o.name)) || p.unnamed(parent, o.at, o.name) {
		return
	}
	p.deletion(tx, o.at)
	if len(o.at) == 0 {
		p.noteErr(o, tx.DeleteBucket([]byte(o.name)))
	} else {
		p.noteErr(o, parent.DeleteBucket([]byte(o.name)))
	}
}

// unnamed tells whether an empty name is looked for where the first leaf may
// be empty: bbolt takes the missing element for a plain key.
func (p *player) unnamed(parent bucket, at path, name string) bool {
	if name != "" {
		return false
	}
	k, _ := parent.Cursor().First()
	return k == nil || p.changed.emptied(at)
}

// leaks tells whether bbolt would leak pages when it deletes this bucket.
func (p *player) leaks(parent bucket, at path) bool {
	b := parent.Bucket([]byte(at[len(at)-1]))
	if b == nil || p.free || !p.changed.below(at) {
		return false
	}
	nested := false
	_ = b.ForEachBucket(func([]byte) error { // the callback returns no error
		nested = true
		return nil
	})
	return nested
}

// move moves a bucket from one place to another.
type move struct {
	from path
	name string
	to   path
}

func (o move) String() string {
	return fmt.Sprintf("move %v %s to %v", o.from, show([]byte(o.name)), o.to)
}

func (o move) apply(p *player, tx transaction) {
	src, dst := p.open(tx, o.from, o), p.open(tx, o.to, o)
	moved := o.from.child(o.name)
	if src == nil || dst == nil || o.to.within(moved) || p.unnamed(src, o.from, o.name) {
		return
	}
	if p.changed.below(moved) && !p.free {
		return
	}
	err := o.call(tx, src, dst)
	p.noteErr(o, err)
	if err == nil {
		p.deletion(tx, o.from)
		p.change(tx, o.to)
	}
}

// call goes through the transaction when one side is the root, which it takes
// as nil.
func (o move) call(tx transaction, src, dst bucket) error {
	if len(o.from) > 0 && len(o.to) > 0 {
		return src.MoveBucket([]byte(o.name), dst)
	}
	if len(o.from) == 0 {
		src = nil
	}
	if len(o.to) == 0 {
		dst = nil
	}
	return tx.MoveBucket([]byte(o.name), src, dst)
}
