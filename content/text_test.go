// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/content/segment"
)

// TestTextInPieces demands that text is the same in however many pieces its bytes come.
func TestTextInPieces(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "é", "大", "😀", "\xff", "\xf0\x9f", "\x98\x80", "\xc3", "\xed\xa0\x80", "",
	})
	rapid.Check(t, func(t *rapid.T) {
		var all []byte
		for _, p := range rapid.SliceOf(piece).Draw(t, "pieces") {
			all = append(all, p...)
		}
		var out bytes.Buffer
		w := textWriter{w: &out}
		for rest := all; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "bytes")
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.end(); err != nil {
			t.Fatal(err)
		}
		if want := segment.AppendText(nil, all); !bytes.Equal(out.Bytes(), want) {
			t.Errorf("%x became %q, want %q", all, out.Bytes(), want)
		}
	})
}

// TestAbridger demands that bytes are kept or their digest is, depending on how many there are.
func TestAbridger(t *testing.T) {
	var a abridger
	for _, size := range []int{0, 1, maxShown - 1, maxShown, maxShown + 1, 10 * maxShown} {
		for _, step := range []int{1, 7, maxShown, 10 * maxShown} {
			a.reset()
			all := bytes.Repeat([]byte("x"), size)
			for rest := all; len(rest) > 0; {
				n := min(step, len(rest))
				_, _ = a.Write(rest[:n])
				rest = rest[n:]
			}
			if a.n != int64(size) || a.many != (size > maxShown) {
				t.Fatalf("%d bytes: %d, %v", size, a.n, a.many)
			}
			have, want := a.kept, all
			if sum := sha256.Sum256(all); a.many {
				have, want = a.sum.Sum(nil), sum[:]
			}
			if !bytes.Equal(have, want) {
				t.Errorf("%d bytes by %d: something else", size, step)
			}
		}
	}
}
