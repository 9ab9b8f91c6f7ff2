// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"testing"

	"github.com/holtdb/holt/stack/alloc"
)

// The first call after opening a file frees something, when nothing but the opening has made the allocator look for what
// is free: one region, one that is free already, or all of them, each by another goroutine.
func TestFirstCallFrees(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		base, live := prepared(t, k, 7)
		for i, p := range live {
			disk := base.Clone()
			w := newWorld(k, disk)
			w.live = live
			check(t, w.open())
			check(t, w.do(t, op{verb: doFree, pick: i}))
			w.verify(t)
			check(t, w.reopen(t))
			if k.doubles {
				before := mustPeek(t, w.a.Stack())
				if err := w.a.Free(alloc.RegionFrom(p.r.Bytes())); err == nil {
					t.Fatalf("%v was freed twice", p.r)
				}
				rest(t, w.a.Stack())
				same(t, "payload", mustPeek(t, w.a.Stack()), before)
			}
			check(t, w.do(t, op{verb: doAlloc, n: p.r.Len}))
			w.verify(t)
			check(t, w.close())
		}
		w := newWorld(k, base.Clone())
		check(t, w.open())
		errs := make([]error, len(live))
		goroutines(len(live), func(i int) { errs[i] = w.a.Free(alloc.RegionFrom(live[i].r.Bytes())) })
		for _, err := range errs {
			check(t, err)
		}
		if !k.reuses { // keeps what is not at the end
			return
		}
		w.verify(t)
		check(t, w.close())
	})
}
