// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"log/slog"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/holtdb/holt/kv"
)

func TestOptionsString(t *testing.T) {
	const bolt = `\{Timeout: 1\.5s, NoGrowSync: true, NoFreelistSync: false, PreLoadFreelist: true, ` +
		`FreelistType: hashmap, ReadOnly: false, MmapFlags: 1f, InitialMmapSize: 4096, PageSize: 1024, MaxSize: 7, ` +
		`NoSync: true, OpenFile: 0x0, Mlock: false, Logger: (0x[0-9a-f]+|%!p\(<nil>\)), NoStatistics: true`
	some := kv.Options{
		Timeout: 1500 * time.Millisecond, NoGrowSync: true, PreLoadFreelist: true, FreelistType: kv.FreelistMapType,
		MmapFlags: 31, InitialMmapSize: 4096, PageSize: 1024, MaxSize: 7, NoSync: true, NoStatistics: true,
	}
	withLogger, withOwn := some, some
	withLogger.Logger = &kv.DefaultLogger{}
	withOwn.Slog, withOwn.BoltPlacement = slog.Default(), true
	for _, test := range []struct {
		name string
		o    *kv.Options
		want string
	}{
		{"nil", nil, `\{\}`},
		{"some", &some, bolt + `\}`},
		{"logger", &withLogger, bolt + `\}`},
		{"own", &withOwn, bolt + `, Slog: 0x[0-9a-f]+, BoltPlacement: true\}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if have := test.o.String(); !regexp.MustCompile("^" + test.want + "$").MatchString(have) {
				t.Errorf("have %s\nwant %s", have, test.want)
			}
		})
	}
}

// TestDefaultOptions changes the shared default, which Open is to look at each time.
func TestDefaultOptions(t *testing.T) {
	defer func(o *kv.Options) { kv.DefaultOptions = o }(kv.DefaultOptions)
	kv.DefaultOptions = &kv.Options{PageSize: 2048, NoSync: true}
	db, err := kv.Open(filepath.Join(t.TempDir(), "test.db"), 0o600, nil)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	if size := db.Info().PageSize; size != 2048 {
		t.Errorf("page size %d, want that of the default options, 2048", size)
	}
	if !db.NoSync {
		t.Error("NoSync of the default options has no effect")
	}
}
