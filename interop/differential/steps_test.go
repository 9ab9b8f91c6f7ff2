// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// write is one write transaction.
type write struct {
	how ending
	ops []op
}

// An ending tells how a write transaction is run and ends.
type ending string

const (
	commits    ending = "Begin, Commit"
	rollsBack  ending = "Begin, Rollback"
	updates    ending = "Update"
	updateErrs ending = "Update that fails"
	panics     ending = "Update that panics"
	batches    ending = "Batch"
	batchErrs  ending = "Batch that fails"
)

var endings = []ending{commits, commits, commits, updates, updates, batches, rollsBack, updateErrs, panics, batchErrs}

func (s write) String() string { return listing(string(s.how), s.ops) }

func (s write) play(p *player) {
	start := len(p.trace)
	body := func(tx transaction) error {
		p.trace = p.trace[:start] // Batch may run it more than once
		tx.OnCommit(func() { p.notef("on commit") })
		p.apply(tx, s.ops)
		switch s.how {
		case updateErrs, batchErrs:
			return errAbandon
		case panics:
			panic(errAbandon)
		default:
			return nil
		}
	}
	switch s.how {
	case commits, rollsBack:
		s.manual(p, body)
	case batches, batchErrs:
		p.noteErr(s.how, p.db.Batch(body))
	default:
		p.noteErr(s.how, recovering(func() error { return p.db.Update(body) }))
	}
	p.changed = changes{}
}

func (s write) manual(p *player, body func(transaction) error) {
	tx, err := p.db.Begin(true)
	if err != nil {
		p.noteErr(s.how, err)
		return
	}
	err = body(tx)
	if s.how == commits {
		p.noteErr(s.how, tx.Commit())
	} else {
		p.noteErr(s.how, tx.Rollback())
	}
	p.noteErr("end again", tx.Rollback())
	if err != nil {
		p.noteErr(s.how, err)
	}
}

// recovering turns the panic that a history asked for into an error; any other
// is a finding and goes on.
func recovering(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != any(errAbandon) {
				panic(r)
			}
			err = fmt.Errorf("panicked: %w", errAbandon)
		}
	}()
	return call()
}

// view runs ops in a managed read transaction.
type view struct{ ops []op }

func (s view) String() string { return listing("View", s.ops) }

func (s view) play(p *player) {
	p.noteErr("view", p.db.View(func(tx transaction) error {
		p.apply(tx, s.ops)
		return nil
	}))
}

// maxReaders bounds the readers held at one time.
const maxReaders = 4

// hold begins a read transaction and keeps it open over later steps.
type hold struct{}

func (hold) String() string { return "hold a reader" }

func (hold) play(p *player) {
	if len(p.readers) == maxReaders {
		return
	}
	tx, err := p.db.Begin(false)
	p.noteErr("begin reader", err)
	if err == nil {
		p.readers = append(p.readers, tx)
	}
}

// revisit runs ops in a held reader and then ends it, if asked to.
type revisit struct {
	reader int
	end    bool
	ops    []op
}

func (s revisit) String() string {
	return listing(fmt.Sprintf("revisit reader %d, end %t", s.reader, s.end), s.ops)
}

func (s revisit) play(p *player) {
	if len(p.readers) == 0 {
		return
	}
	i := s.reader % len(p.readers)
	tx := p.readers[i]
	p.apply(tx, s.ops)
	p.trace = append(p.trace, content(tx)...)
	if s.end {
		p.dropReader(i)
	}
}

// reopen closes the database and opens it with other options.
type reopen struct{ opts options }

func (s reopen) String() string { return fmt.Sprintf("reopen %+v", s.opts) }

func (s reopen) play(p *player) {
	opts := s.opts
	opts.pageSize, opts.boltPlacement = p.opts.pageSize, p.opts.boltPlacement
	p.opts = opts
	p.reopen(opts)
}

// inspect reopens the database read-only for a while.
type inspect struct {
	preload bool
	ops     []op
}

func (s inspect) String() string {
	return listing(fmt.Sprintf("read-only, preload %t", s.preload), s.ops)
}

func (s inspect) play(p *player) {
	opts := options{readOnly: true, preload: s.preload, mmapSize: p.opts.mmapSize}
	p.reopen(opts)
	p.notef("read-only %t", p.db.IsReadOnly())
	_, err := p.db.Begin(true)
	p.noteErr("begin writer", err)
	view{s.ops}.play(p)
	p.noteErr("look", p.db.View(func(tx transaction) error {
		_, err := tx.Page(0)
		p.noteErr("page 0", err)
		p.check(tx)
		return nil
	}))
	p.reopen(p.opts)
}

// checkpoint checks the database, notes its content and makes a copy that the
// test opens with the other engine.
type checkpoint struct{ viaWriter bool }

func (s checkpoint) String() string { return fmt.Sprintf("checkpoint, via writer %t", s.viaWriter) }

func (s checkpoint) play(p *player) {
	tx, err := p.db.Begin(s.viaWriter)
	if err != nil {
		panic(fmt.Sprintf("begin: %v", err))
	}
	p.check(tx)
	dump := content(tx)
	p.trace = append(p.trace, dump...)

	name := filepath.Join(p.dir, fmt.Sprintf("copy%d", len(p.copies)))
	p.noteErr("copy", tx.CopyFile(name, 0o600))
	p.copies = append(p.copies, backup{name, dump})

	var stream bytes.Buffer
	n, err := tx.WriteTo(&stream)
	p.noteErr("write to", err)
	copied, err := os.ReadFile(name)
	p.notef("stream: whole %t, like the copy %t", n == tx.Size(), err == nil && bytes.Equal(stream.Bytes(), copied))
	p.noteErr("end", tx.Rollback())
}

// check notes what the consistency check finds.
func (p *player) check(tx transaction) {
	for _, err := range tx.Check() {
		p.notef("check: %v", err)
	}
}

// compact copies the live data into a new file, which becomes one more copy.
type compact struct{ txMaxSize int64 }

func (s compact) String() string { return fmt.Sprintf("compact by %d", s.txMaxSize) }

func (s compact) play(p *player) {
	if p.plainRoot() {
		return // neither engine supports plain keys in the root here
	}
	name := filepath.Join(p.dir, fmt.Sprintf("copy%d", len(p.copies)))
	dst, err := p.engine.open(name, p.opts)
	if err != nil {
		panic(fmt.Sprintf("open %s: %v", name, err))
	}
	p.noteErr(s, p.engine.compact(dst, p.db, s.txMaxSize))
	var dump []string
	p.noteErr(s, dst.View(func(tx transaction) error {
		p.check(tx)
		dump = content(tx)
		return nil
	}))
	p.trace = append(p.trace, dump...)
	p.noteErr("close", dst.Close())
	p.copies = append(p.copies, backup{name, dump})
}

// plainRoot tells whether the root bucket holds a plain key.
func (p *player) plainRoot() bool {
	plain := false
	_ = p.db.View(func(tx transaction) error { // the callbacks return no error
		return tx.ForEach(func(_ []byte, b bucket) error {
			plain = plain || b == nil
			return nil
		})
	})
	return plain
}
