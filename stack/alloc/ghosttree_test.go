// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"encoding/hex"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// The example of the format's description: what each call returns, and every byte of the payload.
func TestGhostTreeGolden(t *testing.T) {
	s, err := stack.Open(filepath.Join(t.TempDir(), "golden"), &stack.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, err := alloc.OpenGhostTree(s)
	if err != nil {
		t.Fatal(err)
	}
	var rs []alloc.Region
	for _, c := range []struct{ n, off int64 }{{64, 48}, {1, 112}, {40, 144}, {32, 208}} {
		r, err := a.Alloc(c.n)
		if err != nil || r.Off != c.off || r.Len != c.n {
			t.Fatalf("Alloc(%d) = %v, %v, want offset %d", c.n, r, err, c.off)
		}
		rs = append(rs, r)
	}
	for _, i := range []int{0, 2} {
		if err := a.Free(rs[i]); err != nil {
			t.Fatal(err)
		}
	}
	r, err := a.Alloc(20)
	if err != nil || r.Off != 80 {
		t.Fatalf("Alloc(20) = %v, %v, want offset 80", r, err)
	}
	want := make([]byte, 240)
	node := func(off int, hexed string) {
		b, err := hex.DecodeString(hexed)
		if err != nil {
			t.Fatal(err)
		}
		copy(want[off:], b)
	}
	node(32, "414c475400010400"+"9000000000000000")
	node(144, "4000000000000000"+"ff02010000000000"+"3000000000000000"+"0000000000000000")
	node(48, "2000000000000000"+"0001000000000000"+"0000000000000000"+"0000000000000000")
	got, err := s.Peek(0)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("payload\n%s\nwant\n%s", hex.Dump(got), hex.Dump(want))
	}
	for err := range a.Check() {
		t.Error(err)
	}
}
