// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"fmt"
	"testing"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
)

// BenchmarkCheck checks a quarter of a million of nodes.
func BenchmarkCheck(b *testing.B) {
	files, err := (&archive.Memory{}).Open(false)
	must(b, err)
	a, err := newAuthor(files)
	must(b, err)
	_, err = a.commit(&tree{kids: map[string]*tree{"root": wide(20, 50, 5, 50)}})
	must(b, err)
	for _, workers := range []int{1, 2, 4} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			nodes := int64(0)
			for b.Loop() {
				nodes += checkWhole(b, a.store, content.CheckOptions{Workers: workers}).Nodes
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(nodes), "ns/node")
		})
	}
}
