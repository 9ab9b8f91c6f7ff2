// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/holtdb/holt/internal/stackbench"
)

// scenario is something to be measured.
type scenario struct {
	Name string
	Kind kind
	Work stackbench.Workload
	Sync bool
	Once bool // in the first round only: it takes long, or it is not time that counts
	// Batch is how many allocations a commit has, in durableAlloc.
	Batch   int
	engines []string
}

// kind is what is measured.
type kind int

const (
	operations   kind = iota // the operations of a workload
	opening                  // opening a file with free blocks
	durableAlloc             // allocations, each commit durable
)

// Engines.
const (
	holtGhost   = "holt-ghosttree"
	holtFirst   = "holt-firstfit"
	holtJournal = "holt-ghosttree-journal" // without syncs, but with the journal, which a crash of the program is safe by
	crateGhost  = "bstack-0.4.4-ghosttree"
	crateFirst  = "bstack-0.4.4-firstfit"
	olderGhost  = "bstack-0.2.7-ghosttree"
	modernFile  = "modernc-file-wal"
	modernLLDB  = "modernc-lldb"
	reference   = crateGhost // what ratios are to
	referenceGo = modernFile // and those of durableAlloc
)

var (
	ghosts     = []string{crateGhost, holtGhost}
	everybody  = []string{crateGhost, holtGhost, crateFirst, holtFirst, olderGhost}
	goRivals   = []string{modernFile, modernLLDB, holtGhost}
	threadings = []int{1, 2, 4, 16}
)

var scenarios = append(required(), rest()...)

// required are those that have a bound to keep.
func required() []scenario {
	work := stackbench.Workload{Mix: "mixed", Sizes: "uniform", Max: 1024, Threads: 1, Live: 256, Free: 2000, Ops: 400}
	at16 := work
	at16.Threads, at16.Ops = 16, 640
	fast := work
	fast.Ops = 20_000
	all := []scenario{
		{Name: "Synced/free=2000/threads=1", Work: work, Sync: true, engines: everybody},
		{Name: "Synced/free=2000/threads=16", Work: at16, Sync: true, engines: everybody},
		{
			Name: "Unsynced/free=2000/threads=1", Work: fast,
			engines: []string{crateGhost, holtGhost, holtJournal, crateFirst, holtFirst, olderGhost},
		},
	}
	for _, free := range []int{2000, 20_000} {
		w := work
		w.Free = free
		all = append(all, scenario{
			Name: fmt.Sprintf("Open/free=%d", free), Kind: opening, Work: w, engines: ghosts,
		})
	}
	churn := work
	churn.Mix, churn.Free, churn.Live, churn.Ops = "mixed", 0, 2000, 1_000_000
	all = append(all, scenario{Name: "Churn/ops=1M", Work: churn, Once: true, engines: ghosts})
	for _, batch := range []int{1, 8} {
		all = append(all, scenario{
			Name: fmt.Sprintf("DurableAlloc/batch=%d", batch), Kind: durableAlloc, Work: work, Sync: true, Batch: batch,
			engines: goRivals,
		})
	}
	return all
}

// rest is the benchmark of the crate: every mix and every distribution, and every number of threads and of live blocks with
// one of them, without syncs.
func rest() (all []scenario) {
	base := stackbench.Workload{Mix: "mixed", Sizes: "uniform", Max: 1024, Threads: 1, Live: 256, Ops: 4000}
	add := func(w stackbench.Workload) {
		all = append(all, scenario{
			Name: fmt.Sprintf("Mix=%s/sizes=%s/live=%d/threads=%d", w.Mix, w.Sizes, w.Live, w.Threads), Work: w, engines: ghosts,
		})
	}
	for _, mix := range stackbench.Mixes {
		for _, sizes := range stackbench.Sizes {
			w := base
			w.Mix, w.Sizes = mix, sizes
			add(w)
		}
	}
	for _, threads := range threadings[1:] {
		w := base
		w.Threads = threads
		add(w)
	}
	for _, live := range []int{2000, 20_000} {
		w := base
		w.Live = live
		add(w)
	}
	return all
}
