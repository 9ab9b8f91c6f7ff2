// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// programs are those of the other sides.
type programs struct {
	oak  string // a class path
	froe string
}

// sources is where theirs are, seen from the folder of this module.
const sources = "content"

// build compiles into the folder for caches, so that the next run finds what is there.
func (p *programs) build(ctx context.Context) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	target := filepath.Join(cache, "holt-bench-content")
	jars, crate := filepath.Join(target, "oak"), filepath.Join(target, "froe")
	maven := exec.CommandContext(ctx, "mvn", "--quiet", "--batch-mode", "-Ddriver.target="+jars, "package")
	maven.Dir = filepath.Join(sources, "oak")
	cargo := exec.CommandContext(ctx, "cargo", "build", "--release", "--quiet")
	cargo.Dir = filepath.Join(sources, "froe")
	cargo.Env = append(os.Environ(), "CARGO_TARGET_DIR="+crate)
	for _, cmd := range []*exec.Cmd{maven, cargo} {
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
	}
	p.oak = filepath.Join(jars, "jars", "*")
	p.froe = filepath.Join(crate, "release", "driver")
	return nil
}

// command is how an engine is run: with arguments it does one thing, without it waits for lines.
func (p *programs) command(ctx context.Context, engine string, args ...string) (*exec.Cmd, error) {
	switch engine {
	case oak:
		java := []string{"-Xmx4g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", p.oak, "Driver"}
		return exec.CommandContext(ctx, "java", append(java, args...)...), nil
	case froe:
		return exec.CommandContext(ctx, p.froe, args...), nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, self, append([]string{"child"}, args...)...), nil
}
