// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/content/segment"
)

// FuzzCopy copies nodes of a store that has everything, and updates their children, after changing some of it: what
// comes of it is an error that says where the damage is, or sound segments.
func FuzzCopy(f *testing.F) {
	store, root := smallStore(f)
	ids := slices.SortedFunc(maps.Keys(store.raw), segment.ID.Compare)
	f.Add(uint8(0), []byte{0x00, 0x80, 0x01, 0x55})
	f.Add(uint8(1), []byte{0x10, 0x00, 0x00, 0xFF, 0x10, 0x02, 0x02, 0x07})
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		damaged := &memStore{raw: maps.Clone(store.raw), parsed: map[segment.ID]*segment.Segment{}}
		id := ids[int(which)%len(ids)]
		damaged.raw[id] = slices.Clone(damaged.raw[id])
		applyEdits(damaged.raw[id], edits)
		rewriteAll(t, damaged, root)
	})
}

// maxCopies is how many calls a damaged store may take: parts of it may be shared so that it is a large one.
const maxCopies = 3000

// tired is a context that ends after some calls.
type tired struct {
	context.Context
	left int
}

func (c *tired) Err() error {
	if c.left--; c.left < 0 {
		return errTired
	}
	return nil
}

var errTired = errors.New("enough")

func rewriteAll(t *testing.T, store *memStore, root segment.RecordID) {
	t.Helper()
	note := func(err error) {
		if err != nil && !errors.Is(err, errTired) && !errors.Is(err, segment.ErrTooBig) && !errors.Is(err, segment.ErrDraft) {
			checkDamageError(t, err)
		}
	}
	r, err := segment.Find(store, root)
	if err != nil {
		checkDamageError(t, err)
		return
	}
	n, err := r.Node()
	if err != nil {
		checkDamageError(t, err)
		return
	}
	p := newPen(t, store, segment.Options{Generation: segment.Generation{Generation: 1 << 30, Full: 1 << 30}})
	_, err = p.Copy(&tired{t.Context(), maxCopies}, n)
	note(err)
	must(t, p.Flush())

	g := n.Record().Segment().Generation()
	if g.Generation < 0 || g.Full < 0 {
		return // no writer has it
	}
	same := newPen(t, store, segment.Options{Generation: g})
	x := same.node(nil)
	names := append(propertyNames(40), collide(34)...)
	c := n.Children()
	for c.Next() {
		child, err := c.Node()
		if err != nil {
			break
		}
		for _, name := range []string{"property7", "x", names[50]} {
			_, err := same.UpdateChildren(child, []segment.Child{{Name: name, Node: x}})
			noteOld(note, err)
		}
		var gone []segment.Child
		for _, name := range names[:70] {
			gone = append(gone, segment.Child{Name: name})
		}
		_, err = same.UpdateChildren(child, gone)
		noteOld(note, err)
	}
	must(t, same.Flush())
}

// noteOld leaves out what is as it should be if the damage is in a header.
func noteOld(note func(error), err error) {
	if !errors.Is(err, segment.ErrOld) {
		note(err)
	}
}

// TestDamagedCopies does what FuzzCopy does with some edits.
func TestDamagedCopies(t *testing.T) {
	store, root := smallStore(t)
	ids := slices.SortedFunc(maps.Keys(store.raw), segment.ID.Compare)
	rapid.Check(t, func(rt *rapid.T) {
		damaged := &memStore{raw: maps.Clone(store.raw), parsed: map[segment.ID]*segment.Segment{}}
		id := rapid.SampledFrom(ids).Draw(rt, "segment")
		data := slices.Clone(damaged.raw[id])
		for range rapid.IntRange(1, 4).Draw(rt, "edits") {
			at := rapid.IntRange(0, len(data)/4-1).Draw(rt, "at") * 4
			binary.BigEndian.PutUint32(data[at:], rapid.Uint32().Draw(rt, "word"))
		}
		damaged.raw[id] = data
		rewriteAll(t, damaged, root)
	})
}
