// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/storetest"
)

// sum puts the right checksum into a footer, as far as its size makes sense: otherwise no input would get beyond it.
func sum(b []byte) []byte {
	b = bytes.Clone(b)
	if len(b) < 512+16 {
		return append(make([]byte, 512+16-len(b)), b...)
	}
	at := len(b) - 16
	size := int(binary.BigEndian.Uint32(b[at+8:]))
	if size >= 16 && size <= len(b) {
		binary.BigEndian.PutUint32(b[at:], crc32.ChecksumIEEE(b[len(b)-size:at]))
	}
	return b
}

// wantSuffix demands that what was encoded again is what it was parsed from.
func wantSuffix(t *testing.T, b, again []byte) {
	t.Helper()
	if !bytes.HasSuffix(b, again) {
		t.Errorf("parsed, but encoded as\n%x\nfrom\n%x", again, b)
	}
}

func FuzzGraph(f *testing.F) {
	whole := writeArchive(f, "data00000a.tar", some(f)...)
	f.Add(whole[:len(whole)-2048])
	f.Add(archive.Graph{}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		b = sum(b)
		if again, ok := archive.RecodeGraph(b); ok {
			wantSuffix(t, b, again)
		}
	})
}

func FuzzBlobs(f *testing.F) {
	whole := writeArchive(f, "data00000a.tar", some(f)...)
	r, err := openBytes(f, whole)
	must(f, err)
	refs, err := r.BlobReferences()
	must(f, err)
	must(f, r.Close())
	for _, magic := range archive.MagicBlobs {
		f.Add(refs.Encode(magic))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = sum(b)
		again, ok := archive.RecodeBlobs(b)
		if !ok {
			return
		}
		if bytes.HasSuffix(b, again) {
			return
		}
		// A flag that is neither 0 nor 1 becomes 1; that once, all stays.
		twice, ok := archive.RecodeBlobs(append(make([]byte, 512), again...))
		if !ok || !bytes.Equal(twice, again) {
			t.Errorf("parsed, but encoded as\n%x\nand then as\n%x", again, twice)
		}
	})
}

func FuzzIndex(f *testing.F) {
	f.Add(writeArchive(f, "data00000a.tar", some(f)...))
	f.Add(writeArchive(f, "data00000a.tar", slices.Repeat(some(f), 2)...)) // each is replaced
	f.Add(oldArchive(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = slices.Concat(b, make([]byte, -len(b)&511))
		if len(b) >= 3072 { // the checksum
			end := len(b) - 1024 - 16
			for _, row := range []int{28, 33} {
				n := int(binary.BigEndian.Uint32(b[end+4:])) * row
				if magic := binary.BigEndian.Uint32(b[end+12:]); n <= end && (magic == 0x0a314b0a) == (row == 33) {
					binary.BigEndian.PutUint32(b[end:], crc32.ChecksumIEEE(b[end-n:end]))
				}
			}
		}
		again, ok := archive.RecodeIndex(b)
		if !ok {
			return
		}
		end := len(b) - 1024
		have := bytes.Clone(b[end-len(again) : end])
		copy(have[len(have)-8:], again[len(again)-8:len(again)-4]) // the size may be more
		if !bytes.Equal(have, again) {
			t.Errorf("parsed, but encoded as\n%x\nfrom\n%x", again, have)
		}
		readAll(t, b)
	})
}

// FuzzTar takes its input for an archive.
func FuzzTar(f *testing.F) {
	whole := writeArchive(f, "data00000a.tar", some(f)...)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(whole[:len(whole)-1024])
	f.Add(oldArchive(f))
	f.Add(slices.Concat(whole, whole[:700]))
	for _, at := range []int{40, 130, 150, 512} { // checksum, size, and that of the header; a segment
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1
		f.Add(damaged[:len(damaged)-1024])
	}
	f.Fuzz(func(t *testing.T, b []byte) { readAll(t, b) })
}

