// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/file"
)

// A Reader reads one archive, which is mapped.
type Reader struct {
	path  string
	file  file.File
	view  file.Mapping // nil if the file is empty
	data  []byte
	index index
	end   int    // of the data of the graph; 0 in an archive that was scanned
	order []int  // if it was scanned: the indexes of the entries, as they stand
	lost  []Part // if it was scanned: what it does not find, without the file
	cut   bool   // if it was scanned: the last one of lost is where the writer was stopped
	ended bool   // if it was scanned: the trailer has begun
	other finder // of segments in other archives; may be nil

	unclosed error // why it has no index, if it must have been closed: it is not the newest
}

// OpenReader opens an archive that was closed: one with an index.
func OpenReader(fsys file.FS, path string) (*Reader, error) {
	r, err := mapArchive(fsys, path)
	if err != nil {
		return nil, err
	}
	if err := r.readIndex(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// ScanReader opens an archive without looking for an index: what it records about its segments is found in these. They may
// be those of an archive that somebody is writing to.
func ScanReader(fsys file.FS, path string) (*Reader, error) {
	r, err := mapArchive(fsys, path)
	if err != nil {
		return nil, err
	}
	r.scan()
	return r, nil
}

func mapArchive(fsys file.FS, path string) (*Reader, error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	r := &Reader{path: path, file: f}
	size, err := f.Size()
	if err == nil && size > 0 {
		size = min(size, maxSize+1) // enough to see that it is too long for an index
		r.view, err = f.Map(int(min(size, int64(maxInt))), file.MapOptions{})
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if r.view != nil {
		r.data = r.view.Bytes()
		r.data = r.data[:min(int64(len(r.data)), size)]
	}
	return r, nil
}

const maxInt = int(^uint(0) >> 1)

func (r *Reader) readIndex() error {
	var err error
	if r.index, r.end, err = parseIndex(r.data); err != nil {
		r.index, r.end = index{}, 0
	}
	return in(r.path, err)
}

func (r *Reader) scan() {
	all := scan(r.data[:min(len(r.data), maxSize)])
	found := all.entries
	r.lost, r.cut, r.ended = all.lost, all.stopped, all.ended
	for i, e := range found {
		if s, err := segment.Parse(e.ID, r.bytes(e)); err == nil { // otherwise reading the segment will tell
			found[i].Generation = s.Generation()
		}
	}
	order := make([]segment.ID, len(found))
	for i, e := range found {
		order[i] = e.ID
	}
	r.index = newIndex(found)
	r.order = make([]int, len(order))
	for i, id := range order {
		r.order[i], _ = r.index.find(id)
	}
}

// Path is the file's.
func (r *Reader) Path() string { return r.path }

// Name is the file's, without directory.
func (r *Reader) Name() string { return filepath.Base(r.path) }

// Scanned says whether the archive has no index of its own.
func (r *Reader) Scanned() bool { return r.end == 0 }

// Size is the length of the file.
func (r *Reader) Size() int64 { return int64(len(r.data)) }

// Len is the number of segments.
func (r *Reader) Len() int { return r.index.len() }

// Segment is a view of the bytes of a segment, if it is in the archive.
func (r *Reader) Segment(id segment.ID) ([]byte, bool) {
	i, ok := r.index.find(id)
	if !ok {
		return nil, false
	}
	off, n := r.index.place(i)
	return r.data[off : int(off)+int(n) : int(off)+int(n)], true
}

// losses is what the scan did not find. If the writer may have been stopped it had begun to write unfinished, of which no
// revision knows. Otherwise it has come to close the archive: without any of the trailer the end is missing.
func (r *Reader) losses(stopped bool) (lost, unfinished []Part) {
	switch n := len(r.lost); {
	case stopped && r.cut:
		return r.lost[:n-1], r.lost[n-1:]
	case !stopped && r.Scanned() && !r.ended:
		end := Part{Off: r.Size(), Reason: "the end is missing, and nobody knows how much that was"}
		return append(r.lost[:n:n], end), nil
	}
	return r.lost, nil
}

func (r *Reader) header(e Entry) *tarHeader { return (*tarHeader)(r.data[e.Off-blockSize:]) }

func (r *Reader) bytes(e Entry) []byte {
	end := int(e.Off) + e.Len
	return r.data[e.Off:end:end]
}

// Entry is what the index has on a segment.
func (r *Reader) Entry(id segment.ID) (Entry, bool) {
	i, ok := r.index.find(id)
	if !ok {
		return Entry{}, false
	}
	return r.index.entry(i), true
}

// Entries goes through the segments in the order in which they stand in the archive, which is that in which they were
// written.
func (r *Reader) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, i := range r.positions() {
			if !yield(r.index.entry(i)) {
				return
			}
		}
	}
}

func (r *Reader) positions() []int {
	if r.order != nil {
		return r.order
	}
	order := make([]int, r.index.len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, _ := r.index.place(a)
		y, _ := r.index.place(b)
		return int(x) - int(y)
	})
	return order
}

