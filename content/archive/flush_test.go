// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
	"github.com/holtdb/holt/internal/file"
)

// lazy is a store whose heads become durable every five seconds.
type lazy struct {
	*archive.Dir
	t    *testing.T
	disk *file.Crash
	head segment.RecordID
}

func openLazy(t *testing.T, disk *file.Crash, fsys file.FS) *lazy {
	t.Helper()
	l := &lazy{open(t, fsys, archive.Options{FlushEvery: 5 * time.Second}), t, disk, segment.RecordID{}}
	l.head, _ = l.Head()
	return l
}

// advance sets another head.
func (l *lazy) advance() error {
	l.t.Helper()
	s := storetest.Sample{Writer: "init"}.Segment(l.t)
	if err := l.Append(s); err != nil {
		return err
	}
	id := storetest.Root(s)
	err := l.SetHead(l.head, archive.Revision{ID: id})
	if err == nil {
		l.head = id
	}
	return err
}

// want demands a head after a power cut that takes away all it can.
func (l *lazy) want(head segment.RecordID) {
	l.t.Helper()
	d := open(l.t, l.disk.AfterCutKeeping(file.KeepNone), archive.Options{})
	defer closing(l.t, d)
	if got, _ := d.Head(); got != head {
		l.t.Errorf("head %v, want %v", got, head)
	}
	if _, ok := d.Segment(head.Segment); !ok && head != (segment.RecordID{}) {
		l.t.Errorf("the segment of head %v is not there", head)
	}
}

func (l *lazy) journal() int {
	l.t.Helper()
	n := 0
	for _, err := range l.Journal() {
		must(l.t, err)
		n++
	}
	return n
}

func TestFlushEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := file.NewCrash()
		l := openLazy(t, disk, disk)
		must(t, l.advance())
		first := l.head
		l.want(first) // the first one is durable at once
		must(t, l.advance())
		must(t, l.advance())
		if got, _ := l.Head(); got != l.head || l.journal() != 1 {
			t.Errorf("head %v, want %v; %d lines of the journal", got, l.head, l.journal())
		}
		wantErr(t, l.SetHead(segment.RecordID{}, archive.Revision{ID: l.head}), archive.ErrConflict)
		l.want(first)

		time.Sleep(5 * time.Second)
		synctest.Wait()
		l.want(l.head)
		if l.journal() != 2 {
			t.Errorf("%d lines of the journal", l.journal())
		}
		before := disk.Counts()
		time.Sleep(time.Minute)
		synctest.Wait()
		if disk.Counts() != before {
			t.Errorf("from %+v to %+v with nothing to do", before, disk.Counts())
		}

		flushed := l.head
		must(t, l.advance())
		l.want(flushed)
		must(t, l.Flush())
		l.want(l.head)
		must(t, l.advance())
		must(t, l.Roll()) // has nothing to do with the head
		must(t, l.Close())
		l.want(l.head)
		wantErr(t, l.advance(), archive.ErrClosed)
	})
}

// TestFlushEveryFails demands that a failure in the background is told to who writes next, and costs nothing that was
// durable.
func TestFlushEveryFails(t *testing.T) {
	for _, failing := range []string{"store/journal.log", "store/data00000a.tar"} {
		synctest.Test(t, func(t *testing.T) {
			disk := file.NewCrash()
			fsys := file.NewFault(disk)
			l := openLazy(t, disk, fsys)
			must(t, l.advance())
			must(t, l.Flush())
			flushed := l.head
			must(t, l.advance())
			fsys.FailIf(func(op file.Op) error {
				if strings.HasSuffix(op.Name, failing) {
					return errors.New("no")
				}
				return nil
			})
			time.Sleep(5 * time.Second)
			synctest.Wait()
			fsys.FailIf(nil)
			l.want(flushed)
			wantErr(t, l.advance(), archive.ErrFailed)
			wantErr(t, l.Flush(), archive.ErrFailed)
			wantErr(t, l.Close(), archive.ErrFailed)
			l.want(flushed)
		})
	}
}

// TestFlushEveryBusy sets heads while others become durable. At any time what a crash leaves is one of them, whole.
func TestFlushEveryBusy(t *testing.T) {
	disk := file.NewCrash()
	d := open(t, disk, archive.Options{FlushEvery: time.Microsecond, Limit: 8 << 10})
	l := &lazy{d, t, disk, segment.RecordID{}}
	set := map[segment.RecordID]bool{{}: true}
	for i := range 200 {
		must(t, l.advance())
		set[l.head] = true
		if i%10 == 0 {
			after := open(t, disk.AfterCut(uint64(i)), archive.Options{})
			if head, ok := after.Head(); !ok || !set[head] {
				t.Fatalf("head %v, %t", head, ok)
			}
			must(t, after.Close())
		}
	}
	must(t, l.Close())
	l.want(l.head)
}

// TestCollectionsComeLater demands that gc.log names no root that a power cut can take away.
func TestCollectionsComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := file.NewCrash()
		l := openLazy(t, disk, disk)
		must(t, l.advance())
		must(t, l.advance()) // durable with the next flush
		must(t, l.AddCollection(archive.Collection{Root: l.head}))
		l.want(l.head)
		must(t, l.Close())
	})
}
