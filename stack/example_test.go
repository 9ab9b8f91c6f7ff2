// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/holtdb/holt/stack"
)

// inTemp is a name for a file in a directory that is removed by the function.
func inTemp() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "stack")
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

func Example() {
	path, remove := inTemp()
	defer remove()
	s := must(stack.Open(path, nil))

	fmt.Println("at", must(s.Push([]byte("hello "))))
	fmt.Println("at", must(s.Push([]byte("world!"))))
	fmt.Printf("popped %q\n", must(s.Pop(1)))
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}

	s = must(stack.Open(path, nil)) // it is all there
	fmt.Printf("%q\n", must(s.Peek(0)))
	fmt.Println(s.Close())
	// Output:
	// at 0
	// at 6
	// popped "!"
	// "hello world"
	// <nil>
}

// A unit makes several changes at once: here, a list of entries and its length at the beginning of the file.
func ExampleStack_Update() {
	path, remove := inTemp()
	defer remove()
	s := must(stack.Open(path, nil))
	defer func() { _ = s.Close() }()
	must(s.Extend(8)) // for the number of entries

	add := func(entry string) error {
		return s.Update(func(u *stack.Unit) error {
			var count [8]byte
			if _, err := u.ReadAt(count[:], 0); err != nil {
				return err
			}
			binary.LittleEndian.PutUint64(count[:], binary.LittleEndian.Uint64(count[:])+1)
			if _, err := u.WriteAt(count[:], 0); err != nil {
				return err
			}
			_, err := u.Push([]byte(entry + ";"))
			return err
		})
	}
	for _, entry := range []string{"oak", "ash"} {
		if err := add(entry); err != nil {
			log.Fatal(err)
		}
	}
	b := must(s.Peek(0))
	fmt.Println(binary.LittleEndian.Uint64(b), string(b[8:]))
	// Output: 2 oak;ash;
}

// A change can depend on what is there.
func ExampleStack_SwapIf() {
	path, remove := inTemp()
	defer remove()
	s := must(stack.Open(path, nil))
	defer func() { _ = s.Close() }()
	must(s.Push([]byte("free     ")))

	for _, who := range []string{"ann", "bob"} {
		_, ok, err := s.SwapIf(0, stack.Equal([]byte("free")), 0, fmt.Appendf(nil, "busy %-4s", who))
		fmt.Println(who, ok, err)
	}
	fmt.Printf("%s\n", must(s.Get(0, 8)))
	// Output:
	// ann true <nil>
	// bob false <nil>
	// busy ann
}

func ExampleStack_NewReader() {
	path, remove := inTemp()
	defer remove()
	s := must(stack.Open(path, nil))
	defer func() { _ = s.Close() }()
	must(s.Push([]byte("a long text, of which the end counts")))

	r := s.NewReader(0)
	must(r.Seek(-6, io.SeekEnd))
	fmt.Printf("%q\n", must(io.ReadAll(r)))
	// Output: "counts"
}

// A file of generation 0.1 or 0.2 has to be migrated before it can be changed.
func ExampleMigrate() {
	path, remove := inTemp()
	defer remove()
	old := append([]byte{'B', 'S', 'T', 'K', 0, 1, 8, 0, 5, 0, 0, 0, 0, 0, 0, 0}, "years"...)
	if err := os.WriteFile(path, old, 0o600); err != nil {
		log.Fatal(err)
	}

	if err := stack.Migrate(context.Background(), path, nil); err != nil {
		log.Fatal(err)
	}
	s := must(stack.Open(path, nil))
	must(s.Push([]byte(" later")))
	fmt.Printf("%s\n", must(s.Peek(0)))
	fmt.Println(s.Close())
	// Output:
	// years later
	// <nil>
}
