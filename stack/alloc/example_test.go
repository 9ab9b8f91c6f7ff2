// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// inTemp is a name for a file in a directory that is removed by the function.
func inTemp() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "alloc")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(dir, "example.stack"), func() { _ = os.RemoveAll(dir) }
}

// must ends an example that went wrong.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// A region outlives the program that allocated it.
func Example() {
	path, remove := inTemp()
	defer remove()
	s := must(stack.Open(path, nil))
	a := must(alloc.OpenGhostTree(s)) // creates its header, as the file is new
	r := must(a.Alloc(12))
	must(a.View(r).WriteAt([]byte("hello, world"), 0))
	fmt.Println("at", r)
	handle := r.Bytes() // for somebody to keep
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}

	s = must(stack.Open(path, nil))
	a = must(alloc.OpenGhostTree(s))
	fmt.Printf("%s\n", must(a.View(alloc.RegionFrom(handle)).Bytes()))
	fmt.Println(s.Close())
	// Output:
	// at [48, 60)
	// hello, world
	// <nil>
}

// An operation of several: a region is allocated, filled, and stored where the program finds it again.
func ExampleGhostTree() {
	path, remove := inTemp()
	defer remove()
	s := must(stack.Open(path, nil))
	a := must(alloc.OpenGhostTree(s))
	err := a.Update(func(b *alloc.Batch) error {
		r, err := b.Alloc(5)
		if err != nil {
			return err
		}
		handle := r.Bytes()
		return errors.Join(b.WriteAt(r, []byte("hello"), 0), b.WriteAt(a.Reserved(), handle[:], 0))
	})
	if err := errors.Join(err, s.Close()); err != nil {
		log.Fatal(err)
	}

	s = must(stack.Open(path, nil))
	a = must(alloc.OpenGhostTree(s))
	var handle [alloc.RegionSize]byte
	must(a.View(a.Reserved()).ReadAt(handle[:], 0))
	r := alloc.RegionFrom(handle)
	fmt.Printf("%v: %s\n", r, must(a.View(r).Bytes()))
	fmt.Println(s.Close())
	// Output:
	// [48, 53): hello
	// <nil>
}

// Nothing of a batch that fails has happened.
func ExampleBatch() {
	path, remove := inTemp()
	defer remove()
	s := must(stack.Open(path, nil))
	defer func() { _ = s.Close() }()
	a := must(alloc.OpenFirstFit(s))
	err := a.Update(func(b *alloc.Batch) error {
		if _, err := b.Alloc(1000); err != nil {
			return err
		}
		return errors.New("changed my mind")
	})
	fmt.Println(err)
	fmt.Println(must(a.Stats()).Used, "bytes in use")
	// Output:
	// changed my mind
	// 0 bytes in use
}

// A vector that grows moves to another region. Storing where it is belongs to the same operation.
func ExampleByteVec() {
	path, remove := inTemp()
	defer remove()
	s := must(stack.Open(path, nil))
	defer func() { _ = s.Close() }()
	a := must(alloc.OpenGhostTree(s))
	err := a.Update(func(b *alloc.Batch) error {
		v := alloc.OpenByteVec(a, alloc.Region{}).In(b)
		for _, word := range []string{"oak", " ", "and", " ", "ash"} {
			if err := v.Append([]byte(word)...); err != nil {
				return err
			}
		}
		handle := v.Region().Bytes()
		return b.WriteAt(a.Reserved(), handle[:], 0)
	})
	if err != nil {
		log.Fatal(err)
	}

	var handle [alloc.RegionSize]byte
	must(a.View(a.Reserved()).ReadAt(handle[:], 0))
	v := alloc.OpenByteVec(a, alloc.RegionFrom(handle))
	fmt.Printf("%q, room for %d\n", must(v.Bytes()), must(v.Cap()))
	// Output: "oak and ash", room for 16
}

// In tests, Debug finds the mistakes that an allocator cannot.
func ExampleDebug() {
	path, remove := inTemp()
	defer remove()
	s := must(stack.Open(path, nil))
	defer func() { _ = s.Close() }()
	a := must(alloc.NewDebug(must(alloc.OpenGhostTree(s))))
	r := must(a.Alloc(100))
	r.Len = 50 // half of it
	fmt.Println(a.Free(r))
	fmt.Println("live:", a.Live())
	// Output:
	// alloc: not an allocated region: [48, 98), the one that begins there is [48, 148)
	// live: [[48, 148)]
}

// How a payload is used, and what it consists of.
func ExampleStats() {
	path, remove := inTemp()
	defer remove()
	s := must(stack.Open(path, nil))
	defer func() { _ = s.Close() }()
	a := must(alloc.OpenGhostTree(s))
	rs := must(a.AllocBulk([]int64{64, 1, 40, 32}))
	if err := a.FreeBulk([]alloc.Region{rs[0], rs[2]}); err != nil {
		log.Fatal(err)
	}

	st := must(a.Stats())
	fmt.Printf("%d bytes: %d used, %d free in %d blocks, the largest of %d\n",
		st.Length, st.Used, st.Free, st.FreeBlocks, st.Largest)
	for _, sp := range must(a.Layout()) {
		fmt.Println(sp.Off, sp.Len, sp.Kind)
	}
	for err := range a.Check() {
		fmt.Println(err) // none: the file is sound
	}
	// Output:
	// 240 bytes: 64 used, 128 free in 2 blocks, the largest of 64
	// 0 32 reserved
	// 32 16 header
	// 48 64 free
	// 112 32 used
	// 144 64 free
	// 208 32 used
}

// After a program has lost track of regions, naming those that it knows frees the others.
func ExampleAllocator() {
	path, remove := inTemp()
	defer remove()
	s := must(stack.Open(path, nil))
	defer func() { _ = s.Close() }()
	must(alloc.OpenSegregated(s))

	a := must(alloc.Open(s)) // whichever the file has
	fmt.Println(alloc.Name(a))
	known := must(a.Alloc(1000))
	must(a.Alloc(2000)) // nobody keeps it
	fmt.Println(must(a.Reclaim([]alloc.Region{known})), "bytes are free again")
	// Output:
	// segregated
	// 2048 bytes are free again
}
