// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"errors"
	"fmt"
	"path/filepath"
)

// A player plays a history on one engine and notes every answer.
type player struct {
	engine *engine
	dir    string

	// sameFiles means that the files of both engines are equal, and so are
	// answers about pages. In general they are not: bbolt rebalances pages in
	// the random order of a Go map, and the shape of the tree depends on it.
	sameFiles bool

	opts    options
	free    bool // leave nothing out: see changes
	db      database
	readers []transaction
	changed changes
	trace   []string
	copies  []backup
}

// A backup is a copy of the database taken during a history, and its content.
type backup struct {
	path    string
	content []string
}

// errAbandon is what a failing Update function returns.
var errAbandon = errors.New("abandon this transaction")

func (p *player) notef(format string, args ...any) {
	p.trace = append(p.trace, fmt.Sprintf(format, args...))
}

// noteErr notes the outcome of a call that only returns an error.
func (p *player) noteErr(call any, err error) {
	p.notef("%v: %s", call, p.engine.errorName(err))
}

// play runs h. A panic ends it and becomes the last line of the trace; the
// database is then left as it is, since a broken engine may hold its locks.
func (p *player) play(h history) {
	defer func() {
		if r := recover(); r != nil {
			p.notef("panic: %v", r)
		}
	}()
	p.opts = h.opts
	p.reopen(h.opts)
	for _, s := range h.steps {
		s.play(p)
	}
	p.close()
}

func (p *player) file() string { return filepath.Join(p.dir, "db") }

func (p *player) reopen(opts options) {
	if p.db != nil {
		p.close()
	}
	if !p.sameFiles { // the size of the mapping decides on the length of the file
		opts.mmapSize = max(opts.mmapSize, p.engine.minMmap)
	}
	db, err := p.engine.open(p.file(), opts)
	if err != nil {
		panic(fmt.Sprintf("open: %v", err))
	}
	p.db = db
}

// close ends the readers first: Close waits for them.
func (p *player) close() {
	for len(p.readers) > 0 {
		p.dropReader(0)
	}
	p.noteErr("close", p.db.Close())
	p.db = nil
}

func (p *player) dropReader(i int) {
	p.noteErr("end reader", p.readers[i].Rollback())
	p.readers = append(p.readers[:i], p.readers[i+1:]...)
}

// apply runs ops in a transaction.
func (p *player) apply(tx transaction, ops []op) {
	if tx.Writable() {
		p.changed = changes{}
	}
	p.notef("tx %d", tx.ID())
	for _, o := range ops {
		o.apply(p, tx)
	}
}

// change notes that tx changed the bucket at.
func (p *player) change(tx transaction, at path) {
	if tx.Writable() {
		p.changed.add(at)
	}
}

// deletion notes that tx deleted an element of the bucket at.
func (p *player) deletion(tx transaction, at path) {
	if tx.Writable() {
		p.changed.add(at).deleted++
	}
}
