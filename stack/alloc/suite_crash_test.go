// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
)

// The power is cut at each write and sync of a history. What was acknowledged is there, and what was under way as a
// whole or not at all.
func TestCrash(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		for _, h := range histories(t, k) {
			h.crashes(t)
		}
	})
}

func (h *history) crashes(t *testing.T) {
	t.Helper()
	for call := 1; ; call++ {
		disk := h.base.Clone()
		disk.CutAt(call)
		done, err := h.play(t, disk)
		if err != nil && !disk.IsCut() {
			t.Fatalf("%s: the power is on: %v", h.name, err)
		}
		fates(disk, times(2, 4), func(what string, left *file.Crash) {
			seeded := strings.HasPrefix(what, "seed")
			what = fmt.Sprintf("cut at call %d, %s of %q", call, what, disk.Unsynced())
			if seeded || long() {
				h.crashesAgain(t, what, left, done, times(0, 1))
			}
			h.survives(t, what, left, done)
		})
		if !disk.IsCut() {
			return
		}
	}
}

// crashesAgain cuts the power at each call of opening a disk after a crash, and again, to a depth, after that.
func (h *history) crashesAgain(t rapid.TB, what string, left *file.Crash, done, depth int) {
	t.Helper()
	found := h.find(t, what, payloadOf(t, left.Clone()), done)
	for call := 1; ; call++ {
		disk := left.Clone()
		disk.CutAt(call)
		w := h.world(disk, found.live)
		if err := w.open(); err == nil {
			check(t, w.close())
		}
		if !disk.IsCut() {
			return
		}
		fates(disk, 1, func(fate string, again *file.Crash) {
			what := fmt.Sprintf("%s; opening it was cut at call %d, %s", what, call, fate)
			if got := payloadOf(t, again.Clone()); !bytes.Equal(got, found.payload) {
				t.Errorf("%s, %s", h.name, what)
				same(t, "payload", got, found.payload)
			}
			if depth > 0 {
				h.crashesAgain(t, what, again, done, depth-1)
			}
		})
	}
}

// The power is cut while a file is being made. What is found is an empty stack or an empty allocator.
func TestCrashOfCreation(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		make := func(disk *file.Crash) error {
			w := newWorld(k, disk)
			if err := w.open(); err != nil {
				return err
			}
			return w.close()
		}
		whole := newDisk()
		check(t, make(whole))
		fresh := payloadOf(t, whole)
		for call, cut := 1, true; cut; call++ {
			disk := newDisk()
			disk.CutAt(call)
			err := make(disk)
			cut = disk.IsCut()
			if err != nil && !cut {
				t.Fatalf("the power is on: %v", err)
			}
			fates(disk, 10, func(what string, left *file.Crash) {
				if p := payloadOf(t, left); len(p) > 0 || err == nil {
					same(t, fmt.Sprintf("cut at call %d, %s", call, what), p, fresh)
				}
				w := newWorld(k, left)
				check(t, w.open())
				check(t, w.do(t, op{verb: doAlloc, n: 100}))
				w.verify(t)
				check(t, w.close())
			})
		}
	})
}

// The tests above can fail: on a disk that lies about syncs they would find lost and half-done operations.
func TestCrashOfALyingDisk(t *testing.T) {
	forAll(t, func(t *testing.T, k *kind) {
		lost := 0
		for seed := range uint64(4) {
			h := record(t, k, "lying", seed, func(d dice) []op {
				return []op{everything.opOf(d, doWrite), everything.opOf(d, doAllocBulk)}
			})
			disk := h.base.Clone()
			lying := file.WithSync(disk, func(file.File) error { return nil })
			done, err := h.play(t, lying)
			check(t, err)
			fates(disk, 20, func(_ string, left *file.Crash) {
				if s, err := openStack(left); err != nil || !bytes.Equal(mustPeek(t, s), h.states[done].payload) {
					lost++
				}
			})
		}
		if lost == 0 {
			t.Error("nothing was lost")
		}
	})
}
