// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

// chains has goroutines write nodes, each of which has the last one of every chain for a child.
type chains struct {
	mu   sync.Mutex
	last []segment.RecordID
}

func (c *chains) ends() []segment.Child {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []segment.Child
	for i, id := range c.last {
		if id != (segment.RecordID{}) {
			list = append(list, segment.Child{Name: fmt.Sprint("chain", i), Node: id})
		}
	}
	return list
}

const commonTexts = 50

func common(i int) string { return fmt.Sprint("common ", i) }

// extend writes another node of a chain.
func (c *chains) extend(w *segment.Writer, chain, n int) error {
	text, err := w.String(common(n % commonTexts))
	if err != nil {
		return err
	}
	children, err := w.Children(c.ends())
	if err != nil {
		return err
	}
	id, err := w.Node(&segment.Draft{Children: children, Fields: []segment.Field{
		{Name: "text", Type: segment.TypeString, Values: []segment.RecordID{text}},
	}})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last[chain] = id
	return err
}

func TestPool(t *testing.T) {
	const goroutines, nodes = 4, 3000
	store := &lockedStore{memStore: newStore()}
	p, err := segment.NewPool(segment.Options{Store: store, Sink: store}, goroutines-1) // so that some wait
	must(t, err)
	must(t, p.Do(func(w *segment.Writer) error {
		for i := range commonTexts {
			if _, err := w.String(common(i)); err != nil {
				return err
			}
		}
		return nil
	}))
	c := &chains{last: make([]segment.RecordID, goroutines)}
	var wg sync.WaitGroup
	for chain := range goroutines {
		wg.Go(func() {
			for n := range nodes {
				if err := p.Do(func(w *segment.Writer) error { return c.extend(w, chain, n) }); err != nil {
					t.Error(err)
					return
				}
				if n%500 == 0 {
					if err := p.Flush(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	must(t, p.Flush())
	seen := map[segment.RecordID]bool{}
	for _, id := range c.last {
		countNodes(t, store, id, seen)
	}
	if len(seen) != goroutines*nodes {
		t.Errorf("%d nodes, want %d", len(seen), goroutines*nodes)
	}
	texts, both := 0, false
	for id, data := range store.raw {
		texts += bytes.Count(data, []byte("common "))
		s, err := store.Segment(id)
		must(t, err)
		for i := range s.References() {
			other, err := store.Segment(s.Reference(i))
			must(t, err)
			for j := range other.References() {
				both = both || other.Reference(j) == id
			}
		}
	}
	if !both {
		t.Error("no two segments refer to each other")
	}
	if texts != commonTexts {
		t.Errorf("%d texts, want %d: the writers do not know what others wrote", texts, commonTexts)
	}
}

// countNodes goes through all nodes below one, whatever the depth.
func countNodes(t *testing.T, store segment.Store, id segment.RecordID, seen map[segment.RecordID]bool) {
	t.Helper()
	for todo := []segment.RecordID{id}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		r, err := segment.Find(store, id)
		must(t, err)
		n, err := r.Node()
		must(t, err)
		property, err := n.PropertyAt(0)
		must(t, err)
		v, err := property.Value(0)
		must(t, err)
		if text, err := v.Text(1 << 10); err != nil || !strings.HasPrefix(text, "common ") {
			t.Fatalf("%s: %.20q, %v", id, text, err)
		}
		children := n.Children()
		for children.Next() {
			child, err := children.Node()
			must(t, err)
			todo = append(todo, child.ID())
		}
		must(t, children.Err())
	}
}

func TestPoolFails(t *testing.T) {
	store := newStore()
	sink := &failingSink{err: errors.New("no room")}
	if _, err := segment.NewPool(segment.Options{Store: store, Sink: sink}, 0); err == nil {
		t.Error("a pool of no writers")
	}
	if _, err := segment.NewPool(segment.Options{Sink: sink}, 1); err == nil {
		t.Error("a pool without a store")
	}
	p, err := segment.NewPool(segment.Options{Store: store, Sink: sink}, 1)
	must(t, err)
	refused := errors.New("refused")
	if err := p.Do(func(*segment.Writer) error { return refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	var id segment.RecordID
	must(t, p.Do(func(w *segment.Writer) (err error) {
		id, err = w.String("kept")
		return err
	}))
	if err := p.Flush(); !errors.Is(err, sink.err) {
		t.Errorf("flush: %v", err)
	}
	if _, err := segment.Find(p, id); err != nil {
		t.Errorf("not kept: %v", err)
	}
	sink.err = nil
	must(t, p.Flush())
	if sink.taken != 1 {
		t.Errorf("%d segments", sink.taken)
	}
}

// failingSink takes segments unless it fails.
type failingSink struct {
	err   error
	taken int
}

func (s *failingSink) Append(*segment.Segment) error {
	if s.err == nil {
		s.taken++
	}
	return s.err
}
