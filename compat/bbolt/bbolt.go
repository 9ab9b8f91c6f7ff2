// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package bbolt is [kv] under the import path and the names of go.etcd.io/bbolt v1.5.0.
//
// Its types are aliases, so a *bbolt.DB is a *kv.DB and errors compare equal whichever name they were taken from. [Open]
// alone is a function of its own: it sets SyncFreelist, so that free pages are stored with each commit, as bbolt does.
// A program changes engines by pointing its go.mod here; its source stays as it is:
//
//	replace go.etcd.io/bbolt => PATH/compat/bbolt
//	replace github.com/holtdb/holt => PATH
//
// Both lines are needed, because the go command reads replacements from the main module only.
package bbolt

import (
	"os"

	"github.com/holtdb/holt/kv"
)

// Limits of a key and a value in bytes.
const (
	MaxKeySize   = kv.MaxKeySize
	MaxValueSize = kv.MaxValueSize
)

// DefaultFillPercent is how full a split leaves a page unless [Bucket].FillPercent says otherwise.
const DefaultFillPercent = kv.DefaultFillPercent

// Names of the two in-memory free lists.
const (
	FreelistArrayType = kv.FreelistArrayType
	FreelistMapType   = kv.FreelistMapType
)

// DefaultOptions are used when [Open] is given nil. The pointer is the one package kv reads, so a change made
// through either name is seen by both; assigning a new pointer to this variable changes nothing.
var DefaultOptions = kv.DefaultOptions

// The store and what it is made of.
type (
	// DB is an open database file.
	DB = kv.DB
	// Tx is a transaction.
	Tx = kv.Tx
	// Bucket is a set of keys, some of which name further buckets.
	Bucket = kv.Bucket
	// Cursor walks a bucket in key order.
	Cursor = kv.Cursor
)

// What [Open] is told.
type (
	// Options are settings of a database. The last ones are additions of package kv.
	Options = kv.Options
	// FreelistType names an in-memory free list.
	FreelistType = kv.FreelistType
	// Logger takes the log.
	Logger = kv.Logger
	// DefaultLogger is a Logger that writes to a [log.Logger].
	DefaultLogger = kv.DefaultLogger
)

// What a database tells of itself.
type (
	// Info is the place and the page size of the mapping.
	Info = kv.Info
	// Stats are counters of a database.
	Stats = kv.Stats
	// TxStats are counters of a transaction.
	TxStats = kv.TxStats
	// BucketStats are sizes of a bucket's tree.
	BucketStats = kv.BucketStats
	// BucketStructure is a bucket with the names of those below it.
	BucketStructure = kv.BucketStructure
	// Pgid numbers a page. Upstream's methods return it too, but its name is internal there.
	Pgid = kv.Pgid
	// PageInfo describes a page. Upstream's methods return it too, but its name is internal there.
	PageInfo = kv.PageInfo
)

// What Tx.Check is told.
type (
	// CheckOption is one setting.
	CheckOption = kv.CheckOption
	// KVStringer prints keys and values.
	KVStringer = kv.KVStringer
)

// Open opens the file at path, creating it if needed. Nil options mean [DefaultOptions]; SyncFreelist is always set.
func Open(path string, mode os.FileMode, options *Options) (*DB, error) {
	if options == nil {
		options = kv.DefaultOptions
	}
	o := *options
	o.SyncFreelist = true
	return kv.Open(path, mode, &o)
}

// Compact copies the live data of src into the empty dst, in transactions of about txMaxSize bytes (zero: one only).
func Compact(dst, src *DB, txMaxSize int64) error { return kv.Compact(dst, src, txMaxSize) }

// WithKVStringer sets how Tx.Check prints keys and values.
func WithKVStringer(kvStringer KVStringer) CheckOption { return kv.WithKVStringer(kvStringer) }

// WithPageId restricts Tx.Check to the subtree under one page.
func WithPageId(pageID uint64) CheckOption { return kv.WithPageId(pageID) }

// HexKVStringer prints keys and values in hexadecimal.
func HexKVStringer() KVStringer { return kv.HexKVStringer() }
