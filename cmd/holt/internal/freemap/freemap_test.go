// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freemap_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/cmd/holt/internal/freemap"
	"github.com/holtdb/holt/stack/alloc"
)

// spansOf makes spans of lengths, used and free in turn.
func spansOf(lens ...int64) (spans []alloc.Span) {
	at := int64(0)
	for i, n := range lens {
		kind := alloc.Used
		if i%2 == 1 {
			kind = alloc.Free
		}
		spans = append(spans, alloc.Span{Off: at, Len: n, Kind: kind})
		at += n
	}
	return spans
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		spans []alloc.Span
		want  string
	}{
		{nil, "A character is 16 bytes: # used, . free, 1 to 9 tenths used\n"},
		{spansOf(48, 32, 17), " 0 ###..##\nA character is 16 bytes: # used, . free, 1 to 9 tenths used\n"},
		{spansOf(1, 16, 15, 8), " 0 19.\nA character"},
		{spansOf(16*64, 16*3), "   0 " + strings.Repeat("#", 64) + "\n1024 ...\nA character"},
		{spansOf(0, 1<<40), "            0 " + strings.Repeat(".", 64) + "\n  34359738368 .*\nA character is 536870912 bytes"},
	} {
		var out bytes.Buffer
		if err := freemap.New(c.spans).WriteText(&out); err != nil {
			t.Fatal(err)
		}
		first, rest, many := strings.Cut(c.want, ".*\n")
		if !strings.HasPrefix(out.String(), first) || many && !strings.Contains(out.String(), rest) {
			t.Errorf("%v:\n%swant\n%s", c.spans, out.String(), c.want)
		}
	}
}

// TestCells adds the cells up.
func TestCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lens := rapid.SliceOf(rapid.Int64Range(1, 10_000)).Draw(t, "lengths")
		m := freemap.New(spansOf(lens...))
		var free, all int64
		for i, n := range lens {
			all += n
			if i%2 == 1 {
				free += n
			}
		}
		for _, n := range m.Free {
			if n < 0 || n > m.CellSize {
				t.Errorf("%d bytes free in a cell of %d", n, m.CellSize)
			}
			free -= n
		}
		if free != 0 || m.Length != all || len(m.Free) > 2048 || int64(len(m.Free))*m.CellSize < all {
			t.Errorf("%d bytes too few free, length %d, %d cells of %d", free, m.Length, len(m.Free), m.CellSize)
		}
	})
}

func TestSVG(t *testing.T) {
	var out bytes.Buffer
	if err := freemap.New(spansOf(48, 32, 17)).WriteSVG(&out, "a <b> & c"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<text x="0" y="16">a &lt;b&gt; &amp; c</text>`,
		`<rect x="0" y="24" width="30" height="9" fill="rgb(60,60,240)"><title>0+48: 100 % used</title></rect>`,
		`<rect x="30" y="24" width="20" height="9" fill="rgb(230,230,240)"><title>48+32: 0 % used</title></rect>`,
		`<title>80+17: 100 % used</title>`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in\n%s", want, out.String())
		}
	}
	d := xml.NewDecoder(&out)
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
