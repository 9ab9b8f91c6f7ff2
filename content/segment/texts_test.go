// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestTexts holds the table against a map: it may forget, but only what was not used for as long as half of its size, and
// never says what was not put. Hashes collide.
func TestTexts(t *testing.T) { rapid.Check(t, textsModel) }

func textsModel(t *rapid.T) {
	const capacity = 8 // of a half
	var have texts
	have.init(2*capacity*(entryCost+1), 0)
	want := map[string]uint32{}
	var lately []string // what was used last comes last
	hashes := rapid.Uint32Range(1, 40).Draw(t, "hashes")
	for i := range uint32(rapid.IntRange(0, 300).Draw(t, "steps")) {
		c := rapid.Uint32Range(0, 60).Draw(t, "text")
		text := string(rune(' ' + c)) // one byte
		key := textKey{[]byte(text), c % hashes}
		id, ok := have.get(key)
		switch {
		case ok && id.Number != want[text]:
			t.Fatalf("%q is record %d, want %d", text, id.Number, want[text])
		case !ok:
			for _, l := range lately[max(0, len(lately)-capacity):] {
				if l == text {
					t.Fatalf("%q was used just now, and forgotten", text)
				}
			}
			have.put(key, RecordID{Number: i})
			want[text] = i
		}
		lately = append(lately, text)
		if n := len(have.young.entries); n > capacity || have.young.size > have.half {
			t.Fatalf("%d entries, %d bytes", n, have.young.size)
		}
	}
}

func TestTextsNothing(t *testing.T) {
	var none texts
	none.init(-1, 100)
	key := none.key([]byte("a"))
	none.put(key, RecordID{Number: 1})
	if _, ok := none.get(key); ok {
		t.Error("something is remembered without memory")
	}
	var many texts
	many.init(1<<20, 0)
	for i := range 5000 {
		many.put(many.key([]byte(strconv.Itoa(i))), RecordID{Number: uint32(i)})
	}
	for i := range 5000 {
		if id, ok := many.get(many.key([]byte(strconv.Itoa(i)))); !ok || id.Number != uint32(i) {
			t.Fatalf("%d is %d, %t", i, id.Number, ok)
		}
	}
}
