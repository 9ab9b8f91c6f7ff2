// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//go:build lmdb

package rivals

/*
#cgo LDFLAGS: -llmdb
#include <lmdb.h>
#include <stdlib.h>

// Results come by value, so that nothing of Go's has to lie on the heap for C to write into.
typedef struct { int code; MDB_val k, v; } pair;

static pair get(MDB_txn *txn, MDB_dbi dbi, void *k, size_t n) {
	pair p = {0, {n, k}};
	p.code = mdb_get(txn, dbi, &p.k, &p.v);
	return p;
}

static pair move(MDB_cursor *c, void *k, size_t n, MDB_cursor_op op) {
	pair p = {0, {n, k}};
	p.code = mdb_cursor_get(c, &p.k, &p.v, op);
	return p;
}

static int put(MDB_txn *txn, MDB_dbi dbi, void *k, size_t n, void *v, size_t m) {
	MDB_val key = {n, k}, value = {m, v};
	return mdb_put(txn, dbi, &key, &value, 0);
}

static int erase(MDB_txn *txn, MDB_dbi dbi, void *k, size_t n) {
	MDB_val key = {n, k};
	return mdb_del(txn, dbi, &key, NULL);
}
*/
import "C"

import (
	"errors"
	"path/filepath"
	"runtime"
	"unsafe"
)

func init() {
	Engines = append(Engines, Engine{Name: "lmdb", Open: openLMDB, Version: C.GoString(C.mdb_version(nil, nil, nil))})
}

type lmdbStore struct {
	env *C.MDB_env
	dbi C.MDB_dbi
}

const lmdbMap = 16 << 30 // bytes of addresses

func openLMDB(dir string, durable bool) (Store, error) {
	s := &lmdbStore{}
	if err := lmdbError(C.mdb_env_create(&s.env)); err != nil {
		return nil, err
	}
	flags := C.uint(C.MDB_NOSUBDIR | C.MDB_NORDAHEAD | C.MDB_NOTLS)
	if !durable {
		flags |= C.MDB_NOSYNC
	}
	path := C.CString(filepath.Join(dir, "lmdb"))
	defer C.free(unsafe.Pointer(path))
	err := lmdbError(C.mdb_env_set_mapsize(s.env, lmdbMap))
	if err == nil {
		err = lmdbError(C.mdb_env_open(s.env, path, flags, 0o600))
	}
	if err == nil {
		err = s.in(0, func(txn *C.MDB_txn) error { return lmdbError(C.mdb_dbi_open(txn, nil, 0, &s.dbi)) })
	}
	if err != nil {
		C.mdb_env_close(s.env)
		return nil, err
	}
	return s, nil
}

func lmdbError(code C.int) error {
	if code == C.MDB_SUCCESS {
		return nil
	}
	return errors.New("lmdb: " + C.GoString(C.mdb_strerror(code)))
}

func (s *lmdbStore) in(flags C.uint, fn func(txn *C.MDB_txn) error) error {
	var txn *C.MDB_txn
	if err := lmdbError(C.mdb_txn_begin(s.env, nil, flags, &txn)); err != nil {
		return err
	}
	if err := fn(txn); err != nil {
		C.mdb_txn_abort(txn)
		return err
	}
	return lmdbError(C.mdb_txn_commit(txn))
}

func (s *lmdbStore) View(fn func(r Reader) error) error {
	return s.in(C.MDB_RDONLY, func(txn *C.MDB_txn) error { return fn(&lmdbTxn{txn, s.dbi}) })
}

// Update stays on one thread, as LMDB's lock for writers is the thread's.
func (s *lmdbStore) Update(fn func(w Writer) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return s.in(0, func(txn *C.MDB_txn) error { return fn(&lmdbTxn{txn, s.dbi}) })
}

func (s *lmdbStore) Close() error {
	C.mdb_env_close(s.env)
	return nil
}

type lmdbTxn struct {
	txn *C.MDB_txn
	dbi C.MDB_dbi
}

func lmdbBytes(v C.MDB_val) []byte { return unsafe.Slice((*byte)(v.mv_data), v.mv_size) }

func (t *lmdbTxn) Get(key []byte) ([]byte, error) {
	p := C.get(t.txn, t.dbi, unsafe.Pointer(unsafe.SliceData(key)), C.size_t(len(key)))
	if p.code == C.MDB_NOTFOUND {
		return nil, nil
	}
	return lmdbBytes(p.v), lmdbError(p.code)
}

func (t *lmdbTxn) Put(key, value []byte) error {
	return lmdbError(C.put(t.txn, t.dbi, unsafe.Pointer(unsafe.SliceData(key)), C.size_t(len(key)),
		unsafe.Pointer(unsafe.SliceData(value)), C.size_t(len(value))))
}

func (t *lmdbTxn) Delete(key []byte) error {
	return lmdbError(C.erase(t.txn, t.dbi, unsafe.Pointer(unsafe.SliceData(key)), C.size_t(len(key))))
}

func (t *lmdbTxn) Cursor() (Cursor, error) {
	c := &lmdbCursor{}
	return c, lmdbError(C.mdb_cursor_open(t.txn, t.dbi, &c.c))
}

type lmdbCursor struct {
	c   *C.MDB_cursor
	err error
}

func (c *lmdbCursor) Seek(key []byte) (k, v []byte) {
	return c.pair(C.move(c.c, unsafe.Pointer(unsafe.SliceData(key)), C.size_t(len(key)), C.MDB_SET_RANGE))
}

func (c *lmdbCursor) Next() (k, v []byte) { return c.pair(C.move(c.c, nil, 0, C.MDB_NEXT)) }

func (c *lmdbCursor) pair(p C.pair) (k, v []byte) {
	if p.code != C.MDB_SUCCESS {
		if p.code != C.MDB_NOTFOUND {
			c.err = lmdbError(p.code)
		}
		return nil, nil
	}
	return lmdbBytes(p.k), lmdbBytes(p.v)
}

func (c *lmdbCursor) Close() error {
	C.mdb_cursor_close(c.c)
	return c.err
}
