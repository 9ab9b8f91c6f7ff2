// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// What happens on a disk that does not keep to the rule of the format, and tears writes inside blocks of 256 bytes too.
// Only operations whose changes lie in one such block can be found half done, since the others take a journal. (Nothing
// is safe if the stack's record is torn, so that these tears are at multiples of 32.)
func TestCrashWithWeakerDisk(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		torn, refused, whole := 0, 0, 0
		for v := range verbs {
			for seed := range uint64(times(6, 40)) {
				h := record(t, k, fmt.Sprint(v, ", seed ", seed), seed, func(d dice) []op {
					o := everything.opOf(d, v)
					o.at, o.n = 0, 40+int64(d.draw("n", 60)) // bytes, which may lie in one block
					return []op{o}
				})
				h.base.SetSector(headerSize)
				h.crashesWeakly(t, func(left *file.Crash, done int) {
					got := payloadOf(t, left)
					if bytes.Equal(got, h.states[0].payload) && done == 0 || bytes.Equal(got, h.states[1].payload) {
						whole++
						return
					}
					torn++
					h.tornInOneBlock(t, got, done)
					if !h.opensTorn(t, left) {
						refused++
					}
				})
			}
		}
		t.Logf("%d whole, %d torn, of which %d are refused", whole, torn, refused)
		if torn == 0 {
			t.Error("nothing was torn")
		}
	})
}

// crashesWeakly cuts the power at each call of a history of one operation.
func (h *history) crashesWeakly(t *testing.T, fn func(left *file.Crash, done int)) {
	t.Helper()
	for call := 1; ; call++ {
		disk := h.base.Clone()
		disk.CutAt(call)
		done, err := h.play(t, disk)
		if err != nil && !disk.IsCut() {
			t.Fatalf("%s: the power is on: %v", h.name, err)
		}
		fates(disk, 20, func(_ string, left *file.Crash) { fn(left, done) })
		if !disk.IsCut() {
			return
		}
	}
}

// tornInOneBlock makes sure that a payload is a mixture of the one before an operation that was not acknowledged and
// the one after it, and that these differ in one block only.
func (h *history) tornInOneBlock(t rapid.TB, got []byte, done int) {
	t.Helper()
	before, after := h.states[0].payload, h.states[1].payload
	if done > 0 || len(before) != len(after) || len(got) != len(before) {
		t.Fatalf("%s: %d bytes after %d operations, which make %d of %d", h.name, len(got), done, len(after), len(before))
	}
	block := -1
	for i := range got {
		if got[i] != before[i] && got[i] != after[i] {
			t.Fatalf("%s: byte %d is of neither payload", h.name, i)
		}
		if at := (headerSize + i) / blockSize; before[i] != after[i] {
			if block >= 0 && at != block {
				t.Fatalf("%s: torn in the blocks %d and %d", h.name, block, at)
			}
			block = at
		}
	}
}

// opensTorn opens an allocator whose bytes are torn, and says whether it can be. If not it says what is wrong.
func (h *history) opensTorn(t rapid.TB, left *file.Crash) bool {
	t.Helper()
	w := h.world(left, nil)
	err := w.open()
	if _, ok := errors.AsType[*stack.CorruptError](err); err != nil && !ok {
		t.Fatalf("%s: %v", h.name, err)
	}
	if err != nil {
		return false
	}
	sound := true
	for err := range w.a.Check() {
		sound = sound && err == nil
	}
	check(t, w.close())
	return sound
}
