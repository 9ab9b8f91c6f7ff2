// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/holtdb/holt/stack/alloc"
)

// ffVictim is a small file with something of everything.
const ffVictim = "40 -56 24 -24 32 -120 16 /3 1 5"

// ffUse does everything with a file that may be damaged. Calls may fail, with an error that says why, and then nothing
// is different; whatever they do, bytes of regions stay, if the marks were sound in the beginning.
func ffUse(t *testing.T, what string, spoilt, whole []byte) {
	t.Helper()
	disk := ffMemory(t, spoilt)
	a, err := ffOpen(disk)
	if err != nil {
		explained(t, what+": open", err)
		same(t, what+": refused", raw(t, disk)[headerSize:], spoilt)
		return
	}
	sound := len(ffFound(t, what, a)) == 0 && len(spoilt) >= len(whole) && !ffTurned(spoilt, whole)
	if _, err = a.Layout(); err != nil {
		explained(t, what+": Layout", err)
	}
	live := map[int64][]byte{}
	for _, i := range []int{0, 2, 4, 6} {
		r := ffRegion(whole, i)
		live[r.Off] = bytes.Clone(spoilt[min(r.Off, int64(len(spoilt))):min(r.End(), int64(len(spoilt)))])
	}
	try := func(call string, run func() error) {
		t.Helper()
		rest(t, a.Stack())
		was := raw(t, disk)
		if err := run(); err != nil {
			explained(t, what+": "+call, err)
			if sound {
				t.Fatalf("%s: Check found nothing, but %s: %v", what, call, err)
			}
			rest(t, a.Stack())
			same(t, what+": "+call, raw(t, disk), was)
		}
	}
	var fresh []alloc.Region
	give := func(n int64) func() error {
		return func() error {
			r, err := a.Alloc(n)
			if err == nil {
				fresh = append(fresh, r)
			}
			return err
		}
	}
	second, first := ffRegion(whole, 2), ffRegion(whole, 0)
	try("Alloc 20", give(20))
	try("Alloc 120", give(120))
	try("Realloc", func() error {
		r, err := a.Realloc(second, 60)
		if err == nil {
			live[r.Off] = append(live[second.Off], make([]byte, 36)...)
			if r.Off != second.Off {
				delete(live, second.Off)
			}
		}
		return err
	})
	try("Free", func() error {
		err := a.Free(first)
		if err == nil {
			delete(live, first.Off)
		}
		return err
	})
	try("Alloc 32", give(32))
	if sound {
		for off, data := range live {
			got, err := a.View(alloc.Region{Off: off, Len: int64(len(data))}).Bytes()
			check(t, err)
			same(t, fmt.Sprint(what, ": region at ", off), got, data)
		}
	}
	var list []alloc.Region
	for off, data := range live {
		list = append(list, alloc.Region{Off: off, Len: int64(len(data))})
	}
	if _, err := a.Reclaim(append(list, fresh...)); err == nil {
		ffClean(t, what+": reclaimed", a)
	} else {
		explained(t, what+": Reclaim", err)
	}
	check(t, a.Stack().Close())
}

// ffTurned says whether recovery will take a live block for a free one or the other way round: all that tells them
// apart is one bit.
func ffTurned(spoilt, whole []byte) bool {
	for start := 48; start < len(whole) && spoilt[24]&1 != 0; start += 24 + int(ffOrder.Uint64(whole[start:])) {
		if (spoilt[start+8]^whole[start+8])&1 != 0 {
			return true
		}
	}
	return false
}

func TestFirstFitDamagedBytes(t *testing.T) {
	whole := ffPayload(t, ffVictim)
	for _, flag := range []byte{0, 1} {
		whole[24] = flag
		for i := range whole {
			for _, mask := range []byte{1, 8, 0x10, 0x80, 0xFF} {
				spoilt := bytes.Clone(whole)
				spoilt[i] ^= mask
				ffUse(t, fmt.Sprintf("flag %d, byte %d ^ %x", flag, i, mask), spoilt, whole)
			}
		}
	}
}

func TestFirstFitDamagedLengths(t *testing.T) {
	whole := ffPayload(t, ffVictim)
	for _, flag := range []byte{0, 1} {
		whole[24] = flag
		for n := range len(whole) {
			if n > 0 {
				ffUse(t, fmt.Sprintf("flag %d, cut to %d", flag, n), whole[:n:n], whole)
			}
		}
		for _, n := range []int{1, 8, 23, 24, 40, 100} {
			ffUse(t, fmt.Sprintf("flag %d, with %d more", flag, n), append(bytes.Clone(whole), text(n, 1)...), whole)
			ffUse(t, fmt.Sprintf("flag %d, with %d zeros", flag, n), append(bytes.Clone(whole), make([]byte, n)...), whole)
		}
	}
}

