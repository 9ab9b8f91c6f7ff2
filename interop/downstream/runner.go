// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/holtdb/holt/interop/internal/dropin"
)

// A runner holds what all suites of one invocation have in common.
type runner struct {
	engine  dropin.Engine
	work    string // holds a directory for each suite
	filter  string
	race    bool
	timeout time.Duration
}

// A result is the outcome of one suite. Unless err is set, its tests were run, whether or not they passed.
type result struct {
	suite   suite
	report  *report
	elapsed time.Duration
	err     error
}

// ok is false as well for a suite in which no test ran: it would look like success for ever.
func (r result) ok() bool { return r.err == nil && len(r.report.failures) == 0 && r.report.passed > 0 }

func (r runner) run(ctx context.Context, s suite) result {
	start := time.Now()
	rep, err := r.test(ctx, s)
	return result{suite: s, report: rep, elapsed: time.Since(start), err: err}
}

func (r runner) test(ctx context.Context, s suite) (*report, error) {
	dir := filepath.Join(r.work, s.name)
	tmp := filepath.Join(dir, "tmp")
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return nil, err
	}
	checkout, err := dropin.CheckOut(ctx, s.module, r.engine, filepath.Join(dir, "module"))
	if err != nil {
		return nil, err
	}
	if err := checkout.VerifyPackages(ctx, s.packages...); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "test.json"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()

	cmd := checkout.Command(ctx, r.goTest(s)...)
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	rep, readErr := readEvents(out, log)
	waitErr := cmd.Wait() // an exit status of 1 tells no more than the events do
	if readErr != nil {
		return nil, fmt.Errorf("read the events of go test: %w", readErr)
	}
	if waitErr != nil && len(rep.failures) == 0 {
		return nil, fmt.Errorf("go test: %w", waitErr)
	}
	return rep, nil
}

func (r runner) goTest(s suite) []string {
	args := []string{"test", "-json", "-count=1", "-vet=off", "-timeout=" + r.timeout.String()}
	if r.race {
		// raft-boltdb's tests migrate from bolt v1, which does not pass the pointer checks that come with -race.
		args = append(args, "-race", "-gcflags=github.com/boltdb/bolt=-d=checkptr=0")
	}
	if r.filter != "" {
		args = append(args, "-run="+r.filter)
	}
	args = append(args, s.packages...)
	if os.Geteuid() == 0 {
		args = append(args, s.rootArgs...)
	}
	return args
}
