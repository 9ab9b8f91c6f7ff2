// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// concurrently runs a test with some numbers of goroutines, on a new stack, in memory and in a real file.
func concurrently(t *testing.T, test func(t *testing.T, s *stack.Stack, n int)) {
	for _, n := range []int{1, 2, 4, 16} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := open(t, file.NewMemory(), nil)
			test(t, s, n)
			check(t, s.Close())
		})
		t.Run(fmt.Sprint(n, " on a file"), func(t *testing.T) {
			s, err := stack.Open(filepath.Join(t.TempDir(), name), &stack.Options{NoSync: true})
			check(t, err)
			test(t, s, n)
			check(t, s.Close())
		})
	}
}

// goroutines runs fn in n of them, and waits.
func goroutines(n int, fn func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { fn(i) })
	}
	all.Wait()
}

const turns = 40

// Pushes come to lie beside each other, each where it was told.
func TestConcurrentPushes(t *testing.T) {
	concurrently(t, func(t *testing.T, s *stack.Stack, n int) {
		goroutines(n, func(i int) {
			for turn := range turns {
				data := bytes.Repeat([]byte{byte(i), byte(turn)}, 1+(i*turn)%20)
				off, err := s.Push(data)
				report(t, err, nil)
				got, err := s.Get(off, off+int64(len(data)))
				report(t, err, nil)
				if !bytes.Equal(got, data) {
					t.Errorf("pushed %x at %d, found %x", data, off, got)
				}
			}
		})
		var want int64
		for i := range n {
			for turn := range turns {
				want += 2 * int64(1+(i*turn)%20)
			}
		}
		if s.Len() != want {
			t.Errorf("%d bytes, want %d", s.Len(), want)
		}
	})
}

// increments are ways to add one to the number at off that count right if the stack does.
var increments = map[string]func(s *stack.Stack, off int64) error{
	"CompareAndSwap": func(s *stack.Stack, off int64) error {
		for {
			old, err := s.Get(off, off+8)
			if err != nil {
				return err
			}
			if ok, err := s.CompareAndSwap(off, old, words(le.Uint64(old)+1)); ok || err != nil {
				return err
			}
		}
	},
	"Process": func(s *stack.Stack, off int64) error {
		return s.Process(off, off+8, func(p []byte) error {
			le.PutUint64(p, le.Uint64(p)+1)
			return nil
		})
	},
	"Update": func(s *stack.Stack, off int64) error {
		return s.Update(func(u *stack.Unit) error {
			var p [8]byte
			if _, err := u.ReadAt(p[:], off); err != nil {
				return err
			}
			_, err := u.WriteAt(words(le.Uint64(p[:])+1), off)
			return err
		})
	},
}

func TestConcurrentIncrements(t *testing.T) {
	for how, increment := range increments {
		for _, off := range []int64{0, 220} { // in one block and in two
			t.Run(fmt.Sprint(how, " at ", off), func(t *testing.T) {
				concurrently(t, func(t *testing.T, s *stack.Stack, n int) {
					_, err := s.Extend(off + 8)
					check(t, err)
					goroutines(n, func(int) {
						for range turns {
							report(t, increment(s, off), nil)
						}
					})
					p, err := s.Peek(off)
					check(t, err)
					if got := le.Uint64(p); got != uint64(n*turns) {
						t.Errorf("counted to %d, want %d", got, n*turns)
					}
				})
			})
		}
	}
}

// Readers see the state before a change or the one after it: of a block, of what goes through the journal, of several
// places, and of the length.
func TestConcurrentReaders(t *testing.T) {
	const size = 1000
	uniform := func(t *testing.T, what string, parts ...[]byte) {
		all := bytes.Join(parts, nil)
		if len(bytes.Trim(all, string(all[:1]))) > 0 {
			t.Errorf("%s, half done: %x", what, all)
		}
	}
	concurrently(t, func(t *testing.T, s *stack.Stack, n int) {
		_, err := s.Extend(size)
		check(t, err)
		stop := make(chan bool)
		var readers sync.WaitGroup
		for range n {
			readers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					p := make([]byte, 200)
					report(t, s.GetInto(0, p), nil)
					uniform(t, "block", p)
					two, err := s.GetBatched([]stack.Range{{Start: 230, End: 500}, {Start: 600, End: 900}})
					report(t, err, nil)
					uniform(t, "two places", two...)
					tail, err := s.Peek(size)
					report(t, err, nil)
					if len(tail) > 0 {
						uniform(t, "tail", tail)
						if want := tailLength(tail[0]); len(tail) != want {
							t.Errorf("the tail has %d bytes, want %d", len(tail), want)
						}
					}
				}
			})
		}
		for turn := range byte(2 * turns) {
			fill := func(n int) []byte { return bytes.Repeat([]byte{turn}, n) }
			check(t, s.Set(0, fill(200)))
			check(t, s.SetBatched([]stack.Piece{{Off: 600, Data: fill(300)}, {Off: 230, Data: fill(270)}}))
			check(t, s.Atrunc(s.Len()-size, fill(tailLength(turn))))
		}
		close(stop)
		readers.Wait()
	})
}

