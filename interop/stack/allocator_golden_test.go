// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"
)

// goldens are commands, each with its answer, and some of the bytes that they leave in the payload.
var goldens = map[string]struct {
	dialog string
	length int
	bytes  map[int]string // by offset
}{
	"linear": {
		dialog: "alloc 10: 0 10; alloc 20: 10 20; free 0 10: ; realloc 10 20 30: 10 30; free 10 30: ",
		length: 10,
	},
	"firstfit": {
		dialog: "alloc 100: 64 100; alloc 5: 192 5; free 64 100: ; alloc 17: 144 17",
		length: 216,
		bytes: map[int]string{
			16:  "414c4646000104000000000000000000" + "4000000000000000",       // magic, flags, the first free block
			48:  "38000000000000000100000000000000" + strings.Repeat("00", 16), // the header of that, and its links
			120: "3800000000000000" + "18000000000000000000000000000000",       // its footer, and the header of an allocated one
			168: "1800000000000000" + "10000000000000000000000000000000",
			208: "1000000000000000",
		},
	},
	"ghosttree": {
		dialog: "alloc 64: 48 64; alloc 1: 112 1; alloc 40: 144 40; alloc 32: 208 32; " +
			"free 48 64: ; free 144 40: ; alloc 20: 80 20",
		length: 240,
		bytes: map[int]string{
			32:  "414c475400010400",                                                                     // magic
			40:  "9000000000000000",                                                                     // root
			48:  "2000000000000000" + "00010000" + strings.Repeat("00", 20),                             // a leaf
			144: "4000000000000000" + "ff020100" + "00000000" + "3000000000000000" + "0000000000000000", // the root
		},
	},
	"slab": {
		dialog: "alloc 10: 48 10; alloc 64: 112 64; alloc 100: 176 100; alloc 1: 304 1; free 48 10: ; " +
			"free 176 100: ; alloc 3: 176 3",
		length: 368,
		bytes:  map[int]string{24: "414c534c00010200" + "4000000000000000"},
	},
	"checkedslab": {
		dialog: "alloc 10: 56 10; alloc 56: 120 56; alloc 100: 184 100; alloc 1: 312 1; free 56 10: ; " +
			"free 312 1: ; alloc 3: 56 3; free 120 56: ",
		length: 304,
		bytes: map[int]string{
			24:  "414c434b00010300" + "4000000000000000" + "7000000000000000", // magic, size of blocks, the first free block
			48:  "0100000000000080",
			112: strings.Repeat("00", 16),
			176: "0200000000000080", // two blocks
		},
	},
	"segregated": {
		dialog: "alloc 10: 312 10; alloc 100: 344 100; alloc 1: 456 1; free 312 10: ; free 344 100: ; alloc 9: 312 9",
		length: 464,
		bytes:  map[int]string{24: "414c534700020100"},
	},
}

// TestAllocatorGolden holds what the formats say, and that both sides make the same file of the same commands.
func TestAllocatorGolden(t *testing.T) {
	eachFormat(t, func(t *testing.T, f *format) {
		golden, files := goldens[f.name], [2][]byte{}
		for i, p := range []*process{holt.start(t), crate.start(t)} {
			path := filepath.Join(scratch(t), f.name)
			p.do(t, f.openLine(path))
			for line := range strings.SplitSeq(golden.dialog, "; ") {
				command, want, _ := strings.Cut(line, ":")
				if got := p.do(t, command); got != strings.TrimSpace("ok"+want) {
					t.Errorf("%s, %s: %s, want ok%s", p.name, command, got, want)
				}
			}
			p.do(t, "close")
			files[i] = readFile(t, path)
			payload := files[i][headerSize:]
			if len(payload) != golden.length {
				t.Fatalf("%s: a payload of %d bytes, want %d", p.name, len(payload), golden.length)
			}
			for at, want := range golden.bytes {
				if got := hex.EncodeToString(payload[at : at+len(want)/2]); got != want {
					t.Errorf("%s: %s at %d of the payload, want %s", p.name, got, at, want)
				}
			}
		}
		if !bytes.Equal(files[0], files[1]) {
			t.Errorf("the files differ:\n%s\n%s", hex.Dump(files[0]), hex.Dump(files[1]))
		}
	})
}
