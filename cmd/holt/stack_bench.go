// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/internal/stackbench"
)

// stackBenchmark is one run of holt stack bench.
type stackBenchmark struct {
	kindFlags
	stackbench.Workload
	sync bool
	dir  string // empty for the one for temporary files
	json string // where the result goes for programs; empty for nowhere
}

func newStackBench() *cobra.Command {
	b := &stackBenchmark{}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast an allocator is",
		Long: `Makes a new file with live regions and free blocks, allocates, resizes and frees regions in it, and
prints the time of that and what was asked of the operating system. The file is checked afterwards and removed. What is
done is drawn before the clock starts, and is the same in every run.`,
		Example: `  holt stack bench
  holt stack bench --mix churn --sizes bimodal --threads 16 --free 100000
  holt stack bench --allocator ghosttree --sync=false --json result.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := b.kind(true); err != nil {
				return err
			}
			if err := b.Validate(); err != nil {
				return usageError{err}
			}
			return b.run(cmd)
		},
	}
	flags := cmd.Flags()
	b.addFlags(cmd, "ghosttree", "the kind of allocator")
	flags.StringVar(&b.Mix, "mix", "mixed", "operations: "+strings.Join(stackbench.Mixes, ", "))
	flags.StringVar(&b.Sizes, "sizes", "uniform", "distribution of sizes: "+strings.Join(stackbench.Sizes, ", "))
	flags.Int64Var(&b.Max, "max", 1024, "the greatest size in bytes")
	flags.IntVar(&b.Threads, "threads", 1, "goroutines that work at the same time")
	flags.IntVar(&b.Live, "live", 256, "regions allocated at first")
	flags.IntVar(&b.Free, "free", 0, "free blocks at first")
	flags.IntVar(&b.Ops, "ops", 2000, "operations")
	flags.BoolVar(&b.sync, "sync", true, "make each operation durable; without, there is no journal either")
	flags.StringVar(&b.dir, "dir", "", "the folder for the file, the one for temporary files if empty")
	flags.StringVar(&b.json, "json", "", `write the result as JSON to this file, "-" for standard output`)
	completeWith(cmd, "mix", stackbench.Mixes)
	completeWith(cmd, "sizes", stackbench.Sizes)
	return cmd
}

func (b *stackBenchmark) run(cmd *cobra.Command) (err error) {
	dir, err := os.MkdirTemp(b.dir, "holt-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	res, err := b.measure(cmd.Context(), cmd.ErrOrStderr(), filepath.Join(dir, "bench.stack"))
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return b.report(cmd.OutOrStdout(), res)
}

func (b *stackBenchmark) measure(
	ctx context.Context, stderr io.Writer, path string,
) (res stackbench.Result, err error) {
	preparing := progress.New(stderr, "preparing", 0)
	run, err := stackbench.Prepare(ctx, file.OS, path, b.Workload, b.open)
	preparing.Done()
	if err != nil {
		return res, err
	}
	bar := progress.New(stderr, "running", int64(b.Ops))
	defer bar.Done()
	return run.Do(ctx, b.sync, bar.Add)
}

func (b *stackBenchmark) report(out io.Writer, res stackbench.Result) error {
	r := b.result(res)
	if b.json == "-" {
		return printJSON(out, r)
	}
	fmt.Fprintf(out, "%s, %s, %s sizes up to %d, %s, sync %t\n",
		r.Allocator, r.Mix, r.Sizes, r.Max, text.Plural(r.Threads, "thread"), r.Sync)
	fmt.Fprintf(out, "%d operations in %v: %.0f/s\n", r.Ops, res.Duration, float64(r.Ops)/res.Duration.Seconds())
	per := func(n int) float64 { return float64(n) / float64(r.Ops) }
	fmt.Fprintf(out, "for each: %.3f reads, %.3f writes, %.3f syncs\n", per(r.Reads), per(r.Writes), per(r.Syncs))
	fmt.Fprintf(out, "used: %d bytes before, %d after; free: %d in %d blocks before, %d in %d after\n",
		r.Before.Used, r.After.Used, r.Before.Free, r.Before.FreeBlocks, r.After.Free, r.After.FreeBlocks)
	if b.json == "" {
		return nil
	}
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(b.json, append(content, '\n'), 0o644)
}

// stackBenchJSON is a result, and what it is one of, for programs.
type stackBenchJSON struct {
	Allocator  string    `json:"allocator"`
	BlockSize  int64     `json:"blockSize,omitempty"`
	Mix        string    `json:"mix"`
	Sizes      string    `json:"sizes"`
	Max        int64     `json:"max"`
	Threads    int       `json:"threads"`
	Live       int       `json:"live"`
	FreeBlocks int       `json:"free"`
	Sync       bool      `json:"sync"`
	Ops        int       `json:"ops"`
	NS         int64     `json:"ns"`
	Reads      int       `json:"reads"`
	ReadBytes  int64     `json:"readBytes"`
	Writes     int       `json:"writes"`
	WriteBytes int64     `json:"writeBytes"`
	Truncates  int       `json:"truncates"`
	Syncs      int       `json:"syncs"`
	Before     spaceJSON `json:"before"`
	After      spaceJSON `json:"after"`
}

func (b *stackBenchmark) result(res stackbench.Result) stackBenchJSON {
	c := res.Counts
	return stackBenchJSON{
		Allocator: b.name, BlockSize: b.blockSize, Mix: b.Mix, Sizes: b.Sizes, Max: b.Max, Threads: b.Threads,
		Live: b.Live, FreeBlocks: b.Free, Sync: b.sync, Ops: res.Ops, NS: res.Duration.Nanoseconds(),
		Reads: c.Reads, ReadBytes: c.ReadBytes, Writes: c.Writes, WriteBytes: c.WriteBytes, Truncates: c.Truncates,
		Syncs: c.DataSyncs + c.Syncs, Before: newSpaceJSON(res.Before), After: newSpaceJSON(res.After),
	}
}
