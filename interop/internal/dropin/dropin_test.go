// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package dropin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/interop/internal/peer"
)

var raftBoltDB = Module{Path: "github.com/hashicorp/raft-boltdb/v2", Version: "v2.3.1"}

// TestVerifyPackages shows that the engine is found out by what is compiled: a checkout that claims to use the other
// engine is refused.
func TestVerifyPackages(t *testing.T) {
	peer.Require(t, raftBoltDB)
	for _, test := range []struct{ engine, other Engine }{{Holt, Real}, {Real, Holt}} {
		t.Run(string(test.engine), func(t *testing.T) {
			c, err := CheckOut(t.Context(), raftBoltDB, test.engine, filepath.Join(t.TempDir(), "copy"))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.VerifyPackages(t.Context(), "./..."); err != nil {
				t.Error(err)
			}
			c.engine = test.other
			if err := c.VerifyPackages(t.Context(), "./..."); err == nil {
				t.Errorf("%s passes for %s", test.engine, test.other)
			}
		})
	}
}

// TestVerifyBinary does the same with a program.
func TestVerifyBinary(t *testing.T) {
	for _, test := range []struct{ engine, other Engine }{{Holt, Real}, {Real, Holt}} {
		t.Run(string(test.engine), func(t *testing.T) {
			c := newProgram(t, test.engine)
			bin := filepath.Join(t.TempDir(), "program")
			if err := c.Build(t.Context(), bin); err != nil {
				t.Fatal(err)
			}
			if err := c.VerifyBinary(bin); err != nil {
				t.Error(err)
			}
			c.engine = test.other
			if err := c.VerifyBinary(bin); err == nil {
				t.Errorf("%s passes for %s", test.engine, test.other)
			}
		})
	}
}

func TestVerifyBinaryWithoutEngine(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Engine{Holt, Real} {
		if err := (&Checkout{engine: e}).VerifyBinary(self); err == nil {
			t.Errorf("a program without an engine passes for %s", e)
		}
	}
}

// newProgram writes a program that uses bbolt. Its go.mod has a replacement by a neighbour, as etcd's have.
func newProgram(t *testing.T, e Engine) *Checkout {
	t.Helper()
	repo, err := repository(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := &Checkout{Dir: t.TempDir(), engine: e, repo: repo}
	for name, text := range map[string]string{
		"go.mod": "module program\n\ngo 1.26.0\n\nrequire go.etcd.io/bbolt v1.5.0\n\nreplace program/absent => ../absent\n",
		"main.go": `package main

import "go.etcd.io/bbolt"

func main() { println(bbolt.MaxKeySize) }
`,
	} {
		if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.editGoMod(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEditGoMod(t *testing.T) {
	for engine, want := range map[Engine]int{Holt: 2, Real: 0} {
		c := newProgram(t, engine)
		got, err := c.replacements(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != want {
			t.Errorf("%s: replacements %v, want %d", engine, got, want)
		}
	}
}
