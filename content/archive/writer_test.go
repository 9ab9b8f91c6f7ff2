// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
	"github.com/holtdb/holt/internal/file"
)

// TestRollOver demands that an archive ends with the segment that takes it to the limit.
func TestRollOver(t *testing.T) {
	fsys := file.NewMemory()
	const limit = 10 << 10
	d := open(t, fsys, archive.Options{Limit: limit})
	var all []*segment.Segment
	for range 20 {
		s := storetest.Bulk(t, 2000)
		must(t, d.Append(s))
		all = append(all, s)
		wantSegments(t, d, all...)
	}
	must(t, d.Close())
	d = open(t, fsys, archive.Options{NoHead: true})
	defer closing(t, d)
	wantSegments(t, d, all...)
	if n := len(d.Archives()); n != 5 {
		t.Errorf("%d archives, want 5", n)
	}
	for _, a := range d.Archives() {
		list := entries(a)
		size := 0
		for _, e := range list {
			size += 512 + (e.Len+511)&^511
		}
		last := 512 + (list[len(list)-1].Len+511)&^511
		if size < limit || size-last >= limit {
			t.Errorf("%s: %d bytes of segments, the last of %d", a.Name(), size, last)
		}
		must(t, check(a.(*archive.Reader)))
	}
}

// TestFull demands that an archive does not become longer than positions can say.
func TestFull(t *testing.T) {
	fsys := file.NewMemory()
	w, err := archive.CreateWriter(fsys, "data00000a.tar", time.Now)
	must(t, err)
	const length = 16 << 10
	w.SetMax(length)
	var all []*segment.Segment
	for {
		s := storetest.Sample{Blobs: []string{strings.Repeat("b", 100)}, References: []segment.ID{{MSB: 1}}}.Segment(t)
		err := w.Append(s)
		if errors.Is(err, archive.ErrFull) {
			break
		}
		must(t, err)
		all = append(all, s)
	}
	must(t, w.Close())
	b := readFile(t, fsys, "data00000a.tar")
	if len(b) > length || len(b) < length*3/4 || len(all) < 5 {
		t.Errorf("%d segments in %d bytes", len(all), len(b))
	}
	r, err := openBytes(t, b)
	must(t, err)
	defer closing(t, r)
	wantSegments(t, r, all...)

	d := open(t, fsys, archive.Options{})
	defer closing(t, d)
	must(t, d.Append(all[0]))
	d.Current().SetMax(1)
	must(t, d.Append(all[1])) // into the next
	if n := len(d.Archives()); n != 2 {
		t.Errorf("%d archives, want 2", n)
	}
	wantSegments(t, d, all[:2]...)
}

// TestFullWaits demands that an archive is not closed for want of room while ids of binaries are yet to come: its binary
// references would be without them for ever.
func TestFullWaits(t *testing.T) {
	text := storetest.Sample{ID: segment.NewDataID(), Text: strings.Repeat("x", 4096)}
	fsys := file.NewMemory()
	d := open(t, fsys, archive.Options{})
	defer closing(t, d)
	must(t, d.Append(storetest.Sample{References: []segment.ID{text.ID}, Elsewhere: []int{1}}.Segment(t)))
	d.Current().SetMax(1)
	wantErr(t, d.Append(storetest.Bulk(t, 10)), archive.ErrFull)
	if n := len(d.Archives()); n != 1 {
		t.Errorf("%d archives", n)
	}
	d.Current().SetMax(1 << 20)
	must(t, d.Append(text.Segment(t)))
	d.Current().SetMax(1)
	must(t, d.Append(storetest.Bulk(t, 10)))
	refs, err := d.Archives()[1].BlobReferences()
	must(t, err)
	if len(refs) != 1 || !slices.Equal(refs[0].Segments[0].IDs, []string{text.Text}) {
		t.Errorf("%d groups of binary references", len(refs))
	}
}

// TestWriterViews appends more than is kept in memory, and demands that what was read before stays as it was.
func TestWriterViews(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data00000a.tar")
	w, err := archive.CreateWriter(file.OS, path, time.Now)
	must(t, err)
	s := storetest.Bulk(t, segment.MaxSize)
	views := map[segment.ID][]byte{}
	const count = 64 // 16 MiB
	for range count {
		bulk, err := segment.Parse(segment.NewBulkID(), s.Bytes())
		must(t, err)
		must(t, w.Append(bulk))
		views[bulk.ID()], _ = w.Segment(bulk.ID())
	}
	if n := w.Views(); n < 2 || n > 5 {
		t.Errorf("%d mappings", n)
	}
	for id, view := range views {
		now, ok := w.Segment(id)
		if !ok || !bytes.Equal(now, s.Bytes()) || !bytes.Equal(view, s.Bytes()) {
			t.Fatalf("segment %s: %t, %d bytes", id, ok, len(now))
		}
	}
	must(t, w.Close())
	wantErr(t, w.Append(s), archive.ErrClosed)
	wantErr(t, w.Flush(), archive.ErrClosed)
	wantErr(t, w.Close(), archive.ErrClosed)
	must(t, w.Unmap())
	r, err := archive.OpenReader(file.OS, path)
	must(t, err)
	defer closing(t, r)
	if r.Len() != count {
		t.Errorf("%d segments", r.Len())
	}
}