// Wild sizes and pointers, in circles and to everywhere, in every word of the arena and in the header.
func TestFirstFitWildNumbers(t *testing.T) {
	whole := ffPayload(t, ffVictim)
	numbers := []uint64{
		0,
		1,
		8,
		15,
		16,
		24,
		32,
		48,
		56,
		63,
		1 << 20,
		1 << 31,
		1 << 32,
		1 << 40,
		1 << 62,
		math.MaxInt64 - 7,
		math.MaxInt64,
		1 << 63,
		math.MaxUint64 - 7,
		math.MaxUint64,
		uint64(len(whole)),
		uint64(len(whole) - 24),
	}
	for i := range 7 {
		r := ffRegion(whole, i)
		numbers = append(numbers, uint64(r.Off), uint64(r.Off+8), uint64(r.Len+8), uint64(r.Len+64))
	}
	for _, flag := range []byte{0, 1} {
		whole[24] = flag
		for off := 32; off < len(whole); off += 8 {
			for _, n := range numbers {
				spoilt := bytes.Clone(whole)
				ffOrder.PutUint64(spoilt[off:], n)
				ffUse(t, fmt.Sprintf("flag %d, %d at %d", flag, n, off), spoilt, whole)
			}
		}
	}
}

// Damage that an operation would make worse is found before anything is changed.
func TestFirstFitFindsDamage(t *testing.T) {
	const state = "40 -56 24 -24 32 -120 16 /3 1 5"
	at := func(i int) int64 { return ffRegion(ffPayload(t, state), i).Off }
	for _, c := range []struct {
		name string
		edit ffEdit
		run  func(*alloc.FirstFit, alloc.Region) (alloc.Region, error)
		on   int
	}{
		{"a free block that is too large", ffSet([3]int64{5, -16, 160}), ffAlloc(140), 0},
		{"a footer behind what is to be split", ffSet([3]int64{5, 120, 121}), ffAlloc(80), 0},
		{"a list that leads to a live block", ffSet([3]int64{3, 0, at(4)}), ffAlloc(200), 0},
		{"a list that leads nowhere", ffSet([3]int64{3, 0, 1 << 40}), ffAlloc(200), 0},
		{"a list that leads between blocks", ffSet([3]int64{3, 0, at(4) + 4}), ffAlloc(200), 0},
		{"a list that begins nowhere", ffHead(65), ffAlloc(200), 0},
		{"a list that goes in circles", ffSet([3]int64{5, 0, at(3)}), ffAlloc(200), 0},
		{"a list that goes in smaller circles", ffSet([3]int64{5, 0, at(5)}), ffAlloc(200), 0},
		{"a list that begins with a live block", ffHead(at(4)), ffFree, 0},
		{"not the first in the list", ffSet([3]int64{1, 8, 0}), ffFree, 0},
		{"not behind the one before", ffSet([3]int64{3, 0, at(5)}), ffFree, 0},
		{"behind a live block", ffSet([3]int64{1, 8, at(4)}), ffFree, 0},
		{"behind nothing", ffSet([3]int64{1, 8, 1 << 40}), ffFree, 0},
		{"before one behind another", ffSet([3]int64{5, 8, at(3)}), ffFree, 0},
		{"before a live block", ffSet([3]int64{1, 0, at(4)}), ffFree, 0},
		{"its own footer, and what is behind", ffSet([3]int64{4, 32, 33}, [3]int64{5, -16, 121}), ffFree, 4},
		{"its own size", ffSet([3]int64{4, -16, 16}), ffFree, 4},
		{"the size of one before", ffSet([3]int64{0, -16, 41}, [3]int64{3, 24, 25}), ffFree, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := ffLeftover{before: state, edit: c.edit, sound: true}
			p := l.payload(t)
			a, disk := ffWith(t, p)
			was := raw(t, disk)
			_, err := c.run(a, ffRegion(ffPayload(t, state), c.on))
			if !ffCorrupt(err) {
				t.Errorf("got error %v", err)
			}
			same(t, "the file", raw(t, disk), was)
			if len(ffFound(t, c.name, a)) == 0 {
				t.Error("Check found nothing")
			}
		})
	}
}
