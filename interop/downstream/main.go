// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Command downstream runs the unchanged test suites of programs that use bbolt on the engine of this repository.
//
//	go run ./downstream                          # every suite, from the directory interop
//	go run ./downstream -only raft-boltdb,etcd
//	go run ./downstream -with real               # the baseline: the same suites with the genuine bbolt
//
// It exits with 0 when every test passed, 1 when one failed or a suite could not be run, 2 on wrong usage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/holtdb/holt/interop/internal/dropin"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cfg, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "downstream:", err)
		return 2
	case cfg.list:
		printSuites(stdout, cfg.suites)
		return 0
	}
	results, err := runAll(ctx, cfg, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "downstream:", err)
		return 1
	}
	printFailures(stdout, results)
	printTable(stdout, cfg.runner.engine, results)
	for _, r := range results {
		if !r.ok() {
			return 1
		}
	}
	return 0
}

type config struct {
	suites []suite
	runner runner
	list   bool
	keep   bool
}

func parse(args []string, stderr io.Writer) (config, error) {
	var cfg config
	fs := flag.NewFlagSet("downstream", flag.ContinueOnError)
	fs.SetOutput(stderr)
	only := fs.String("only", "", "run these suites: comma-separated `names` (default all)")
	with := fs.String("with", string(dropin.Holt), "`engine` behind go.etcd.io/bbolt: holt or real")
	fs.BoolVar(&cfg.list, "list", false, "print the suites and exit")
	fs.BoolVar(&cfg.keep, "keep", false, "keep the directory of copies and logs")
	fs.StringVar(&cfg.runner.filter, "run", "", "run only tests that match this `regexp`")
	fs.BoolVar(&cfg.runner.race, "race", false, "compile with the race detector")
	fs.DurationVar(&cfg.runner.timeout, "timeout", 15*time.Minute, "limit for the tests of one package")
	if err := fs.Parse(args); err != nil {
		return cfg, err
	}
	if fs.NArg() > 0 {
		return cfg, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	var err error
	if cfg.runner.engine, err = dropin.ParseEngine(*with); err != nil {
		return cfg, err
	}
	cfg.suites, err = selectSuites(*only)
	return cfg, err
}

// runAll runs the suites one after the other: each compiles a large program and then uses every core.
func runAll(ctx context.Context, cfg config, progress io.Writer) ([]result, error) {
	work, err := os.MkdirTemp("", "downstream-")
	if err != nil {
		return nil, err
	}
	if cfg.keep {
		fmt.Fprintln(progress, "work directory:", work)
	} else {
		defer func() { _ = os.RemoveAll(work) }()
	}
	cfg.runner.work = work
	var results []result
	for _, s := range cfg.suites {
		fmt.Fprintf(progress, "%s: %s\n", s.name, strings.Join(s.packages, " "))
		results = append(results, cfg.runner.run(ctx, s))
		if ctx.Err() != nil {
			return results, ctx.Err()
		}
	}
	return results, nil
}
