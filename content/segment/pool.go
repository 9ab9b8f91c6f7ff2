// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"errors"
	"fmt"
	"sync"
)

// A Pool has writers of one generation for several goroutines, each with an open segment of its own. They share a
// [Cache]: what one has written the others need not write again, and can refer to at once. So open segments may refer to
// each other, and none of them is of use to readers before [Pool.Flush].
//
// A Pool may be used by several goroutines at a time.
type Pool struct {
	store    Store
	all      []*Writer
	idle     chan *Writer
	flushing sync.Mutex // held to take all writers
}

// NewPool returns a pool of so many writers. The Sink may be called by several goroutines at a time. The Name is that of
// the pool: to those of the writers a number is added, as in sys.0001; sys if empty.
func NewPool(o Options, writers int) (*Pool, error) {
	if writers < 1 {
		return nil, fmt.Errorf("segment: a pool of %d writers", writers)
	}
	if o.Store == nil {
		return nil, errors.New("segment: a pool needs a store")
	}
	if o.Name == "" {
		o.Name = "sys"
	}
	if o.Cache == nil {
		o.Cache = NewCache(o.Generation, nil)
	}
	if o.IDs == nil {
		o.IDs = &IDs{}
	}
	p := &Pool{store: o.Store, idle: make(chan *Writer, writers)}
	o.Store = p
	name := o.Name
	for i := range writers {
		o.Name = fmt.Sprintf("%s.%04d", name, i)
		w, err := NewWriter(o)
		if err != nil {
			return nil, err
		}
		p.all = append(p.all, w)
		p.idle <- w
	}
	return p, nil
}

// Do calls fn with a writer that nobody else has meanwhile, and returns its error. It waits for one if there is none. fn
// must not call Do or Flush.
func (p *Pool) Do(fn func(*Writer) error) error {
	w := <-p.idle
	defer func() { p.idle <- w }()
	return fn(w)
}

// Flush ends all open segments: everything that was written before is in the sink then. It waits for all writers. After
// an error it can be called again.
func (p *Pool) Flush() error {
	p.flushing.Lock()
	defer p.flushing.Unlock()
	for range p.all {
		<-p.idle
	}
	var err error
	for _, w := range p.all {
		err = errors.Join(err, w.Flush())
		p.idle <- w
	}
	return err
}

// Segment finds a segment: one that is open, see [Writer.Segment], or one of the store's.
func (p *Pool) Segment(id ID) (*Segment, error) {
	for _, w := range p.all {
		if s := w.buf.view(id, p); s != nil {
			return s, nil
		}
	}
	return p.store.Segment(id)
}
