// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/file"
)

// planting is a store of several archives and revisions. With a seed it is the same each time, but for ids.
func planting(t testing.TB, seed int) (*file.Crash, []planted) {
	t.Helper()
	fsys := file.NewMemory()
	files, err := archive.Open("store", &archive.Options{FS: fsys, Limit: 64 << 10})
	must(t, err)
	a, err := newAuthor(files)
	must(t, err)
	n := rapid.Custom(func(t *rapid.T) *tree { return drawTree(t, 2) }).Example(seed)
	var list []planted
	for i := range 4 {
		if i > 0 {
			n = rapid.Custom(n.drawChange).Example(seed + i)
		}
		super := &tree{kids: map[string]*tree{"root": n, "checkpoints": {kids: map[string]*tree{"c": {
			kids: map[string]*tree{"root": n.latest(i)},
		}}}}}
		id, err := a.commit(super)
		must(t, err)
		list = append(list, planted{id, super})
	}
	must(t, a.store.Close())
	return fsys, list
}

// latest is the tree so many changes ago.
func (n *tree) latest(ago int) *tree {
	for ; ago > 1; ago-- {
		n = n.from
	}
	return n
}

// TestCheckWorkers damages stores, and demands the same findings of any number of workers, in the same order.
func TestCheckWorkers(t *testing.T) {
	rounds := 12
	if long() {
		rounds = 300
	}
	found := 0
	for seed := range rounds {
		sound, _ := planting(t, seed)
		for _, flips := range []int{0, 1, 4, 30} {
			fsys := sound.Clone()
			flipBytes(t, fsys, rand.New(rand.NewPCG(uint64(seed), uint64(flips))), flips)
			files, err := archive.Open("store", &archive.Options{FS: fsys, ReadOnly: true})
			if err != nil {
				continue
			}
			opts := content.CheckOptions{All: seed%2 == 0, Binaries: seed%3 > 0, Archives: seed%4 > 0}
			found += compareWorkers(t, files, opts, fmt.Sprintf("seed %d, %d bytes flipped", seed, flips))
			must(t, files.Close())
		}
	}
	if found < rounds {
		t.Errorf("only %d findings", found)
	}
}

// compareWorkers returns the number of findings.
func compareWorkers(t *testing.T, files archive.Store, opts content.CheckOptions, what string) int {
	t.Helper()
	var findings []string
	var report content.CheckReport
	for _, workers := range []int{0, 2, 3, 8} {
		opts.Workers = workers
		got, r := check(t, content.New(files, content.Options{Blobs: blobs{}}), opts)
		if workers == 0 {
			findings, report = got, r
			continue
		}
		if !slices.Equal(got, findings) {
			t.Errorf("%s: %d workers find\n%s\none finds\n%s", what, workers,
				strings.Join(got, "\n"), strings.Join(findings, "\n"))
		}
		if strings.Contains(strings.Join(findings, " "), "levels") {
			// Nodes that are too deep by one way, and not by another, are not looked for again: they count or do not.
			r.Nodes = report.Nodes
		}
		if !reflect.DeepEqual(r, report) {
			t.Errorf("%s: %d workers report %+v, one %+v", what, workers, r, report)
		}
	}
	return len(findings)
}

