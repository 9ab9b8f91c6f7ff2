// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package linear

import (
	"flag"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/holtdb/holt/kv"
)

var (
	seed   = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the first history")
	rounds = flag.Int("rounds", 8, "histories of each kind")
)

const (
	clients       = 6
	opsPerClient  = 60
	checkPatience = time.Minute
)

// TestHistories runs clients at once on databases of several kinds.
func TestHistories(t *testing.T) {
	kinds := map[string]func(*kv.Options){
		"default":        func(*kv.Options) {},
		"hashmap":        func(o *kv.Options) { o.FreelistType = kv.FreelistMapType },
		"bolt placement": func(o *kv.Options) { o.BoltPlacement = true },
		"single sync":    func(o *kv.Options) { o.SingleSync, o.NoSync = true, false },
		"no free list":   func(o *kv.Options) { o.NoFreelistSync = true },
		"small pages":    func(o *kv.Options) { o.PageSize = 1024 },
	}
	for name, set := range kinds {
		t.Run(name, func(t *testing.T) {
			for i := range *rounds {
				opts := &kv.Options{}
				opts.NoSync = true
				set(opts)
				checkHistory(t, *seed+uint64(i), opts)
			}
		})
	}
}

func checkHistory(t *testing.T, seed uint64, opts *kv.Options) {
	t.Helper()
	db, err := kv.Open(filepath.Join(t.TempDir(), "db"), 0o600, opts)
	if err != nil {
		t.Fatal(err)
	}
	db.MaxBatchDelay = time.Millisecond
	err = db.Update(func(tx *kv.Tx) error {
		_, err := tx.CreateBucket(bucketName)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ops := runClients(t, store{db}, seed)
	result, info := porcupine.CheckOperationsVerbose(model, ops, checkPatience)
	if result != porcupine.Ok {
		name := filepath.Join(t.ArtifactDir(), "history.html")
		err := porcupine.VisualizePath(model, info, name)
		t.Fatalf("-seed %d: %v; with -artifacts the history stays in %s (%v)", seed, result, name, err)
	}
	err = db.View(func(tx *kv.Tx) error {
		for err := range tx.Check() {
			t.Errorf("-seed %d: check: %v", seed, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// runClients lets all clients run and returns their history.
func runClients(t *testing.T, s store, seed uint64) []porcupine.Operation {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		ops   []porcupine.Operation // guarded by mu
		start = time.Now()
	)
	for client := range clients {
		wg.Go(func() {
			c := newClient(client, seed)
			for range opsPerClient {
				in := c.next()
				call := time.Since(start)
				out, err := s.run(in)
				end := time.Since(start)
				if err != nil {
					t.Errorf("-seed %d: client %d: %+v: %v", seed, client, in, err)
					return
				}
				c.last = out
				mu.Lock()
				ops = append(ops, porcupine.Operation{
					ClientId: client, Input: in, Output: out, Call: int64(call), Return: int64(end),
				})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return ops
}

// A client draws transactions.
type client struct {
	rand *rand.Rand
	last output // what its latest transaction read
}

func newClient(id int, seed uint64) *client {
	return &client{rand: rand.New(rand.NewPCG(seed, uint64(id)))}
}

func (c *client) next() input {
	kinds := []kind{read, read, read, read, add, add, cas, cas, batch, batch, fail, panik}
	in := input{
		kind: kinds[c.rand.IntN(len(kinds))],
		a:    c.rand.IntN(registers),
		b:    c.rand.IntN(registers),
	}
	if in.kind != read {
		in.addA, in.addB = c.rand.Uint64N(1000), c.rand.Uint64N(1000)
	}
	if in.kind == cas {
		in.expected = c.last.a
	}
	return in
}
