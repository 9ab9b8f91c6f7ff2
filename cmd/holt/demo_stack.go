// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/holtdb/holt/cmd/holt/internal/chain"
	"github.com/holtdb/holt/cmd/holt/internal/folder"
	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

var stackLimits = demoLimits{fileSize: 1 << 20, total: 8 << 20, files: 1000, time: 1500 * time.Millisecond}

// demoStack shows the stack and an allocator in it.
func demoStack(ctx context.Context, d *demo) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	path := filepath.Join(d.dir, "folder.stack")
	d.printf("The files of this folder in regions of a stack that a GhostTree allocates:")
	f := &stackDemo{demo: d, demoFiles: demoFiles{top: dir, skip: d.dir, limits: stackLimits}, path: path}
	if err := f.run(ctx); err != nil {
		return err
	}
	d.suggest("stack", "info", path)
	d.suggest("stack", "free-map", path)
	d.suggest("stack", "dump", path)
	return nil
}

// stackDemo is the part of the demo about stacks.
type stackDemo struct {
	*demo
	demoFiles
	path   string
	stored []storedFile

	acknowledged uint64       // operations of the process that was killed
	links        *chain.Chain // which it made
}

// storedFile is a file in a region.
type storedFile struct {
	region alloc.Region
	sum    [sha256.Size]byte
	summed bool // the sum follows the file's bytes in the region
}

func (f *stackDemo) run(ctx context.Context) error {
	steps := []struct {
		what string
		fn   func(ctx context.Context) (string, error)
	}{
		{"store", f.inAllocator(f.store)},
		{"free", f.inAllocator(f.free)},
		{"resize", f.inAllocator(f.resize)},
		{"crash", f.crash},
		{"reopen", f.inAllocator(f.reopen)},
		{"verify", f.inAllocator(f.verify)},
		{"check", f.inAllocator(f.check)},
	}
	for _, s := range steps {
		if err := f.step(s.what, func() (string, error) { return s.fn(ctx) }); err != nil {
			return err
		}
		if s.what == "store" {
			f.left.print(f.demo, f.limits)
		}
	}
	f.printf("  %-8s %s, %s", "file", f.path, text.Size(fileSize(f.path)))
	return nil
}

// inAllocator makes of fn a step that opens the file for it.
func (f *stackDemo) inAllocator(
	fn func(ctx context.Context, a alloc.Allocator) (string, error),
) func(context.Context) (string, error) {
	return func(ctx context.Context) (result string, err error) {
		s, err := stack.Open(f.path, nil)
		if err != nil {
			return "", err
		}
		defer closeWith(&err, s)
		a, err := alloc.OpenGhostTree(s)
		if err != nil {
			return "", err
		}
		return fn(ctx, a)
	}
}

// Bounds of what is stored in one operation.
const (
	storeFiles = 64
	storeBytes = 512 << 10
)

// store puts the files into regions of their lengths, many in one operation.
func (f *stackDemo) store(ctx context.Context, a alloc.Allocator) (string, error) {
	bar := progress.New(f.cmd.ErrOrStderr(), "storing "+f.top, 0)
	defer bar.Done()
	var waiting [][]byte
	size, operations := 0, 0
	storeWaiting := func() error {
		if len(waiting) == 0 {
			return nil
		}
		err := f.storeAll(a, waiting)
		waiting, size = waiting[:0], 0
		operations++
		return err
	}
	err := f.each(ctx, fileVisitor{file: func(_ folder.Entry, content []byte) error {
		bar.Add(1)
		waiting = append(waiting, content)
		if size += len(content); len(waiting) < storeFiles && size < storeBytes {
			return nil
		}
		return storeWaiting()
	}})
	if err := errors.Join(err, storeWaiting()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, %s, in %s", text.Plural(f.files, "file"), text.Size(f.bytes),
		text.Plural(operations, "durable operation")), nil
}

// storeAll allocates and fills regions at once.
func (f *stackDemo) storeAll(a alloc.Allocator, contents [][]byte) error {
	stored := f.stored
	err := a.Update(func(b *alloc.Batch) error {
		for _, content := range contents {
			r, err := b.AllocUninit(int64(len(content)))
			if err != nil {
				return err
			}
			if err := b.WriteAt(r, content, 0); err != nil {
				return err
			}
			stored = append(stored, storedFile{region: r, sum: sha256.Sum256(content)})
		}
		return nil
	})
	if err == nil {
		f.stored = stored
	}
	return err
}

