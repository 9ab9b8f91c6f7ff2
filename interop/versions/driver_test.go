// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/holtdb/holt/internal/fixture"
)

// A driver is the program of the directory driver, built with one release.
type driver struct {
	program string
}

// buildDriver builds the driver with a release of bbolt. It skips the test
// when the release cannot be fetched, unless the peers are required.
func buildDriver(t *testing.T, version string) driver {
	t.Helper()
	dir := t.TempDir()
	source, err := os.ReadFile(filepath.Join("driver", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	gomod := fmt.Sprintf("module driver\n\ngo 1.26\n\nrequire go.etcd.io/bbolt %s\n", version)
	for name, content := range map[string][]byte{"main.go": source, "go.mod": []byte(gomod)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := goTool(dir, "mod", "download", "go.etcd.io/bbolt"); err != nil {
		fixture.Lacking(t, "bbolt %s cannot be fetched: %v\n%s", version, err, out)
	}
	if out, err := goTool(dir, "build", "-mod=mod", "-o", "driver", "."); err != nil {
		t.Fatalf("building with bbolt %s: %v\n%s", version, err, out)
	}
	d := driver{filepath.Join(dir, "driver")}
	if got := strings.TrimSpace(d.run(t, "", "version")); got != version {
		t.Fatalf("built with bbolt %s, want %s", got, version)
	}
	return d
}

func goTool(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false")
	return cmd.CombinedOutput()
}

func (d driver) run(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command(d.program, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("driver %q: %v\n%s", args, err, stderr.Bytes())
	}
	return stdout.String()
}

func (d driver) apply(t *testing.T, file string, f format, s script) {
	t.Helper()
	args := []string{"apply", "-page-size", strconv.Itoa(f.pageSize)}
	if f.noFreelistSync {
		args = append(args, "-no-freelist-sync")
	}
	d.run(t, s.String(), append(args, file)...)
}

// verify demands that the release reads what it should and finds no damage.
func (d driver) verify(t *testing.T, file string, want []string) {
	t.Helper()
	d.run(t, "", "check", file)
	compare(t, strings.Split(strings.TrimSuffix(d.run(t, "", "dump", file), "\n"), "\n"), want)
}
