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

	"github.com/holtdb/holt/interop/internal/peer"
)

// driver returns the class path of the program in driver. It skips the test when that cannot be had, unless the peers
// are required.
func driver(t *testing.T) string {
	t.Helper()
	return build().Require(t, "Oak")
}

// build compiles beside the build cache of Go, so that the next run finds what is there.
var build = sync.OnceValue(func() peer.Built {
	cache, err := os.UserCacheDir()
	if err != nil {
		return peer.Built{Err: err}
	}
	for _, program := range []string{"mvn", "javac", "java"} {
		if _, err := exec.LookPath(program); err != nil {
			return peer.Built{Missing: err}
		}
	}
	target := filepath.Join(cache, "holt-interop-oak")
	b := peer.Built{Path: filepath.Join(target, "jars", "*")}
	if maven(target, "--offline") == nil {
		return b
	}
	if err := maven(target); err != nil { // not all was there, or the program is wrong
		if strings.Contains(err.Error(), "COMPILATION ERROR") {
			b.Err = err
		} else {
			b.Missing = err
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
