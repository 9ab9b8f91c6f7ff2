// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/holtdb/holt/internal/invariant"
	"github.com/holtdb/holt/kv/internal/page"
)

// verify turns on costly checks of what a commit is about to write: in builds for testing, and where the environment
// says BBOLT_VERIFY=all or =assert.
var verify = invariant.Enabled || verifyAsked(os.Getenv("BBOLT_VERIFY"))

func verifyAsked(env string) bool {
	return strings.EqualFold(env, "all") || strings.EqualFold(env, "assert")
}

// verifyNode panics unless keys ascend and the size is right: invariants (1) and (2) of node. An empty key comes from a
// damaged page.
func (w *writer) verifyNode(n *node) {
	size := branchSize(nil)
	for i := range n.slots {
		size += elemSize(n.slots[i])
		key := w.key(&n.slots[i])
		if len(key) == 0 {
			w.tx.corrupt(n.id, "element %d of page %d has an empty key", i, n.id)
		}
		if i > 0 && bytes.Compare(w.key(&n.slots[i-1]), key) >= 0 {
			w.tx.corrupt(n.id, "key %d of page %d does not ascend: %x", i, n.id, key)
		}
	}
	if size != n.size {
		panic(fmt.Sprintf("assertion failed: node of page %d takes %d bytes, not %d", n.id, size, n.size))
	}
}

// verify panics unless its invariants (1) and (2) hold. freed are the runs of the open write transaction.
func (f *freelist) verify(freed []run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pending := 0
	for _, r := range freed {
		pending += int(r.n)
	}
	for _, r := range f.recent {
		pending += int(r.n)
	}
	for _, runs := range f.pinned {
		for _, r := range runs {
			pending += int(r.n)
		}
	}
	if pending != f.pending.Len() {
		panic(fmt.Sprintf("assertion failed: %d pages are pending, %d are listed", pending, f.pending.Len()))
	}
	for id := range f.pending.All() {
		if f.free.Has(id) {
			panic(fmt.Sprintf("assertion failed: page %d is free and pending", id))
		}
	}
}

// verifyPatched panics unless the image of a patched node is the one that is made of it when it is opened.
func (w *writer) verifyPatched(n *node, id uint64, image []byte) {
	opened := *n
	opened.slots, opened.patches = nil, slices.Clone(n.patches)
	w.open(&opened)
	w.verifyNode(&opened)
	want, segs := make(page.Page, len(image)), len(w.segs)
	flags := uint16(page.Branch)
	if n.leaf {
		flags = page.Leaf
	}
	want.PutHeader(id, flags, len(opened.slots), 0)
	w.fill(want, opened.slots, n.leaf, false)
	w.segs = w.segs[:segs]
	if !bytes.Equal(image, want) {
		panic(fmt.Sprintf("assertion failed: page %d with %d patches is not what its elements make", n.id, len(n.patches)))
	}
}
