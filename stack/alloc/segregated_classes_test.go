// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"slices"
	"testing"
)

func TestSegregatedClasses(t *testing.T) {
	var want []int64
	for _, c := range []struct{ from, to, step int64 }{
		{16, 256, 16}, {320, 512, 64}, {640, 1024, 128}, {1280, 2048, 256}, {2560, 4096, 512},
	} {
		for size := c.from; size <= c.to; size += c.step {
			want = append(want, size)
		}
	}
	if !slices.Equal(segClasses[:], want) {
		t.Fatalf("classes %v, want %v", segClasses, want)
	}
	for n := int64(1); n < 9000; n++ {
		size, list := segSize(n)
		own, fits := segList(size)
		if size < n+segMark || size%segUnit != 0 || own != list || !fits {
			t.Fatalf("%d bytes: a block of %d of list %d; it belongs on %d, fits %v", n, size, list, own, fits)
		}
		least := n + segMark
		if list > 0 && list < segLarge && segClasses[list-1] >= least || list == segLarge && size >= least+segUnit {
			t.Fatalf("%d bytes: a block of %d is larger than needed", n, size)
		}
	}
	for size := int64(segUnit); size <= 5000; size += segUnit {
		list, fits := segList(size)
		if list < segLarge && (segClasses[list] > size || fits != (segClasses[list] == size)) {
			t.Fatalf("%d bytes belong on list %d of %d, %v", size, list, segClasses[list], fits)
		}
	}
}
