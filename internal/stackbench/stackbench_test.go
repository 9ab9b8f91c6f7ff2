// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stackbench

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

var small = Workload{Mix: "mixed", Sizes: "uniform", Max: 1024, Threads: 3, Live: 50, Free: 40, Ops: 1000}

func ghosttree(s *stack.Stack) (alloc.Allocator, error) { return alloc.OpenGhostTree(s) }

func TestPlans(t *testing.T) {
	if !reflect.DeepEqual(small.Plans(), small.Plans()) {
		t.Error("two draws differ")
	}
	for _, name := range Mixes {
		w := small
		w.Mix, w.Ops = name, 30_000
		counts := [3]int{}
		all, first := 0, 0
		for _, p := range w.Plans() {
			all += len(p.ops)
			first += len(p.live)
			live := len(p.live)
			for _, o := range p.ops {
				counts[o.kind]++
				if o.kind != opAlloc && (o.region < 0 || o.region >= live) {
					t.Fatalf("%s: region %d of %d", name, o.region, live)
				}
				live += map[kind]int{opAlloc: 1, opFree: -1}[o.kind]
			}
		}
		if all != w.Ops || first != w.Live {
			t.Errorf("%s: %d operations, %d live", name, all, first)
		}
		m := mixes[name]
		if name == "churn" { // runs out of regions now and then
			continue
		}
		for i, percent := range []int{m.alloc, m.realloc, m.free} {
			if got := 100 * float64(counts[i]) / float64(all); got < float64(percent)-1 || got > float64(percent)+1 {
				t.Errorf("%s: %.1f %% of kind %d, want %d", name, got, i, percent)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	const most, draws = 1024, 20_000
	mean := map[string]float64{"uniform": most / 2, "fixed": most, "gamma": most / 2, "bimodal": 0.9*16 + 0.1*most}
	for _, name := range Sizes {
		r := rand.New(rand.NewPCG(Seed, 0))
		sum := 0.0
		for range draws {
			n := sizes[name](r, most)
			if n < 0 || n > 16*most || n > most && name != "gamma" {
				t.Fatalf("%s: %d", name, n)
			}
			sum += float64(n)
		}
		if got := sum / draws; got < 0.95*mean[name] || got > 1.05*mean[name] {
			t.Errorf("%s: mean %.1f, want %.1f", name, got, mean[name])
		}
	}
}

func TestRun(t *testing.T) {
	disk := file.NewMemory()
	r, err := Prepare(t.Context(), disk, "bench.stack", small, ghosttree)
	if err != nil {
		t.Fatal(err)
	}
	syncs := disk.Counts().DataSyncs
	res, err := r.Do(t.Context(), true, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	if res.Ops != small.Ops || res.Before.FreeBlocks != small.Free || res.Duration <= 0 {
		t.Errorf("%d operations in %v, %d free blocks at first", res.Ops, res.Duration, res.Before.FreeBlocks)
	}
	if got := disk.Counts().DataSyncs - syncs; res.Counts.DataSyncs != got || got == 0 || res.Counts.Writes == 0 {
		t.Errorf("counts %+v, %d syncs", res.Counts, got)
	}
	var live int64
	for _, rs := range r.live {
		for _, r := range rs {
			live += r.Len
		}
	}
	if keepers := int64(small.Free * keeper); res.After.Used < live+keepers {
		t.Errorf("%d bytes used, %d are live, %d between free blocks", res.After.Used, live, keepers)
	}
}

func TestRunWithoutSync(t *testing.T) {
	disk := file.NewMemory()
	r, err := Prepare(t.Context(), disk, "bench.stack", small, ghosttree)
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Do(t.Context(), false, func(int64) {})
	if err != nil || res.Counts.DataSyncs+res.Counts.Syncs != 0 || res.Counts.Writes == 0 {
		t.Errorf("%+v, %v", res.Counts, err)
	}
}

func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Prepare(ctx, file.NewMemory(), "bench.stack", small, ghosttree)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Do(ctx, true, func(int64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("running: %v", err)
	}
	if _, err := Prepare(ctx, file.NewMemory(), "bench.stack", small, ghosttree); !errors.Is(err, context.Canceled) {
		t.Errorf("preparing: %v", err)
	}
}

func TestValidate(t *testing.T) {
	if err := small.Validate(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Workload){
		"mix": func(w *Workload) { w.Mix = "x" }, "sizes": func(w *Workload) { w.Sizes = "x" },
		"max": func(w *Workload) { w.Max = 0 }, "threads": func(w *Workload) { w.Threads = 0 },
		"live": func(w *Workload) { w.Live = -1 }, "free": func(w *Workload) { w.Free = -1 }, "ops": func(w *Workload) { w.Ops = 0 },
	} {
		w := small
		spoil(&w)
		if err := w.Validate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
