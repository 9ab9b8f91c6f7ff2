// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
)

// read reads all there is of an archive, and says whether the segments are those of before.
func read(t testing.TB, r *archive.Reader, before []*segment.Segment) (errs []error, whole bool) {
	t.Helper()
	for err := range r.Check() {
		errs = append(errs, err)
	}
	for _, err := range []error{second(r.Graph()), second(r.BlobReferences())} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	whole = true
	for _, s := range before {
		b, ok := r.Segment(s.ID())
		whole = whole && ok && bytes.Equal(b, s.Bytes())
	}
	return errs, whole
}

func second[T any](_ T, err error) error { return err }

// TestFlip flips bits of each byte of an archive: none of it goes unnoticed. Of what a scan then finds, only the segment
// that is hit is missing.
func TestFlip(t *testing.T) {
	segments := some(t)
	whole := writeArchive(t, "data00000a.tar", segments...)
	full, err := openBytes(t, whole)
	must(t, err)
	list := entries(full)
	must(t, full.Close())
	for at := range whole {
		masks := []byte{0x01, 0x80, 0x20, 0xff}
		if !long() {
			masks = masks[at%4:][:1]
		}
		for _, bits := range masks {
			b := bytes.Clone(whole)
			b[at] ^= bits
			r, err := openBytes(t, b)
			if err != nil {
				wantDamage(t, err)
			} else {
				errs, _ := read(t, r, segments)
				if len(errs) == 0 {
					t.Fatalf("byte %d ^ %#x: nobody noticed", at, bits)
				}
				for _, err := range errs {
					wantDamage(t, err)
				}
				must(t, r.Close())
			}
			s := scanBytes(t, b)
			found := 0
			for _, want := range segments {
				if got, ok := s.Segment(want.ID()); ok {
					if !bytes.Equal(got, want.Bytes()) {
						t.Fatalf("byte %d ^ %#x: the scan takes a damaged segment", at, bits)
					}
					found++
				}
			}
			extra := 0
			if name := len(segments[0].ID().String()); at%512 < name && slices.ContainsFunc(list, isAt(at)) {
				extra = 1 // under another id, which nobody asks for
			}
			if found < len(segments)-1 || s.Len() > found+extra {
				t.Fatalf("byte %d ^ %#x: the scan finds %d of %d segments, and %d in all", at, bits, found, len(segments), s.Len())
			}
			must(t, s.Close())
		}
	}
}

// isAt says whether the header of an entry has the byte at a position.
func isAt(at int) func(e archive.Entry) bool {
	return func(e archive.Entry) bool { return e.Off-512 == int64(at/512*512) }
}

// TestFlipNamesSegment demands that damage to a segment's content names it.
func TestFlipNamesSegment(t *testing.T) {
	segments := some(t)
	whole := writeArchive(t, "data00000a.tar", segments...)
	r, err := openBytes(t, whole)
	must(t, err)
	defer closing(t, r)
	for e := range r.Entries() {
		b := bytes.Clone(whole)
		b[e.Off+int64(e.Len)/2] ^= 4
		damaged, err := openBytes(t, b)
		must(t, err)
		for other := range r.Entries() {
			err := damaged.Verify(other.ID)
			if other.ID != e.ID {
				must(t, err)
				continue
			}
			if got := wantCorrupt(t, err); got.Segment != e.ID || got.Off != e.Off {
				t.Errorf("error %v, want one that names segment %s at %d", err, e.ID, e.Off)
			}
		}
		must(t, damaged.Close())
	}
	err = r.Verify(segment.NewDataID())
	if _, ok := errors.AsType[*segment.NotFoundError](err); !ok {
		t.Errorf("a segment that is not there: error %v", err)
	}
}

// TestCut cuts an archive off at every byte. What stood whole ahead of that is found.
func TestCut(t *testing.T) {
	segments := some(t)
	whole := writeArchive(t, "data00000a.tar", segments...)
	full, err := openBytes(t, whole)
	must(t, err)
	defer closing(t, full)
	list := entries(full)
	for n := range whole {
		if _, err := openBytes(t, whole[:n]); err == nil {
			t.Fatalf("cut to %d bytes, and it opens", n)
		} else {
			wantDamage(t, err)
		}
		s := scanBytes(t, whole[:n])
		want := 0
		for i, e := range list {
			if e.Off+int64(e.Len) <= int64(n) {
				want = i + 1
			}
		}
		if got := entries(s); !slices.Equal(got, list[:want]) {
			t.Fatalf("cut to %d bytes, a scan finds %v, want %v", n, got, list[:want])
		}
		wantSegments(t, s, segments[:want]...)
		must(t, s.Close())
	}
}

