// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// importPath is that of this program.
const importPath = "github.com/holtdb/holt/cmd/holt"

// self is how the user can run this program again: by its name where the shell finds it, by the command it was run with
// where "go run" built it, else by its path.
func self() string {
	exe, err := os.Executable()
	if err != nil {
		return "holt"
	}
	if found, err := exec.LookPath("holt"); err == nil && sameFile(found, exe) {
		return "holt"
	}
	if isGoRun(exe) {
		return goRun(version())
	}
	return quoteArg(exe)
}

// cachedExe is the name of a folder in Go's build cache that holds an executable.
var cachedExe = regexp.MustCompile(`^[0-9a-f]{64}-d$`)

// isGoRun says whether "go run" built the program: in a folder like go-build1234/b001/exe that is gone when it ends, or,
// from the second time on, in the build cache.
func isGoRun(exe string) bool {
	dir := filepath.Dir(exe)
	if cachedExe.MatchString(filepath.Base(dir)) {
		return true
	}
	return filepath.Base(dir) == "exe" && strings.HasPrefix(filepath.Base(filepath.Dir(filepath.Dir(dir))), "go-build")
}

// goRun is the command line of "go run" that builds the program again.
func goRun(version string) string {
	if _, err := os.Stat(filepath.Join("cmd", "holt", "main.go")); err == nil && inModule() {
		return "go run ./cmd/holt"
	}
	if version == devVersion || inModule() {
		return "go run " + importPath
	}
	return "go run " + importPath + "@" + version
}

// inModule says whether the current folder is in the source of this program.
func inModule() bool {
	dir, err := os.Getwd()
	if err != nil {
		return false
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			return strings.HasPrefix(string(mod), "module github.com/holtdb/holt\n")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

func sameFile(a, b string) bool {
	ai, err := os.Stat(a)
	if err != nil {
		return false
	}
	bi, err := os.Stat(b)
	return err == nil && os.SameFile(ai, bi)
}

// shellCommand joins arguments so that a shell takes them apart again.
func shellCommand(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = quoteArg(arg)
	}
	return strings.Join(quoted, " ")
}

// quoteArg quotes an argument for the shell, where it needs that.
func quoteArg(arg string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,"
	if arg != "" && strings.Trim(arg, plain) == "" {
		return arg
	}
	if runtime.GOOS == "windows" {
		return `"` + arg + `"` // a file name cannot contain a quote there
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
