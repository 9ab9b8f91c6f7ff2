// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package oak

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// built is the outcome of building the driver: its class path, or why it cannot be had, or what is wrong with it.
type built struct {
	path         string
	missing, err error
}

// driver returns the class path of the program in driver. It skips the test when that cannot be had, unless the peers
// are required.
func driver(t *testing.T) string {
	t.Helper()
	b := build()
	switch {
	case b.missing != nil && os.Getenv("HOLT_REQUIRE_PEERS") == "1":
		t.Fatalf("Oak cannot be had: %v", b.missing)
	case b.missing != nil:
		t.Skipf("Oak cannot be had: %v", b.missing)
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
	for _, program := range []string{"mvn", "javac", "java"} {
		if _, err := exec.LookPath(program); err != nil {
			return built{missing: err}
		}
	}
	target := filepath.Join(cache, "holt-interop-oak")
	b := built{path: filepath.Join(target, "jars", "*")}
	if maven(target, "--offline") == nil {
		return b
	}
	if err := maven(target); err != nil { // not all was there, or the program is wrong
		if strings.Contains(err.Error(), "COMPILATION ERROR") {
			b.err = err
		} else {
			b.missing = err
		}
	}
	return b
})

func maven(target string, args ...string) error {
	cmd := exec.Command("mvn", append(args, "--quiet", "--batch-mode", "-Ddriver.target="+target, "package")...)
	cmd.Dir = "driver"
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}