// TestTrailers puts other numbers, with checksums that are right, into the footers.
func TestTrailers(t *testing.T) {
	segments := some(t)
	whole := writeArchive(t, "data00000a.tar", segments...)
	numbers := []uint32{0, 1, 2, 3, 5, 15, 16, 17, 33, 512, 1024, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<31 - 512}
	var footers []int // where the magic numbers are
	for at := 512; at < len(whole); at += 512 {
		if m := binary.BigEndian.Uint32(whole[at-4:]); m&0xff0000ff == 0x0a00000a && m != 0 {
			footers = append(footers, at-16)
		}
	}
	if len(footers) != 3 {
		t.Fatalf("footers at %v", footers)
	}
	for _, at := range footers {
		for off := 4; off < 16; off += 4 {
			for _, n := range numbers {
				if binary.BigEndian.Uint32(whole[at+off:]) == n {
					continue
				}
				b := bytes.Clone(whole)
				binary.BigEndian.PutUint32(b[at+off:], n)
				size := int64(binary.BigEndian.Uint32(b[at+8:]))
				if from := int64(at) + 16 - size; from >= 0 && from <= int64(at) {
					binary.BigEndian.PutUint32(b[at:], crc32.ChecksumIEEE(b[from:at]))
				}
				wantNoticed(t, b, segments, fmt.Sprintf("footer at %d: %d at %d", at, n, off))
			}
		}
	}
}

// wantNoticed demands that damage is reported, by errors that name the file; and that the segments can be read.
func wantNoticed(t *testing.T, b []byte, segments []*segment.Segment, what string) {
	t.Helper()
	r, err := openBytes(t, b)
	if err != nil {
		wantDamage(t, err)
		return
	}
	defer closing(t, r)
	errs, whole := read(t, r, segments)
	if len(errs) == 0 || !whole {
		t.Fatalf("%s: %d errors, segments whole: %t", what, len(errs), whole)
	}
	for _, err := range errs {
		wantDamage(t, err)
	}
}

// TestForeignTrailer gives an archive the trailer of another one, or a part of it.
func TestForeignTrailer(t *testing.T) {
	a, b := writeArchive(t, "data00000a.tar", some(t)...), writeArchive(t, "data00000a.tar", some(t)...)
	if len(a) != len(b) {
		t.Fatalf("%d and %d bytes", len(a), len(b))
	}
	end := len(a) - 1024
	for what, part := range map[string][2]int{
		"all": {end - 3*1024, end}, "binary references": {end - 3*1024, end - 2*1024}, "graph": {end - 2*1024, end - 1024},
		"index": {end - 1024, end},
	} {
		mixed := bytes.Clone(a)
		copy(mixed[part[0]:part[1]], b[part[0]:part[1]])
		wantNoticed(t, mixed, nil, what)
	}
}

// TestIndexEntries puts other numbers into the entries of the index, with checksums that are right.
func TestIndexEntries(t *testing.T) {
	segments := some(t)
	whole := writeArchive(t, "data00000a.tar", segments...)
	end := len(whole) - 1024 - 16
	rows := end - 33*len(segments)
	for row := range segments {
		for off := 0; off < 33; off += 4 {
			for _, n := range []uint32{0, 1, 511, 512, 1024, 1 << 20, 1<<31 - 512, 1 << 31, 1<<32 - 1} {
				b := bytes.Clone(whole)
				at := rows + 33*row + off
				if off == 32 {
					b[at] ^= 1
				} else if binary.BigEndian.Uint32(b[at:]) == n {
					continue
				} else {
					binary.BigEndian.PutUint32(b[at:], n)
				}
				binary.BigEndian.PutUint32(b[end:], crc32.ChecksumIEEE(b[rows:end]))
				r, err := openBytes(t, b)
				if err != nil {
					wantDamage(t, err)
					continue
				}
				errs, _ := read(t, r, nil)
				if len(errs) == 0 {
					t.Fatalf("entry %d, %d at %d: nobody noticed", row, n, off)
				}
				must(t, r.Close())
			}
		}
	}
}

// TestIndexOrder swaps entries of the index.
func TestIndexOrder(t *testing.T) {
	segments := some(t)
	whole := writeArchive(t, "data00000a.tar", segments...)
	end := len(whole) - 1024 - 16
	rows := whole[end-33*len(segments) : end]
	for _, swap := range [][2]int{{0, 1}, {2, 3}, {0, 3}, {1, 1}} {
		old := bytes.Clone(rows)
		copy(rows[33*swap[0]:], old[33*swap[1]:33*(swap[1]+1)])
		if swap[0] == swap[1] {
			swap[0]-- // twice the same
		}
		copy(rows[33*swap[1]:], old[33*swap[0]:33*(swap[0]+1)])
		binary.BigEndian.PutUint32(whole[end:], crc32.ChecksumIEEE(rows))
		if _, err := openBytes(t, whole); err == nil || !strings.Contains(err.Error(), "out of order") {
			t.Errorf("entries %v: error %v", swap, err)
		}
		copy(rows, old)
	}
}

