// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs are the compiled benchmarks.
type programs struct {
	path map[string]string // by suite
	lmdb bool              // is built in
}

// compile leaves LMDB out where it cannot be built in.
func compile(ctx context.Context, dir string) (p programs, err error) {
	p.path = map[string]string{ours: filepath.Join(dir, "kv.test"), rivals: filepath.Join(dir, "rivals.test")}
	if err := compileOne(ctx, p.path[ours], ".", ""); err != nil {
		return p, err
	}
	if err := compileOne(ctx, p.path[rivals], "./rivals", "rivals,lmdb"); err == nil {
		p.lmdb = true
		return p, nil
	} else if ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "LMDB is not built in, which needs cgo and liblmdb: %v\n", err)
	}
	return p, compileOne(ctx, p.path[rivals], "./rivals", "rivals")
}

func compileOne(ctx context.Context, program, pkg, tags string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-tags", tags, "-o", program, pkg)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// modules are those whose versions are of interest.
var modules = []string{
	"go.etcd.io/bbolt", "github.com/cockroachdb/pebble/v2", "github.com/dgraph-io/badger/v4", "modernc.org/sqlite",
}

// versions are those of the engines that are Go modules.
func versions(ctx context.Context) ([]string, error) {
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-m"}, modules...)...)
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	all := strings.Split(strings.TrimSpace(string(out)), "\n")
	if commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output(); err == nil {
		all = append(all, "Holt at commit "+strings.TrimSpace(string(commit)))
	}
	return all, nil
}
