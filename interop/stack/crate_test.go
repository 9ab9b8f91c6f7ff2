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

	"github.com/holtdb/holt/interop/internal/peer"
)

// Versions of bstack that driver/Cargo.toml asks for.
const (
	version    = "0.4.4"
	oldVersion = "0.2.7"
)

// driver returns the path of the program in driver. It skips the test when that cannot be had, unless the peers are
// required.
func driver(t *testing.T) string {
	t.Helper()
	return build().Require(t, "bstack")
}

// build compiles beside the build cache of Go, so that the next run finds what is there.
var build = sync.OnceValue(func() peer.Built {
	cache, err := os.UserCacheDir()
	if err != nil {
		return peer.Built{Err: err}
	}
	target := filepath.Join(cache, "holt-interop-stack")
	if cargo(target, "fetch", "--offline") != nil { // not there yet
		if err := cargo(target, "fetch"); err != nil {
			return peer.Built{Missing: err}
		}
	}
	program := filepath.Join(target, "debug", "driver")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	return peer.Built{Path: program, Err: cargo(target, "build", "--offline")}
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
