// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// crate runs the Rust crate bstack, through the driver of the tests of interoperability.
type crate struct {
	driver string // the program
	noSync string // the library that makes its syncs do nothing until it asks for them
}

// driverDir is the source of the driver, seen from the folder of this module.
const driverDir = "../interop/stack/driver"

func (c *crate) build(ctx context.Context) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	target := filepath.Join(cache, "holt-bench-alloc")
	cargo := exec.CommandContext(ctx, "cargo", "build", "--release", "--quiet")
	cargo.Dir = driverDir
	cargo.Env = append(os.Environ(), "CARGO_TARGET_DIR="+target)
	c.driver = filepath.Join(target, "release", "driver")
	c.noSync = filepath.Join(target, "nosync.so")
	cc := exec.CommandContext(ctx, "cc", "-O2", "-shared", "-fPIC", "-o", c.noSync, filepath.Join(driverDir, "nosync.c"), "-ldl")
	for _, cmd := range []*exec.Cmd{cargo, cc} {
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
	}
	return nil
}

// engine splits the name of an engine that is the crate's into generation and allocator.
func (c *crate) engine(name string) (engine [2]string, ok bool) {
	rest, ok := strings.CutPrefix(name, "bstack-")
	if !ok {
		return engine, false
	}
	release, allocator, _ := strings.Cut(rest, "-")
	return [2]string{release[:3], allocator}, true
}

// mixes are percents of alloc, realloc and free.
var mixes = map[string]string{
	"mixed": "45,20,35", "alloc-only": "100,0,0", "alloc-heavy": "70,10,20", "realloc-heavy": "25,55,20", "churn": "40,20,40",
}

func (c *crate) command(ctx context.Context, s scenario, engine [2]string, path string) *exec.Cmd {
	what := "operations"
	if s.Kind == opening {
		what = "opening"
	}
	sync := "no"
	if s.Sync || s.Kind == opening {
		sync = "yes"
	}
	w := s.Work
	cmd := exec.CommandContext(ctx, c.driver, "bench",
		"--generation", engine[0], "--allocator", engine[1], "--measure", what,
		"--mix", mixes[w.Mix], "--sizes", w.Sizes, "--max", strconv.FormatInt(w.Max, 10),
		"--threads", strconv.Itoa(w.Threads), "--live", strconv.Itoa(w.Live), "--free", strconv.Itoa(w.Free),
		"--ops", strconv.Itoa(w.Ops), "--sync", sync, "--path", path)
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+c.noSync)
	return cmd
}
