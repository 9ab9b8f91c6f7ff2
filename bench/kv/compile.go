// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"debug/buildinfo"
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
var modules = map[string]string{
	"go.etcd.io/bbolt": "bbolt", "github.com/cockroachdb/pebble/v2": "Pebble", "github.com/dgraph-io/badger/v4": "Badger",
	"modernc.org/sqlite": "modernc.org/sqlite",
}

// versions are those of the engines, as the programs say that they were built with.
func (p programs) versions() (all []string, err error) {
	info, err := buildinfo.ReadFile(p.path[rivals])
	if err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		if name, ok := modules[m.Path]; ok {
			all = append(all, name+" "+m.Version)
		}
	}
	if commit, err := exec.Command("git", "describe", "--always", "--dirty").Output(); err == nil {
		all = append(all, "Holt "+strings.TrimSpace(string(commit)))
	}
	return all, nil
}
