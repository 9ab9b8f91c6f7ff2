// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"errors"
	"io"
	"os"
	"time"
)

// An engine opens databases of one implementation.
type engine struct {
	name    string
	open    func(path string, opts options) (database, error)
	compact func(dst, src database, txMaxSize int64) error
	errs    map[string]error // sentinels by the name both implementations give them
	minMmap int              // keeps the writer from remapping, and so from waiting for readers
}

// errorName maps a sentinel of this engine to its name and any other error to
// its text.
func (e *engine) errorName(err error) string {
	if err == nil {
		return "ok"
	}
	for name, sentinel := range e.errs {
		if errors.Is(err, sentinel) {
			return name
		}
	}
	return "error: " + err.Error()
}

// options are those settings that histories vary; zero values are the
// defaults of both engines.
type options struct {
	pageSize       int
	mmapSize       int
	noFreelistSync bool
	hashmap        bool
	noGrowSync     bool
	noStatistics   bool
	readOnly       bool
	preload        bool
	maxSize        int
	timeout        time.Duration
	boltPlacement  bool // kv only: place pages as bbolt does
}

type database interface {
	Begin(writable bool) (transaction, error)
	Update(fn func(transaction) error) error
	View(fn func(transaction) error) error
	Batch(fn func(transaction) error) error
	Close() error
	IsReadOnly() bool
	Sync() error
	Counters() counters
}

type transaction interface {
	ID() int
	Size() int64
	Writable() bool
	Root() bucket // the root bucket itself, reached through the root cursor
	Bucket(name []byte) bucket
	CreateBucket(name []byte) (bucket, error)
	CreateBucketIfNotExists(name []byte) (bucket, error)
	DeleteBucket(name []byte) error
	MoveBucket(child []byte, src, dst bucket) error
	Cursor() cursor
	ForEach(fn func(name []byte, b bucket) error) error
	Inspect() string
	Page(id int) (*pageInfo, error)
	Check() []error
	OnCommit(fn func())
	CopyFile(path string, mode os.FileMode) error
	WriteTo(w io.Writer) (int64, error)
	Commit() error
	Rollback() error
}

type bucket interface {
	Writable() bool
	Inline() bool
	Bucket(name []byte) bucket
	CreateBucket(name []byte) (bucket, error)
	CreateBucketIfNotExists(name []byte) (bucket, error)
	DeleteBucket(name []byte) error
	MoveBucket(name []byte, dst bucket) error
	Cursor() cursor
	Get(key []byte) []byte
	Put(key, value []byte) error
	Delete(key []byte) error
	ForEach(fn func(k, v []byte) error) error
	ForEachBucket(fn func(k []byte) error) error
	Sequence() uint64
	SetSequence(v uint64) error
	NextSequence() (uint64, error)
	SetFillPercent(f float64)
	Stats() bucketStats
	Inspect() string
}

type cursor interface {
	First() (key, value []byte)
	Last() (key, value []byte)
	Next() (key, value []byte)
	Prev() (key, value []byte)
	Seek(key []byte) (k, v []byte)
	Delete() error
}

// bucketStats has the fields of BucketStats of both implementations, which
// convert to it.
type bucketStats struct {
	BranchPageN       int
	BranchOverflowN   int
	LeafPageN         int
	LeafOverflowN     int
	KeyN              int
	Depth             int
	BranchAlloc       int
	BranchInuse       int
	LeafAlloc         int
	LeafInuse         int
	BucketN           int
	InlineBucketN     int
	InlineBucketInuse int
}

// counters are those statistics that follow from what a database is asked to
// do. Others, as of writes and rebalanced nodes, tell how an engine does it.
type counters struct {
	PageCount, PageAlloc    int64
	Split, Spill            int64
	FreePageN, PendingPageN int
}

// pageInfo has the fields of PageInfo of both implementations.
type pageInfo struct {
	ID            int
	Type          string
	Count         int
	OverflowCount int
}

// drain collects the findings of a consistency check.
func drain(findings <-chan error) []error {
	var all []error
	for err := range findings {
		all = append(all, err)
	}
	return all
}
