// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A holding is a live region, and what is known of its bytes: those from its beginning on that are not as they happened
// to be when they were allocated.
type holding struct {
	off, n int64
	data   []byte
	stale  bool // what is behind it need not be zero, though it should
}

func (h *holding) end() int64 { return h.off + h.n }

func (h *holding) words() string { return fmt.Sprint(h.off, h.n) }

// holdings are all live regions of a file, and the reserved bytes.
type holdings struct {
	list     []*holding
	reserved []byte
}

// step is a command, and what it makes of the holdings it is about when it is not refused.
type step struct {
	line    string
	about   []*holding
	refused bool // it may be
	after   func(regions []holding) []*holding
}

// run has a side do a step.
func (h *holdings) run(t *testing.T, p *process, s step) {
	t.Helper()
	answer, err := p.ask(s.line)
	if err != nil {
		t.Fatalf("%s, %s: %v", p.name, short(s.line), err)
	}
	h.take(t, p, s, answer)
	for _, r := range h.list {
		if slices.Contains(s.about, r) || r == h.list[len(h.list)-1] {
			h.verifyOne(t, p, r, s.line)
		}
	}
}

// take notes the answer of a side to a step.
func (h *holdings) take(t *testing.T, p *process, s step, answer string) {
	t.Helper()
	if kind(answer) == "err" {
		if !s.refused {
			t.Fatalf("%s, %s: %s", p.name, short(s.line), answer)
		}
		return
	}
	h.drop(s.about)
	for _, r := range s.after(regionsOf(t, answer)) {
		if r.n == 0 {
			continue
		}
		for _, other := range h.list {
			if r.off < other.end() && other.off < r.end() {
				t.Fatalf("%s, %s: %s, where %v is", p.name, short(s.line), answer, other.words())
			}
		}
		h.list = append(h.list, r)
	}
}

func (h *holdings) drop(all []*holding) {
	h.list = slices.DeleteFunc(h.list, func(r *holding) bool { return slices.Contains(all, r) })
}

// regionsOf reads the regions of an answer.
func regionsOf(t *testing.T, answer string) (all []holding) {
	t.Helper()
	words := strings.Fields(answer)[1:]
	numbers := make([]int64, len(words))
	for i, word := range words {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			t.Fatalf("answer %q: %v", answer, err)
		}
		numbers[i] = n
	}
	for pair := range slices.Chunk(numbers, 2) {
		all = append(all, holding{off: pair[0], n: pair[1]})
	}
	return all
}

// verify demands that all regions read as they should.
func (h *holdings) verify(t *testing.T, p *process) {
	t.Helper()
	for _, r := range h.list {
		h.verifyOne(t, p, r, "later")
	}
}

func (h *holdings) verifyOne(t *testing.T, p *process, r *holding, when string) {
	t.Helper()
	got, err := hex.DecodeString(strings.TrimPrefix(p.do(t, "read "+r.words()), "ok "))
	if err != nil || int64(len(got)) != r.n || !bytes.HasPrefix(got, r.data) {
		t.Fatalf("%s, %s: region %s reads %s, want %s %v", p.name, short(when), r.words(),
			short(hex.EncodeToString(got)), short(hex.EncodeToString(r.data)), err)
	}
}

// sorted are the holdings by offset.
func (h *holdings) sorted() []*holding {
	return slices.SortedFunc(slices.Values(h.list), func(a, b *holding) int { return cmp.Compare(a.off, b.off) })
}
