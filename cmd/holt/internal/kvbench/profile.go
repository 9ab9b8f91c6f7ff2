// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kvbench

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"
)

// Profiles names the files that profiles go to; those that are empty are not made.
type Profiles struct {
	CPU, Memory, Block string
}

// Around makes of fn a function that runs it under the profiler.
func (p Profiles) Around(fn func() error) func() error {
	return func() error {
		stop, err := p.start()
		if err != nil {
			return err
		}
		return errors.Join(fn(), stop())
	}
}

// start begins profiling and returns what ends it and writes the files.
func (p Profiles) start() (stop func() error, err error) {
	var stops []func() error
	stop = func() error {
		var errs []error
		for _, s := range stops {
			errs = append(errs, s())
		}
		return errors.Join(errs...)
	}
	if p.CPU != "" {
		f, err := os.Create(p.CPU)
		if err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		stops = append(stops, func() error {
			pprof.StopCPUProfile()
			return f.Close()
		})
	}
	if p.Memory != "" {
		rate := runtime.MemProfileRate
		runtime.MemProfileRate = 4096
		stops = append(stops, func() error {
			defer func() { runtime.MemProfileRate = rate }()
			return writeProfile("heap", p.Memory)
		})
	}
	if p.Block != "" {
		runtime.SetBlockProfileRate(1)
		stops = append(stops, func() error {
			defer runtime.SetBlockProfileRate(0)
			return writeProfile("block", p.Block)
		})
	}
	return stop, nil
}

func writeProfile(name, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup(name).WriteTo(f, 0), f.Close())
}
