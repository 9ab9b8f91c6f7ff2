// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package oak

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/blob"
	"github.com/holtdb/holt/content/segment"
)

// TestBlobIDs has both sides write binaries about the lengths where something changes, and demands of each that it does
// with them what the other does, and that each reads those of the other.
func TestBlobIDs(t *testing.T) {
	seed, oak := newSeed(t), warmed(t)
	for name, p := range map[string]place{
		"usual":      newPlace(t, true, ""),
		"long ids":   newPlace(t, true, "inline=100 record=5000"),
		"no ids":     newPlace(t, true, "inline=4096 record=0"),
		"everything": newPlace(t, true, "inline=0 record=2045"),
	} {
		t.Run(name, func(t *testing.T) {
			least, longest := p.option(t, "inline", 16_512), p.option(t, "record", 4096)
			lengths := []int{0, 1, 2044, 2045, 2046, 262_144, 262_145, 1 << 20}
			for _, n := range []int{least, longest} {
				lengths = append(lengths, max(0, n-1), n, n+1)
			}
			slices.Sort(lengths)
			lengths = slices.Compact(lengths)
			oak.do(t, "open %s", p)
			for _, n := range lengths {
				oak.do(t, "binary %d %d", n, seed)
			}
			oak.do(t, "close")
			p.writeBinaries(t, rand.New(rand.NewPCG(uint64(seed), 0)), lengths)
			p.compareClosed(t, oak, segment.RecordID{})
			p.check(t, oak)

			// Both kinds are here now: all went where they should, under ids that we would give too.
			n := 0
			p.eachBinary(t, func(b []byte, id string) {
				n++
				if outside := id != ""; outside != (len(b) >= least) {
					t.Errorf("%d bytes are outside: %t", len(b), outside)
				}
				if id == "" {
					return
				}
				again := got[string](t)((&blob.Memory{Inline: p.fileStore(t).Inline}).Write(bytes.NewReader(b)))
				if again != id {
					t.Errorf("%d bytes: id %.80s, want %.80s", len(b), again, id)
				}
			})
			if n < len(lengths)*2 {
				t.Errorf("only %d binaries", n)
			}
		})
	}
}

// writeBinaries adds a node with binaries to the content.
func (p place) writeBinaries(t *testing.T, r *rand.Rand, lengths []int) {
	t.Helper()
	p.add(t, r, 1, func(a *author) segment.RecordID {
		f := segment.Field{Name: "binaries", Type: segment.TypeBinaries}
		for _, n := range lengths {
			f.Values = append(f.Values, a.binary(n))
		}
		return a.node([]segment.Field{f})
	})
}

// eachBinary visits all binaries of the head, with their ids if they are outside.
func (p place) eachBinary(t *testing.T, visit func(b []byte, id string)) {
	t.Helper()
	s, shut := p.read(t)
	defer shut()
	head, _ := s.Head()
	must(t, s.Walk(t.Context(), head, "/", content.WalkOptions{}, func(v *content.Visit) error {
		for ps := v.Node.Properties(); ps.Next(); {
			if ps.Type.Base() != segment.TypeBinary {
				continue
			}
			for i := range ps.Count() {
				value := got[segment.Value](t)(ps.Value(i))
				id := ""
				if value.IsExternal() {
					id = got[string](t)(s.BlobID(value))
				}
				r := got[io.ReadCloser](t)(s.Binary(value))
				b := got[[]byte](t)(io.ReadAll(r))
				must(t, r.Close())
				visit(b, id)
			}
		}
		return nil
	}))
}

// TestBlobsCollected has each side collect the binaries that nobody uses, of both, and demands that all others are
// left.
func TestBlobsCollected(t *testing.T) {
	seed, oak := newSeed(t), warmed(t)
	for name, collect := range map[string]func(t *testing.T, p place){
		"by Oak": func(t *testing.T, p place) {
			oak.do(t, "open %s", p)
			oak.do(t, "blobs 600")
			oak.do(t, "close")
		},
		"by us": func(t *testing.T, p place) {
			s, shut := p.read(t)
			defer shut()
			report, err := blob.Collect(t.Context(), p.fileStore(t), archive.BlobIDs(s.Archives()),
				blob.CollectOptions{Grace: 10 * time.Minute})
			must(t, err)
			if report.Missing != 0 || report.Deleted.Count == 0 || report.Young.Count == 0 {
				t.Errorf("report %+v", report)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, true, "inline=100 record=1000")
			lengths := slices.Repeat([]int{1001, 5000}, 10)
			p.writeBinaries(t, rand.New(rand.NewPCG(uint64(seed), 0)), lengths)
			oak.do(t, "open %s", p)
			oak.do(t, "fill content %d", seed)
			oak.do(t, "change %d 10", seed)
			oak.do(t, "full") // so that some binaries are of nobody
			oak.do(t, "full")
			oak.do(t, "cleanup")
			oak.do(t, "close")
			p.writeBinaries(t, rand.New(rand.NewPCG(uint64(seed), 1)), lengths) // the changes may have removed the others
			files := p.fileStore(t)
			junk := func(kind byte) string {
				b := bytes.Repeat([]byte{kind}, 5000)
				return got[string](t)(files.Write(bytes.NewReader(b)))
			}
			old, renewed := junk('o'), junk('r')
			p.age(t, time.Hour)
			junk('r') // again, which makes it young
			young := junk('y')

			before := p.fingerprint(t)
			used := p.blobsInUse(t)
			want := maps.Clone(used)
			for _, id := range []string{renewed, young} {
				want[got[string](t)(files.Key(id))] = true
			}
			collect(t, p)
			have := map[string]bool{}
			for e, err := range files.All() {
				must(t, err)
				have[e.Key] = true
			}
			if !maps.Equal(have, want) || have[old] || len(used) < 20 {
				t.Errorf("%d binaries, want %d: %v", len(have), len(want), difference(have, want))
			}
			p.compareClosed(t, oak, segment.RecordID{})
			p.check(t, oak)
			if p.fingerprint(t) != before {
				t.Error("another content")
			}
			if os.Getenv("HOLT_LONG") == "1" {
				p.exercise(t, oak, seed)
			}
		})
	}
}

// age makes all binaries older.
func (p place) age(t *testing.T, by time.Duration) {
	t.Helper()
	must(t, filepath.WalkDir(p.blobs, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		then := time.Now().Add(-by)
		return os.Chtimes(path, then, then)
	}))
}

// blobsInUse are the keys of the binaries that the archives refer to.
func (p place) blobsInUse(t *testing.T) map[string]bool {
	t.Helper()
	s, shut := p.read(t)
	defer shut()
	keys := map[string]bool{}
	for id, err := range archive.BlobIDs(s.Archives()) {
		must(t, err)
		if key := got[string](t)(p.fileStore(t).Key(id)); key != "" {
			keys[key] = true
		}
	}
	return keys
}

// difference lists what only one of them has.
func difference(have, want map[string]bool) []string {
	var list []string
	for key := range have {
		if !want[key] {
			list = append(list, fmt.Sprintf("+%.8s", key))
		}
	}
	for key := range want {
		if !have[key] {
			list = append(list, fmt.Sprintf("-%.8s", key))
		}
	}
	slices.Sort(list)
	return list
}
