// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package api_test holds what compat/bbolt exports, and the texts it produces, against the genuine bbolt.
package api_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// exceptions match the lines of upstream's description that compat/bbolt does not have, and say why.
var exceptions = map[*regexp.Regexp]string{
	regexp.MustCompile(`^Bucket\.\w+: method of a value`): "the header is embedded by value, which saves an allocation for " +
		"each handle; so its methods are those of *Bucket, and no function returns a Bucket that is not a pointer",
	regexp.MustCompile(`^Bucket\.InBucket: field`):                       "the same",
	regexp.MustCompile(`^Bucket\.InlinePage: method of a pointer: func`): "upstream's result is a type of an internal package",
}

// TestExportedNames compares two module contexts: in this module go.etcd.io/bbolt is the genuine one, in
// ../../compat/bbolt it is the replacement. One program cannot hold both.
func TestExportedNames(t *testing.T) {
	for _, pkg := range []string{"go.etcd.io/bbolt", "go.etcd.io/bbolt/errors", "go.etcd.io/bbolt/version"} {
		t.Run(pkg, func(t *testing.T) {
			want := describe(load(t, ".", pkg))
			got := describe(load(t, "../../compat/bbolt", pkg))
			if len(want) == 0 {
				t.Fatal("nothing is exported upstream")
			}
			for _, line := range want {
				switch has, reason := slices.Contains(got, line), exception(line); {
				case !has && reason == "":
					t.Errorf("missing: %s%s", line, nearest(got, line))
				case has && reason != "":
					t.Errorf("present, although an exception (%s): %s", reason, line)
				}
			}
		})
	}
}

func exception(line string) string {
	for re, reason := range exceptions {
		if re.MatchString(line) {
			return reason
		}
	}
	return ""
}

// nearest explains a missing line by those that describe the same name.
func nearest(lines []string, want string) string {
	name, _, _ := strings.Cut(want, ":")
	var b strings.Builder
	for _, line := range lines {
		if strings.HasPrefix(line, name+":") {
			b.WriteString("\n\tinstead: " + line)
		}
	}
	return b.String()
}

func load(t *testing.T, dir, path string) *packages.Package {
	t.Helper()
	cfg := &packages.Config{
		Context: t.Context(),
		Mode:    packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps,
		Dir:     dir,
		Env:     append(os.Environ(), "GOWORK=off"),
	}
	pkgs, err := packages.Load(cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) != 1 || len(pkgs[0].Errors) > 0 || pkgs[0].PkgPath != path {
		t.Fatalf("load %s in %s: %v", path, dir, pkgs[0].Errors)
	}
	return pkgs[0]
}
