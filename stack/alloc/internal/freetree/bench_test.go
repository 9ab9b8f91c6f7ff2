// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package freetree_test

import (
	"fmt"
	"testing"

	"github.com/holtdb/holt/stack/alloc/internal/freetree"
)

// each runs a benchmark for trees of several sizes.
func each(b *testing.B, run func(b *testing.B, tree *freetree.Tree, blocks []block)) {
	for _, n := range []int{255, 2000, 20000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			blocks := spread(n)
			tree := newTree(b, blocks...)
			b.ReportAllocs()
			run(b, tree, blocks)
		})
	}
}

// BenchmarkInsertRemove takes a block out and puts it in again, as one change.
func BenchmarkInsertRemove(b *testing.B) {
	each(b, func(b *testing.B, tree *freetree.Tree, blocks []block) {
		k := 0
		for b.Loop() {
			k = (k + 7919) % len(blocks)
			tree.Remove(blocks[k])
			if err := tree.Insert(blocks[k]); err != nil {
				b.Fatal(err)
			}
			tree.Settle()
		}
	})
}

// BenchmarkReplace makes a block smaller and larger again, as two changes of which it asks what to write.
func BenchmarkReplace(b *testing.B) {
	each(b, func(b *testing.B, tree *freetree.Tree, blocks []block) {
		k, writes := 0, 0
		for b.Loop() {
			k = (k + 7919) % len(blocks)
			full, half := blocks[k], block{blocks[k].Off, (blocks[k].Size/unit + 1) / 2 * unit}
			m := tree.Mark()
			tree.Replace(full, half)
			writes += len(tree.Changes(m))
			tree.Settle()
			tree.Replace(half, full)
			tree.Settle()
		}
		b.ReportMetric(float64(writes)/float64(b.N), "writes/op")
	})
}

func BenchmarkBestFit(b *testing.B) {
	each(b, func(b *testing.B, tree *freetree.Tree, blocks []block) {
		k := 0
		for b.Loop() {
			k = (k + 7919) % len(blocks)
			if _, ok := tree.BestFit(blocks[k].Size); !ok {
				b.Fatal("nothing fits")
			}
		}
	})
}

func BenchmarkRewind(b *testing.B) {
	each(b, func(b *testing.B, tree *freetree.Tree, blocks []block) {
		k := 0
		for b.Loop() {
			k = (k + 7919) % len(blocks)
			m := tree.Mark()
			tree.Remove(blocks[k])
			tree.Rewind(m)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	each(b, func(b *testing.B, tree *freetree.Tree, blocks []block) {
		d := newDisk(tree)
		read := func(offs []int64, dst [][freetree.NodeSize]byte) error {
			for k, off := range offs {
				dst[k] = d.nodes[off]
			}
			return nil
		}
		end := at(20*len(blocks), 0).Off
		for b.Loop() {
			_, _, err := freetree.Load(d.root, end, read)
			check(b, err)
		}
	})
}
