// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package kvbench measures how fast a new kv database is written and read.
//
// The workloads are those of bbolt's own bench command, so that the numbers of the two can be compared: keys are
// counters or random numbers, big-endian in the first four bytes, values are zeros, and everything is in the bucket
// "bench", in nested modes in one bucket of it for each transaction.
package kvbench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/holtdb/holt/kv"
)

// Modes of writing and reading.
const (
	Sequential       = "seq"
	Random           = "rnd"
	SequentialNested = "seq-nest"
	RandomNested     = "rnd-nest"
)

// WriteModes and ReadModes are all there are.
var (
	WriteModes = []string{Sequential, Random, SequentialNested, RandomNested}
	ReadModes  = []string{Sequential, Random}
)

// keyNumber is the size of the part of a key that varies.
const keyNumber = 4

// minReadTime is how long reading goes on at least.
const minReadTime = time.Second

var bench = []byte("bench")

// Workload says what to write and how to read it.
type Workload struct {
	WriteMode   string
	ReadMode    string
	Count       int // keys to write
	BatchSize   int // keys per transaction; must divide Count
	KeySize     int // at least 4 bytes
	ValueSize   int
	FillPercent float64
}

// Result is what one phase took.
type Result struct {
	Ops      int64
	Duration time.Duration
}

// PerOp is the time one operation took on average.
func (r Result) PerOp() time.Duration {
	if r.Ops == 0 {
		return 0
	}
	return r.Duration / time.Duration(r.Ops)
}

// Validate reports what cannot be run.
func (w Workload) Validate() error {
	switch {
	case w.Count <= 0:
		return fmt.Errorf("the number of keys (%d) must be positive", w.Count)
	case w.BatchSize <= 0 || w.Count%w.BatchSize != 0:
		return errors.New("the number of iterations must be divisible by the batch size")
	case w.KeySize < keyNumber || w.KeySize > kv.MaxKeySize:
		return fmt.Errorf("the key size (%d) must be between %d and %d", w.KeySize, keyNumber, kv.MaxKeySize)
	case w.ValueSize < 0 || w.ValueSize > kv.MaxValueSize:
		return fmt.Errorf("the value size (%d) must be between 0 and %d", w.ValueSize, kv.MaxValueSize)
	case int64(w.Count) > 1<<32-1:
		return fmt.Errorf("the number of keys (%d) must fit into %d bytes", w.Count, keyNumber)
	}
	return nil
}

func (w Workload) nested() bool { return strings.HasSuffix(w.WriteMode, "-nest") }
func (w Workload) random() bool { return strings.HasPrefix(w.WriteMode, Random) }

// Run is one run of a workload on a database.
type Run struct {
	db *kv.DB
	Workload
	numbers  func() uint32 // the next key
	written  []element     // in the order of writing; only where reading needs it
	readTime time.Duration
}

// element names a key that was written.
type element struct{ bucket, key []byte }

// New prepares a run. The seed chooses the random keys.
func New(db *kv.DB, w Workload, seed uint64) *Run {
	r := &Run{db: db, Workload: w, readTime: minReadTime}
	if w.random() {
		r.numbers = rand.New(rand.NewPCG(seed, seed)).Uint32
		return r
	}
	n := uint32(0)
	r.numbers = func() uint32 { n++; return n }
	return r
}

// Write runs the write phase. It calls progress with the number of keys after each transaction.
func (r *Run) Write(ctx context.Context, progress func(n int64)) (Result, error) {
	start := time.Now()
	for done := 0; done < r.Count; done += r.BatchSize {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if err := r.db.UpdateContext(ctx, r.writeBatch); err != nil {
			return Result{}, err
		}
		progress(int64(r.BatchSize))
	}
	return Result{Ops: int64(r.Count), Duration: time.Since(start)}, nil
}

func (r *Run) writeBatch(tx *kv.Tx) error {
	b, err := tx.CreateBucketIfNotExists(bench)
	if err != nil {
		return err
	}
	var name []byte
	if r.nested() {
		name = r.nextKey()
		if b, err = b.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	b.FillPercent = r.FillPercent
	for range r.BatchSize {
		key := r.nextKey()
		if err := b.Put(key, make([]byte, r.ValueSize)); err != nil {
			return err
		}
		if r.ReadMode == Random {
			r.written = append(r.written, element{name, key})
		}
	}
	return nil
}

func (r *Run) nextKey() []byte {
	key := make([]byte, r.KeySize)
	binary.BigEndian.PutUint32(key, r.numbers())
	return key
}

// Read runs the read phase: everything, again and again, for at least a second. It calls progress as Write does.
func (r *Run) Read(ctx context.Context, progress func(n int64)) (Result, error) {
	pass := r.readInOrder
	if r.ReadMode == Random {
		pass = r.readByKey
	}
	var result Result
	err := r.db.ViewContext(ctx, func(tx *kv.Tx) error {
		start := time.Now()
		for {
			n, err := pass(tx.Bucket(bench))
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			progress(n)
			result.Ops += n
			if result.Duration = time.Since(start); result.Duration >= r.readTime {
				return nil
			}
		}
	})
	return result, err
}

func (r *Run) readInOrder(b *kv.Bucket) (n int64, err error) {
	if !r.nested() {
		n, err = readBucket(b)
	} else {
		for name := range b.All() {
			m, err := readBucket(b.Bucket(name))
			if err != nil {
				return 0, err
			}
			n += m
		}
	}
	if err == nil && !r.random() && n != int64(r.Count) { // random keys may coincide
		err = fmt.Errorf("reading found %d keys where %d were written", n, r.Count)
	}
	return n, err
}

func readBucket(b *kv.Bucket) (n int64, err error) {
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if v == nil {
			return n, fmt.Errorf("key %x has no value", k)
		}
		n++
	}
	return n, nil
}

func (r *Run) readByKey(b *kv.Bucket) (int64, error) {
	for _, e := range r.written {
		in := b
		if e.bucket != nil {
			in = b.Bucket(e.bucket)
		}
		if in.Get(e.key) == nil {
			return 0, fmt.Errorf("key %x has no value", e.key)
		}
	}
	return int64(len(r.written)), nil
}
