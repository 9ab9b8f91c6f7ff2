// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// Goroutines use an allocator at the same time, each its own regions. They do not find anything of each other's.
func TestConcurrent(t *testing.T) {
	shared := everything
	shared.weights[doReopen] = 0
	forEach(t, func(t *testing.T, k *kind) {
		for _, n := range []int{1, 2, 4, 16} {
			for where, opts := range map[string]stack.Options{
				"in memory": {FS: file.NewMemory()},
				"on a file": {NoSync: true, FS: file.OS},
			} {
				t.Run(fmt.Sprint(n, " ", where), func(t *testing.T) {
					all := newWorld(k, opts.FS)
					all.opts = opts
					path := name
					if opts.NoSync {
						path = filepath.Join(t.TempDir(), name)
					}
					s, err := stack.Open(path, &all.opts)
					check(t, err)
					all.a, err = k.open(s)
					check(t, err)
					worlds := make([]*world, n)
					goroutines(n, func(i int) {
						w := &world{kind: k, a: all.a}
						worlds[i] = w
						d := newDice(uint64(100*n + i))
						for range times(40, 400) {
							if err := w.do(t, shared.op(d)); err != nil {
								t.Error(err)
							}
							w.looks(t)
						}
					})
					for _, w := range worlds {
						all.live = append(all.live, w.live...)
					}
					all.verify(t)
					for range 2 {
						goroutines(n, func(i int) {
							for _, p := range worlds[i].live {
								if err := all.a.Free(p.r); err != nil {
									t.Error(err)
								}
							}
							worlds[i].live = nil
						})
					}
					all.live = nil
					all.verify(t)
					check(t, all.close())
				})
			}
		}
	})
}

// looks makes sure that regions hold what they have to, while others are changed.
func (w *world) looks(t *testing.T) {
	t.Helper()
	for _, p := range w.live {
		got, err := w.a.View(p.r).Bytes()
		if err != nil || string(got) != string(p.data) {
			t.Errorf("region %v, %v: got %x, want %x", p.r, err, got, p.data)
		}
	}
}

// Whoever checks a file while it is changed finds nothing, and every layout is whole.
func TestConcurrentChecks(t *testing.T) {
	forEach(t, func(t *testing.T, k *kind) {
		w := newWorld(k, file.NewMemory())
		check(t, w.open())
		var all sync.WaitGroup
		stop := make(chan bool)
		for range 2 {
			all.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					for err := range w.a.Check() {
						t.Error(err)
					}
					spans, err := w.a.Layout()
					var at int64
					for _, sp := range spans {
						if sp.Off != at {
							t.Errorf("a gap at %d: %v", at, spans)
						}
						at += sp.Len
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		defer func() {
			close(stop)
			all.Wait()
			check(t, w.close())
		}()
		d := newDice(1)
		for range times(100, 1000) {
			o := everything.op(d)
			if o.verb != doReopen {
				check(t, w.do(t, o))
			}
		}
		w.verify(t)
	})
}

const callers = 16

// Operations of many callers that wait at the same time share the syncs of one.
func TestSyncsAreShared(t *testing.T) {
	calls := map[string]func(a alloc.Allocator, r alloc.Region) error{
		"Alloc":   func(a alloc.Allocator, _ alloc.Region) error { return second(a.Alloc(100)) },
		"Free":    func(a alloc.Allocator, r alloc.Region) error { return a.Free(r) },
		"WriteAt": func(a alloc.Allocator, r alloc.Region) error { return write(a, r, text(100, 3), 0) },
		"Realloc": func(a alloc.Allocator, r alloc.Region) error {
			_, err := a.Realloc(r, 150)
			if errors.Is(err, alloc.ErrUnsupported) {
				return nil
			}
			return err
		},
	}
	forEach(t, func(t *testing.T, k *kind) {
		for name, call := range calls {
			t.Run(name, func(t *testing.T) {
				disk := newDisk()
				fs, gate := file.NewGate(disk)
				w := newWorld(k, fs)
				check(t, w.open())
				for range callers + 2 {
					check(t, w.do(t, op{verb: doAlloc, n: 100}))
				}
				rest(t, w.a.Stack())
				gate.Shut(0)
				errs := make([]error, callers+1)
				var all sync.WaitGroup
				all.Go(func() { errs[callers] = write(w.a, w.live[callers].r, []byte{1}, 0) }) // for the others to queue behind
				gate.Await()
				was := disk.Counts().DataSyncs
				for i := range callers {
					all.Go(func() { errs[i] = call(w.a, w.live[i].r) })
				}
				queued(callers)
				gate.Open()
				all.Wait()
				check(t, errors.Join(errs...))
				rest(t, w.a.Stack())
				if n := disk.Counts().DataSyncs - was - 1; n > 4 || n < 1 && k.reuses {
					t.Errorf("%d syncs for %d callers", n, callers)
				}
				check(t, w.close())
			})
		}
	})
}
