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
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		exit(child(os.Args[2]))
	}
	b := bench{}
	flag.IntVar(&b.rounds, "rounds", 6, "how often everything is run")
	flag.StringVar(&b.dir, "dir", "", "the folder for the files, that for temporary files if empty")
	flag.StringVar(&b.results, "results", "", "write a table in Markdown to this file")
	only := flag.String("only", "", "run the scenarios whose names match this expression")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b.only = regexp.MustCompile(*only)
	exit(b.run(ctx))
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
	rounds       int
	dir, results string
	only         *regexp.Regexp
	crate        crate
}

// outcome is what a run prints.
type outcome struct {
	Ops    int   `json:"ops"`
	NS     int64 `json:"ns"`
	Length int64 `json:"length"` // of the payload in the end
	Live   int64 `json:"live"`   // bytes in live regions in the end, 0 if the engine does not say
}

func (b *bench) run(ctx context.Context) error {
	if err := b.crate.build(ctx); err != nil {
		return err
	}
	all := map[string]*series{}
	for round := range b.rounds {
		for _, s := range scenarios {
			if !b.only.MatchString(s.Name) || s.Once && round > 0 {
				continue
			}
			for _, engine := range s.engines {
				out, err := b.one(ctx, s, engine)
				if err != nil {
					return fmt.Errorf("%s, %s, round %d: %w", s.Name, engine, round, err)
				}
				key := s.Name + "/engine=" + engine
				fmt.Printf("Benchmark%s 1 %d ns/op %d length-B\n", key, out.NS/int64(max(out.Ops, 1)), out.Length)
				if all[key] == nil {
					all[key] = &series{}
				}
				all[key].add(out)
			}
		}
	}
	if b.results == "" {
		return nil
	}
	return writeResults(b.results, b, all)
}

// one runs a scenario on an engine.
func (b *bench) one(ctx context.Context, s scenario, engine string) (out outcome, err error) {
	dir, err := os.MkdirTemp(b.dir, "alloc-bench-")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
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
