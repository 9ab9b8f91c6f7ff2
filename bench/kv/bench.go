// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/holtdb/holt/bench/internal/report"
	"github.com/holtdb/holt/bench/internal/rounds"
)

// bench is one call of the program.
type bench struct {
	rounds.Flags
	others       int // of the rounds have the rivals, too
	short        bool
	disk, memory string // folders

	programs programs
	all      map[series]values
	versions []string
	since    string // the load of the machine before
}

// series are the runs of one engine.
type series struct {
	suite, workload, engine string
}

// values are what was measured, by its unit.
type values map[string]report.Series

// run goes on after a run that failed, and reports what it has when it is interrupted.
func (b *bench) run(ctx context.Context) (err error) {
	for _, dir := range []*string{&b.disk, &b.memory} {
		if *dir, err = os.MkdirTemp(*dir, "holt-bench-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(*dir) }() // of a temporary directory
	}
	if b.versions, err = versions(ctx); err != nil {
		return err
	}
	if b.programs, err = compile(ctx, b.disk); err != nil {
		return err
	}
	failed := b.measure(ctx)
	if b.Results != "" {
		return errors.Join(failed, b.write())
	}
	return failed
}

func (b *bench) measure(ctx context.Context) (failed error) {
	for round := range b.Rounds {
		for _, w := range slices.Concat(workloads, comparisons) {
			if !b.Has(w.name) || b.short && w.long || w.suite == rivals && round >= b.others {
				continue
			}
			engines := slices.Clone(w.engines)
			if round%2 == 1 {
				slices.Reverse(engines)
			}
			for _, engine := range engines {
				if engine == lmdb && !b.programs.lmdb {
					continue
				}
				err := b.one(ctx, w, engine)
				if ctx.Err() != nil {
					return errors.Join(failed, ctx.Err())
				}
				if err != nil {
					err = fmt.Errorf("%s, %s, round %d: %w", w.name, engine, round, err)
					fmt.Fprintln(os.Stderr, err)
					failed = errors.Join(failed, err)
				}
			}
		}
	}
	return failed
}

// one runs a workload on an engine.
func (b *bench) one(ctx context.Context, w workload, engine string) error {
	home := b.memory
	if w.disk {
		home = b.disk
	}
	tmp, err := os.MkdirTemp(home, "run-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.programs.path[w.suite], "-test.run", "^$", "-test.benchtime", w.times,
		"-test.bench", w.pattern(engine), "-test.timeout", "0")
	if w.suite == ours {
		seeds := filepath.Join(home, "seeds")
		if err := os.MkdirAll(seeds, 0o700); err != nil {
			return err
		}
		cmd.Args = append(cmd.Args, "-seeds", seeds)
	}
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, printed)
	}
	return b.read(series{w.suite, w.name, engine}, printed)
}

// read takes up what a benchmark has printed.
func (b *bench) read(s series, printed []byte) error {
	lines := benchfmt.NewReader(bytes.NewReader(printed), s.workload)
	found := false
	for lines.Scan() {
		r, ok := lines.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		found = true
		if b.all[s] == nil {
			b.all[s] = values{}
		}
		fmt.Printf("Benchmark%s %d", r.Name, r.Iters)
		for _, v := range r.Values {
			b.all[s][v.Unit] = append(b.all[s][v.Unit], v.Value)
			if v.OrigUnit != "" {
				v.Value, v.Unit = v.OrigValue, v.OrigUnit
			}
			fmt.Printf(" %v %s", v.Value, v.Unit)
		}
		fmt.Println()
		if version := r.GetConfig(s.engine); version != "" && !slices.Contains(b.versions, version) {
			b.versions = append(b.versions, version)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("no result in %q", printed)
	}
	return nil
}
