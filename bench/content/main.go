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
	"os/signal"
	"path/filepath"
	"regexp"

	"github.com/holtdb/holt/content"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		exit(child(os.Args[2:]))
	}
	b := bench{peers: map[string]*peer{}, all: map[string]*series{}}
	flag.IntVar(&b.rounds, "rounds", 5, "how often everything is run")
	flag.IntVar(&b.folders, "folders", 1000, "the size of the store: each is 1001 nodes")
	dir := flag.String("dir", "", "the folder for the stores, that for temporary files if empty")
	flag.StringVar(&b.results, "results", "", "write a chapter in Markdown into this file")
	only := flag.String("only", "", "run the measures whose names match this expression")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b.only = regexp.MustCompile(*only)
	exit(b.in(ctx, *dir))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// bench is one call of the program.
type bench struct {
	rounds, folders int
	results         string
	only            *regexp.Regexp

	programs programs
	dir      string           // where stores are made
	store    string           // that is read
	peers    map[string]*peer // by engine
	reading  bool             // those that traverse have the store open
	contents outcome          // of a traversal
	all      map[string]*series
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
	for range b.rounds {
		for _, m := range measures {
			if !b.only.MatchString(m.name) {
				continue
			}
			for _, engine := range m.engines {
				out, err := m.run(ctx, b, engine)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", m.name, engine, err)
				}
				key := m.name + "/engine=" + engine
				fmt.Printf("Benchmark%s 1 %s\n", key, out)
				if b.all[key] == nil {
					b.all[key] = &series{}
				}
				b.all[key].add(out)
			}
		}
	}
	if b.results == "" {
		return nil
	}
	return b.write()
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
