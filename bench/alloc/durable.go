// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"time"

	"modernc.org/file"
	"modernc.org/lldb"

	"github.com/holtdb/holt/internal/stackbench"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// durableAllocator allocates several blocks and makes them durable at once.
type durableAllocator interface {
	allocate(sizes []int64) error
	close() error
}

// durable measures allocations, some to a commit.
func (j job) durable(open func(path string) (durableAllocator, error)) (out outcome, err error) {
	a, err := open(j.Path)
	if err != nil {
		return out, err
	}
	rng := rand.New(rand.NewPCG(stackbench.Seed, 0))
	out.Ops = j.Scenario.Work.Ops
	start := time.Now()
	for range out.Ops / j.Scenario.Batch {
		sizes := make([]int64, j.Scenario.Batch)
		for i := range sizes {
			sizes[i] = 1 + rng.Int64N(j.Scenario.Work.Max)
		}
		if err := a.allocate(sizes); err != nil {
			return out, err
		}
	}
	out.NS = time.Since(start).Nanoseconds()
	return out, a.close()
}

// holtDurable is ours. An operation is durable as it is.
type holtDurable struct{ *alloc.GhostTree }

func newHolt(path string) (durableAllocator, error) {
	s, err := stack.Open(path, nil)
	if err != nil {
		return nil, err
	}
	a, err := alloc.OpenGhostTree(s)
	return holtDurable{a}, err
}

func (h holtDurable) allocate(sizes []int64) error {
	if len(sizes) == 1 {
		_, err := h.Alloc(sizes[0])
		return err
	}
	_, err := h.AllocBulk(sizes)
	return err
}

func (h holtDurable) close() error { return h.Stack().Close() }

// withLog makes a file, and one for its log.
func withLog(path string) (f, log *os.File, err error) {
	if f, err = os.Create(path); err == nil {
		log, err = os.Create(path + ".wal")
	}
	return f, log, err
}

type modernWAL struct {
	wal *file.WAL
	a   *file.Allocator
}

func newModernFile(path string) (durableAllocator, error) {
	f, w, err := withLog(path)
	if err != nil {
		return nil, err
	}
	wal, err := file.NewWAL(f, w, 0, 12)
	if err != nil {
		return nil, err
	}
	wal.DoSync = true
	a, err := file.NewAllocator(wal)
	return &modernWAL{wal, a}, err
}

func (m *modernWAL) allocate(sizes []int64) error {
	for _, n := range sizes {
		if _, err := m.a.Calloc(n); err != nil {
			return err
		}
	}
	return errors.Join(m.a.Flush(), m.wal.Commit())
}

func (m *modernWAL) close() error { return m.wal.Close() }

type modernACID struct {
	filer *lldb.ACIDFiler0
	a     *lldb.Allocator
}

func newModernLLDB(path string) (durableAllocator, error) {
	f, w, err := withLog(path)
	if err != nil {
		return nil, err
	}
	filer, err := lldb.NewACIDFiler(lldb.NewSimpleFileFiler(f), w)
	if err != nil {
		return nil, err
	}
	if err := filer.BeginUpdate(); err != nil {
		return nil, err
	}
	a, err := lldb.NewAllocator(filer, &lldb.Options{})
	if err != nil {
		return nil, err
	}
	return &modernACID{filer, a}, filer.EndUpdate()
}

func (m *modernACID) allocate(sizes []int64) error {
	if err := m.filer.BeginUpdate(); err != nil {
		return err
	}
	for _, n := range sizes {
		if _, err := m.a.Alloc(make([]byte, n)); err != nil {
			return err
		}
	}
	return m.filer.EndUpdate()
}

func (m *modernACID) close() error { return m.filer.Close() }
