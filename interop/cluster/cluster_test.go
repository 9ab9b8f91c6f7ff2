// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/interop/internal/dropin"
	bolt "go.etcd.io/bbolt"
)

// TestKillAndRestart kills each node in turn while the others go on writing.
func TestKillAndRestart(t *testing.T) {
	needEtcd(t, etcdServer)
	c := startCluster(t, [3]dropin.Engine{dropin.Holt, dropin.Holt, dropin.Holt})
	l := newLoad(t)
	l.run(t, 200, c.nodes[:]...)
	for i, victim := range c.nodes {
		l.runAndKill(t, 200, victim, c.nodes[(i+1)%3], c.nodes[(i+2)%3])
		checkFile(t, victim.database())
		c.start(t, victim, "existing")
		c.waitHealthy(t)
		c.mustAgree(t, l)
	}
	c.rewrite(t)
	c.mustAgree(t, l)
	c.stop(t)
}

// TestMixedEngines runs the genuine bbolt beside this repository's engine, then lets each go on with files of the other.
func TestMixedEngines(t *testing.T) {
	needEtcd(t, etcdServer)
	c := startCluster(t, [3]dropin.Engine{dropin.Real, dropin.Holt, dropin.Holt})
	l := newLoad(t)
	for range 2 {
		l.run(t, 200, c.nodes[:]...)
		c.mustAgree(t, l)
		c.rewrite(t)
		l.run(t, 100, c.nodes[:]...)
		c.mustAgree(t, l)
		c.stop(t)
		c.swapEngines()
		for _, n := range c.nodes {
			c.start(t, n, "existing")
		}
		c.waitHealthy(t)
		c.mustAgree(t, l)
	}
	c.stop(t)
}

// TestSnapshot restores a snapshot of one engine with the other.
func TestSnapshot(t *testing.T) {
	needEtcd(t, etcdServer, etcdUtil)
	c := startCluster(t, [3]dropin.Engine{dropin.Holt, dropin.Holt, dropin.Real})
	l := newLoad(t)
	l.run(t, 200, c.nodes[:]...)
	for _, restore := range []struct {
		from *node
		with dropin.Engine
	}{{c.nodes[0], dropin.Real}, {c.nodes[2], dropin.Holt}} {
		dir := t.TempDir()
		file := filepath.Join(dir, "snapshot")
		restore.from.save(t, file)
		restored := filepath.Join(dir, "restored")
		out, err := exec.CommandContext(t.Context(), etcdProgram(t, etcdUtil, restore.with),
			"snapshot", "restore", file, "--data-dir", restored).CombinedOutput()
		if err != nil {
			t.Fatalf("restore with %s: %v\n%s", restore.with, err, out)
		}
		checkFile(t, filepath.Join(restored, "member", "snap", "db"))
	}
	c.stop(t)
}

func (n *node) save(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(n.snapshot(t.Context(), f), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// mustAgree holds all nodes against each other, by hash, and against the load, pair by pair.
func (c *cluster) mustAgree(t *testing.T, l *load) {
	t.Helper()
	revision := c.lastRevision(t)
	want := l.pairs()
	want[marker] = marker
	var first hash
	for i, n := range c.nodes {
		var h hash
		eventually(t, fmt.Sprintf("%s has revision %d", n.name, revision), func(ctx context.Context) (err error) {
			h, err = n.hashAt(ctx, revision)
			return err
		})
		if i == 0 {
			first = h
		}
		if h != first {
			t.Errorf("%s (%s) has %+v, %s (%s) has %+v", n.name, n.engine, h, c.nodes[0].name, c.nodes[0].engine, first)
		}
		got, err := n.all(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s (%s) has %d pairs that are not the %d written", n.name, n.engine, len(got), len(want))
		}
	}
}

// marker is a key, and its value, written to learn the revision that includes everything before.
const marker = "marker"

func (c *cluster) lastRevision(t *testing.T) (revision int64) {
	t.Helper()
	eventually(t, "a put is acknowledged", func(ctx context.Context) (err error) {
		revision, err = c.nodes[0].put(ctx, pair{[]byte(marker), []byte(marker)})
		return err
	})
	return revision
}

// rewrite forgets the history and has every node rewrite its file.
func (c *cluster) rewrite(t *testing.T) {
	t.Helper()
	if err := c.nodes[0].compact(t.Context(), c.lastRevision(t)); err != nil {
		t.Fatal(err)
	}
	for _, n := range c.nodes {
		eventually(t, n.name+" is defragmented", n.defragment)
	}
}

// stop lets all nodes close their files, and checks these.
func (c *cluster) stop(t *testing.T) {
	t.Helper()
	for _, n := range c.nodes {
		n.stop(t)
	}
	for _, n := range c.nodes {
		checkFile(t, n.database())
	}
}

func (c *cluster) swapEngines() {
	for _, n := range c.nodes {
		switch n.engine {
		case dropin.Holt:
			n.engine = dropin.Real
		case dropin.Real:
			n.engine = dropin.Holt
		}
	}
}

// checkFile lets both engines check a database file that no process has open.
func checkFile(t *testing.T, path string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), holt(t), "kv", "check", path).CombinedOutput(); err != nil {
		t.Errorf("holt kv check %s: %v\n%s", path, err, out)
	}
	db, err := bolt.Open(path, 0, &bolt.Options{ReadOnly: true, PreLoadFreelist: true})
	if err != nil {
		t.Errorf("the genuine bbolt cannot open %s: %v", path, err)
		return
	}
	defer func() { _ = db.Close() }()
	_ = db.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			t.Errorf("the genuine bbolt on %s: %v", path, err)
		}
		return nil
	})
}
