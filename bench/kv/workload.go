// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "strings"

const (
	ours   = "kv"     // the suite of the folder above
	rivals = "rivals" // that of folder rivals

	bbolt, holt, single          = "bbolt", "holt", "holt-single"
	badger, lmdb, pebble, sqlite = "badger", "lmdb", "pebble", "sqlite"
)

// What is measured, by the units of benchfmt.
const (
	cpu    = "cpu-sec/op"
	wall   = "sec/op"
	allocs = "allocs/op"
	space  = "file/live"
	file   = "file-B"
	peak   = "peak-B"
)

// workload is a benchmark that runs on some engines.
type workload struct {
	suite, name string
	times       string // as -test.benchtime wants it
	engines     []string
	disk        bool // syncs, or too large for memory
	long        bool // not for -short
	bounds      []bound
}

// bound is what is to be reached. That of an absolute one is on Holt's own figure, else on its ratio to bbolt's.
type bound struct {
	unit          string
	required, aim float64
	absolute      bool
	given         bool // none is given where only the figure is of interest
}

// atMost bounds a ratio.
func atMost(unit string, required, aim float64) bound {
	return bound{unit: unit, required: required, aim: aim, given: true}
}

func atMostAbsolute(unit string, required, aim float64) bound {
	return bound{unit: unit, required: required, aim: aim, absolute: true, given: true}
}

// pattern selects the benchmark on one engine.
func (w workload) pattern(engine string) string {
	levels := append(strings.Split(w.name, "/"), "engine="+engine)
	for i, l := range levels {
		levels[i] = "^" + l + "$"
	}
	return strings.Replace(strings.Join(levels, "/"), "^", "^Benchmark", 1)
}

func both(name, times string, bounds ...bound) workload {
	return workload{suite: ours, name: name, times: times, engines: []string{bbolt, holt}, bounds: bounds}
}

// durable is a workload on the disk that Holt can do with one sync, too.
func durable(name, times string, bounds ...bound) workload {
	w := both(name, times, append(bounds, bound{unit: cpu})...)
	w.disk, w.engines = true, []string{bbolt, holt, single}
	return w
}

func long(w workload) workload {
	w.long = true
	return w
}

// onDisk is for large files that are read, or hardly written to.
func onDisk(w workload) workload {
	w.disk = true
	return w
}

// workloads are kv against bbolt.
var workloads = []workload{
	both("Get", "500000x", atMost(cpu, 0.55, 0.40), atMostAbsolute(allocs, 0, 0)),
	both("CursorGet", "500000x", bound{unit: cpu}),
	both("CursorSeek", "500000x", bound{unit: cpu}),
	both("SeekNew", "500000x", atMost(cpu, 0.60, 0.45), atMostAbsolute(allocs, 0, 0)),
	both("CursorScan", "1000x", atMost(cpu, 0.30, 0.20), atMostAbsolute(allocs, 0, 0)),
	both("RandGet1M", "1000000x", atMost(cpu, 0.70, 0.55)),
	both("RandGet1MPar2", "1000000x", atMost(cpu, 0.70, 0.55)),
	long(onDisk(both("RandGet10M", "1000000x", atMost(cpu, 0.70, 0.55)))),
	long(onDisk(both("RandGet10MPar2", "1000000x", atMost(cpu, 0.70, 0.55)))),
	both("BeginRollback", "500000x", atMost(cpu, 0.30, 0.12), atMostAbsolute(allocs, 1, 0)),
	both("BeginRollbackPar2", "500000x", atMost(cpu, 0.30, 0.12), atMostAbsolute(allocs, 1, 0)),
	both("ViewGet", "300000x", bound{unit: cpu}),
	both("NestedGet", "300000x", atMost(cpu, 0.50, 0.40), atMostAbsolute(allocs, 2, 2)),
	both("NestedGetInline", "300000x", atMost(cpu, 0.50, 0.40), atMostAbsolute(allocs, 2, 2)),
	both("LargeGet", "20000x", atMost(cpu, 0.75, 0.65)),
	long(onDisk(both("OpenSaved", "3x", atMost(cpu, 0.05, 0.01)))),
	long(onDisk(both("OpenUnsaved", "3x", atMost(cpu, 0.08, 0.04)))),
	long(onDisk(both("OpenUnsavedPut", "3x", bound{unit: cpu}))),
	both("CursorPut", "300000x", bound{unit: cpu}),
	both("Put", "30000x", atMost(cpu, 0.45, 0.25), atMostAbsolute(allocs, 9, 9)),
	both("PutReader", "500x", bound{unit: cpu}),
	both("BulkSeq1M", "1x", atMost(cpu, 0.35, 0.25), atMostAbsolute(space, 1.5, 1.45)),
	long(both("BulkRand1M", "1x", atMost(cpu, 0.30, 0.18), bound{unit: space})),
	long(both("PeakRand1M", "1x", atMost(peak, 0.50, 0.50))),
	both("Compact", "3x", bound{unit: cpu}, bound{unit: wall}, bound{unit: space}),
	both("NestedFill", "1x", bound{unit: cpu}),
	both("Overwrite", "200x", atMost(cpu, 0.35, 0.20)),
	long(both("OverwriteReader", "50x", atMost(cpu, 0.12, 0.05), atMost(file, 0.3, 0.2))),
	long(both("PutBigFreelist/list=hashmap", "30x", atMost(cpu, 0.12, 0.02))),
	long(both("PutBigFreelist/list=array", "30x", atMost(cpu, 0.50, 0.02))),
	both("LargePut", "64x", atMost(cpu, 0.30, 0.20)),
	durable("PutDurable", "2000x", atMost(wall, 0.80, 0.40)),
	durable("PutDurableNoFreelistSync", "2000x", bound{unit: wall}),
	durable("PutDurableFragmented", "2000x", atMost(wall, 0.30, 0.20)),
	durable("Batch64", "2000x", atMost(wall, 0.25, 0.10)),
}

func among(name, times string, units ...string) workload {
	w := workload{suite: rivals, name: name, times: times, engines: []string{bbolt, holt, lmdb, pebble, badger, sqlite}}
	for _, unit := range append(units, cpu) {
		w.bounds = append(w.bounds, bound{unit: unit})
	}
	return w
}

// comparisons are kv and bbolt among others, through one interface.
var comparisons = []workload{
	among("Get", "100000x"),
	among("CursorGet", "100000x"),
	among("CursorSeek", "5000x"),
	among("CursorScan", "5x"),
	among("RandGet1M", "100000x"),
	among("LargeGet", "500x"),
	among("CursorPut", "10000x"),
	among("Put", "1000x"),
	without(among("PutReader", "500x"), sqlite),
	among("BulkSeq1M", "1x", space),
	long(among("BulkRand1M", "1x", space)),
	long(among("Overwrite", "500x")),
	among("LargePut", "64x"),
	onDisk(among("PutDurable", "2000x", wall)),
	onDisk(among("Batch64", "2000x", wall)),
}

func without(w workload, engine string) workload {
	kept := w.engines[:0:0]
	for _, e := range w.engines {
		if e != engine {
			kept = append(kept, e)
		}
	}
	w.engines = kept
	return w
}
