// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"fmt"
	"strings"
)

// samples build files that use each feature of the format.
var samples = map[string]func(*script){
	"inline":   inline,
	"nested":   nested,
	"overflow": overflow,
	"deleted":  deleted,
	"deep":     deep,
}

// inline has buckets small enough to be stored within their parents, empty
// ones, and empty values.
func inline(s *script) {
	s.bucket("small")
	for i := range 60 {
		name := fmt.Sprintf("bucket%02d", i)
		s.bucket("small", name)
		for j := range i % 4 {
			s.put([]string{"small", name}, fmt.Sprintf("key%d", j), strings.Repeat("v", j*i))
		}
		s.sequence([]string{"small", name}, uint64(i))
	}
	s.bucket("empty")
	s.bucket("pair")
	s.put([]string{"pair"}, "k", "")
}

// nested has buckets of all sizes three deep, with sequences.
func nested(s *script) {
	for i := range 4 {
		at := []string{fmt.Sprintf("top%d", i)}
		s.bucket(at...)
		s.sequence(at, 1<<63+uint64(i))
		for j := range 4 {
			mid := append(at[:1:1], fmt.Sprintf("mid%d", j))
			s.bucket(mid...)
			low := append(mid[:2:2], "low")
			s.bucket(low...)
			fill(s, at, 3*i*j, 10)
			fill(s, mid, 40*i, 30)
			fill(s, low, 100*j, 20)
		}
		s.commit()
	}
}

// overflow has values and keys longer than pages.
func overflow(s *script) {
	at := []string{"big"}
	s.bucket(at...)
	for i, n := range []int{100, 1000, 4000, 4100, 17000, 70000, 200000} {
		s.put(at, fmt.Sprintf("value%d", i), strings.Repeat(string(rune('a'+i)), n))
		s.put(at, strings.Repeat("k", min(n, 32768)), fmt.Sprint(n))
		s.commit()
	}
	s.delete(at, "value4")
	s.put(at, "value5", "short now")
}

// deleted has been filled and mostly emptied, one transaction after another,
// so that pages were merged and the free list is long and full of holes.
func deleted(s *script) {
	at, gone := []string{"left"}, []string{"gone"}
	s.bucket(at...)
	s.bucket(gone...)
	s.bucket("gone", "sub")
	fill(s, gone, 500, 40)
	fill(s, []string{"gone", "sub"}, 300, 40)
	for i := range 10 {
		fill(s, at, 200*(i+1), 30)
		s.commit()
	}
	for i := range 2000 {
		if i*7919%2000%8 != 0 {
			s.delete(at, key(i*7919%2000))
		}
		if i%200 == 0 {
			s.commit()
		}
	}
	s.drop("gone", "sub")
	s.commit()
	s.drop("gone")
}

// deep has a tree of several levels even with the largest pages.
func deep(s *script) {
	at := []string{"tree"}
	s.bucket(at...)
	for i := range 4000 {
		s.put(at, key(i*7919%4000)+strings.Repeat("-", 100), fmt.Sprint(i))
		if i%1000 == 999 {
			s.commit()
		}
	}
}

func fill(s *script, at []string, n, valueSize int) {
	for i := range n {
		s.put(at, key(i), strings.Repeat("v", valueSize))
	}
}

func key(i int) string { return fmt.Sprintf("%06d", i) }

// change is what is done to every sample by the program that did not write
// it. It touches all buckets at the top.
func change(m *model, s *script) {
	for _, name := range sortedKeys(m.buckets) {
		at := []string{name}
		for i, k := range sortedKeys(m.buckets[name].pairs) {
			if i%3 == 0 {
				s.delete(at, k)
			}
		}
		s.commit()
		s.put(at, "added", strings.Repeat("new", 3000))
		s.sequence(at, 77)
		for i, sub := range sortedKeys(m.buckets[name].buckets) {
			if i%2 == 0 {
				s.drop(name, sub)
			}
		}
		s.commit()
	}
	s.bucket("added")
	fill(s, []string{"added"}, 100, 100)
	s.commit()
}
