// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package linear

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// begin is what a stack has in the beginning.
const begin = cells("\x01\x02\x03\x04\x05")

// stackKinds are ways to open one. In memory syncs are real and take a while, so that changes come in groups.
var stackKinds = map[string]func(t *testing.T) (path string, opts *stack.Options){
	"synced": func(*testing.T) (string, *stack.Options) {
		return "stack", &stack.Options{FS: slow{file.NewMemory()}}
	},
	"without syncs": func(t *testing.T) (string, *stack.Options) {
		return filepath.Join(t.TempDir(), "stack"), &stack.Options{NoSync: true}
	},
	"without a journal": func(t *testing.T) (string, *stack.Options) {
		return filepath.Join(t.TempDir(), "stack"), &stack.Options{NoSync: true, NoJournal: true}
	},
}

// turns are how many moves each of so many goroutines makes. Histories of many at once take long to check.
var turns = map[int]int{2: 200, 4: 60, 16: 4}

// TestStack has goroutines work on the same few cells of a stack.
func TestStack(t *testing.T) {
	all, refused := 0, 0
	for name, kind := range stackKinds {
		for _, n := range []int{2, 4, 16} {
			t.Run(fmt.Sprint(name, "/", n), func(t *testing.T) {
				for round := range *rounds {
					seed := *seed + uint64(round)
					s := openStack(t, kind, seed)
					for _, v := range []byte(begin) {
						if _, err := s.Push(cell(v)); err != nil {
							t.Fatal(err)
						}
					}
					ops := together(t, n, turns[n], seed, func(r *rand.Rand, _ any) (any, func() (any, error)) {
						m := drawMove(r)
						return m, func() (any, error) { return cellStore{s}.make(m) }
					})
					verifyLinear(t, cellsModel(begin), ops, seed)
					for _, op := range ops {
						all++
						if op.Output.(result).refused {
							refused++
						}
					}
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
	if t.Logf("%d moves, of which %d refused", all, refused); refused > all/2 {
		t.Error("too many were refused for the rest to show anything")
	}
}

func openStack(t *testing.T, kind func(t *testing.T) (string, *stack.Options), seed uint64) *stack.Stack {
	t.Helper()
	path, opts := kind(t)
	s, err := stack.Open(path, opts)
	if err != nil {
		t.Fatalf("-seed %d: %v", seed, err)
	}
	return s
}

var moveNames = slices.Sorted(maps.Keys(moves))

// drawMove draws a move on cells of which there are about five. Many are reads, which wait for nobody.
func drawMove(r *rand.Rand) move {
	m := move{what: moveNames[r.IntN(len(moveNames))], i: r.IntN(6), data: byte(1 + r.IntN(8)), old: byte(1 + r.IntN(8))}
	if r.IntN(3) == 0 {
		m.what = []string{"Peek", "GetBatched"}[r.IntN(2)]
	}
	m.j = (m.i + 1 + r.IntN(5)) % 6
	switch m.what {
	case "Pop", "Discard":
		if m.i = 1; r.IntN(3) == 0 { // so that there is mostly something to work on
			m.what = "Push"
		}
	case "Splice":
		m.i = 1 + r.IntN(2)
	case "Process":
		m.data = 8 * byte(1+r.IntN(20)) // makes values that nothing else makes
	}
	return m
}

// together runs n goroutines, each of which makes some turns, and returns the history. A turn is drawn, knowing the
// result of the one before, and then made.
func together(t *testing.T, n, turns int, seed uint64,
	draw func(r *rand.Rand, last any) (in any, run func() (out any, err error)),
) []porcupine.Operation {
	t.Helper()
	histories := make([][]porcupine.Operation, n)
	var all sync.WaitGroup
	start := time.Now()
	for id := range n {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(id)))
			var last any
			for range turns {
				in, run := draw(r, last)
				call := time.Since(start)
				out, err := run()
				end := time.Since(start)
				if err != nil {
					t.Errorf("-seed %d: goroutine %d: %+v: %v", seed, id, in, err)
					return
				}
				last = out
				histories[id] = append(histories[id], porcupine.Operation{
					ClientId: id, Input: in, Output: out, Call: int64(call), Return: int64(end),
				})
			}
		})
	}
	all.Wait()
	return slices.Concat(histories...)
}

func verifyLinear(t *testing.T, model porcupine.Model, ops []porcupine.Operation, seed uint64) {
	t.Helper()
	result, info := porcupine.CheckOperationsVerbose(model, ops, checkPatience)
	if result != porcupine.Ok {
		name := filepath.Join(t.ArtifactDir(), "history.html")
		err := porcupine.VisualizePath(model, info, name)
		t.Fatalf("-seed %d: %v; with -artifacts the history stays in %s (%v)", seed, result, name, err)
	}
}

// TestStackModel has histories that no stack has, so that the model must refuse them.
func TestStackModel(t *testing.T) {
	for name, ops := range map[string][]porcupine.Operation{
		"a cell is taken twice": {
			{ClientId: 0, Input: move{what: "Pop", i: 1}, Output: result{cells: "\x05"}, Call: 0, Return: 10},
			{ClientId: 1, Input: move{what: "Pop", i: 1}, Output: result{cells: "\x05"}, Call: 5, Return: 15},
		},
		"a change that returned is not seen": {
			{ClientId: 0, Input: move{what: "Set", i: 0, data: 9}, Output: result{}, Call: 0, Return: 10},
			{ClientId: 1, Input: move{what: "Get", i: 0}, Output: result{cells: "\x01"}, Call: 11, Return: 12},
		},
		"two see changes in different orders": {
			{ClientId: 0, Input: move{what: "Set", i: 0, data: 8}, Output: result{}, Call: 0, Return: 40},
			{ClientId: 1, Input: move{what: "Set", i: 1, data: 9}, Output: result{}, Call: 0, Return: 40},
			{ClientId: 2, Input: move{what: "GetBatched", i: 0, j: 1}, Output: result{cells: "\x08\x02"}, Call: 5, Return: 6},
			{ClientId: 3, Input: move{what: "GetBatched", i: 0, j: 1}, Output: result{cells: "\x01\x09"}, Call: 7, Return: 8},
		},
		"half an exchange": {
			{ClientId: 0, Input: move{what: "CrossExchange", i: 0, j: 1}, Output: result{}, Call: 0, Return: 10},
			{ClientId: 1, Input: move{what: "GetBatched", i: 0, j: 1}, Output: result{cells: "\x02\x02"}, Call: 5, Return: 6},
		},
		"both compare and swap": {
			{ClientId: 0, Input: move{what: "CompareAndSwap", old: 1, data: 7}, Output: result{ok: true}, Call: 0, Return: 10},
			{ClientId: 1, Input: move{what: "CompareAndSwap", old: 1, data: 8}, Output: result{ok: true}, Call: 0, Return: 10},
		},
		"a failure has an effect": {
			{
				ClientId: 0, Input: move{what: "failing Update", i: 0, data: 9},
				Output: result{n: 5, cells: "\x01"}, Call: 0, Return: 10,
			},
			{ClientId: 1, Input: move{what: "Len"}, Output: result{n: 6}, Call: 5, Return: 6},
		},
	} {
		if porcupine.CheckOperations(cellsModel(begin), ops) {
			t.Errorf("%s: nothing is wrong with that", name)
		}
	}
}

// slow is a file system whose calls let others run.
type slow struct{ file.FS }

func (s slow) OpenFile(name string, flag int, perm fs.FileMode) (file.File, error) {
	f, err := s.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return slowFile{f}, nil
}

type slowFile struct{ file.File }

func (f slowFile) ReadAt(p []byte, off int64) (int, error) {
	runtime.Gosched()
	return f.File.ReadAt(p, off)
}

func (f slowFile) WriteAt(p []byte, off int64) (int, error) {
	yield()
	return f.File.WriteAt(p, off)
}

func (f slowFile) WriteVecAt(ps [][]byte, off int64) (int, error) {
	yield()
	return f.File.WriteVecAt(ps, off)
}

func (f slowFile) SyncData() error {
	yield()
	return f.File.SyncData()
}

func yield() {
	for range 10 {
		runtime.Gosched()
	}
}
