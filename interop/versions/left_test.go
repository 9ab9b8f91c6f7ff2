// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/holtdb/holt/kv"
)

// A state is how kv leaves a file that it has written.
type state struct {
	options kv.Options
	last    func(t *testing.T, db *kv.DB) // what is done before
	killed  bool                          // the database is not closed
}

var states = map[string]state{
	"killed":                         {killed: true}, // without a free list
	"killed, free list stored":       {options: kv.Options{SyncFreelist: true}, killed: true},
	"shrunk":                         {last: shrink},
	"shrunk, then killed":            {last: shrink, killed: true},
	"shrunk for bolt":                {options: kv.Options{BoltPlacement: true}, last: shrink},
	"with holes":                     {last: punchHoles},
	"with holes, then killed":        {last: punchHoles, killed: true},
	"single sync":                    {options: kv.Options{SingleSync: true}},
	"single sync, killed":            {options: kv.Options{SingleSync: true}, killed: true},
	"single sync, shrunk and killed": {options: kv.Options{SingleSync: true}, last: shrink, killed: true},
}

func shrink(t *testing.T, db *kv.DB) {
	t.Helper()
	if _, err := db.Shrink(t.Context(), kv.ShrinkOptions{}); err != nil {
		t.Fatal(err)
	}
}

func punchHoles(t *testing.T, db *kv.DB) {
	t.Helper()
	if _, err := db.PunchHoles(t.Context()); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
}

// TestLeftFiles has each release read, check and change files as kv leaves
// them, and kv go on with those.
func TestLeftFiles(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			d := buildDriver(t, release)
			for name, s := range states {
				t.Run(name, func(t *testing.T) {
					for _, sample := range []string{"deleted", "overflow", "nested"} {
						t.Run(sample, func(t *testing.T) { exchangeLeft(t, d, s, samples[sample]) })
					}
				})
			}
		})
	}
}

func exchangeLeft(t *testing.T, d driver, s state, build func(*script)) {
	first, second, written, changed := scripts(build)

	for what, then := range map[string]func(file string){
		"read by the release": func(file string) { d.verify(t, file, written) },
		"changed by the release": func(file string) {
			d.apply(t, file, format{}, second)
			d.verify(t, file, changed)
			verifyHolt(t, file, changed)
		},
		"changed by kv": func(file string) {
			verifyHolt(t, file, written)
			applyHolt(t, file, format{}, second)
			d.verify(t, file, changed)
		},
	} {
		t.Run(what, func(t *testing.T) { then(leave(t, s, first)) })
	}
}

// leave writes a file and leaves it in a state. That of a killed process is a
// copy of what it had written so far.
func leave(t *testing.T, s state, what script) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "left")
	db, err := kv.Open(file, 0o600, &s.options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeHolt(t, db) }) // those that are left open are closed at the end
	runHolt(t, db, what)
	if s.last != nil {
		s.last(t, db)
	}
	if !s.killed {
		closeHolt(t, db)
		return file
	}
	image, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if s.options.SingleSync && !paired(image) {
		t.Error("no meta page is a paired one")
	}
	file += " by a killed process"
	if err := os.WriteFile(file, image, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// paired says whether one of the meta pages, of the usual page size, has the
// flags of one that went down together with the pages of its commit.
func paired(image []byte) bool {
	for _, meta := range [][]byte{image, image[os.Getpagesize():]} {
		flags, txid := binary.NativeEndian.Uint32(meta[28:]), binary.NativeEndian.Uint32(meta[64:])
		if flags != 0 && flags == txid^0x746C6F48 {
			return true
		}
	}
	return false
}
