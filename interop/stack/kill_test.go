// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"flag"
	"path/filepath"
	"testing"
	"time"
)

var kills = flag.Int("kills", 20, "how often each side is killed")

// TestKilled kills each side at random moments of its work. What it acknowledged is there, the command that it was at
// is there or not, and both sides recover the same.
func TestKilled(t *testing.T) {
	for _, victim := range []side{holt, crate} {
		t.Run(victim.name, func(t *testing.T) {
			witnesses := []*process{holt.start(t), crate.start(t)}
			armed := 0
			eachSeed(t, *kills, func(t *testing.T, seed uint64) {
				g := newGenerator(seed)
				file, before, after := killAtWork(t, victim, g)
				if isArmed(file) {
					armed++
				}
				var results [2][]byte
				for i, p := range witnesses {
					results[i] = recovered(t, p, file)
					if got := results[i]; !bytes.Equal(got[headerSize:], before.b) && !bytes.Equal(got[headerSize:], after.b) {
						t.Errorf("%s finds neither what was there before the last command nor what it was to make", p.name)
					}
				}
				if !bytes.Equal(results[0], results[1]) {
					t.Errorf("%s recovers %s, %s %s", holt.name, outline(results[0]), crate.name, outline(results[1]))
				}
				verifyGoesOn(t, witnesses[seed%2], results[0], g)
			})
			t.Logf("%d of %d files had an armed journal", armed, *kills)
		})
	}
}

// killAtWork has a side work on a file and kills it. It returns the file, and what it was to hold before and after the
// command that was not acknowledged.
func killAtWork(t *testing.T, victim side, g generator) (file []byte, before, after *model) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stack")
	m := &model{g.data(2000)}
	writeFile(t, path, restingFile(m.b))
	p := victim.start(t)
	p.do(t, "open "+path)
	time.AfterFunc(time.Duration(g.IntN(30_000))*time.Microsecond, func() {
		_ = p.cmd.Process.Kill() // it cannot be gone already
	})
	for {
		line := g.next(m)
		after = m.clone()
		want := kind(run(after, line))
		got, err := p.ask(line)
		switch {
		case err != nil:
			return readFile(t, path), m, after
		case kind(got) != want:
			t.Fatalf("%s, %s: %s, want %s", p.name, short(line), short(got), short(want))
		}
		m = after
	}
}

// verifyGoesOn demands that a recovered file can be worked on.
func verifyGoesOn(t *testing.T, p *process, file []byte, g generator) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stack")
	writeFile(t, path, file)
	m := &model{bytes.Clone(file[headerSize:])}
	p.do(t, "open "+path)
	work(t, p, g, m, 5)
	p.do(t, "close")
	verifyAtRest(t, path, m)
}
