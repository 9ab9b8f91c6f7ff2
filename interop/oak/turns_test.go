// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package oak

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

// newSeed is a random number, or HOLT_SEED to repeat a run.
func newSeed(t *testing.T) int64 {
	t.Helper()
	seed := rand.Int64()
	if s := os.Getenv("HOLT_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseInt(s, 10, 64)
		must(t, err)
	}
	t.Logf("HOLT_SEED=%d", seed)
	return seed
}

// TestWritten compares what we read with what Oak reads, of stores that Oak writes, after every step of their lives and
// while Oak has them open.
func TestWritten(t *testing.T) {
	seed, oak := newSeed(t), warmed(t)
	for name, p := range map[string]place{
		"inside":  newPlace(t, false, "archive=1"), // so that there are several
		"outside": newPlace(t, true, ""),
		"ids":     newPlace(t, true, "inline=100 record=5000"), // binaries in ids, some of which are long
	} {
		t.Run(name, func(t *testing.T) {
			oak.do(t, "open %s", p)
			oak.do(t, "fill content %d", seed)
			oak.do(t, "flush")
			p.compareOpen(t, oak)
			p.live(t, oak, seed)
			oak.do(t, "close")
			p.afterlife(t, oak)
		})
	}
}

// TestLarge is about what is large, and takes its time.
func TestLarge(t *testing.T) {
	seed, oak, p := newSeed(t), warmed(t), newPlace(t, false, "")
	oak.do(t, "open %s", p)
	oak.do(t, "large content %d", seed)
	oak.do(t, "flush")
	p.compareOpen(t, oak)
	p.collect(t, oak, "full", 1, 1)
	oak.do(t, "close")
	p.check(t, oak)
}

// live has Oak do everything to a store that it has open, and compares after each step.
func (p place) live(t *testing.T, oak *process, seed int64) {
	t.Helper()
	oak.do(t, "checkpoint")
	p.change(t, oak, seed, 10)
	p.collect(t, oak, "full", 1, 1)
	p.change(t, oak, seed+1, 10)
	p.collect(t, oak, "tail", 1, 0)
	oak.do(t, "checkpoint")
	p.change(t, oak, seed+2, 3)
	oak.do(t, "release 0")
	oak.do(t, "flush")
	p.compareOpen(t, oak)
	p.collect(t, oak, "full", 1, 1)
	p.collect(t, oak, "cleanup", 0, 0)
}

func (p place) change(t *testing.T, oak *process, seed int64, commits int) {
	t.Helper()
	before := p.fingerprint(t)
	oak.do(t, "change %d %d", seed, commits)
	oak.do(t, "flush")
	p.compareOpen(t, oak)
	if p.fingerprint(t) == before {
		t.Error("changes left the content what it was")
	}
}

// collect has Oak collect garbage, and demands that the content stays the same and its generation grows as it should.
func (p place) collect(t *testing.T, oak *process, kind string, generations, full int32) {
	t.Helper()
	want, content := p.generation(t), p.fingerprint(t)
	oak.do(t, "%s", kind)
	p.compareOpen(t, oak)
	if p.fingerprint(t) != content {
		t.Errorf("%s changed the content", kind)
	}
	want.Generation += generations
	want.Full += full
	want.Compacted = want.Compacted || generations > 0
	if have := p.generation(t); have != want {
		t.Errorf("%s: generation %v, want %v", kind, have, want)
	}
}

// generation is that of the head.
func (p place) generation(t *testing.T) segment.Generation {
	t.Helper()
	s, shut := p.read(t)
	defer shut()
	head, _ := s.Head()
	seg, err := s.Segment(head.Segment)
	must(t, err)
	return seg.Generation()
}

// afterlife has Oak's tools do what they do to a store that was closed.
func (p place) afterlife(t *testing.T, oak *process) {
	t.Helper()
	p.compareClosed(t, oak, segment.RecordID{})
	p.check(t, oak)
	revisions := p.revisions(t)
	for _, r := range revisions[:min(3, len(revisions))] {
		p.compareClosed(t, oak, r)
	}
	content := p.fingerprint(t)
	oak.do(t, "compact %s", p.dir)
	p.compareClosed(t, oak, segment.RecordID{})
	if p.fingerprint(t) != content {
		t.Error("compaction changed the content")
	}
	p.check(t, oak)
}

// exercise does to a store that we wrote all that Oak can do to one.
func (p place) exercise(t *testing.T, oak *process, seed int64) {
	t.Helper()
	p.compareClosed(t, oak, segment.RecordID{})
	p.check(t, oak)
	oak.do(t, "open %s", p)
	p.live(t, oak, seed)
	oak.do(t, "close")
	p.afterlife(t, oak)
}
