// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/holtdb/holt/internal/stackbench"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// job is what a child process is told to do.
type job struct {
	Scenario scenario
	Engine   string
	Path     string
}

// child runs a scenario on an engine in Go.
func child(arg string) error {
	var j job
	if err := json.Unmarshal([]byte(arg), &j); err != nil {
		return err
	}
	out, err := j.run(context.Background())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func (j job) run(ctx context.Context) (outcome, error) {
	switch j.Engine {
	case holtGhost, holtJournal:
		return j.ours(ctx, opener(alloc.OpenGhostTree))
	case holtFirst:
		return j.ours(ctx, opener(alloc.OpenFirstFit))
	case modernFile:
		return j.durable(newModernFile)
	case modernLLDB:
		return j.durable(newModernLLDB)
	}
	return outcome{}, fmt.Errorf("no such engine: %s", j.Engine)
}

type open func(s *stack.Stack) (alloc.Allocator, error)

func opener[A alloc.Allocator](fn func(s *stack.Stack) (A, error)) open {
	return func(s *stack.Stack) (alloc.Allocator, error) { return fn(s) }
}

func (j job) ours(ctx context.Context, open open) (outcome, error) {
	switch j.Scenario.Kind {
	case opening:
		return j.opening(ctx, open)
	case durableAlloc:
		return j.durable(newHolt)
	}
	a := &switching{path: j.Path, open: open, journal: j.Engine == holtJournal}
	if err := a.reopen(true); err != nil {
		return outcome{}, err
	}
	took, live, err := stackbench.Measure(ctx, j.Scenario.Work, a, func() error { return a.reopen(!j.Scenario.Sync) })
	if err != nil {
		return outcome{}, err
	}
	return outcome{j.Scenario.Work.Ops, took.Nanoseconds(), a.Stack().Len(), live}, a.Stack().Close()
}

// switching is an allocator whose file is filled without syncs and then opened anew, with them if they are to be measured.
// Regions are of whoever has it open.
type switching struct {
	alloc.Allocator
	path    string
	open    open
	journal bool // also without syncs
}

func (s *switching) reopen(noSync bool) error {
	if s.Allocator != nil {
		if err := s.Stack().Close(); err != nil {
			return err
		}
	}
	st, err := stack.Open(s.path, &stack.Options{NoSync: noSync, NoJournal: !s.journal})
	if err != nil {
		return err
	}
	s.Allocator, err = s.open(st)
	return err
}

func (s *switching) Alloc(n int64) (alloc.Region, error) {
	r, err := s.Allocator.Alloc(n)
	return anonymous(r), err
}

func (s *switching) Realloc(r alloc.Region, n int64) (alloc.Region, error) {
	r, err := s.Allocator.Realloc(r, n)
	return anonymous(r), err
}

func anonymous(r alloc.Region) alloc.Region { return alloc.RegionFrom(r.Bytes()) }

// opening measures how long it takes to open a file.
func (j job) opening(ctx context.Context, open open) (outcome, error) {
	a := &switching{path: j.Path, open: open}
	if err := a.reopen(true); err != nil {
		return outcome{}, err
	}
	w := j.Scenario.Work
	w.Ops = 1
	if _, _, err := stackbench.Measure(ctx, w, a, func() error { return nil }); err != nil {
		return outcome{}, err
	}
	if err := a.Stack().Close(); err != nil {
		return outcome{}, err
	}
	a.Allocator = nil
	start := time.Now()
	if err := a.reopen(false); err != nil {
		return outcome{}, err
	}
	took := time.Since(start)
	return outcome{1, took.Nanoseconds(), a.Stack().Len(), 0}, a.Stack().Close()
}
