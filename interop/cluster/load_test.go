// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

const (
	writers       = 4
	keysPerWriter = 80
)

// A load changes keys through several nodes at once and knows what every key must then be. Each writer has keys of its
// own, so it alone decides what they hold.
type load struct {
	writers [writers]writer
}

type writer struct {
	id    int
	rand  *rand.Rand
	pairs map[string]string
}

func newLoad(t *testing.T) *load {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed of the load: %d", seed)
	l := &load{}
	for i := range l.writers {
		l.writers[i] = writer{id: i, rand: rand.New(rand.NewPCG(seed, uint64(i))), pairs: make(map[string]string)}
	}
	return l
}

// run makes each writer do the given number of changes through the given nodes. Changes are repeated until
// acknowledged: that a leader died does not tell whether it had got through.
func (l *load) run(t *testing.T, changes int, nodes ...*node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for i := range l.writers {
		wg.Go(func() {
			for range changes {
				if err := l.writers[i].change(ctx, nodes); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// runAndKill is run, with another node being killed at some moment.
func (l *load) runAndKill(t *testing.T, changes int, victim *node, survivors ...*node) {
	t.Helper()
	moment := time.Duration(l.writers[0].rand.Int64N(int64(300 * time.Millisecond)))
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		time.Sleep(moment)
		victim.kill(t)
	})
	l.run(t, changes, survivors...)
}

func (w *writer) change(ctx context.Context, nodes []*node) error {
	key := fmt.Sprintf("w%d/%03d", w.id, w.rand.IntN(keysPerWriter))
	if w.rand.IntN(5) == 0 {
		delete(w.pairs, key)
		return w.acknowledged(ctx, nodes, func(n *node) error { return n.remove(ctx, []byte(key)) })
	}
	value := w.value()
	w.pairs[key] = value
	return w.acknowledged(ctx, nodes, func(n *node) error {
		_, err := n.put(ctx, pair{[]byte(key), []byte(value)})
		return err
	})
}

// value is mostly shorter than a page, now and then longer than several.
func (w *writer) value() string {
	size := 1 + w.rand.IntN(1500)
	if w.rand.IntN(20) == 0 {
		size = 1 + w.rand.IntN(60_000)
	}
	value := make([]byte, size)
	for i := range value {
		value[i] = byte('a' + w.rand.IntN(26))
	}
	return string(value)
}

func (w *writer) acknowledged(ctx context.Context, nodes []*node, send func(*node) error) error {
	for {
		err := send(nodes[w.rand.IntN(len(nodes))])
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no acknowledgement after %v: %w", patience, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// pairs is what the store must hold.
func (l *load) pairs() map[string]string {
	all := make(map[string]string)
	for _, w := range l.writers {
		maps.Copy(all, w.pairs)
	}
	return all
}
