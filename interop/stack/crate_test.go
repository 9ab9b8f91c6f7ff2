// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// Versions of bstack that driver/Cargo.toml asks for.
const (
	version    = "0.4.4"
	oldVersion = "0.2.7"
)

// built is the outcome of building the driver: its path, or why it cannot be had, or what is wrong with it.
type built struct {
	path         string
	missing, err error
}

// driver returns the path of the program in driver. It skips the test when that cannot be had, unless the peers are
// required.
func driver(t *testing.T) string {
	t.Helper()
	b := build()
	switch {
	case b.missing != nil && os.Getenv("HOLT_REQUIRE_PEERS") == "1":
		t.Fatalf("bstack cannot be had: %v", b.missing)
	case b.missing != nil:
		t.Skipf("bstack cannot be had: %v", b.missing)
	case b.err != nil:
		t.Fatal(b.err)
	}
	return b.path
}

// build compiles beside the build cache of Go, so that the next run finds what is there.
var build = sync.OnceValue(func() built {
	cache, err := os.UserCacheDir()
	if err != nil {
		return built{err: err}
	}
	target := filepath.Join(cache, "holt-interop-stack")
	if cargo(target, "fetch", "--offline") != nil { // not there yet
		if err := cargo(target, "fetch"); err != nil {
			return built{missing: err}
		}
	}
	program := filepath.Join(target, "debug", "driver")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	return built{path: program, err: cargo(target, "build", "--offline")}
})

func cargo(target string, args ...string) error {
	cmd := exec.Command("cargo", args...)
	cmd.Dir = "driver"
	cmd.Env = append(os.Environ(), "CARGO_TARGET_DIR="+target)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}
