// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package rivals puts one interface on several key-value stores, so that the same benchmarks run on all of them. It is for
// an orientation: what bbolt and kv do is measured without it, in the folder above.
//
// Pebble, Badger and SQLite are among them with the build tag rivals, as they take minutes to compile, and LMDB with the tag
// lmdb, which needs cgo and the library liblmdb.
package rivals

// An Engine is a key-value store.
type Engine struct {
	Name string
	// Open opens or makes a store in a folder. Commits of one that is durable are on the disk when they end.
	Open func(dir string, durable bool) (Store, error)
	// Alone is true if nobody writes while a reader is open.
	Alone bool
	// Version is empty where the version of the module says all.
	Version string
}

// Engines are those that are built in.
var Engines = []Engine{
	{Name: "bbolt", Open: openBbolt},
	{Name: "holt", Open: openHolt},
}

// A Store is open. Its methods may be called at once from several goroutines.
type Store interface {
	View(fn func(r Reader) error) error
	Update(fn func(w Writer) error) error
	Close() error
}

// A Batcher has a better way to put one key than Update, if many goroutines do.
type Batcher interface {
	Batch(key, value []byte) error
}

// A Reader sees one state of a store.
type Reader interface {
	// Get returns nil if there is no such key. The value is valid until the next call.
	Get(key []byte) ([]byte, error)
	Cursor() (Cursor, error)
}

// A Cursor stands at a pair, or nowhere: then the key is nil, and Close says why if there was an error.
type Cursor interface {
	// Seek moves to the first pair from a key on.
	Seek(key []byte) (k, v []byte)
	Next() (k, v []byte)
	Close() error
}

// A Writer changes a store. The key may be changed by the caller after a call, the value only after the transaction.
type Writer interface {
	Put(key, value []byte) error
	Delete(key []byte) error
}
