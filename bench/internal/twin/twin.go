// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package twin keeps a file for one engine the same as that for another one. Written with interfaces or type parameters,
// they would be one text, but benchmarks would measure calls that no program makes.
package twin

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files of bbolt anew")

// Check demands that a file for bbolt is one for holt with other names.
func Check(t *testing.T, ours, theirs string) {
	t.Helper()
	source, err := os.ReadFile(ours)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(
		"The Holt Authors", "The Holt Authors",
		"\npackage ", "\n// Code generated from "+ours+" by go test -update; DO NOT EDIT.\n\npackage ",
		"github.com/holtdb/holt/kv", "go.etcd.io/bbolt",
		"holt", "bbolt", "Holt", "Bbolt",
	).Replace(string(source))
	if *update {
		if err := os.WriteFile(theirs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(theirs)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("%s is not what go test -update makes of %s", theirs, ours)
	}
}