// oldArchive has an index of version 1, and no graph.
func oldArchive(t testing.TB) []byte {
	t.Helper()
	s := storetest.Sample{}.Segment(t)
	whole := writeArchive(t, "data00000a.tar", s)
	at := 512 + (len(s.Bytes())+511)&^511
	index := archive.EncodeIndex1([]archive.Entry{{ID: s.ID(), Off: 512, Len: len(s.Bytes())}})
	return slices.Concat(whole[:at], make([]byte, 1024+512+-len(index)&511), index, make([]byte, 1024))
}

// readAll opens and scans an archive, reads all there is of it, and writes what was found into another.
func readAll(t *testing.T, b []byte) {
	t.Helper()
	fsys := disk(t, map[string][]byte{"data00000a.tar": b, "manifest": nil})
	path := filepath.Join("store", "data00000a.tar")
	if r, err := archive.OpenReader(fsys, path); err == nil {
		errs, _ := read(t, r, nil)
		for _, err := range errs {
			wantDamage(t, err)
		}
		must(t, r.Close())
	} else {
		wantDamage(t, err)
	}
	s, err := archive.ScanReader(fsys, path)
	must(t, err)
	found := entries(s)
	errs, _ := read(t, s, nil)
	for _, err := range errs {
		wantDamage(t, err)
	}
	must(t, s.Close())

	d, err := archive.Open("store", &archive.Options{FS: fsys, NoHead: true})
	if err != nil {
		wantDamage(t, err)
		return
	}
	for _, a := range d.Archives() {
		r := a.(*archive.Reader)
		if strings.HasSuffix(r.Name(), "b.tar") {
			must(t, check(r))
			if n := len(entries(r)); n != len(found) {
				t.Errorf("%d segments recovered, %d found", n, len(found))
			}
		}
	}
	must(t, d.Close())
}

func FuzzRevision(f *testing.F) {
	f.Add("1f5f0022-09bc-4938-ae1e-e92d8b333d80:8 root 1796041572123")
	f.Add("1f5f0022-09bc-4938-ae1e-e92d8b333d80.00000008 x")
	f.Fuzz(func(t *testing.T, line string) {
		r, ok := archive.ParseRevision(line)
		if !ok {
			return
		}
		again, ok := archive.ParseRevision(strings.TrimSuffix(r.Line(), "\n"))
		if !ok || again.ID != r.ID || !again.Time.Equal(r.Time) {
			t.Errorf("%q is %v, and then %v", line, r, again)
		}
	})
}

func FuzzCollection(f *testing.F) {
	f.Add("10845184,0,1796042000523,1,1,6406,b8b0c599-c1b5-409b-a44d-004fe350644d:4406")
	f.Add("10845184,0,1796042000523,1,6406,b8b0c599-c1b5-409b-a44d-004fe350644d:4406")
	f.Fuzz(func(t *testing.T, line string) {
		c := archive.ParseCollection(line)
		again := archive.ParseCollection(strings.TrimSuffix(c.Line(), "\n"))
		if again != c {
			t.Errorf("%q is %+v, and then %+v", line, c, again)
		}
	})
}

// FuzzBackward holds lines read from the end against lines split from the start.
func FuzzBackward(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"), uint16(0))
	f.Add([]byte("x\n"), uint16(9000))
	f.Fuzz(func(t *testing.T, b []byte, stretch uint16) {
		b = bytes.ReplaceAll(b, []byte("x"), bytes.Repeat([]byte("y"), int(stretch)%20000))
		if len(b) > 1<<20 {
			return
		}
		want := strings.Split(string(b), "\n")
		for line, err := range archive.Backward(bytes.NewReader(b), int64(len(b))) {
			must(t, err)
			for len(want) > 0 && len(strings.TrimSuffix(want[len(want)-1], "\r")) > archive.MaxLine {
				want = want[:len(want)-1]
			}
			if len(want) == 0 || line != strings.TrimSuffix(want[len(want)-1], "\r") {
				t.Fatalf("line %.50q, want %.50q", line, want)
			}
			want = want[:len(want)-1]
		}
		for _, line := range want {
			if len(strings.TrimSuffix(line, "\r")) <= archive.MaxLine {
				t.Fatalf("line %.50q is missing", line)
			}
		}
	})
}
