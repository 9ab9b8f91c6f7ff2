// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// patience is far more than any history takes; beyond it an engine hangs.
const patience = 2 * time.Minute

// TestHistories plays random histories on both engines, compares the traces
// and opens the copies made on the way with the other engine.
func TestHistories(t *testing.T) { rapid.Check(t, sameAnswers) }

// FuzzHistories lets the fuzzer look for histories.
func FuzzHistories(f *testing.F) { f.Fuzz(rapid.MakeFuzz(sameAnswers)) }

func sameAnswers(t *rapid.T) {
	ours, theirs := playBoth(t, anyHistory.Draw(t, "history"))
	compareTraces(t, ours, theirs)
	if slices.ContainsFunc(ours.trace, func(line string) bool { return strings.HasPrefix(line, "check:") }) {
		t.Fatalf("the consistency check found damage")
	}
	for _, c := range ours.copies {
		verifyCopy(t, bolt, c)
	}
	for _, c := range theirs.copies {
		verifyCopy(t, holt, c)
	}
}

// playBoth plays h on each engine in a directory of its own.
func playBoth(t *rapid.T, h history) (ours, theirs *player) {
	dir := tempDir(t)
	play := func(e *engine) *player {
		p := &player{engine: e, dir: filepath.Join(dir, e.name)}
		if err := os.Mkdir(p.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		finish := make(chan struct{})
		go func() {
			defer close(finish)
			p.play(h)
		}()
		select {
		case <-finish:
		case <-time.After(patience):
			t.Fatalf("%s hangs", e.name)
		}
		return p
	}
	return play(holt), play(bolt)
}

// tempDir makes a directory that lasts for one history.
func tempDir(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "differential")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // what is left is the system's to clean
	return dir
}

// compareTraces fails at the first line in which the engines differ, and when
// both panic: no step of a history may.
func compareTraces(t *rapid.T, ours, theirs *player) {
	for i := range max(len(ours.trace), len(theirs.trace)) {
		a, b := lineAt(ours.trace, i), lineAt(theirs.trace, i)
		if a != b || strings.HasPrefix(a, "panic:") {
			t.Fatalf("line %d, after:\n%s\n%s: %s\n%s: %s", i,
				strings.Join(ours.trace[max(0, i-8):min(i, len(ours.trace))], "\n"),
				ours.engine.name, a, theirs.engine.name, b)
		}
	}
}

func lineAt(trace []string, i int) string {
	if i >= len(trace) {
		return "(nothing)"
	}
	return trace[i]
}

// verifyCopy opens the copy of one engine with another: it must hold the same
// content, pass the check, and accept a change.
func verifyCopy(t *rapid.T, reader *engine, c backup) {
	db, err := reader.open(c.path, options{})
	if err != nil {
		t.Fatalf("%s opens %s: %v", reader.name, c.path, err)
	}
	var found []string
	var damage []error
	err = db.View(func(tx transaction) error {
		found, damage = content(tx), tx.Check()
		return nil
	})
	if err != nil || len(damage) > 0 {
		t.Fatalf("%s reads %s: %v %v", reader.name, c.path, err, damage)
	}
	if !slices.Equal(found, c.content) {
		t.Fatalf("%s reads from %s:\n%s\nwant:\n%s", reader.name, c.path,
			strings.Join(found, "\n"), strings.Join(c.content, "\n"))
	}
	err = db.Update(func(tx transaction) error {
		b, err := tx.CreateBucketIfNotExists([]byte("added"))
		if err != nil {
			return err
		}
		return b.Put([]byte("key"), []byte("value"))
	})
	if err != nil {
		t.Fatalf("%s changes %s: %v", reader.name, c.path, err)
	}
	err = db.View(func(tx transaction) error {
		damage = tx.Check()
		return nil
	})
	if err != nil || len(damage) > 0 {
		t.Fatalf("%s checks %s after a change: %v %v", reader.name, c.path, err, damage)
	}
	if err := db.Close(); err != nil {
		t.Fatalf("%s closes %s: %v", reader.name, c.path, err)
	}
}
