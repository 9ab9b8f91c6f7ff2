// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Content measures content stores: ours, Apache Jackrabbit Oak's segment store, and the Rust crate froe. All read the same
// store, which Oak wrote. Each engine is a process that stays, so that Oak is warm; within a round they take turns, so that
// all see the same machine.
//
// It prints lines as go test does, for benchstat, and with -results writes a table of medians and ratios.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holtdb/holt/bench/internal/rounds"
	"github.com/holtdb/holt/content"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		rounds.Exit(child(os.Args[2:]))
	}
	b := bench{peers: map[string]*peer{}}
	b.Define(5, "measures")
	flag.IntVar(&b.folders, "folders", 1000, "the size of the store: each is 1001 nodes")
	dir := flag.String("dir", "", "the folder for the stores, that for temporary files if empty")
	flag.Parse()
	rounds.Main(func(ctx context.Context) error { return b.in(ctx, *dir) })
}

// bench is one call of the program.
type bench struct {
	rounds.Flags
	folders int

	programs programs
	dir      string           // where stores are made
	store    string           // that is read
	peers    map[string]*peer // by engine
	reading  bool             // those that traverse have the store open
	contents outcome          // of a traversal
}

func (b *bench) in(ctx context.Context, parent string) (err error) {
	if b.dir, err = os.MkdirTemp(parent, "content-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	b.store = filepath.Join(b.dir, "store")
	if err := b.programs.build(ctx); err != nil {
		return err
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	defer func() {
		for _, p := range b.peers {
			err = errors.Join(err, p.stop())
		}
	}()
	return b.run(ctx)
}

func (b *bench) start(ctx context.Context) error {
	for _, engine := range []string{oak, holt, froe} {
		cmd, err := b.programs.command(ctx, engine)
		if err != nil {
			return err
		}
		if b.peers[engine], err = startPeer(cmd); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) run(ctx context.Context) error {
	if err := b.prepare(ctx); err != nil {
		return err
	}
	var tasks []rounds.Task[outcome]
	for _, m := range measures {
		tasks = append(tasks, rounds.Task[outcome]{
			Name: m.name, Engines: m.engines,
			Run: func(ctx context.Context, engine string) (outcome, error) { return m.run(ctx, b, engine) },
		})
	}
	all, err := rounds.Measure(ctx, &b.Flags, tasks)
	if err != nil || b.Results == "" {
		return err
	}
	return b.write(all)
}

// warmUps is how often Oak does everything before it is measured.
const warmUps = 3

// prepare makes the store, and holds what is in it against what we make of the same tree.
func (b *bench) prepare(ctx context.Context) error {
	if _, err := b.peers[oak].do("write", b.store, b.folders); err != nil {
		return err
	}
	ours := filepath.Join(b.dir, "ours")
	if _, err := b.peers[holt].do("write", ours, b.folders); err != nil {
		return err
	}
	if err := sameContent(ctx, b.store, ours); err != nil {
		return err
	}
	return os.RemoveAll(ours)
}

func sameContent(ctx context.Context, dirs ...string) error {
	var sums [2]any
	for i, dir := range dirs {
		s, err := content.Open(dir, nil)
		if err != nil {
			return err
		}
		head, _ := s.Head()
		sum, err := s.Fingerprint(ctx, head, "/root/tree")
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
		sums[i] = sum
	}
	if sums[0] != sums[1] {
		return fmt.Errorf("the trees that Oak and we make differ: %x, %x", sums[0], sums[1])
	}
	return nil
}
