// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"path/filepath"
	"testing"
)

// releases are the first and the last of the 1.3 series that are in use, and
// the newest of 1.4 and 1.5.
var releases = []string{"v1.3.2", "v1.3.12", "v1.4.3", "v1.5.0"}

func TestExchange(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			d := buildDriver(t, release)
			for name, build := range samples {
				t.Run(name, func(t *testing.T) {
					for _, f := range formats {
						t.Run(f.String(), func(t *testing.T) { exchange(t, d, build, f) })
					}
				})
			}
		})
	}
}

// formats pair every page size, both kinds of free list and both placements
// with each other, though not each with all.
var formats = []format{
	{pageSize: 1024},
	{pageSize: 1024, noFreelistSync: true, boltPlacement: true},
	{pageSize: 4096, boltPlacement: true},
	{pageSize: 4096, noFreelistSync: true},
	{pageSize: 16384},
}

// scripts are those that write a sample and change it, and what is to be there after each.
func scripts(build func(*script)) (first, second script, written, changed []string) {
	build(&first)
	m := newModel()
	m.apply(first)
	written = m.dump()
	change(m, &second)
	m.apply(second)
	return first, second, written, m.dump()
}

// exchange lets each side write the sample, and both sides read and change
// what the other wrote.
func exchange(t *testing.T, d driver, build func(*script), f format) {
	first, second, written, changed := scripts(build)

	theirs := filepath.Join(t.TempDir(), "theirs")
	d.apply(t, theirs, f, first)
	verifyHolt(t, theirs, written)
	applyHolt(t, theirs, f, second)
	verifyHolt(t, theirs, changed)
	d.verify(t, theirs, changed)

	ours := filepath.Join(t.TempDir(), "ours")
	applyHolt(t, ours, f, first)
	d.verify(t, ours, written)
	d.apply(t, ours, f, second)
	d.verify(t, ours, changed)
	verifyHolt(t, ours, changed)
}
