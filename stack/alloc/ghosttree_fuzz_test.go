// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// FuzzGhostTreeOpen opens any bytes as the root and the arena of a file. It is refused, or can be used.
func FuzzGhostTreeOpen(f *testing.F) {
	for _, blocks := range []int{0, 1, 3, 12} {
		p := sceneImage(f, blocks)
		f.Add([]byte(p[ghostRootAt:]))
		if blocks > 1 {
			p.setRoot(p.node(p.root()).Left)
			f.Add([]byte(p[ghostRootAt:]))
			p.edit(p.root(), func(m *freetree.Image) { m.Right = m.Off })
			f.Add([]byte(p[ghostRootAt:]))
		}
	}
	p := sceneImage(f, 3) // not zero, and not whole blocks
	p[p.root()+freetree.NodeSize] = 1
	f.Add([]byte(p[ghostRootAt : len(p)-1]))
	for seed := range uint64(6) {
		interrupted(f, seed, func(_ string, p ghostImage, _ []freetree.Block) { f.Add([]byte(p[ghostRootAt:])) })
	}
	f.Fuzz(func(t *testing.T, tail []byte) {
		if len(tail) > 1<<16 {
			return
		}
		p := newGhostImage(t, 0)
		p = append(p[:ghostRootAt], tail...)
		disk := p.disk(t)
		a, err := openGhost(disk)
		if err != nil {
			if _, ok := errors.AsType[*stack.CorruptError](err); !ok && !errors.Is(err, alloc.ErrFormat) {
				t.Fatal(err)
			}
			same(t, "the file that was refused", raw(t, disk)[headerSize:], p)
			return
		}
		zeros := true // what is free has been so since it was made
		rebuilt := slices.ContainsFunc(a.Repaired(), func(s string) bool { return strings.HasPrefix(s, "rebuilt") })
		for err := range a.Check() {
			if _, ok := errors.AsType[*stack.CorruptError](err); !ok || rebuilt {
				t.Fatal(err)
			}
			zeros = false
		}
		free := freeOf(t, a)
		w := ghostWorld(disk)
		w.a, w.blind = a, true
		d := newDice(uint64(len(tail)))
		for range 30 {
			check(t, w.do(t, everything.op(d)))
		}
		if zeros {
			sound(t, w.a)
		}
		untouched(t, "bytes that are not free", w.a, p, free)
		check(t, w.close())
	})
}
