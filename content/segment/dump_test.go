// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/fixture"
)

// TestTiny reads the smallest store that Oak makes. The whole of it is in FORMAT.md.
func TestTiny(t *testing.T) {
	store, head := readStore(t, filepath.Join("..", "testdata", "tiny"))
	want := `HEAD 1f5f0022-09bc-4938-ae1e-e92d8b333d80.00000008
N  1f5f0022-09bc-4938-ae1e-e92d8b333d80:8
N 2f726f6f74 1f5f0022-09bc-4938-ae1e-e92d8b333d80:7
N 2f726f6f742f68656c6c6f 1f5f0022-09bc-4938-ae1e-e92d8b333d80:6
P 78 LONG 1 3432
`
	compareDumps(t, dumpStore(t, store, head), want)
	older, err := segment.ParseRecordID("d0b2a37e-54db-4246-af4b-1035142fd65e:5")
	must(t, err)
	want = `HEAD d0b2a37e-54db-4246-af4b-1035142fd65e.00000005
N  d0b2a37e-54db-4246-af4b-1035142fd65e:5
N 2f726f6f74 d0b2a37e-54db-4246-af4b-1035142fd65e:4
`
	compareDumps(t, dumpStore(t, store, older), want)
}

// TestFixtures compares what is read from Oak's stores with what Oak reads, line by line.
func TestFixtures(t *testing.T) {
	for name, folder := range map[string]string{"base": "g1", "extblobs": "e1", "afterGC": "c2"} {
		t.Run(name, func(t *testing.T) {
			dir := fixture.Untar(t, "oak", name+".tar.xz")
			store, head := readStore(t, filepath.Join(dir, folder))
			compareDumps(t, dumpStore(t, store, head), string(fixture.Unxz(t, "oak", name+".dump.xz")))
			checkTables(t, store)
		})
	}
	t.Run("rollover", func(t *testing.T) { // of which there is no dump
		store, head := readStore(t, filepath.Join(fixture.Untar(t, "oak", "rollover.tar.xz"), "m1"))
		dumpStore(t, store, head)
		checkTables(t, store)
	})
}

// checkTables demands that all record ids in the records of a sound store lead to records, of segments still there.
func checkTables(t *testing.T, store *memStore) {
	t.Helper()
	found := map[segment.RecordType]int{}
	for id := range store.raw {
		s, err := store.Segment(id)
		must(t, err)
		for r := range s.Records() {
			links, err := r.Links()
			must(t, err)
			found[r.Type]++
			for _, l := range links {
				if _, kept := store.raw[l.ID.Segment]; !kept || l.ID.Segment.IsBulk() {
					continue
				}
				_, err := segment.Find(store, l.ID)
				must(t, err)
			}
		}
		if id.IsBulk() {
			continue
		}
		if info, err := s.Info(); err != nil || info.Time.Year() < 2020 {
			t.Errorf("info %v: %v", info, err)
		}
	}
	if found[segment.RecordNode] == 0 || found[segment.RecordValue] == 0 {
		t.Errorf("records found: %v", found)
	}
}

func compareDumps(t *testing.T, have, want string) {
	t.Helper()
	haveLines, wantLines := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range min(len(haveLines), len(wantLines)) {
		if haveLines[i] != wantLines[i] {
			t.Fatalf("line %d of the dump:\nhave %s\nwant %s", i+1, haveLines[i], wantLines[i])
		}
	}
	if len(haveLines) != len(wantLines) {
		t.Fatalf("%d lines in the dump, want %d", len(haveLines), len(wantLines))
	}
}

func dumpStore(t *testing.T, store *memStore, head segment.RecordID) string {
	t.Helper()
	r, err := segment.Find(store, head)
	must(t, err)
	n, err := r.Node()
	must(t, err)
	var out strings.Builder
	w := bufio.NewWriter(&out)
	fmt.Fprintf(w, "HEAD %s\n", head.Hex())
	must(t, dumpNode(w, "", n))
	must(t, w.Flush())
	return out.String()
}