// tailLength is how long a tail of this byte is: now longer than the one before, now shorter.
func tailLength(b byte) int { return 1 + int(b)*37%300 }

// What was acknowledged before Close is there, and nothing else.
func TestConcurrentClose(t *testing.T) {
	for _, n := range []int{1, 2, 4, 16} {
		disk := file.NewMemory()
		s := open(t, disk, nil)
		pushed := make([]int, n)
		var started, all sync.WaitGroup
		started.Add(n)
		for i := range n {
			all.Go(func() {
				started.Done()
				for {
					_, err := s.Push([]byte{byte(i)})
					if errors.Is(err, stack.ErrClosed) {
						return
					}
					report(t, err, nil)
					pushed[i]++
				}
			})
		}
		started.Wait()
		goroutines(3, func(int) { report(t, s.Close(), nil) })
		all.Wait()
		payload, ok := recovered(raw(t, disk))
		if !ok {
			t.Fatal("not a stack")
		}
		for i := range n {
			if got := bytes.Count(payload, []byte{byte(i)}); got != pushed[i] {
				t.Errorf("%d of %d: %d pushes of %d", i, n, got, pushed[i])
			}
		}
		rests(t, disk, payload)
	}
}

// A group of more, and larger, operations than a unit takes is made in several.
func TestLargeGroups(t *testing.T) {
	for _, c := range []struct {
		name    string
		callers int
		size    int
	}{{"many", 2500, 8}, {"large", 10, 2 << 20}} {
		t.Run(c.name, func(t *testing.T) {
			disk := file.NewMemory()
			fs, gate := gated(disk)
			s := open(t, fs, nil)
			var all sync.WaitGroup
			all.Go(func() {
				_, err := s.Push([]byte{1})
				report(t, err, nil)
			})
			gate.Await()
			for i := range c.callers {
				all.Go(func() {
					data := bytes.Repeat([]byte{byte(i)}, c.size)
					off, err := s.Push(data)
					report(t, err, nil)
					got, err := s.Get(off, off+int64(c.size))
					report(t, err, nil)
					if !bytes.Equal(got, data) {
						t.Errorf("%d: found %x", i, got[:8])
					}
				})
			}
			queued(s, c.callers)
			was := disk.Counts().DataSyncs
			gate.Open()
			all.Wait()
			if n := disk.Counts().DataSyncs - was; n < 5 || n > 12 {
				t.Errorf("%d syncs", n)
			}
			if want := 1 + int64(c.callers*c.size); s.Len() != want {
				t.Errorf("%d bytes, want %d", s.Len(), want)
			}
			check(t, s.Close())
		})
	}
}

// A payload that is cut by one caller and grown again by another in the same group is zero there, and if it was cut by
// much it takes no memory to say so.
func TestGroupThatCutsAndGrows(t *testing.T) {
	const huge = 1 << 40
	path := filepath.Join(t.TempDir(), name)
	s, err := stack.Open(path, &stack.Options{NoSync: true})
	check(t, err)
	_, err = s.Push(text(100, 0))
	check(t, err)
	_, tooLarge := s.Extend(huge)
	check(t, s.Close())
	if tooLarge != nil {
		t.Skipf("the file system has no such files: %v", tooLarge)
	}
	fs, gate := gated(file.OS)
	s, err = stack.OpenFS(fs, path, nil)
	check(t, err)
	before := allocated()
	var all sync.WaitGroup
	all.Go(func() { report(t, s.Set(0, []byte{1}), nil) })
	gate.Await()
	all.Go(func() { report(t, s.Discard(huge+50), nil) })
	queued(s, 1)
	all.Go(func() {
		_, err := s.Extend(huge)
		report(t, err, nil)
	})
	queued(s, 2)
	gate.Open()
	all.Wait()
	if used := allocated() - before; used > 1<<20 {
		t.Errorf("it took %d bytes", used)
	}
	if s.Len() != huge+50 {
		t.Errorf("%d bytes", s.Len())
	}
	p, err := s.Get(0, 200)
	check(t, err)
	same(t, p, append(over(text(50, 0), 0, []byte{1}), zeros[:150]...))
	check(t, s.Close())
}
