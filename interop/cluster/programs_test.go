// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster_test runs three-node etcd clusters whose nodes store their data with this repository's engine, with
// the genuine bbolt, or with one and then the other.
package cluster_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/holtdb/holt/interop/internal/dropin"
	"github.com/holtdb/holt/interop/internal/peer"
)

var (
	etcdServer = dropin.Module{Path: "go.etcd.io/etcd/server/v3", Version: "v3.7.3"}
	etcdUtil   = dropin.Module{Path: "go.etcd.io/etcd/etcdutl/v3", Version: "v3.7.3"}
)

// programs are executables shared by the tests of this package, each built when first needed.
var programs struct {
	dir string

	mu    sync.Mutex
	built map[string]error
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cluster-")
	if err != nil {
		panic(err)
	}
	programs.dir, programs.built = dir, make(map[string]error)
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// program returns the path of an executable, building it the first time.
func program(t *testing.T, name string, build func(ctx context.Context, bin string) error) string {
	t.Helper()
	programs.mu.Lock()
	defer programs.mu.Unlock()
	bin := filepath.Join(programs.dir, name)
	err, done := programs.built[name]
	if !done {
		err = build(t.Context(), bin)
		programs.built[name] = err
	}
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// etcdProgram returns the main program of an etcd module, compiled with the engine.
func etcdProgram(t *testing.T, m dropin.Module, e dropin.Engine) string {
	t.Helper()
	name := filepath.Base(filepath.Dir(m.Path)) + "-" + string(e)
	return program(t, name, func(ctx context.Context, bin string) error {
		c, err := dropin.CheckOut(ctx, m, e, bin+".src")
		if err != nil {
			return err
		}
		if err := c.Build(ctx, bin); err != nil {
			return err
		}
		return c.VerifyBinary(bin)
	})
}

// holt returns the command of this repository.
func holt(t *testing.T) string {
	t.Helper()
	return program(t, "holt", func(ctx context.Context, bin string) error {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", bin, "./cmd/holt")
		cmd.Dir = filepath.Join("..", "..")
		cmd.Stderr = os.Stderr
		return cmd.Run()
	})
}

// needEtcd skips the test where etcd's source is not at hand: it is not worth a download during go test ./...
func needEtcd(t *testing.T, modules ...dropin.Module) {
	t.Helper()
	if testing.Short() {
		t.Skip("building etcd takes minutes")
	}
	for _, m := range modules {
		peer.Require(t, m)
	}
}
