// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"fmt"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// TestFields looks at the fields of a small file.
func TestFields(t *testing.T) {
	s, err := stack.Open("fields.stack", &stack.Options{FS: file.NewMemory()})
	if err != nil {
		t.Fatal(err)
	}
	a, err := alloc.OpenGhostTree(s)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := a.AllocBulk([]int64{64, 1, 40, 32})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []alloc.Region{rs[0], rs[2]} {
		if err := a.Free(r); err != nil {
			t.Fatal(err)
		}
	}
	spans, err := a.Layout()
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, sp := range spans {
		fields, err := alloc.Fields(a, sp)
		if err != nil {
			t.Fatal(err)
		}
		at := sp.Off
		for _, f := range fields {
			if f.Off != at || f.Off+f.Len > sp.Off+sp.Len {
				t.Errorf("%v: field %+v, want one at %d", sp, f, at)
			}
			at += f.Len
			got += fmt.Sprintf("%d %s %s\n", f.Off, f.Name, f.Value)
		}
	}
	if got != wantFields {
		t.Errorf("the fields are\n%swant\n%s", got, wantFields)
	}
	if fields, err := alloc.Fields(a, alloc.Span{Off: 48, Len: 31, Kind: alloc.Free}); err != nil || len(fields) > 0 {
		t.Errorf("a span that is too short: %v, %v", fields, err)
	}
}

const wantFields = `32 magic 
40 root 48
48 size 64
56 balance 1
57 height 2
58 height left 0
59 height right 1
60 reserved 
64 left 0
72 right 144
144 size 64
152 balance 0
153 height 1
154 height left 0
155 height right 0
156 reserved 
160 left 0
168 right 0
`

// TestFieldsOfEachKind demands that fields lie in their spans, and that the numbers in them fit the layout.
func TestFieldsOfEachKind(t *testing.T) {
	forEach(t, func(t *testing.T, k *kind) {
		s, err := stack.Open("fields.stack", &stack.Options{FS: file.NewMemory()})
		if err != nil {
			t.Fatal(err)
		}
		a, err := k.open(s)
		if err != nil {
			t.Fatal(err)
		}
		rs, err := a.AllocBulk([]int64{48, 1, 48, 8, 300, 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 2, 4} {
			if err := a.Free(rs[i]); err != nil {
				t.Fatal(err)
			}
		}
		checkFields(t, a)
	})
}

func checkFields(t *testing.T, a alloc.Allocator) {
	t.Helper()
	spans, err := a.Layout()
	if err != nil {
		t.Fatal(err)
	}
	for _, sp := range spans {
		fields, err := alloc.Fields(a, sp)
		if err != nil {
			t.Fatal(err)
		}
		if known := sp.Kind == alloc.Header || sp.Kind == alloc.Free; known != (len(fields) > 0) && sp.Kind != alloc.Used {
			t.Errorf("%v: %d fields", sp, len(fields))
		}
		at := sp.Off
		for _, f := range fields {
			if f.Off < at || f.Len <= 0 || f.Off+f.Len > sp.Off+sp.Len {
				t.Errorf("%v: field %+v, want one at %d or behind", sp, f, at)
			}
			at = f.Off + f.Len
			want := map[string]string{
				"size >> 4": fmt.Sprint(sp.Len >> 4), "in use, size >> 4": fmt.Sprint(sp.Len >> 4),
				"in use, blocks": fmt.Sprint(sp.Len / 64), "overhead": "0",
			}
			switch alloc.Name(a) {
			case "ghosttree":
				want["size"] = fmt.Sprint(sp.Len)
			case "firstfit":
				want["size"] = fmt.Sprint(sp.Len - 24)
				want["size again"] = want["size"]
			}
			if value, ok := want[f.Name]; ok && f.Value != value {
				t.Errorf("%v: %s is %s, want %s", sp, f.Name, f.Value, value)
			}
		}
	}
}
