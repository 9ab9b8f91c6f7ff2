// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/internal/fixture"
)

// BenchmarkCheck checks what Oak wrote.
func BenchmarkCheck(b *testing.B) {
	dir := fixture.Untar(b, "oak", "afterGC.tar.xz")
	s := open(b, filepath.Join(dir, folders["afterGC"]))
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			var nodes int64
			for b.Loop() {
				nodes += checkWhole(b, s, content.CheckOptions{}).Nodes
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(nodes), "ns/node")
		})
	}
}
