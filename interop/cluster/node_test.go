// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holtdb/holt/interop/internal/dropin"
)

// patience is how long a test waits for something that must happen before it gives up. Nothing is measured by it.
const patience = 90 * time.Second

// A node is a member of a cluster: a data directory, two addresses and, while it runs, a process.
type node struct {
	name     string
	engine   dropin.Engine
	freelist string // its kind in memory
	dir      string
	client   string // URL
	peer     string // URL
	cmd      *exec.Cmd
	log      *os.File
}

// A cluster has three nodes, so that it survives the loss of one.
type cluster struct {
	nodes [3]*node
}

// startCluster starts a new cluster with the given engine in each node, and stops it when the test ends.
func startCluster(t *testing.T, engines [3]dropin.Engine) *cluster {
	t.Helper()
	c := &cluster{}
	dir := t.TempDir()
	for i, engine := range engines {
		name := fmt.Sprintf("n%d", i+1)
		log, err := os.Create(filepath.Join(dir, name+".log"))
		if err != nil {
			t.Fatal(err)
		}
		c.nodes[i] = &node{
			name:     name,
			engine:   engine,
			freelist: [...]string{"map", "array", "map"}[i],
			dir:      filepath.Join(dir, name),
			client:   freeAddress(t),
			peer:     freeAddress(t),
			log:      log,
		}
	}
	t.Cleanup(func() { c.cleanUp(t) })
	for _, n := range c.nodes {
		c.start(t, n, "new")
	}
	c.waitHealthy(t)
	return c
}

// freeAddress returns the URL of a loopback port that was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return "http://" + l.Addr().String()
}

// start runs n, as a member of a new or an existing cluster.
func (c *cluster) start(t *testing.T, n *node, state string) {
	t.Helper()
	var members []string
	for _, m := range c.nodes {
		members = append(members, m.name+"="+m.peer)
	}
	cmd := exec.Command(etcdProgram(t, etcdServer, n.engine),
		"--name", n.name,
		"--data-dir", n.dir,
		"--listen-client-urls", n.client,
		"--advertise-client-urls", n.client,
		"--listen-peer-urls", n.peer,
		"--initial-advertise-peer-urls", n.peer,
		"--initial-cluster", strings.Join(members, ","),
		"--initial-cluster-state", state,
		"--initial-cluster-token", "holt",
		"--snapshot-count", "1000",
		"--backend-bbolt-freelist-type", n.freelist,
	)
	cmd.Stdout, cmd.Stderr = n.log, n.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n.cmd = cmd
}

// kill ends n without warning, as a power cut of its process would.
func (n *node) kill(t *testing.T) {
	t.Helper()
	n.end(t, syscall.SIGKILL)
}

// stop lets n close its files.
func (n *node) stop(t *testing.T) {
	t.Helper()
	n.end(t, syscall.SIGTERM)
}

func (n *node) end(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if n.cmd == nil {
		return
	}
	if err := n.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	_ = n.cmd.Wait() // reports the signal as an error
	n.cmd = nil
}

func (c *cluster) cleanUp(t *testing.T) {
	for _, n := range c.nodes {
		n.end(t, syscall.SIGKILL)
		if t.Failed() {
			t.Logf("end of the log of %s (%s):\n%s", n.name, n.engine, lastLines(n.log.Name(), 4<<10))
		}
		_ = n.log.Close()
	}
}

func lastLines(path string, n int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-n):])
}

func (c *cluster) waitHealthy(t *testing.T) {
	t.Helper()
	for _, n := range c.nodes {
		eventually(t, n.name+" is healthy", func(ctx context.Context) error { return n.health(ctx) })
	}
}

// database is the file in which etcd keeps its data.
func (n *node) database() string { return filepath.Join(n.dir, "member", "snap", "db") }

// eventually repeats a check until it succeeds.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not so after %v: %v", what, patience, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
