// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

// TestWriteLists writes lists of all sizes where the shape changes, and compares entries and shape.
func TestWriteLists(t *testing.T) {
	for n, shape := range map[int]string{
		0: "", 1: "e", 2: "B2", 3: "B3", 254: "B254", 255: "B255",
		256: "B2[B255 e]", 257: "B2[B255 B2]", 300: "B2[B255 B45]", 510: "B2[2*B255]", 511: "B3[2*B255 e]",
		1000: "B4[3*B255 B235]", 65_025: "B255[255*B255]", 65_026: "B2[B255[255*B255] e]",
		65_027: "B2[B255[255*B255] B2]", 65_281: "B2[B255[255*B255] B2[B255 e]]",
	} {
		p := newPen(t, newStore(), segment.Options{})
		ids := make([]segment.RecordID, n)
		for i := range ids {
			ids[i] = p.id(p.Long(int64(i % 5000)))
		}
		r := p.open(p.id(p.Array(ids)))
		l, err := r.List()
		must(t, err)
		if l.Len() != n {
			t.Fatalf("%d entries, want %d", l.Len(), n)
		}
		for i, want := range ids {
			if e, err := l.Entry(i); err != nil || e.ID() != want {
				t.Fatalf("entry %d of %d is %s, want %s: %v", i, n, e.ID(), want, err)
			}
		}
		row := p.row(r.ID())
		links, err := row.Links()
		must(t, err)
		if have := p.shapes(links); have != shape {
			t.Errorf("%d entries: %s, want %s", n, have, shape)
		}
	}
}

// row is a record as the table has it.
func (p *pen) row(id segment.RecordID) segment.Row {
	p.t.Helper()
	if _, ok := p.rows[id]; !ok {
		for row := range p.open(id).Segment().Records() {
			p.rows[row.ID()] = row
		}
	}
	return p.rows[id]
}

// shapes says what the records are that lists consist of: e, or a bucket of so many with what is in it.
func (p *pen) shapes(links []segment.Link) string {
	p.t.Helper()
	var all []string
	for _, l := range links {
		if r := p.open(l.ID); r.Type() != segment.RecordBucket {
			all = append(all, "e")
			continue
		}
		below, err := p.row(l.ID).Links()
		must(p.t, err)
		s := fmt.Sprintf("B%d", len(below))
		if in := p.shapes(below); strings.Contains(in, "B") {
			s += "[" + in + "]"
		}
		all = append(all, s)
	}
	var out []string
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n] == all[i] {
			n++
		}
		if n > 1 {
			out = append(out, fmt.Sprintf("%d*%s", n, all[i]))
		} else {
			out = append(out, all[i])
		}
		i += n
	}
	return strings.Join(out, " ")
}

// TestListVectors has a LIST of three and its bucket, byte for byte.
func TestListVectors(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	var ids []segment.RecordID
	for _, s := range []string{"a", "b", "c"} {
		ids = append(ids, p.text(s))
	}
	row := p.row(p.id(p.Array(ids)))
	if have, want := fmt.Sprintf("%x", row.Bytes), "000000030000000000040000"; have != want {
		t.Errorf("list %s, want %s", have, want)
	}
	bucket := p.row(segment.RecordID{Segment: ids[0].Segment, Number: 4})
	if have, want := fmt.Sprintf("%x", bucket.Bytes), "0000000000010000000000020000000000030000"; have != want {
		t.Errorf("bucket %s, want %s", have, want)
	}
}

func TestListTooLong(t *testing.T) {
	if testing.Short() || !long() {
		t.Skip("HOLT_LONG=1 for lists of 16 million entries")
	}
	p := newPen(t, newStore(), segment.Options{})
	ids := rep(p.text("x"), segment.MaxList+1)
	if _, err := p.Array(ids); !errors.Is(err, segment.ErrTooBig) {
		t.Errorf("a list too long: %v", err)
	}
	l, err := p.open(p.id(p.Array(ids[1:]))).List()
	must(t, err)
	if e, err := l.Entry(segment.MaxList - 1); err != nil || e.ID() != ids[0] {
		t.Errorf("the last entry: %v", err)
	}
}
