// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// killedEnv has the name of the file, and the seed, in the child process of TestGhostTreeKilled.
const killedEnv = "HOLT_TEST_GHOSTTREE_KILLED"

// A process that works on a file is killed. When the file is opened again everything it was told is there, nothing is
// lost but what it did not hear of, and the tree is sound: no block is in it twice, none has two parents.
func TestGhostTreeKilled(t *testing.T) {
	for seed := range uint64(times(4, 60)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			said := killed(t, path, seed)
			var l ledger
			for _, line := range said {
				check(t, l.read(line))
			}
			t.Logf("killed after %d lines, with %d live regions and %q under way", len(said), len(l.live), l.trying)
			s, err := stack.Open(path, nil)
			check(t, err)
			defer func() { check(t, s.Close()) }()
			a, err := alloc.OpenGhostTree(s)
			check(t, err)
			if len(a.Repaired()) > 0 {
				t.Errorf("repaired %q", a.Repaired())
			}
			sound(t, a)
			l.verify(t, a)
			for range 100 {
				_, err := a.Alloc(100)
				check(t, err)
			}
			sound(t, a)
			l.verifyBytes(t, a)
		})
	}
}

// killed runs the child until it has said enough, kills it, and returns all that it said.
func killed(t *testing.T, path string, seed uint64) (said []string) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestGhostTreeKilledChild$")
	child.Env = append(os.Environ(), fmt.Sprint(killedEnv, "=", seed, " ", path))
	out, err := child.StdoutPipe()
	check(t, err)
	check(t, child.Start())
	enough := 100 + newDice(seed).draw("lines", 300)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if said = append(said, lines.Text()); len(said) == enough {
			check(t, child.Process.Kill())
		}
	}
	if err := child.Wait(); len(said) < enough {
		t.Fatalf("the child ended after %d lines: %v, %v", len(said), err, said)
	}
	if last := said[len(said)-1]; !strings.HasSuffix(last, ".") {
		said = said[:len(said)-1] // said in part
	}
	return said
}

// TestGhostTreeKilledChild works on a file until it is killed. Before each operation it says what it tries, and
// afterwards which region came of it.
func TestGhostTreeKilledChild(t *testing.T) {
	arg := os.Getenv(killedEnv)
	if arg == "" {
		t.Skip("for TestGhostTreeKilled")
	}
	var seed uint64
	before, path, _ := strings.Cut(arg, " ")
	_, err := fmt.Sscan(before, &seed)
	check(t, err)
	s, err := stack.Open(path, nil)
	check(t, err)
	a, err := alloc.OpenGhostTree(s)
	check(t, err)
	var l ledger
	say := func(format string, args ...any) {
		line := fmt.Sprintf(format, args...)
		fmt.Println(line)
		check(t, l.read(line))
	}
	d := newDice(seed)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); { // in case nobody kills it
		n, length := len(l.live), 1+d.draw("length", 700)
		which := d.draw("which", n+1)
		switch k := d.draw("operation", 10); {
		case n < 5 || k < 4:
			say("try alloc 0 %d .", length)
		case which == n:
			continue
		case k < 7:
			say("try free %d 0 .", which)
		default:
			say("try realloc %d %d .", which, length)
		}
		r, err := l.do(a)
		check(t, err)
		say("done %d %d .", r.Off, r.Len)
	}
}

// ledger is what the child has said.
type ledger struct {
	live   []alloc.Region
	trying string // verb of the operation under way, if there is one
	which  int    // live region it is about
	length int64  // that it asks for
}

func (l *ledger) read(line string) error {
	var r alloc.Region
	if _, err := fmt.Sscanf(line, "done %d %d .", &r.Off, &r.Len); err == nil {
		if l.trying == "alloc" {
			l.live = append(l.live, r)
		} else if l.live[l.which] = r; r.IsEmpty() {
			l.live = slices.Delete(l.live, l.which, l.which+1)
		}
		l.trying = ""
		return nil
	}
	_, err := fmt.Sscanf(line, "try %s %d %d .", &l.trying, &l.which, &l.length)
	return err
}

// textOf is what a region has.
func textOf(r alloc.Region) []byte { return text(int(r.Len), byte(r.Off/ghostUnit)) }

// do does what is tried, and fills the region that comes of it, all at once.
func (l *ledger) do(a *alloc.GhostTree) (r alloc.Region, err error) {
	err = a.Update(func(b *alloc.Batch) (err error) {
		switch l.trying {
		case "alloc":
			r, err = b.Alloc(l.length)
		case "realloc":
			r, err = b.Realloc(l.live[l.which], l.length)
		case "free":
			err = b.Free(l.live[l.which])
		}
		if err != nil || r.IsEmpty() {
			return err
		}
		return b.WriteAt(r, textOf(r), 0)
	})
	return r, err
}

// verify makes sure that all is as the ledger says, with the operation under way done or not.
func (l *ledger) verify(t *testing.T, a *alloc.GhostTree) {
	t.Helper()
	l.verifyBytes(t, a)
	var before int64
	for _, r := range l.live {
		before += sizeOf(r.Len)
	}
	after := before
	switch l.trying {
	case "alloc":
		after += sizeOf(l.length)
	case "free", "realloc":
		after += sizeOf(l.length) - sizeOf(l.live[l.which].Len)
	}
	stats, err := a.Stats()
	check(t, err)
	if stats.Used != before && stats.Used != after {
		t.Fatalf("%d bytes are in use, not %d or %d: %+v", stats.Used, before, after, l)
	}
}

// verifyBytes looks at the regions that no operation is about.
func (l *ledger) verifyBytes(t *testing.T, a *alloc.GhostTree) {
	t.Helper()
	for i, r := range l.live {
		if l.trying != "" && l.trying != "alloc" && i == l.which {
			continue
		}
		got, err := a.View(alloc.RegionFrom(r.Bytes())).Bytes()
		check(t, err)
		same(t, "region "+r.String(), got, textOf(r))
	}
}