// TestFailedAppend demands that an archive is as before after an append that failed, whatever that left behind.
func TestFailedAppend(t *testing.T) {
	segments := some(t)
	want := writeArchive(t, "data00000a.tar", segments...)
	for short := range 3000 {
		if short%61 != 0 {
			continue
		}
		fsys := file.NewFault(file.NewMemory())
		w, err := archive.CreateWriter(fsys, "data00000a.tar", func() time.Time { return time.Unix(1796041571, 0) })
		must(t, err)
		fsys.ShortWrites(short)
		for _, s := range segments {
			fsys.FailAt(1)
			wantErr(t, w.Append(storetest.Bulk(t, 5000)), file.ErrInjected)
			fsys.FailIf(nil)
			must(t, w.Append(s))
		}
		fsys.FailAt(1)
		fsys.ShortWrites(10 * short)
		wantErr(t, w.Append(storetest.Bulk(t, 50000)), file.ErrInjected)
		fsys.FailIf(nil)
		must(t, errors.Join(w.Close(), w.Unmap()))
		if got := readFile(t, fsys, "data00000a.tar"); !bytes.Equal(got, want) {
			t.Fatalf("short writes of %d bytes: %d bytes, want %d", short, len(got), len(want))
		}
	}
}

// TestUnreadableBlob demands that a segment with an id of a binary that cannot be read is refused: the garbage collection
// of binaries relies on the list of ids.
func TestUnreadableBlob(t *testing.T) {
	s := storetest.Sample{Blobs: []string{"12345678"}}.Segment(t)
	b := bytes.Clone(s.Bytes())
	at := bytes.Index(b, []byte("\xe0\x0812345678"))
	copy(b[at:], "\xf0\x00\x00\x00\x00\x00\x05") // the id is in a record that there is not
	broken, err := segment.Parse(segment.NewDataID(), b)
	must(t, err)
	w, err := archive.CreateWriter(file.NewMemory(), "data00000a.tar", time.Now)
	must(t, err)
	err = w.Append(broken)
	if _, ok := errors.AsType[*segment.CorruptError](err); !ok || !strings.Contains(fmt.Sprint(err), "data00000a.tar") {
		t.Errorf("error %v", err)
	}
	must(t, w.Close())
}

// TestOldIndex reads an archive with an index of version 1.
func TestOldIndex(t *testing.T) {
	segments := some(t)
	b := writeArchive(t, "data00000a.tar", segments...)
	r, err := openBytes(t, b)
	must(t, err)
	list := entries(r)
	must(t, r.Close())
	idx := archive.EncodeIndex1(slices.Clone(list))
	if len(idx) > 512 {
		t.Fatal("the index takes more than a block")
	}
	end := len(b) - 1024
	clear(b[end-512 : end])
	copy(b[end-len(idx):], idx)
	r, err = openBytes(t, b)
	must(t, err)
	defer closing(t, r)
	wantSegments(t, r, segments...)
	for i, e := range entries(r) {
		want := list[i]
		want.Generation.Full, want.Generation.Compacted = want.Generation.Generation, true
		if e != want {
			t.Errorf("entry %v, want %v", e, want)
		}
	}
}

// TestOldBlobs reads binary references of version 1.
func TestOldBlobs(t *testing.T) {
	refs := archive.BlobReferences{
		{Generation: segment.Generation{Generation: 1, Full: 1, Compacted: true}, Segments: []archive.SegmentBlobs{
			{Segment: segment.NewDataID(), IDs: []string{"a", "bc"}}, {Segment: segment.NewDataID(), IDs: []string{""}},
		}},
		{Generation: segment.Generation{Generation: 5, Full: 5, Compacted: true}, Segments: []archive.SegmentBlobs{
			{Segment: segment.NewDataID(), IDs: []string{strings.Repeat("long", 2000)}},
		}},
	}
	for i, magic := range archive.MagicBlobs {
		b := append(make([]byte, 512), refs.Encode(magic)...)
		got, version, err := archive.ParseBlobs(b)
		if err != nil || version != i+1 || !reflect.DeepEqual(got, refs) {
			t.Errorf("version %d: %v, %d, %v", i+1, got, version, err)
		}
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	segments := some(t)
	fsys := disk(t, map[string][]byte{"data00000a.tar": writeArchive(t, "data00000a.tar", segments...), "manifest": manifest2})
	d := open(t, fsys, archive.Options{NoHead: true})
	defer closing(t, d)
	must(t, d.Append(storetest.Sample{}.Segment(t)))
	missing := segment.NewDataID()
	n := testing.AllocsPerRun(100, func() {
		for _, s := range segments {
			if _, ok := d.Segment(s.ID()); !ok {
				t.Fatal("not there")
			}
		}
		if _, ok := d.Segment(missing); ok {
			t.Fatal("there")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
