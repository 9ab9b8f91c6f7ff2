// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/content/segment"
)

// TestHashes has the values that Oak computes.
func TestHashes(t *testing.T) {
	for _, tt := range []struct {
		name       string
		java, map_ uint32
		buckets    [7]uint32
	}{
		{"", 0, 0xb4600a74, [7]uint32{22, 17, 16, 0, 20, 29, 29}},
		{"a", 0x61, 0x3c9cbb27, [7]uint32{7, 18, 14, 11, 22, 9, 1}},
		{"root", 0x003580e2, 0xc28924ee, [7]uint32{24, 10, 4, 18, 9, 27, 30}},
		{"checkpoints", 0x5f025beb, 0xbc751619, [7]uint32{23, 17, 26, 17, 12, 6, 29}},
		{"jcr:content", 0xe74d9058, 0x88cef29c, [7]uint32{17, 3, 7, 15, 5, 7, 28}},
		{"jcr:primaryType", 0x4e8194bb, 0x450e2929, [7]uint32{8, 20, 7, 2, 18, 10, 2}},
		{"é", 0xe9, 0xbba8be3f, [7]uint32{23, 14, 20, 11, 28, 15, 29}},
		{"\U0001F600", 0x001b0d63, 0x81a5a901, [7]uint32{16, 6, 18, 26, 18, 0, 28}},
		{"Aa", 0x840, 0x6059d734, [7]uint32{12, 1, 12, 29, 14, 13, 3}},
		{"BB", 0x840, 0x6059d734, [7]uint32{12, 1, 12, 29, 14, 13, 3}},
		{"child-0", 0x2c7b23bf, 0x1ff1e675, [7]uint32{3, 31, 24, 30, 12, 29, 0}},
		{":childOrder", 0x0bb3f34c, 0x5ee3a518, [7]uint32{11, 27, 17, 26, 10, 6, 2}},
	} {
		if h := segment.JavaHash(tt.name); h != tt.java {
			t.Errorf("%q: hash %08x, want %08x", tt.name, h, tt.java)
		}
		if h := segment.MapHash(tt.name); h != tt.map_ {
			t.Errorf("%q: hash in maps %08x, want %08x", tt.name, h, tt.map_)
		}
		for level, want := range tt.buckets {
			if i := segment.BucketIndex(tt.map_, uint32(level)); i != want {
				t.Errorf("%q: bucket %d at level %d, want %d", tt.name, i, level, want)
			}
		}
	}
}

// TestMalformedText has what Java makes of bytes that are not UTF-8, and the hash of that.
func TestMalformedText(t *testing.T) {
	const x = "\uFFFD"
	for raw, want := range map[string]string{
		"":             "",
		"61c3a962":     "aéb",
		"ff":           x,
		"61ff62":       "a" + x + "b",
		"c3":           x,
		"c361":         x + "a",
		"c080":         x + x,
		"e282":         x,
		"e28261":       x + "a",
		"e08080":       x + x + x,
		"e09f80":       x + x + x,
		"eda080":       x,
		"eda08041":     x + "A",
		"eda041":       x + "A",
		"edb0":         x,
		"f09f98":       x,
		"f09f9841":     x + "A",
		"f0808080":     x + x + x + x,
		"f4908080":     x + x + x + x,
		"f5808080":     x + x + x + x,
		"f09f9880":     "\U0001F600",
		"f77fc1c1":     x + "\x7f" + x + x,
		"f1f8a0bf9090": strings.Repeat(x, 6),
		"80":           x,
	} {
		b, err := hex.DecodeString(raw)
		must(t, err)
		if have := string(segment.AppendText(nil, b)); have != want {
			t.Errorf("%s: %q, want %q", raw, have, want)
		}
		if have := segment.HashBytes(b); have != oracleHash(want) {
			t.Errorf("%s: hash %08x, want %08x", raw, have, oracleHash(want))
		}
	}
}

// oddRunes are those around which UTF-8 and UTF-16 differ.
var oddRunes = []rune{'a', 'b', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF}

func TestTextAgainstUTF16(t *testing.T) {
	texts := rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.SampledFrom(oddRunes), 0, 4).Draw(t, "runes"))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		if have, want := segment.CompareText(a, b), oracleCompare(a, b); have != want {
			t.Fatalf("compare %d, want %d", have, want)
		}
		if have, want := segment.JavaHash(a), oracleHash(a); have != want {
			t.Fatalf("hash %08x, want %08x", have, want)
		}
		if have := segment.AppendText([]byte("x"), []byte(a)); string(have) != "x"+a {
			t.Fatalf("%q became %q", a, have)
		}
	})
}

func TestTypeNames(t *testing.T) {
	names := map[string]bool{}
	for typ := -segment.TypeDecimal; typ <= segment.TypeDecimal; typ++ {
		names[typ.String()] = true
		if typ.IsArray() != (typ < 0) || typ.Base() != max(typ, -typ) {
			t.Errorf("%s: array %t, of %s", typ, typ.IsArray(), typ.Base())
		}
	}
	if len(names) != 25 || names["?"] {
		t.Errorf("names of types: %v", names)
	}
	for typ, want := range map[segment.Type]string{segment.TypeBinaries: "BINARIES", segment.TypeLong: "LONG", 13: "?", -13: "?"} {
		if typ.String() != want {
			t.Errorf("type %d is %s, want %s", int8(typ), typ, want)
		}
	}
}