// parse parses a segment of this archive.
func (r *Reader) parse(e Entry) (*segment.Segment, error) {
	s, err := parse(r.finder(), e.ID, r.bytes(e))
	return s, r.corrupt(e, err)
}

// finder finds segments here and elsewhere.
func (r *Reader) finder() finder { return here{r} }

type here struct{ r *Reader }

func (h here) Segment(id segment.ID) ([]byte, bool) {
	if b, ok := h.r.Segment(id); ok || h.r.other == nil {
		return b, ok
	}
	return h.r.other.Segment(id)
}

// corrupt names the archive and segment of an error.
func (r *Reader) corrupt(e Entry, err error) error {
	if err == nil {
		return nil
	}
	return &CorruptError{r.path, e.ID, e.Off, err}
}

// Graph is the references among segments as the archive has them. Those of an archive that has none, or damaged ones, are
// taken from the segments.
func (r *Reader) Graph() (Graph, error) {
	if g, err := r.storedGraph(); err == nil {
		return g, nil
	}
	var g Graph
	for e := range r.Entries() {
		s, err := r.parse(e)
		if err != nil {
			return nil, err
		}
		if to := references(s); len(to) > 0 {
			g = append(g, References{e.ID, to})
		}
	}
	g.sort()
	return g, nil
}

// BlobReferences are the ids of binaries kept outside as the archive has them, or if it does not, as its segments do.
func (r *Reader) BlobReferences() (BlobReferences, error) {
	if refs, err := r.storedBlobs(); err == nil {
		return refs, nil
	}
	var refs BlobReferences
	for e := range r.Entries() {
		s, err := r.parse(e)
		if err != nil {
			return nil, err
		}
		ids, err := blobIDs(s)
		if err != nil {
			return nil, r.corrupt(e, err)
		}
		refs.add(e.Generation, e.ID, ids)
	}
	refs.sort()
	return refs, nil
}

var errScanned = errors.New("archive: no index")

func (r *Reader) storedGraph() (Graph, error) {
	if r.Scanned() {
		return nil, errScanned
	}
	g, _, err := parseGraph(r.data, r.end)
	return g, in(r.path, err)
}

func (r *Reader) storedBlobs() (BlobReferences, error) {
	if r.Scanned() {
		return nil, errScanned
	}
	end := r.end
	if _, start, err := parseGraph(r.data, end); err == nil {
		end = start
	}
	refs, _, _, err := parseBlobs(r.data, end) // where the graph should be if that is not there
	return refs, in(r.path, err)
}

// Verify holds the bytes of a segment against the checksum in the name of its entry.
func (r *Reader) Verify(id segment.ID) error {
	e, ok := r.Entry(id)
	if !ok {
		return &segment.NotFoundError{Segment: id}
	}
	return r.verify(e)
}

func (r *Reader) verify(e Entry) error {
	h := r.header(e)
	named, sum, hasSum, ok := parseEntryName(h.name())
	switch {
	case !ok || named != e.ID:
		return r.corrupt(e, fmt.Errorf("the header names %q", h.name()))
	case h.size() != int64(e.Len):
		return r.corrupt(e, fmt.Errorf("%d bytes by the header, %d by the index", h.size(), e.Len))
	case hasSum && crc32.ChecksumIEEE(r.bytes(e)) != sum:
		return r.corrupt(e, errors.New("the checksum is wrong"))
	}
	return nil
}

// Close gives the mapping back, and with it all segments.
func (r *Reader) Close() error {
	var err error
	if r.view != nil {
		err = r.view.Unmap()
		r.view, r.data, r.index, r.end, r.order, r.lost = nil, nil, index{}, 0, nil, nil
	}
	if r.file != nil {
		err = errors.Join(err, r.file.Close())
		r.file = nil
	}
	return err
}
