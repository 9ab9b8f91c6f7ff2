// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"slices"

	"github.com/holtdb/holt/kv/internal/page"
)

// maxPatches is the number of changes of a leaf up to which it stays a page.
const maxPatches = 8

// patch is a change of a leaf that still is the page it was read from: an element put before element at, or in its place.
type patch struct {
	slot    slot
	at      int32
	replace bool
}

// patchable says whether page id can stay as it is, to be copied and changed: it is known to hold its elements in order
// and side by side, none of them a bucket.
func (w *writer) patchable(id uint64, p page.Page) bool {
	return w.plain.Has(id) && p.Overflow() == 0 && p.Count() > 0
}

// keep makes a node of page p that is patched.
func (w *writer) keep(p page.Page, base, id uint64) *node {
	n := w.newNode(p.Flags() == page.Leaf)
	n.id, n.run = id, 1
	w.view(n, p, base)
	return n
}

// view makes p the page of n.
func (w *writer) view(n *node, p page.Page, base uint64) {
	last := p.Count() - 1
	off, ksize, vsize, ok := p.Span(last)
	if !ok {
		w.tx.badElement(n.id, last)
	}
	if first, _, _, _ := p.Span(0); first != uint64(page.HeaderSize+page.ElemSize*p.Count()) {
		w.tx.corrupt(n.id, "page %d has %d elements, and more or fewer were written there", n.id, p.Count())
	}
	n.page, n.base = p, base
	n.size = int64(off) + int64(ksize) + int64(vsize)
	if !n.leaf {
		n.refs = w.newRefs(p.Count())
	}
}

// newRefs returns n zeros for the refs of a branch.
func (w *writer) newRefs(n int) []uint64 {
	at := len(w.refs)
	if at+n > cap(w.refs) { // the branches that there are keep what they have
		w.refs, at = make([]uint64, 0, max(2*cap(w.refs), n, leastRefs)), 0
	}
	w.refs = w.refs[:at+n]
	refs := w.refs[at : at+n : at+n]
	clear(refs)
	return refs
}

// leafOf is child of a branch toward a leaf that is put to. It makes a blind node if it can: a page that was not used for
// long is then read once, when it is copied.
func (w *writer) leafOf(n *node, i int) *node {
	id := w.refAt(n, i)
	if id&nodeRef != 0 || n.below != page.Leaf || !w.plain.Has(id) {
		return w.child(n, i)
	}
	c := w.newNode(true)
	c.id, c.run, c.blind = id, 1, true
	w.hang(n, i, c)
	return c
}

// look looks at the page of a blind node, which element i of its parent leads to, and finds the places of the patches.
func (w *writer) look(n *node, i int) {
	w.touched = w.tx.page(n.id).Touch()
	p := w.sound(n.id, w.below(n.parent, i))
	if !w.patchable(n.id, p) {
		w.tx.corrupt(n.id, "page %d is not what was written there", n.id)
	}
	w.view(n, p, n.id*uint64(w.tx.pageSize))
	for j := range n.patches {
		search := page.SearchFor(w.key(&n.patches[j].slot))
		if !w.findPatch(n, j, &search) {
			w.tx.corrupt(n.id, "page %d has a bucket where none was written", n.id)
		}
	}
	n.blind = false
}

// findPatch finds the place of patch j in the page of a leaf. It returns false if that has a bucket under the key.
func (w *writer) findPatch(n *node, j int, search *page.Search) bool {
	c := &n.patches[j]
	at, exact := search.Leaf(n.page)
	if at < 0 {
		w.tx.badSearch(n.id, n.page)
	}
	if exact {
		old := w.slotAt(n, at)
		if old.ref&slotBucket != 0 {
			return false
		}
		n.size -= elemSize(old)
	} else {
		n.inserted(at == n.page.Count() && (n.blind || j == len(n.patches)-1))
	}
	n.size += elemSize(c.slot)
	c.at, c.replace = int32(at), exact
	return true
}

// open takes a patched node apart: its elements are slots from now on.
func (w *writer) open(n *node) {
	if n.blind {
		w.look(n, w.indexOf(n))
	}
	if n.page == nil {
		return
	}
	p, size, inserts := n.page, n.size, n.inserts
	n.page = nil
	w.grow(n, p.Count())
	if !n.leaf {
		w.readBranch(n, p, n.base, n.id)
		for i, ref := range n.refs {
			if ref != 0 {
				n.slots[i].ref = ref
			}
		}
	} else {
		w.readLeaf(n, p, n.base, n.id)
		for _, c := range slices.Backward(n.patches) {
			n.insert(int(c.at), c.replace, c.slot)
		}
	}
	n.patches, n.refs, n.size, n.inserts = n.patches[:0], nil, size, inserts
}

// put stores s in the leaf that key belongs to. It returns false if that has a bucket under the key.
func (w *writer) put(r *recentLeaf, key []byte, s slot) bool {
	n := r.leaf
	if len(n.patches) == maxPatches || s.ref&slotExternal != 0 {
		w.open(n)
	}
	if n.page == nil && !n.blind {
		i, exact := w.search(n, key)
		if exact {
			if n.slots[i].ref&slotBucket != 0 {
				return false
			}
			w.forget(n.slots[i])
		}
		n.insert(i, exact, s)
		return true
	}
	j, exact := 0, false
	for j < len(n.patches) && !exact {
		c := bytes.Compare(w.key(&n.patches[j].slot), key)
		if c > 0 {
			break
		}
		if exact = c == 0; !exact {
			j++
		}
	}
	if exact {
		if !n.blind {
			n.size += elemSize(s) - elemSize(n.patches[j].slot)
		}
		n.patches[j].slot = s
		return true
	}
	n.patches = slices.Insert(n.patches, j, patch{slot: s})
	if n.blind {
		return true
	}
	search := page.SearchBetween(key, r.lo, r.hi)
	if !w.findPatch(n, j, &search) {
		n.patches = slices.Delete(n.patches, j, j+1)
		return false
	}
	return true
}

