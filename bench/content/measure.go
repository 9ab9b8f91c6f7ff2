// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// measure is something to be measured. Ratios are to the first engine.
type measure struct {
	name    string
	engines []string
	run     func(ctx context.Context, b *bench, engine string) (outcome, error)
}

// Engines.
const (
	oak       = "oak"
	froe      = "froe"
	holt      = "holt"
	twoWorker = "holt-workers=2"
)

var measures = []measure{
	{"Traverse", []string{oak, holt, twoWorker}, traverse},
	{"TraverseOnce", []string{holt}, traverseOnce},
	{"OpenAndReadOne", []string{oak, holt}, openAndReadOne},
	{"Check", []string{froe, holt}, do("check")},
	{"Digest", []string{froe, holt}, do("digest")},
	{"Write", []string{oak, holt}, writeStore},
}

// traverse reads the store from end to end, which is in memory then.
func traverse(_ context.Context, b *bench, engine string) (outcome, error) {
	if !b.reading {
		if err := b.open(); err != nil {
			return outcome{}, err
		}
	}
	workers := 1
	if engine == twoWorker {
		engine, workers = holt, 2
	}
	out, err := b.peers[engine].do("traverse", workers)
	if err == nil && out.Sum != b.contents.Sum {
		err = fmt.Errorf("the sum is %d instead of %d", out.Sum, b.contents.Sum)
	}
	return out, err
}

// open opens the store to be traversed, and warms up.
func (b *bench) open() error {
	for _, engine := range []string{oak, holt} {
		if _, err := b.peers[engine].do("open", b.store); err != nil {
			return err
		}
		for range warmUps {
			out, err := b.peers[engine].do("traverse", 1)
			if err != nil {
				return err
			}
			b.contents = out
		}
	}
	b.reading = true
	return nil
}

// traverseOnce is the first traversal of a process, so that its memory is that of one.
func traverseOnce(ctx context.Context, b *bench, engine string) (out outcome, err error) {
	cmd, err := b.programs.command(ctx, engine)
	if err != nil {
		return out, err
	}
	p, err := startPeer(cmd)
	if err != nil {
		return out, err
	}
	if _, err = p.do("open", b.store); err == nil {
		out, err = p.do("traverse", 1)
	}
	return out, errors.Join(err, p.stop())
}

// openAndReadOne is a whole process.
func openAndReadOne(ctx context.Context, b *bench, engine string) (out outcome, err error) {
	cmd, err := b.programs.command(ctx, engine, b.store, "/root/tree/section-0/folder-7/page-707/jcr:content/par-3")
	if err != nil {
		return out, err
	}
	cmd.Stderr = os.Stderr
	start := time.Now()
	printed, err := cmd.Output()
	out.NS = time.Since(start).Nanoseconds()
	if err == nil && len(printed) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if cmd.ProcessState != nil {
		out.processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return out, err
}

// do gives a command that opens the store.
func do(command string) func(context.Context, *bench, string) (outcome, error) {
	return func(_ context.Context, b *bench, engine string) (outcome, error) {
		return b.peers[engine].do(command, b.store)
	}
}

// writeStore makes another store.
func writeStore(_ context.Context, b *bench, engine string) (out outcome, err error) {
	dir := filepath.Join(b.dir, "written")
	if out, err = b.peers[engine].do("write", dir, b.folders); err == nil {
		out.size, err = size(dir)
	}
	return out, errors.Join(err, os.RemoveAll(dir))
}

// size is the bytes of all files in a folder.
func size(dir string) (n int64, err error) {
	files, err := os.ReadDir(dir)
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return n, err
		}
		n += info.Size()
	}
	return n, err
}