// dumpNode writes a node in the form of the fixtures' dumps, and demands that what the iterators show is found by name.
func dumpNode(w io.Writer, path string, n segment.Node) error {
	stable, err := n.StableID()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "N %x %s\n", path, stable)
	if err := dumpProperties(w, n); err != nil {
		return err
	}
	children, err := childrenByName(n)
	if err != nil {
		return err
	}
	for _, c := range children {
		child, ok, err := n.Child(c.name)
		if err != nil || !ok || child != c.node {
			return fmt.Errorf("child %q: have %v %v, want %v: %w", c.name, child, ok, c.node, err)
		}
		if err := dumpNode(w, path+"/"+c.name, child); err != nil {
			return err
		}
	}
	return nil
}

type namedNode struct {
	name string
	node segment.Node
}

func childrenByName(n segment.Node) ([]namedNode, error) {
	var children []namedNode
	c := n.Children()
	for c.Next() {
		node, err := c.Node()
		if err != nil {
			return nil, err
		}
		children = append(children, namedNode{string(segment.AppendText(nil, c.Name)), node})
	}
	count, err := n.ChildCount()
	if err = errors.Join(c.Err(), err); err == nil && count != len(children) {
		err = fmt.Errorf("%d children, want %d", len(children), count)
	}
	slices.SortFunc(children, func(a, b namedNode) int { return cmp.Compare(a.name, b.name) })
	return children, err
}

func dumpProperties(w io.Writer, n segment.Node) error {
	var lines []string
	p := n.Properties()
	for p.Next() {
		found, ok, err := n.Property(string(p.Name))
		if err != nil || !ok || found.Values() != p.Values() || found.Type != p.Type {
			return fmt.Errorf("property %q: have %v %v, want %v: %w", p.Name, found, ok, p, err)
		}
		values, err := dumpValues(&p.Property)
		if err != nil {
			return fmt.Errorf("property %q: %w", p.Name, err)
		}
		lines = append(lines, fmt.Sprintf("P %x %s %d%s\n", p.Name, p.Type, p.Count(), values))
	}
	if p.Err() != nil {
		return p.Err()
	}
	if len(lines) != n.PropertyCount() {
		return fmt.Errorf("%d properties, want %d", len(lines), n.PropertyCount())
	}
	slices.Sort(lines)
	_, err := io.WriteString(w, strings.Join(lines, ""))
	return err
}

// dumpValues writes all values: those of a property with many, or large ones, as a digest.
func dumpValues(p *segment.Property) (string, error) {
	const most = 200
	var b []byte
	for i := range p.Count() {
		v, err := p.Value(i)
		if err != nil {
			return "", err
		}
		b = append(b, ' ')
		if b, err = appendValue(b, v, p.Type); err != nil {
			return "", err
		}
	}
	if len(b) > most {
		return fmt.Sprintf(" H%d:%x", len(b), sha256.Sum256(b)), nil
	}
	return string(b), nil
}

func appendValue(b []byte, v segment.Value, typ segment.Type) ([]byte, error) {
	if typ.Base() != segment.TypeBinary {
		text, err := v.Text(1 << 30)
		return hex.AppendEncode(b, []byte(text)), err
	}
	if v.IsExternal() {
		return appendExternal(b, v)
	}
	sum := sha256.New()
	n, err := io.Copy(sum, v.Reader())
	return fmt.Appendf(b, "%d:%x", n, sum.Sum(nil)), err
}

// appendExternal knows the ids of a FileDataStore: the digest, or all bytes of a short one, and the length.
func appendExternal(b []byte, v segment.Value) ([]byte, error) {
	id, err := v.BlobID()
	if err != nil {
		return nil, err
	}
	text, err := id.Text(1 << 20)
	if err != nil {
		return nil, err
	}
	hash, length, _ := strings.Cut(text, "#")
	if digits, ok := strings.CutPrefix(hash, "0x"); ok {
		content, err := hex.DecodeString(digits)
		if err != nil {
			return nil, err
		}
		hash = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	return append(b, length+":"+hash...), nil
}
