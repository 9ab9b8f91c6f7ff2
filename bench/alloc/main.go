// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Alloc measures allocators: ours, those of the Rust crate bstack, modernc.org/file and modernc.org/lldb. Every run is a
// process of its own. The engines take turns within a round, so that all see the same machine.
//
// It prints lines as go test does, for benchstat, and with -results writes a table of medians and ratios.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/holtdb/holt/bench/internal/rounds"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		rounds.Exit(child(os.Args[2]))
	}
	b := bench{}
	b.Define(6, "scenarios")
	flag.StringVar(&b.dir, "dir", "", "the folder for the files, that for temporary files if empty")
	flag.Parse()
	rounds.Main(b.run)
}

// bench is one call of the program.
type bench struct {
	rounds.Flags
	dir   string
	crate crate
}

// outcome is what a run prints.
type outcome struct {
	Ops    int   `json:"ops"`
	NS     int64 `json:"ns"`
	Length int64 `json:"length"` // of the payload in the end
	Live   int64 `json:"live"`   // bytes in live regions in the end, 0 if the engine does not say
}

// String is the outcome as benchstat reads it.
func (o outcome) String() string { return fmt.Sprintf("%.0f ns/op %d length-B", o.perOp(), o.Length) }

// perOp is nanoseconds.
func (o outcome) perOp() float64 { return float64(o.NS) / float64(max(o.Ops, 1)) }

func (b *bench) run(ctx context.Context) error {
	if err := b.crate.build(ctx); err != nil {
		return err
	}
	var tasks []rounds.Task[outcome]
	for _, s := range scenarios {
		tasks = append(tasks, rounds.Task[outcome]{
			Name: s.Name, Engines: s.engines, Once: s.Once,
			Run: func(ctx context.Context, engine string) (outcome, error) { return b.one(ctx, s, engine) },
		})
	}
	all, err := rounds.Measure(ctx, &b.Flags, tasks)
	if err != nil || b.Results == "" {
		return err
	}
	return b.write(all)
}

// one runs a scenario on an engine.
func (b *bench) one(ctx context.Context, s scenario, engine string) (out outcome, err error) {
	dir, err := os.MkdirTemp(b.dir, "alloc-bench-")
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	cmd, err := b.command(ctx, s, engine, filepath.Join(dir, "file"))
	if err != nil {
		return out, err
	}
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(printed, &out)
}

func (b *bench) command(ctx context.Context, s scenario, engine, path string) (*exec.Cmd, error) {
	if name, ok := b.crate.engine(engine); ok {
		return b.crate.command(ctx, s, name, path), nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	job, err := json.Marshal(job{s, engine, path})
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, self, "child", string(job)), nil
}
