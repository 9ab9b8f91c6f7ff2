// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// TestByteVecTurns has both sides change a byte vector in turns: each finds what the other left, where it left it.
func TestByteVecTurns(t *testing.T) {
	for _, kind := range []string{"ghosttree", "firstfit"} {
		t.Run(kind, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			v := vectorTurns{path: filepath.Join(scratch(t), kind), kind: kind, rng: rand.New(rand.NewPCG(seed, 0))}
			for turn := range 30 {
				if turn%2 == 0 {
					v.ours(t)
				} else {
					v.theirs(t)
				}
			}
		})
	}
}

// vectorTurns is a vector in a file, and what it should hold.
type vectorTurns struct {
	path, kind string
	rng        *rand.Rand
	r          alloc.Region
	want       []byte
}

func (v *vectorTurns) some() []byte {
	p := make([]byte, 1+v.rng.IntN(60))
	for i := range p {
		p[i] = byte(v.rng.Uint32())
	}
	return p
}

// ours does a few things with our engine.
func (v *vectorTurns) ours(t *testing.T) {
	s, err := stack.Open(v.path, nil)
	must(t, err)
	var a alloc.Allocator
	if v.kind == "ghosttree" {
		a, err = alloc.OpenGhostTree(s)
	} else {
		a, err = alloc.OpenFirstFit(s)
	}
	must(t, err)
	vec := alloc.OpenByteVec(a, v.r)
	if v.r.IsEmpty() {
		vec, err = alloc.NewByteVec(a, 0)
		must(t, err)
	}
	v.expect(t, vec)
	for range 4 {
		switch n := v.rng.IntN(len(v.want) + 1); v.rng.IntN(5) {
		case 0, 1:
			p := v.some()
			must(t, vec.Append(p...))
			v.want = append(v.want, p...)
		case 2:
			p := v.some()
			must(t, vec.Insert(int64(n), p...))
			v.want = slices.Insert(v.want, n, p...)
		case 3:
			must(t, vec.Truncate(int64(n)))
			v.want = v.want[:n]
		case 4:
			must(t, vec.ShrinkToFit())
		}
		v.expect(t, vec)
	}
	v.r = alloc.RegionFrom(vec.Region().Bytes())
	for err := range a.Check() {
		t.Error(err)
	}
	must(t, s.Close())
}

func (v *vectorTurns) expect(t *testing.T, vec *alloc.ByteVec) {
	t.Helper()
	got, err := vec.Bytes()
	must(t, err)
	if !slices.Equal(got, v.want) {
		t.Fatalf("ours holds %x, want %x", got, v.want)
	}
}

// theirs does a few things with the crate.
func (v *vectorTurns) theirs(t *testing.T) {
	p := crate.start(t)
	p.do(t, fmt.Sprintf("open_allocator %s 0 %s", v.kind, v.path))
	v.ask(t, p, "read")
	for range 4 {
		switch n := v.rng.IntN(len(v.want) + 1); v.rng.IntN(6) {
		case 0, 1:
			more := v.some()
			v.want = append(v.want, more...)
			v.ask(t, p, "append "+hex.EncodeToString(more))
		case 2:
			v.want = slices.Insert(v.want, n, 7)
			v.ask(t, p, fmt.Sprintf("insert %d 7", n))
		case 3:
			v.want = v.want[:n]
			v.ask(t, p, fmt.Sprintf("truncate %d", n))
		case 4:
			v.ask(t, p, "shrink")
		case 5:
			if n < len(v.want) {
				v.want = slices.Delete(v.want, n, n+1)
				v.ask(t, p, fmt.Sprintf("remove %d", n))
			}
		}
	}
	p.do(t, "close")
}

func (v *vectorTurns) ask(t *testing.T, p *process, what string) {
	t.Helper()
	answer := p.do(t, fmt.Sprintf("vec %d %d %s", v.r.Off, v.r.Len, what))
	var held string
	if _, err := fmt.Sscan(strings.TrimPrefix(answer, "ok "), &v.r.Off, &v.r.Len, &held); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	if got, err := hex.DecodeString(strings.Trim(held, "-")); err != nil || !slices.Equal(got, v.want) {
		t.Fatalf("the crate holds %s, want %x", held, v.want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
