// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/holtdb/holt/stack/alloc"
)

// The example of the format's description: what each call returns, and every byte of the payload.
func TestGhostTreeGolden(t *testing.T) {
	a := mustOpenGhost(t, newDisk())
	var rs []alloc.Region
	for _, c := range []struct{ n, off int64 }{{64, 48}, {1, 112}, {40, 144}, {32, 208}} {
		r, err := a.Alloc(c.n)
		if err != nil || r.Off != c.off || r.Len != c.n {
			t.Fatalf("Alloc(%d) = %v, %v, want offset %d", c.n, r, err, c.off)
		}
		rs = append(rs, r)
	}
	for _, i := range []int{0, 2} {
		check(t, a.Free(rs[i]))
	}
	r, err := a.Alloc(20)
	if err != nil || r.Off != 80 {
		t.Fatalf("Alloc(20) = %v, %v, want offset 80", r, err)
	}
	want := make(ghostImage, 240)
	for at, bytes := range map[int64]string{
		32:  "414c475400010400" + "9000000000000000",
		144: "4000000000000000" + "ff02010000000000" + "3000000000000000" + "0000000000000000",
		48:  "2000000000000000" + "0001000000000000" + "0000000000000000" + "0000000000000000",
	} {
		b, err := hex.DecodeString(bytes)
		check(t, err)
		copy(want[at:], b)
	}
	holds(t, a.Stack(), want)
	sound(t, a)
	closeGhost(t, a)
}

// A program that left bytes behind a region, as bstack 0.4.4 does when it shrinks one in place, does not make them
// appear.
func TestGhostTreeStalePadding(t *testing.T) {
	for name, grow := range map[string]func(a *alloc.GhostTree, r alloc.Region) (alloc.Region, error){
		"realloc in the block": func(a *alloc.GhostTree, r alloc.Region) (alloc.Region, error) { return a.Realloc(r, 32) },
		"realloc beyond it":    func(a *alloc.GhostTree, r alloc.Region) (alloc.Region, error) { return a.Realloc(r, 90) },
		"resize":               func(a *alloc.GhostTree, r alloc.Region) (alloc.Region, error) { return a.Resize(r, 0, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			a := memoryTree(t)
			r, err := a.Alloc(32)
			check(t, err)
			_, err = a.View(r).WriteAt(bytes.Repeat([]byte{0xAB}, 32), 0)
			check(t, err)
			r.Len = 30
			got, err := grow(a, r)
			check(t, err)
			p, err := a.View(got).Bytes()
			check(t, err)
			want := append(bytes.Repeat([]byte{0xAB}, 30), make([]byte, got.Len-30)...)
			if !bytes.Equal(p, want) {
				t.Errorf("%x, want %x", p, want)
			}
		})
	}
}