// slotAt is element i of the page of a patched node, or of a node that was opened.
func (w *writer) slotAt(n *node, i int) slot {
	if n.page == nil {
		return n.slots[i]
	}
	off, ksize, vsize, ok := n.page.Span(i)
	if !ok {
		w.tx.badElement(n.id, i)
	}
	s := slot{loc: n.base + off, ksize: ksize, vsize: vsize}
	if n.leaf {
		s.ref = uint64(page.LeafFlags(n.page.Elem(i)) & page.BucketFlag)
	} else if s.ref = n.page.Child(i); s.ref&nodeRef != 0 {
		w.tx.badChild(n.id, i, s.ref)
	}
	return s
}

// children is the number of elements of a branch.
func (n *node) children() int {
	if n.page == nil {
		return len(n.slots)
	}
	return n.page.Count()
}

// keyAt is the key of element i of a branch.
func (w *writer) keyAt(n *node, i int) []byte {
	s := w.slotAt(n, i)
	return w.key(&s)
}

// refAt is what element i of a branch refers to.
func (w *writer) refAt(n *node, i int) uint64 {
	if n.page == nil {
		return n.slots[i].ref
	}
	if ref := n.refs[i]; ref != 0 {
		return ref
	}
	child := n.page.Child(i)
	if child&nodeRef != 0 {
		w.tx.badChild(n.id, i, child)
	}
	return child
}

// setRef makes element i of a branch refer to a node.
func (n *node) setRef(i int, ref uint64) {
	if n.page == nil {
		n.slots[i].ref = ref
		return
	}
	n.refs[i] = ref
}

// spillPatched spills the children of a patched branch, up to and with the first that has not become one page with the key
// that it had; what that has become stays on outs, and the branch has to be opened. It returns how many it has spilled.
func (w *writer) spillPatched(b *Bucket, n *node, edge bool) (done int, filled bool, err error) {
	base := len(w.outs)
	for i, ref := range n.refs {
		if ref == 0 {
			continue
		}
		last := i == len(n.refs)-1
		grown, err := w.spillRef(b, i, ref, edge && last)
		if err != nil {
			return i, false, err
		}
		filled = grown && last
		outs := w.outs[base:]
		if len(outs) != 1 || !bytes.Equal(w.key(&outs[0]), w.keyAt(n, i)) {
			return i + 1, filled, nil
		}
		n.refs[i] = outs[0].ref
		w.outs = w.outs[:base]
	}
	return len(n.refs), filled, nil
}

// fitsPatched says whether a patched node can be written as a copy of its page.
func (w *writer) fitsPatched(n *node) bool {
	return n.page != nil && n.size < int64(w.tx.pageSize) && n.page.Count()+len(n.patches) < page.MaxCount
}

// placePatched is place for a patched node.
func (w *writer) placePatched(n *node) error {
	id, err := w.allocate(1, n.stays())
	if err != nil {
		return err
	}
	w.stats.Spill++
	_, buf := w.images.alloc(w.tx.pageSize)
	w.patchedImage(n, id, buf)
	if verify {
		w.verifyPatched(n, id, buf)
	}
	w.segs = append(w.segs, buf)
	w.dirty = append(w.dirty, dirtyRun{id, 1, len(w.segs) - 1, len(w.segs)})
	w.notePlain(id, true)
	var first slot
	if n.leaf && len(n.patches) > 0 && n.patches[0].at == 0 {
		first = n.patches[0].slot
	} else {
		first = w.slotAt(n, 0)
	}
	w.outs = append(w.outs, slot{loc: first.loc, ksize: first.ksize, ref: id})
	return w.writeEarly()
}

// patchedImage copies the page of a node into buf, changed.
func (w *writer) patchedImage(n *node, id uint64, buf page.Page) {
	if !n.leaf {
		clear(buf[copy(buf, n.page[:n.size]):])
		buf.SetID(id)
		for i, ref := range n.refs {
			if ref != 0 {
				buf.PutChild(i, ref)
			}
		}
		return
	}
	w.changes = w.changes[:0]
	for i := range n.patches {
		c := &n.patches[i]
		w.changes = append(w.changes, page.Change{
			At: int(c.at), Replace: c.replace, KeySize: c.slot.ksize,
			Data: w.bytes(c.slot.loc, c.slot.ksize+c.slot.vsize),
		})
	}
	if !buf.PutChanged(id, n.page, w.changes) {
		w.tx.overlapping(n.id, n.size, n.page)
	}
}

// notePlain remembers whether a page that was written, with its elements in order and side by side, is plain.
func (w *writer) notePlain(id uint64, plain bool) {
	if !plain {
		w.plain.Remove(id)
		return
	}
	w.plain.Grow(id + 1)
	w.plain.Add(id)
}

// isPlain says whether page p has elements, none of them a bucket.
func isPlain(p page.Page, leaf bool) bool { return p.Count() > 0 && (!leaf || !p.HasBuckets()) }

// isDense says whether the elements of n, read from a page at base, lie side by side.
func (n *node) isDense(base uint64) bool {
	return sideBySide(n.slots, base+uint64(page.HeaderSize+page.ElemSize*len(n.slots)))
}

// sideBySide says whether the elements lie one behind the other from at on.
func sideBySide(slots []slot, at uint64) bool {
	for i := range slots {
		s := &slots[i]
		if s.loc != at {
			return false
		}
		at += uint64(s.ksize) + uint64(s.vsize)
	}
	return true
}