// TestIndexShared has more in the index than there is room for: many segments in one place, as long as the archive. It
// is no index then, as to check each of them would take hours.
func TestIndexShared(t *testing.T) {
	s := storetest.Bulk(t, 100_000)
	whole := writeArchive(t, "data00000a.tar", s)
	segments := whole[:512+100_352]
	for n, want := range map[int]bool{1: true, 2: false, 50: false} {
		entries := []archive.Entry{{ID: s.ID(), Off: 512, Len: 100_000}}
		for i := range n - 1 {
			entries = append(entries, archive.Entry{ID: segment.ID{LSB: uint64(i)}, Off: 512, Len: 100_000})
		}
		data := archive.EncodeIndex1(entries)
		entry := append(make([]byte, 512+-len(data)&511), data...)
		b := slices.Concat(segments, make([]byte, 2048), entry, make([]byte, 1024))
		r, err := openBytes(t, b)
		if want {
			must(t, err)
			must(t, r.Close())
			continue
		}
		if wantDamage(t, err); !strings.Contains(err.Error(), "and those ahead have more than") {
			t.Errorf("%d entries: error %v", n, err)
		}
		scanned := scanBytes(t, b)
		wantSegments(t, scanned, s)
		must(t, scanned.Close())
	}
}

// TestScanForged has damaged headers of large segments in all blocks, which it would take long to sum up, and behind
// them a segment. That is found, unless its header is damaged too.
func TestScanForged(t *testing.T) {
	s := storetest.Sample{}.Segment(t)
	whole := writeArchive(t, "data00000a.tar", s)
	entry := whole[:len(whole)-1024]
	for _, c := range []struct {
		forged  int
		damaged bool
		want    int
	}{{2000, false, 1}, {2000, true, 0}, {3, true, 1}} {
		b := make([]byte, 1<<20)
		for i := range c.forged {
			header := b[512*i:]
			copy(header, segment.ID{MSB: 4 << 12, LSB: 0xb<<60 | uint64(i)}.String()+".00000000")
			copy(header[124:], fmt.Sprintf("%011o", segment.MaxSize))
		}
		last := bytes.Clone(entry)
		last[140] ^= 1 // of the time
		if !c.damaged {
			copy(last, entry)
		}
		r := scanBytes(t, append(b, last...))
		if n := r.Len(); n != c.want {
			t.Errorf("%d headers, one damaged behind: %t; %d segments, want %d", c.forged, c.damaged, n, c.want)
		}
		must(t, r.Close())
	}
}

// TestGraphRebuilt demands that an archive whose graph is damaged has one all the same, and its binary references.
func TestGraphRebuilt(t *testing.T) {
	segments := some(t)
	whole := writeArchive(t, "data00000a.tar", segments...)
	r, err := openBytes(t, whole)
	must(t, err)
	defer closing(t, r)
	want, err := r.Graph()
	must(t, err)
	blobs, err := r.BlobReferences()
	must(t, err)
	for at := len(whole) - 1024 - 1024 - 512; at < len(whole)-1024-1024; at++ {
		b := bytes.Clone(whole)
		b[at] ^= 2
		r, err := openBytes(t, b)
		must(t, err)
		g, err := r.Graph()
		if err != nil || fmt.Sprint(g) != fmt.Sprint(want) {
			t.Fatalf("byte %d: graph %v, %v, want %v", at, g, err, want)
		}
		if got, err := r.BlobReferences(); err != nil || fmt.Sprint(got) != fmt.Sprint(blobs) {
			t.Fatalf("byte %d: binary references %v, %v, want %v", at, got, err, blobs)
		}
		must(t, r.Close())
	}
}

// TestNestedArchive has a binary whose bytes are those of an archive, with a segment of the same id as one of the store's.
// After damage to the binary's own header it may not take that one's place.
func TestNestedArchive(t *testing.T) {
	real := storetest.Sample{Blobs: []string{"real"}}.Segment(t)
	fake := storetest.Sample{ID: real.ID(), Blobs: []string{"fake"}}.Segment(t)
	bulk, err := segment.Parse(segment.NewBulkID(), writeArchive(t, "data00000a.tar", fake))
	must(t, err)
	whole := writeArchive(t, "data00000a.tar", real, bulk)
	r, err := openBytes(t, whole)
	must(t, err)
	defer closing(t, r)
	at := entries(r)[1].Off
	for what, damage := range map[string]func(b []byte) []byte{
		"none":     func(b []byte) []byte { return b },
		"cut":      func(b []byte) []byte { return b[:at+3000] },
		"name":     func(b []byte) []byte { b[at-512] ^= 1; return b },
		"size":     func(b []byte) []byte { b[at-512+130] ^= 1; return b },
		"zeros":    func(b []byte) []byte { clear(b[at-512 : at]); return b },
		"checksum": func(b []byte) []byte { b[at-512+40] ^= 1; return b },
	} {
		s := scanBytes(t, damage(bytes.Clone(whole)))
		if got, ok := s.Segment(real.ID()); !ok || !bytes.Equal(got, real.Bytes()) {
			t.Errorf("damage %q: the segment is replaced", what)
		}
		must(t, s.Close())
	}
}
