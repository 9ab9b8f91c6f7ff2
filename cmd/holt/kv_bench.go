// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/kvbench"
	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/kv"
)

// benchSeed makes every run write the same random keys.
const benchSeed = 1

var profileModes = []string{"rw", "r", "w"}

// benchmark is one run of holt kv bench.
type benchmark struct {
	kvbench.Workload
	profileMode string
	profiles    kvbench.Profiles
	opts        kv.Options
	path        string // empty for a temporary file
	keep        bool
	gobench     bool
	json        bool
}

func newKVBench() *cobra.Command {
	b := &benchmark{}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast a database is written and read",
		Long: `Writes a new database, reads all of it again and again for a second, and prints the time of both. The database is
removed afterwards.`,
		Example: `  holt kv bench
  holt kv bench --count 100000 --batch-size 1000 --write-mode rnd
  holt kv bench --gobench-output --profile-mode w --cpuprofile cpu.prof`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if b.BatchSize == 0 {
				b.BatchSize = b.Count
			}
			if err := b.validate(); err != nil {
				return usageError{err}
			}
			return b.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&b.profileMode, "profile-mode", "rw", "what to profile: "+strings.Join(profileModes, ", "))
	flags.StringVar(&b.WriteMode, "write-mode", kvbench.Sequential, "order of writing: "+strings.Join(kvbench.WriteModes, ", "))
	flags.StringVar(&b.ReadMode, "read-mode", kvbench.Sequential, "order of reading: "+strings.Join(kvbench.ReadModes, ", "))
	flags.IntVar(&b.Count, "count", 1000, "keys to write")
	flags.IntVar(&b.BatchSize, "batch-size", 0, "keys per transaction, must divide the count; 0 for all in one")
	flags.IntVar(&b.KeySize, "key-size", 8, "bytes of a key")
	flags.IntVar(&b.ValueSize, "value-size", 32, "bytes of a value")
	flags.Float64Var(&b.FillPercent, "fill-percent", kv.DefaultFillPercent, "how full a page is made when it has to be split")
	flags.BoolVar(&b.opts.NoSync, "no-sync", false, "do not sync after every transaction")
	flags.IntVar(&b.opts.PageSize, "page-size", os.Getpagesize(), "bytes of a page")
	flags.IntVar(&b.opts.InitialMmapSize, "initial-mmap-size", 0, "bytes to map at first")
	flags.StringVar(&b.path, "path", "", "the database to make, a temporary file if empty")
	flags.BoolVar(&b.keep, "work", false, "keep the database, and print its path to standard error")
	flags.StringVar(&b.profiles.CPU, "cpuprofile", "", "write a CPU profile to this file")
	flags.StringVar(&b.profiles.Memory, "memprofile", "", "write a memory profile to this file")
	flags.StringVar(&b.profiles.Block, "blockprofile", "", "write a profile of blocking to this file")
	flags.BoolVar(&b.gobench, "gobench-output", false, "print in the format of Go benchmarks, for benchstat")
	jsonFlag(cmd, &b.json)
	cmd.MarkFlagsMutuallyExclusive("gobench-output", "json")
	completeWith(cmd, "profile-mode", profileModes)
	completeWith(cmd, "write-mode", kvbench.WriteModes)
	completeWith(cmd, "read-mode", kvbench.ReadModes)
	return cmd
}

func (b *benchmark) validate() error {
	for _, f := range []struct {
		name, value string
		all         []string
	}{
		{"profile", b.profileMode, profileModes},
		{"write", b.WriteMode, kvbench.WriteModes},
		{"read", b.ReadMode, kvbench.ReadModes},
	} {
		if !slices.Contains(f.all, f.value) {
			return fmt.Errorf("the %s mode should be one of %s", f.name, strings.Join(f.all, ", "))
		}
	}
	return b.Validate()
}

func (b *benchmark) run(cmd *cobra.Command) (err error) {
	path, remove, err := b.place()
	if err != nil {
		return err
	}
	if b.keep {
		fmt.Fprintln(cmd.ErrOrStderr(), "work:", path)
	} else {
		defer func() { err = errors.Join(err, remove()) }()
	}
	write, read, err := b.measure(cmd.Context(), cmd.ErrOrStderr(), path)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return b.report(cmd.OutOrStdout(), write, read)
}

// place finds a path at which there is nothing yet, and what removes the database again.
func (b *benchmark) place() (path string, remove func() error, err error) {
	if b.path != "" {
		if exists(b.path) {
			return "", nil, usagef("%q already exists", b.path)
		}
		return b.path, func() error { return removeIfThere(b.path) }, nil
	}
	dir, err := os.MkdirTemp("", "holt-bench-")
	return filepath.Join(dir, "bench.db"), func() error { return os.RemoveAll(dir) }, err
}

// removeIfThere removes a file that may not have come into being.
func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (b *benchmark) measure(ctx context.Context, stderr io.Writer, path string) (write, read kvbench.Result, err error) {
	db, err := kv.OpenContext(ctx, path, newFileMode, &b.opts)
	if err != nil {
		return write, read, err
	}
	defer closeWith(&err, db)
	run := kvbench.New(db, b.Workload, benchSeed)
	writing := func() (err error) {
		bar := progress.New(stderr, "writing", int64(b.Count))
		defer bar.Done()
		write, err = run.Write(ctx, bar.Add)
		return err
	}
	reading := func() (err error) {
		bar := progress.New(stderr, "reading", 0)
		defer bar.Done()
		read, err = run.Read(ctx, bar.Add)
		return err
	}
	switch b.profileMode {
	case "w":
		writing = b.profiles.Around(writing)
	case "r":
		reading = b.profiles.Around(reading)
	}
	both := func() error {
		if err := writing(); err != nil {
			return err
		}
		return reading()
	}
	if b.profileMode == "rw" {
		both = b.profiles.Around(both)
	}
	err = both()
	return write, read, err
}

func (b *benchmark) report(out io.Writer, write, read kvbench.Result) error {
	if b.json {
		return printJSON(out, struct {
			Write benchJSON `json:"write"`
			Read  benchJSON `json:"read"`
		}{newBenchJSON(write), newBenchJSON(read)})
	}
	for _, phase := range []struct {
		name   string
		result kvbench.Result
	}{{"Write", write}, {"Read", read}} {
		r := phase.result
		if b.gobench {
			fmt.Fprintf(out, "Benchmark%-5s\t%8d\t%12.2f ns/op\n", phase.name, r.Ops, float64(r.Duration)/float64(r.Ops))
			continue
		}
		fmt.Fprintf(out, "# %s\t%d(ops)\t%v\t(%v/op)\t(%d op/sec)\n", phase.name, r.Ops, r.Duration, r.PerOp(), perSecond(r))
	}
	_, err := fmt.Fprintln(out)
	return err
}

// benchJSON is a result for programs.
type benchJSON struct {
	Ops         int64 `json:"ops"`
	Nanoseconds int64 `json:"ns"`
}

func newBenchJSON(r kvbench.Result) benchJSON { return benchJSON{r.Ops, r.Duration.Nanoseconds()} }

func perSecond(r kvbench.Result) int64 {
	if r.PerOp() == 0 {
		return 0
	}
	return 1e9 / r.PerOp().Nanoseconds()
}
