// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package pageset_test

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/kv/internal/pageset"
)

// encode is the simple definition of the stored form.
func encode(ids []uint64) []byte {
	var b []byte
	for _, id := range ids {
		b = binary.NativeEndian.AppendUint64(b, id)
	}
	return b
}

// drawSet draws runs of ids in a set of its own limit, and the same as a model.
func drawSet(t *rapid.T, name string) (*pageset.Set, model) {
	set, ids := new(pageset.Set), model{}
	end := rapid.Uint64Range(0, limit).Draw(t, name+" limit")
	set.Grow(end)
	if end == 0 {
		return set, ids
	}
	for range rapid.IntRange(0, 20).Draw(t, name+" runs") {
		id := drawID(t, "id") % end
		n := min(drawLength(t), int(end-id))
		set.AddRun(id, n)
		for i := range n {
			ids[id+uint64(i)] = true
		}
	}
	return set, ids
}

func TestPutUnion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, inA := drawSet(t, "a")
		b, inB := drawSet(t, "b")
		union := maps.Clone(inA)
		maps.Copy(union, inB)
		want := union.sorted()
		const guard = 0xA5
		dst := make([]byte, len(want)*pageset.IDSize+3)
		for i := range dst {
			dst[i] = guard
		}
		n := pageset.PutUnion(dst, a, b)
		if n != len(want) {
			t.Fatalf("PutUnion = %d, want %d", n, len(want))
		}
		if want := append(encode(want), guard, guard, guard); !slices.Equal(dst, want) {
			t.Fatalf("PutUnion wrote\n% x, want\n% x", dst, want)
		}
	})
}

func TestPutUnionNeedsRoom(t *testing.T) {
	a, b := new(pageset.Set), new(pageset.Set)
	a.Grow(100)
	a.AddRun(10, 5)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	// The capacity must not be taken for room.
	pageset.PutUnion(make([]byte, 5*pageset.IDSize-1, 100), a, b)
}

// load is the simple definition of Load: the members afterwards, and the error.
func load(ids model, list []uint64, limit uint64) error {
	for i, id := range list {
		switch {
		case id < pageset.FirstID || id >= limit:
			return &pageset.LoadError{Index: i, ID: id, Err: pageset.ErrRange}
		case ids[id]:
			return &pageset.LoadError{Index: i, ID: id, Err: pageset.ErrDuplicate}
		}
		ids[id] = true
	}
	return nil
}

// checkLoad compares Load with its simple definition.
func checkLoad(t interface{ Fatalf(string, ...any) }, set *pageset.Set, ids model, list []uint64, limit uint64) {
	got, want := set.Load(encode(list), limit), load(ids, list, limit)
	if (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() {
		t.Fatalf("Load(%d, %d): %v, want %v", list, limit, got, want)
	}
	if err := set.Check(); err != nil {
		t.Fatalf("%v", err)
	}
	if got, want := slices.Collect(set.All()), ids.sorted(); !slices.Equal(got, want) {
		t.Fatalf("Load made %d of %d", got, want)
	}
	for _, n := range []int{1, 3, 70} {
		got, ok := set.FirstRun(0, n)
		if want, wantOK := ids.firstRun(0, n); got != want || ok != wantOK {
			t.Fatalf("after Load: FirstRun(0, %d) = %d, %t, want %d, %t", n, got, ok, want, wantOK)
		}
	}
}

func TestLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, ids := drawSet(t, "before")
		set.FirstRun(0, 3) // so that there is something to forget
		more := rapid.Permutation(slices.Collect(func(yield func(uint64) bool) {
			_, more := drawSet(t, "list")
			for _, id := range more.sorted() {
				if !yield(id) {
					return
				}
			}
		})).Draw(t, "list")
		if rapid.Bool().Draw(t, "disjoint") {
			more = slices.DeleteFunc(more, func(id uint64) bool { return ids[id] || id < pageset.FirstID })
		}
		if rapid.Bool().Draw(t, "ascending") {
			slices.Sort(more)
		}
		checkLoad(t, set, ids, more, rapid.Uint64Range(0, limit).Draw(t, "limit"))
	})
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte{2, 3, 4, 2}, uint16(5))
	f.Add([]byte{9, 200, 9}, uint16(300))
	f.Add([]byte{1}, uint16(2))
	f.Fuzz(func(t *testing.T, low []byte, limit uint16) {
		list := make([]uint64, len(low))
		for i, b := range low {
			list[i] = uint64(b) * uint64(b)
		}
		checkLoad(t, new(pageset.Set), model{}, list, uint64(limit))
	})
}

func TestLoadNamesTheIndex(t *testing.T) {
	for _, test := range []struct {
		name string
		list []uint64
		want string
		err  error
	}{
		{"meta page", []uint64{5, 1}, "page id 1 at index 1 of the list: out of range", pageset.ErrRange},
		{"at the limit", []uint64{2, 3, 99, 100}, "page id 100 at index 3 of the list: out of range", pageset.ErrRange},
		{"absurd", []uint64{1 << 63}, "page id 9223372036854775808 at index 0 of the list: out of range", pageset.ErrRange},
		{"twice in a row", []uint64{4, 4}, "page id 4 at index 1 of the list: listed twice", pageset.ErrDuplicate},
		{"twice far apart", []uint64{4, 90, 4}, "page id 4 at index 2 of the list: listed twice", pageset.ErrDuplicate},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := new(pageset.Set).Load(encode(test.list), 100)
			if !errors.Is(err, test.err) || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestLoadIgnoresATornID(t *testing.T) {
	set := new(pageset.Set)
	if err := set.Load(append(encode([]uint64{7}), 1, 2, 3), 8); err != nil || set.Len() != 1 || !set.Has(7) {
		t.Errorf("%d members, %v", set.Len(), err)
	}
}
