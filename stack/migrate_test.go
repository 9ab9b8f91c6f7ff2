// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

const copyName = name + ".migrating"

func TestMigrate(t *testing.T) {
	payload := text(1<<20+70, 0) // more than is copied at once
	for _, length := range []uint64{0, 5, 1<<20 + 70, 1<<20 + 71, math.MaxUint64} {
		disk := file.NewCrash()
		put(t, disk, oldImage(length, payload))
		var log strings.Builder
		check(t, stack.MigrateFS(t.Context(), disk, name, &stack.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}))
		want := payload[:min(length, uint64(len(payload)))]
		rests(t, disk.AfterCutKeeping(file.KeepNone), want)
		if !strings.Contains(log.String(), "migrated") {
			t.Errorf("logged %q", log.String())
		}
		s := open(t, disk, nil)
		holds(t, s, want)
		check(t, s.Close())
		if _, err := disk.Stat(copyName); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the copy: %v", err)
		}
		if err := stack.MigrateFS(t.Context(), disk, name, nil); !isVersion(err, "0.4") {
			t.Errorf("once more: %v", err)
		}
		rests(t, disk, want)
	}
}

func TestMigrateKeepsTheMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(path, oldImage(5, text(5, 0)), 0o600))
	check(t, stack.Migrate(t.Context(), path, nil))
	info, err := os.Stat(path)
	check(t, err)
	if info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v", info.Mode())
	}
	b, err := os.ReadFile(path)
	check(t, err)
	same(t, b, resting(text(5, 0)))
}

func TestMigrateRefuses(t *testing.T) {
	for what, c := range map[string]struct {
		content []byte
		want    func(error) bool
	}{
		"a newer one": {over(resting(old), 0, []byte("BSTK\x00\x05")), func(err error) bool {
			return isVersion(err, "0.5")
		}},
		"the present one":   {resting(old), func(err error) bool { return isVersion(err, "0.4") }},
		"something else":    {text(100, 0), isCorrupt},
		"an empty file":     {nil, isCorrupt},
		"a cut header":      {oldImage(0, nil)[:15], isCorrupt},
		"an armed new file": {armed(headerSize, modeSet, text(3, 1)), func(err error) bool { return isVersion(err, "0.4") }},
	} {
		disk := file.NewCrash()
		put(t, disk, c.content)
		if err := stack.MigrateFS(t.Context(), disk, name, nil); !c.want(err) {
			t.Errorf("%s: %v", what, err)
		}
		same(t, raw(t, disk), c.content)
	}
	refused(t, stack.MigrateFS(t.Context(), file.NewCrash(), name, nil), fs.ErrNotExist)
}

func TestMigrateCanBeCancelled(t *testing.T) {
	disk := file.NewCrash()
	content := oldImage(40, old)
	put(t, disk, content)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errOwn)
	refused(t, stack.MigrateFS(ctx, disk, name, nil), context.Canceled)
	same(t, raw(t, disk), content)
	if _, err := disk.Stat(copyName); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy: %v", err)
	}
	check(t, stack.MigrateFS(t.Context(), disk, name, nil))
	rests(t, disk, old)
}

// Who opened the file before another migration replaced it must not put a copy of what it was over what it is now.
func TestMigrateTwice(t *testing.T) {
	disk := file.NewCrash()
	put(t, disk, oldImage(40, old))
	late := &lateLock{FS: disk, before: func() {
		check(t, stack.MigrateFS(t.Context(), disk, name, nil))
		s := open(t, disk, nil)
		_, err := s.Push(text(5, 1))
		check(t, errors.Join(err, s.Close()))
	}}
	refused(t, stack.MigrateFS(t.Context(), late, name, nil), stack.ErrLocked)
	rests(t, disk, append(bytes.Clone(old), text(5, 1)...))
}

// lateLock is a file system on which something happens before a lock is taken.
type lateLock struct {
	file.FS
	before func()
}

type lateLockFile struct {
	file.File
	fs *lateLock
}

func (l *lateLock) OpenFile(name string, flag int, perm fs.FileMode) (file.File, error) {
	f, err := l.FS.OpenFile(name, flag, perm)
	return &lateLockFile{f, l}, err
}

func (f *lateLockFile) TryLock(exclusive bool) error {
	f.fs.before()
	return f.File.TryLock(exclusive)
}

// After a crash the file is the old one or the new one, and what the crash left beside it does not matter.
func TestCrashOfMigrate(t *testing.T) {
	base := file.NewCrash()
	base.SetSector(blockSize)
	content := oldImage(700, text(700, 0))
	put(t, base, content)
	for k, cut := 1, true; cut; k++ {
		disk := base.Clone()
		disk.CutAt(k)
		err := stack.MigrateFS(t.Context(), disk, name, nil)
		cut = disk.IsCut()
		if err != nil && !cut {
			t.Fatal(err)
		}
		fates(disk, 20, func(what string, left *file.Crash) {
			found := raw(t, left)
			if bytes.Equal(found, content) && err != nil {
				check(t, stack.MigrateFS(t.Context(), left, name, nil))
			} else if !bytes.Equal(found, resting(text(700, 0))) {
				t.Fatalf("cut at call %d, %s: result %v, found %x", k, what, err, found)
			}
			tryOpen(t, left, text(700, 0))
		})
	}
}

func TestFaultsOfMigrate(t *testing.T) {
	content := oldImage(700, text(700, 0))
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			for k := 1; ; k++ {
				disk := file.NewCrash()
				put(t, disk, content)
				fault := file.NewFault(disk)
				inject(fault, f.short, f.rule(k))
				err := stack.MigrateFS(t.Context(), fault, name, nil)
				injected := fault.Injected()
				if len(injected) == 0 {
					check(t, err)
					return
				}
				what := fmt.Sprintf("failed: %v; result: %v", injected, err)
				refused(t, err, file.ErrInjected)
				if found := raw(t, disk); bytes.Equal(found, content) {
					if _, err := disk.Stat(
						copyName,
					); f.name == "one call" && !errors.Is(err, fs.ErrNotExist) &&
						injected[0].Kind != file.OpRename {
						t.Errorf("%s: it left a copy", what)
					}
					check(t, stack.MigrateFS(t.Context(), disk, name, nil))
				} else if !bytes.Equal(found, resting(text(700, 0))) {
					t.Fatalf("%s: found %x", what, found)
				}
				tryOpen(t, disk, text(700, 0))
			}
		})
	}
}
