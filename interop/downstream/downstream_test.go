// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/interop/internal/dropin"
	"github.com/holtdb/holt/interop/internal/peer"
)

// TestDownstream runs the suites named by HOLT_DOWNSTREAM: a comma-separated list, or "all". By default it runs the
// one that compiles in seconds.
func TestDownstream(t *testing.T) {
	names, ok := os.LookupEnv("HOLT_DOWNSTREAM")
	switch {
	case !ok:
		names = "raft-boltdb"
	case names == "all":
		names = ""
	}
	chosen, err := selectSuites(names)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range chosen {
		t.Run(s.name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("compiling a program takes long")
			}
			peer.Require(t, s.module)
			r := runner{engine: dropin.Holt, work: t.TempDir(), timeout: 15 * time.Minute}
			res := r.run(t.Context(), s)
			var out strings.Builder
			printFailures(&out, []result{res})
			printTable(&out, r.engine, []result{res})
			t.Log(out.String())
			if !res.ok() {
				t.Fail()
			}
		})
	}
}

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		args   string
		code   int
		stdout string
	}{
		{"-list -only bleve,etcd", 0, "bleve  github.com/blevesearch/bleve/v2@"},
		{"-only nothing", 2, ""},
		{"-with other", 2, ""},
		{"surplus", 2, ""},
		{"-unknown", 2, ""},
		{"-help", 0, ""},
	} {
		var stdout, stderr strings.Builder
		code := run(t.Context(), strings.Fields(test.args), &stdout, &stderr)
		if code != test.code || !strings.HasPrefix(stdout.String(), test.stdout) {
			t.Errorf("%s: exit %d\n%s%s", test.args, code, &stdout, &stderr)
		}
	}
}
