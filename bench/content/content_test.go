// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/holtdb/holt/content"
)

// TestWrite has a store hold the tree that it was made of, as a sum and by its fingerprint.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	must(t, write(dir, 2))
	s, err := content.Open(dir, nil)
	must(t, err)
	defer func() { must(t, s.Close()) }()
	for _, workers := range []int{1, 2} {
		var sum traversal
		must(t, sum.run(t.Context(), s, workers))
		const nodes, properties = 2006, 20_717
		const want = 17691398668352809068
		if sum.nodes.Load() != nodes || sum.properties.Load() != properties || sum.sum.Load() != uint64(want) {
			t.Errorf("%d nodes, %d properties, sum %d", sum.nodes.Load(), sum.properties.Load(), sum.sum.Load())
		}
	}
	var out strings.Builder
	must(t, one(&out, dir, "/root/tree/section-0"))
	if !strings.Contains(out.String(), "jcr:primaryType = sling:OrderedFolder\n") {
		t.Error(out.String())
	}
	must(t, digest(t.Context(), dir))
	report, err := check(t.Context(), dir)
	if err != nil || report.Nodes != 2005 {
		t.Errorf("%+v: %v", report, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const folders = 30

func BenchmarkTraverse(b *testing.B) {
	dir := b.TempDir()
	must(b, write(dir, folders))
	s, err := content.Open(dir, nil)
	must(b, err)
	defer func() { must(b, s.Close()) }()
	for _, workers := range []int{1, 2} {
		b.Run(strconv.Itoa(workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var t traversal
				must(b, t.run(b.Context(), s, workers))
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	dir := b.TempDir()
	must(b, write(dir, folders))
	b.ReportAllocs()
	for b.Loop() {
		_, err := check(b.Context(), dir)
		must(b, err)
	}
}

func BenchmarkDigest(b *testing.B) {
	dir := b.TempDir()
	must(b, write(dir, folders))
	b.ReportAllocs()
	for b.Loop() {
		must(b, digest(b.Context(), dir))
	}
}

func BenchmarkWrite(b *testing.B) {
	b.ReportAllocs()
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		must(b, write(filepath.Join(dir, strconv.Itoa(i)), folders))
	}
}
