// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// memoryTree is a GhostTree on a file in memory.
func memoryTree(t interface{ Fatal(args ...any) }) *alloc.GhostTree {
	s, err := stack.Open("vec", &stack.Options{FS: file.NewCrash(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	a, err := alloc.OpenGhostTree(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A vector holds what a slice would, and says so when it is opened again.
func TestByteVecModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := memoryTree(t)
		v, err := alloc.NewByteVec(a, rapid.Int64Range(0, 8).Draw(t, "capacity"))
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		must := func(err error) {
			if err != nil {
				t.Helper()
				t.Fatal(err)
			}
		}
		index := func() int { return rapid.IntRange(0, len(want)).Draw(t, "index") }
		some := func() []byte { return rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes") }
		t.Repeat(map[string]func(*rapid.T){
			"append": func(*rapid.T) {
				p := some()
				must(v.Append(p...))
				want = append(want, p...)
			},
			"insert": func(*rapid.T) {
				i, p := index(), some()
				must(v.Insert(int64(i), p...))
				want = slices.Insert(want, i, p...)
			},
			"remove": func(*rapid.T) {
				i := index()
				n := rapid.IntRange(0, len(want)-i).Draw(t, "n")
				must(v.Remove(int64(i), int64(n)))
				want = slices.Delete(want, i, i+n)
			},
			"swap remove": func(t *rapid.T) {
				if len(want) == 0 {
					t.Skip("empty")
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "index")
				must(v.SwapRemove(int64(i)))
				want[i] = want[len(want)-1]
				want = want[:len(want)-1]
			},
			"pop": func(*rapid.T) {
				c, err := v.Pop()
				if len(want) == 0 {
					if !errors.Is(err, alloc.ErrRange) {
						t.Fatalf("Pop of an empty vector: %v", err)
					}
					return
				}
				must(err)
				if last := want[len(want)-1]; c != last {
					t.Fatalf("Pop = %d, want %d", c, last)
				}
				want = want[:len(want)-1]
			},
			"truncate": func(*rapid.T) {
				n := index()
				must(v.Truncate(int64(n)))
				want = want[:n]
			},
			"resize": func(*rapid.T) {
				n, c := rapid.IntRange(0, 100).Draw(t, "n"), rapid.Byte().Draw(t, "c")
				must(v.Resize(int64(n), c))
				for len(want) < n {
					want = append(want, c)
				}
				want = want[:n]
			},
			"write": func(*rapid.T) {
				i := index()
				p := some()
				p = p[:min(len(p), len(want)-i)]
				_, err := v.WriteAt(p, int64(i))
				must(err)
				copy(want[i:], p)
			},
			"fill": func(*rapid.T) {
				c := rapid.Byte().Draw(t, "c")
				must(v.Fill(c))
				for i := range want {
					want[i] = c
				}
			},
			"reserve": func(*rapid.T) {
				n := rapid.Int64Range(0, 100).Draw(t, "n")
				must(v.Reserve(n))
				capacity, err := v.Cap()
				must(err)
				if capacity < int64(len(want))+n {
					t.Fatalf("capacity %d after Reserve(%d) of %d", capacity, n, len(want))
				}
			},
			"shrink": func(*rapid.T) {
				must(v.ShrinkToFit())
				if capacity, err := v.Cap(); err != nil || capacity != int64(len(want)) {
					t.Fatalf("capacity %d, %v after ShrinkToFit of %d", capacity, err, len(want))
				}
			},
			"reopen": func(*rapid.T) { v = alloc.OpenByteVec(a, v.Region()) },
			"": func(t *rapid.T) {
				got, err := v.Bytes()
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%x, %v, want %x", got, err, want)
				}
				all, err := a.View(v.Region()).Bytes()
				if err != nil {
					t.Fatal(err)
				}
				if n := binary.LittleEndian.Uint64(all); n != uint64(len(want)) {
					t.Fatalf("stored length %d, want %d", n, len(want))
				}
				if rest := all[16+len(want):]; !bytes.Equal(rest, make([]byte, len(rest))) {
					t.Fatalf("bytes behind the vector are not zero: %x", rest)
				}
			},
		})
		if err := v.Free(); err != nil {
			t.Fatal(err)
		}
		if st, err := a.Stats(); err != nil || st.Used != 0 {
			t.Fatalf("%d bytes in use, %v after Free", st.Used, err)
		}
	})
}

// Growth is by doubling, from four bytes on.
func TestByteVecCapacity(t *testing.T) {
	v, err := alloc.NewByteVec(memoryTree(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for range 17 {
		if err := v.Append(1); err != nil {
			t.Fatal(err)
		}
		capacity, err := v.Cap()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, capacity)
	}
	want := []int64{4, 4, 4, 4, 8, 8, 8, 8, 16, 16, 16, 16, 16, 16, 16, 16, 32}
	if !slices.Equal(got, want) {
		t.Errorf("capacities %v, want %v", got, want)
	}
}

// A vector and what refers to it grow in one step, or not at all.
func TestByteVecInBatch(t *testing.T) {
	a := memoryTree(t)
	v, err := alloc.NewByteVec(a, 0)
	if err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	for _, fail := range []error{boom, nil} {
		var grown *alloc.ByteVec
		err := a.Update(func(b *alloc.Batch) error {
			grown = v.In(b)
			if err := grown.Append([]byte("hello, vector")...); err != nil {
				return err
			}
			if p, err := grown.Bytes(); err != nil || string(p) != "hello, vector" {
				t.Errorf("in the batch: %q, %v", p, err)
			}
			handle := grown.Region().Bytes()
			if err := b.WriteAt(a.Reserved(), handle[:], 0); err != nil {
				return err
			}
			return fail
		})
		if !errors.Is(err, fail) {
			t.Fatalf("Update: %v, want %v", err, fail)
		}
		if fail != nil {
			if n, err := v.Len(); n != 0 || err != nil {
				t.Fatalf("length %d, %v after a batch that failed", n, err)
			}
			continue
		}
		var handle [alloc.RegionSize]byte
		if _, err := a.View(a.Reserved()).ReadAt(handle[:], 0); err != nil {
			t.Fatal(err)
		}
		p, err := alloc.OpenByteVec(a, alloc.RegionFrom(handle)).Bytes()
		if err != nil || string(p) != "hello, vector" {
			t.Fatalf("%q, %v", p, err)
		}
	}
}

// The vector in the null region is an empty one, to whatever is done that adds nothing. It gets a region with the first
// byte.
func TestByteVecInNullRegion(t *testing.T) {
	a := memoryTree(t)
	v := alloc.OpenByteVec(a, alloc.Region{})
	empty := func(after string) {
		t.Helper()
		n, err1 := v.Len()
		c, err2 := v.Cap()
		p, err3 := v.Bytes()
		if err := errors.Join(err1, err2, err3); err != nil || n != 0 || c != 0 || len(p) != 0 || !v.Region().IsEmpty() {
			t.Fatalf("%s: length %d, capacity %d, bytes %v in %v, %v", after, n, c, p, v.Region(), err)
		}
		if n, err := v.ReadAt(make([]byte, 1), 0); n != 0 || !errors.Is(err, io.EOF) {
			t.Fatalf("%s: ReadAt = %d, %v", after, n, err)
		}
		if _, err := v.Get(0); !errors.Is(err, alloc.ErrRange) {
			t.Fatalf("%s: Get: %v", after, err)
		}
	}
	empty("opening")
	for name, fn := range map[string]func() error{
		"Append":      func() error { return v.Append() },
		"Insert":      func() error { return v.Insert(0) },
		"Remove":      func() error { return v.Remove(0, 0) },
		"Truncate":    func() error { return v.Truncate(0) },
		"Resize":      func() error { return v.Resize(0, 7) },
		"Fill":        func() error { return v.Fill(7) },
		"Reserve":     func() error { return v.Reserve(0) },
		"ShrinkToFit": v.ShrinkToFit,
		"Free":        v.Free,
		"WriteAt":     func() error { _, err := v.WriteAt(nil, 0); return err },
	} {
		if err := fn(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		empty(name)
	}
	if err := v.Append(5); err != nil {
		t.Fatal(err)
	}
	if p, err := v.Bytes(); err != nil || !bytes.Equal(p, []byte{5}) || v.Region().IsEmpty() {
		t.Errorf("%v in %v, %v", p, v.Region(), err)
	}
}

// What is no vector is not taken for one, and what is outside of one is refused.
func TestByteVecRefusals(t *testing.T) {
	a := memoryTree(t)
	for name, header := range map[string][2]uint64{
		"length above capacity": {9, 8}, "capacity above region": {0, 17}, "wild": {^uint64(0), ^uint64(0)},
	} {
		r, err := a.Alloc(32)
		if err != nil {
			t.Fatal(err)
		}
		h := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, header[0]), header[1])
		if _, err := a.View(r).WriteAt(h, 0); err != nil {
			t.Fatal(err)
		}
		v := alloc.OpenByteVec(a, r)
		_, err = v.Bytes()
		if damage, ok := errors.AsType[*stack.CorruptError](err); !ok || damage.Off != 32+r.Off {
			t.Errorf("%s: Bytes: %v", name, err)
		}
		if err := v.Append(1); !errors.As(err, new(*stack.CorruptError)) {
			t.Errorf("%s: Append: %v", name, err)
		}
	}
	v, err := alloc.NewByteVec(a, 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Append(1, 2, 3); err != nil {
		t.Fatal(err)
	}
	for name, fn := range map[string]func() error{
		"Get":       func() error { _, err := v.Get(3); return err },
		"Set":       func() error { return v.Set(3, 0) },
		"Insert":    func() error { return v.Insert(4, 0) },
		"Remove":    func() error { return v.Remove(2, 2) },
		"Truncate":  func() error { return v.Truncate(4) },
		"WriteAt":   func() error { _, err := v.WriteAt([]byte{1, 2}, 2); return err },
		"ReadAt":    func() error { _, err := v.ReadAt(make([]byte, 1), -1); return err },
		"Resize":    func() error { return v.Resize(-1, 0) },
		"Reserve":   func() error { return v.Reserve(-1) },
		"NewVector": func() error { _, err := alloc.NewByteVec(a, -1); return err },
	} {
		if err := fn(); !errors.Is(err, alloc.ErrRange) {
			t.Errorf("%s: %v, want %v", name, err, alloc.ErrRange)
		}
	}
	p := make([]byte, 5)
	if n, err := v.ReadAt(p, 1); n != 2 || !errors.Is(err, io.EOF) || !bytes.Equal(p[:n], []byte{2, 3}) {
		t.Errorf("ReadAt = %d, %v, %v", n, err, p)
	}
}