// TestCheckDeep has nodes with very much above them, by some of the ways that lead to them, and pairs of ways on each
// level.
func TestCheckDeep(t *testing.T) {
	for name, levels := range map[string][2]int{
		"deep":           {content.MaxDepth - 2, content.MaxDepth / 2},
		"too deep":       {content.MaxDepth + 300, content.MaxDepth / 2},
		"too deep later": {content.MaxDepth - 2, content.MaxDepth - 2},
	} {
		t.Run(name, func(t *testing.T) {
			m := &archive.Memory{}
			files, err := m.Open(false)
			must(t, err)
			a, err := newAuthor(files)
			must(t, err)
			n := &tree{}
			var half *tree
			for i := range levels[0] {
				n = &tree{kids: map[string]*tree{"a": n, "b": n}}
				if i == levels[1]/2 {
					half = n
				}
			}
			for range levels[1] {
				half = &tree{kids: map[string]*tree{"c": half}}
			}
			super := &tree{kids: map[string]*tree{"root": {kids: map[string]*tree{"top": n, "middle": half}}}}
			_, err = a.commit(super)
			must(t, err)
			found := compareWorkers(t, files, content.CheckOptions{}, name)
			if (name == "deep") != (found == 0) {
				t.Errorf("%d findings", found)
			}
		})
	}
}

// TestCheckEnds cancels checks, and has findings end them.
func TestCheckEnds(t *testing.T) {
	fsys := file.NewMemory()
	files, err := archive.Open("store", &archive.Options{FS: fsys, Limit: 16 << 10})
	must(t, err)
	a, err := newAuthor(files)
	must(t, err)
	_, err = a.commit(&tree{kids: map[string]*tree{"root": wide(40, 40)}})
	must(t, errors.Join(err, a.store.Close()))
	damageEnd(t, fsys, "data00000a.tar")
	files, err = archive.Open("store", &archive.Options{FS: fsys, ReadOnly: true})
	must(t, err)
	defer func() { must(t, files.Close()) }()
	oops := errors.New("oops")
	for _, workers := range []int{1, 3} {
		opts := content.CheckOptions{Workers: workers, Archives: true, Found: func(error) error { return oops }}
		if _, err := content.New(files, content.Options{}).Check(t.Context(), opts); !errors.Is(err, oops) {
			t.Errorf("%d workers: %v", workers, err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		var nodes atomic.Int64
		s := content.New(files, content.Options{Progress: func(n int64) {
			if nodes.Add(n) > 0 {
				cancel(oops)
			}
		}})
		opts.Found = func(error) error { return nil }
		if _, err := s.Check(ctx, opts); !errors.Is(err, oops) || nodes.Load() > 1000 {
			t.Errorf("%d workers, cancelled: %v after %d nodes", workers, err, nodes.Load())
		}
	}
}

// damageEnd changes the last byte of an archive, which only checks look at.
func damageEnd(t *testing.T, fsys *file.Crash, name string) {
	t.Helper()
	f, err := fsys.OpenFile(filepath.Join("store", name), os.O_RDWR, 0)
	must(t, err)
	size, err := f.Size()
	must(t, err)
	_, err = f.WriteAt([]byte{1}, size-1)
	must(t, errors.Join(err, f.Close()))
}

// wide is a tree of different nodes.
func wide(counts ...int) *tree {
	n := &tree{
		props: map[string]property{"id": {typ: segment.TypeLong, values: []string{"1"}}}, kids: map[string]*tree{},
	}
	if len(counts) > 0 {
		for i := range counts[0] {
			n.kids[fmt.Sprint("child", i)] = wide(counts[1:]...)
		}
	}
	return n
}

// TestCheckLongValue cancels a check within one value: of few bytes, which are all of its blocks.
func TestCheckLongValue(t *testing.T) {
	m := &archive.Memory{}
	files, err := m.Open(false)
	must(t, err)
	a, err := newAuthor(files)
	must(t, err)
	n := &tree{props: map[string]property{"x": {typ: segment.TypeBinary, values: []string{strings.Repeat("x", 20<<20)}}}}
	_, err = a.commit(&tree{kids: map[string]*tree{"root": n}})
	must(t, err)
	ctx := &countdown{Context: t.Context(), left: 20}
	opts := content.CheckOptions{Binaries: true, Found: func(error) error { return nil }}
	if report, err := a.store.Check(ctx, opts); !errors.Is(err, io.ErrNoProgress) || report.Whole > 0 {
		t.Errorf("%+v, %v", report, err)
	}
}