// portable is a region that any allocator takes for its own: the file is opened anew for every step.
func portable(r alloc.Region) alloc.Region { return alloc.RegionFrom(r.Bytes()) }

// free gives every third file's region back.
func (f *stackDemo) free(_ context.Context, a alloc.Allocator) (string, error) {
	var kept []storedFile
	var freed []alloc.Region
	var size int64
	for i, file := range f.stored {
		if i%3 == 2 {
			freed = append(freed, portable(file.region))
			size += file.region.Len
		} else {
			kept = append(kept, file)
		}
	}
	if err := a.FreeBulk(freed); err != nil {
		return "", err
	}
	f.stored = kept
	stats, err := a.Stats()
	return fmt.Sprintf("%s, %s; free are now %s", text.Plural(len(freed), "region"), text.Size(size),
		text.Plural(stats.FreeBlocks, "block")), err
}

// resize appends its hash to every third file that is left, each in an operation of its own. Some have free space behind them
// and stay where they are.
func (f *stackDemo) resize(ctx context.Context, a alloc.Allocator) (string, error) {
	deadline := time.Now().Add(f.limits.time)
	resized, moved := 0, 0
	for i := 0; i < len(f.stored) && time.Now().Before(deadline); i += 3 {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		file := &f.stored[i]
		was := portable(file.region)
		err := a.Update(func(b *alloc.Batch) (err error) {
			if file.region, err = b.Realloc(was, was.Len+sha256.Size); err != nil {
				return err
			}
			return b.WriteAt(file.region, file.sum[:], was.Len)
		})
		if err != nil {
			return "", err
		}
		file.summed = true
		resized++
		if file.region.Off != was.Off {
			moved++
		}
	}
	return fmt.Sprintf("%s by %d bytes, in as many operations; %d moved",
		text.Plural(resized, "region"), sha256.Size, moved), nil
}

// reopen reads what the killed program left.
func (f *stackDemo) reopen(_ context.Context, a alloc.Allocator) (result string, err error) {
	if f.links, err = chain.Open(a); err != nil {
		return "", err
	}
	switch last := f.links.Last(); last {
	case f.acknowledged:
		result = "the one under way left nothing"
	case f.acknowledged + 1:
		result = "the one under way is there as a whole"
	default:
		return "", fmt.Errorf("the last operation that is there is %d, %d was acknowledged", last, f.acknowledged)
	}
	return fmt.Sprintf("%d operations are there, %s", f.acknowledged, result), nil
}

// verify holds every region against what was written into it, and looks for space that is neither used nor free.
func (f *stackDemo) verify(ctx context.Context, a alloc.Allocator) (string, error) {
	live := f.links.Regions()
	var size int64
	for _, r := range live {
		size += r.Len
	}
	for _, file := range f.stored {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		r := portable(file.region)
		b, err := a.View(r).Bytes()
		if err != nil {
			return "", err
		}
		if !file.matches(b) {
			return "", fmt.Errorf("region %s has other bytes than were stored", regionText(r))
		}
		live = append(live, r)
		size += r.Len
	}
	lost, err := a.Reclaim(live)
	if err == nil && lost > 0 {
		err = fmt.Errorf("%d bytes are in no region, and not free", lost)
	}
	return fmt.Sprintf("%s, %s, byte for byte; no space was lost", text.Plural(len(live), "region"), text.Size(size)), err
}

func (f storedFile) matches(b []byte) bool {
	if f.summed {
		end := len(b) - sha256.Size
		return end >= 0 && [sha256.Size]byte(b[end:]) == f.sum && sha256.Sum256(b[:end]) == f.sum
	}
	return sha256.Sum256(b) == f.sum
}

func (f *stackDemo) check(_ context.Context, a alloc.Allocator) (string, error) {
	for finding := range a.Check() {
		return "", finding // the first is enough to end the demo
	}
	stats, err := a.Stats()
	return fmt.Sprintf("everything is in order; %s used, %s free", text.Size(stats.Used), text.Size(stats.Free)), err
}
