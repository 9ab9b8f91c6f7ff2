// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rivals

package rivals

import (
	"bytes"
	"errors"

	"github.com/dgraph-io/badger/v4"
)

func init() { Engines = append(Engines, Engine{Name: "badger", Open: openBadger}) }

type badgerStore struct{ db *badger.DB }

func openBadger(dir string, durable bool) (Store, error) {
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithDetectConflicts(false).WithSyncWrites(durable))
	return badgerStore{db}, err
}

func (s badgerStore) View(fn func(r Reader) error) error {
	return s.db.View(func(txn *badger.Txn) error { return fn(&badgerReader{txn: txn}) })
}

func (s badgerStore) Update(fn func(w Writer) error) error {
	return s.db.Update(func(txn *badger.Txn) error { return fn(badgerWriter{txn}) })
}

func (s badgerStore) Close() error { return s.db.Close() }

type badgerReader struct {
	txn  *badger.Txn
	last []byte
}

func (r *badgerReader) Get(key []byte) ([]byte, error) {
	item, err := r.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.last, err = item.ValueCopy(r.last)
	return r.last, err
}

func (r *badgerReader) Cursor() (Cursor, error) {
	return &badgerCursor{it: r.txn.NewIterator(badger.DefaultIteratorOptions)}, nil
}

type badgerCursor struct {
	it   *badger.Iterator
	last []byte
	err  error
}

func (c *badgerCursor) Seek(key []byte) (k, v []byte) {
	c.it.Seek(key)
	return c.pair()
}

func (c *badgerCursor) Next() (k, v []byte) {
	c.it.Next()
	return c.pair()
}

func (c *badgerCursor) pair() (k, v []byte) {
	if !c.it.Valid() || c.err != nil {
		return nil, nil
	}
	item := c.it.Item()
	if c.last, c.err = item.ValueCopy(c.last); c.err != nil {
		return nil, nil
	}
	return item.Key(), c.last
}

func (c *badgerCursor) Close() error {
	c.it.Close()
	return c.err
}

type badgerWriter struct{ txn *badger.Txn }

func (w badgerWriter) Put(key, value []byte) error { return w.txn.Set(bytes.Clone(key), value) }
func (w badgerWriter) Delete(key []byte) error     { return w.txn.Delete(bytes.Clone(key)) }
