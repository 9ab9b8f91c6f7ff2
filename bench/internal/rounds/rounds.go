// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package rounds is the frame of the programs that measure. Engines take turns within a round, so that all see the same
// machine.
package rounds

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

// Flags are those that all programs have.
type Flags struct {
	Rounds  int
	Results string // the file for tables; empty for none
	only    *regexp.Regexp
}

// Define adds the flags to the command line. what is measured has names.
func (f *Flags) Define(rounds int, what string) {
	f.only = regexp.MustCompile("")
	flag.IntVar(&f.Rounds, "rounds", rounds, "how often everything is run")
	flag.StringVar(&f.Results, "results", "", "write a chapter in Markdown into this file")
	flag.Func("only", "run the "+what+" whose names match this `expression`", func(s string) (err error) {
		f.only, err = regexp.Compile(s)
		return err
	})
}

// Has says whether something is to be measured.
func (f *Flags) Has(name string) bool { return f.only.MatchString(name) }

// Main runs a program until it is done or interrupted, and exits.
func Main(run func(ctx context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	Exit(err)
}

// Exit ends the program, with an error or without.
func Exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A Task is something to be measured. Outcomes are printed as benchstat reads them.
type Task[O fmt.Stringer] struct {
	Name    string
	Engines []string
	Once    bool // in the first round only
	Run     func(ctx context.Context, engine string) (O, error)
}

// Outcomes are those of a program.
type Outcomes[O fmt.Stringer] map[key][]O

type key struct{ task, engine string }

// Of is those of an engine in a task, by round.
func (all Outcomes[O]) Of(task, engine string) []O { return all[key{task, engine}] }

// Measure runs all tasks, and prints the outcomes.
func Measure[O fmt.Stringer](ctx context.Context, f *Flags, tasks []Task[O]) (Outcomes[O], error) {
	all := Outcomes[O]{}
	for round := range f.Rounds {
		for _, t := range tasks {
			if !f.Has(t.Name) || t.Once && round > 0 {
				continue
			}
			for _, engine := range t.Engines {
				out, err := t.Run(ctx, engine)
				if err != nil {
					return all, fmt.Errorf("%s, %s, round %d: %w", t.Name, engine, round, err)
				}
				fmt.Printf("Benchmark%s/engine=%s 1 %s\n", t.Name, engine, out)
				k := key{t.Name, engine}
				all[k] = append(all[k], out)
			}
		}
	}
	return all, nil
}
