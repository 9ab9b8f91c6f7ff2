// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rivals

package rivals

import (
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

func init() { Engines = append(Engines, Engine{Name: "pebble", Open: openPebble}) }

// quiet says nothing but why it ends the program.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { pebble.DefaultLogger.Fatalf(format, args...) }

type pebbleStore struct {
	db     *pebble.DB
	commit *pebble.WriteOptions
}

func openPebble(dir string, durable bool) (Store, error) {
	cache := pebble.NewCache(512 << 20)
	defer cache.Unref()
	db, err := pebble.Open(dir, &pebble.Options{Cache: cache, MemTableSize: 64 << 20, Logger: quiet{}})
	if err != nil {
		return nil, err
	}
	commit := pebble.NoSync
	if durable {
		commit = pebble.Sync
	}
	return pebbleStore{db, commit}, nil
}

func (s pebbleStore) View(fn func(r Reader) error) error {
	r := &pebbleReader{Snapshot: s.db.NewSnapshot()}
	return errors.Join(fn(r), r.release(), r.Close())
}

func (s pebbleStore) Update(fn func(w Writer) error) error {
	batch := s.db.NewBatch()
	if err := fn(pebbleWriter{batch}); err != nil {
		return errors.Join(err, batch.Close())
	}
	return batch.Commit(s.commit)
}

func (s pebbleStore) Batch(key, value []byte) error { return s.db.Set(key, value, s.commit) }

func (s pebbleStore) Close() error { return s.db.Close() }

type pebbleReader struct {
	*pebble.Snapshot
	last io.Closer // what the last value is in
}

func (r *pebbleReader) release() error {
	if r.last == nil {
		return nil
	}
	defer func() { r.last = nil }()
	return r.last.Close()
}

func (r *pebbleReader) Get(key []byte) (v []byte, err error) {
	if err := r.release(); err != nil {
		return nil, err
	}
	v, r.last, err = r.Snapshot.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	return v, err
}

func (r *pebbleReader) Cursor() (Cursor, error) {
	it, err := r.NewIter(nil)
	return pebbleCursor{it}, err
}

type pebbleCursor struct{ it *pebble.Iterator }

func (c pebbleCursor) Seek(key []byte) (k, v []byte) { return c.pair(c.it.SeekGE(key)) }
func (c pebbleCursor) Next() (k, v []byte)           { return c.pair(c.it.Next()) }
func (c pebbleCursor) Close() error                  { return c.it.Close() }

func (c pebbleCursor) pair(ok bool) (k, v []byte) {
	if !ok {
		return nil, nil
	}
	return c.it.Key(), c.it.Value()
}

type pebbleWriter struct{ batch *pebble.Batch }

func (w pebbleWriter) Put(key, value []byte) error { return w.batch.Set(key, value, nil) }
func (w pebbleWriter) Delete(key []byte) error     { return w.batch.Delete(key, nil) }
