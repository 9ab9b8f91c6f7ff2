// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/file"
)

// A Writer writes one archive. What it has written can be read, by it alone, until it is closed; segments it returned live
// until [Writer.Unmap].
type Writer struct {
	fs   file.FS
	path string
	name string // of the file once all is done, without directory
	file file.File
	now  func() time.Time

	writing sync.Mutex // held by who appends, syncs or closes
	other   finder     // of segments in other archives; may be nil
	max     int        // length of the closed archive
	trailer int        // what the trailer will take, at most; guarded by writing
	named   bool       // the directory's entry is durable; guarded by writing
	failed  error      // guarded by writing
	closed  bool       // guarded by writing

	records // changes with writing and mu held

	mu      sync.RWMutex
	size    int                   // guarded by mu for changes and for reads by others than who holds writing
	entries []Entry               // in order of writing; guarded by mu
	known   map[segment.ID]int    // guarded by mu
	recent  map[segment.ID][]byte // as they were given to Append; guarded by mu
	kept    int                   // bytes in recent; guarded by mu
	view    []byte                // of the rest; guarded by mu
	views   []file.Mapping        // all there were; guarded by mu
}

// CreateWriter creates an archive, which must not be there. now is for the times in its headers.
func CreateWriter(fsys file.FS, path string, now func() time.Time) (*Writer, error) {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return &Writer{
		fs: fsys, path: path, name: filepath.Base(path), file: f, now: now, max: maxSize, trailer: minSize,
		known: map[segment.ID]int{}, recent: map[segment.ID][]byte{}, records: newRecords(),
	}, nil
}

// Name is the file's, without directory.
func (w *Writer) Name() string { return w.name }

// Size is the length of the file so far.
func (w *Writer) Size() int64 {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return int64(w.size)
}

// Append writes a segment. The bytes must not change afterwards. Nothing is durable before [Writer.Flush]. A segment
// that was appended before is replaced. After an error the archive is as before.
//
// Ids of binaries in the segment may be in others: those that the store finds in which it was parsed, those of the
// archive, and those that are appended later. The trailer has such an id if it is there when the archive is closed.
func (w *Writer) Append(s *segment.Segment) error {
	d, err := describe(s)
	w.writing.Lock()
	defer w.writing.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	a, err := w.prepare(s, d, err, w, w.other)
	if err != nil {
		return &CorruptError{Path: w.path, Segment: s.ID(), Off: int64(w.size), Err: err}
	}
	return w.append(a)
}

// append writes a segment, with writing held.
func (w *Writer) append(a appending) error {
	id, data := a.segment.ID(), a.segment.Bytes()
	trailer := w.trailer + a.about.trailerSize() + a.growth
	if w.size+blockSize+ceilBlock(len(data))+trailer > w.max {
		return fmt.Errorf("%w: %s", ErrFull, w.path)
	}
	if err := w.write(w.size, entryName(id, data), len(data), data, nil); err != nil {
		return err
	}
	w.trailer = trailer
	w.add(Entry{id, int64(w.size + blockSize), len(data), a.about.generation}, data, a)
	return nil
}

func (w *Writer) usable() error {
	if w.closed {
		return ErrClosed
	}
	return w.failed
}

var padding [blockSize]byte

// write writes an entry. The data of the trailer's is padded in front, and the size in the header is that with padding.
func (w *Writer) write(at int, name string, size int, data, front []byte) error {
	h := newTarHeader(name, size, w.now())
	back := padding[:ceilBlock(len(data)+len(front))-len(data)-len(front)]
	_, err := w.file.WriteVecAt([][]byte{h[:], front, data, back}, int64(at))
	return err
}

// add makes a segment that was written readable.
func (w *Writer) add(e Entry, data []byte, a appending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i, ok := w.known[e.ID]; ok {
		w.entries = append(w.entries[:i], w.entries[i+1:]...)
		for j := i; j < len(w.entries); j++ {
			w.known[w.entries[j].ID] = j
		}
	}
	w.known[e.ID] = len(w.entries)
	w.entries = append(w.entries, e)
	w.settle(a)
	w.recent[e.ID] = data
	w.kept += len(data)
	w.size += blockSize + ceilBlock(len(data))
	w.remap()
}

// remapAfter is how many bytes are kept in memory, at least, before the file is mapped anew.
const remapAfter = 4 << 20

// remap maps the file as far as it goes, if much of it is kept in memory: more than remapAfter and a quarter of what is
// mapped. So all mappings there were take no more than five times the address space of the file.
func (w *Writer) remap() {
	if w.kept >= remapAfter+len(w.view)/4 {
		w.mapFile()
	}
}

func (w *Writer) mapFile() {
	m, err := w.file.Map(w.size, file.MapOptions{})
	if err != nil || len(m.Bytes()) < w.size {
		w.kept = 0 // tried again later; meanwhile there is memory
		return
	}
	w.views = append(w.views, m)
	w.view, w.kept = m.Bytes(), 0
	clear(w.recent)
}

// Segment is a view of the bytes of a segment, if it is in the archive.
func (w *Writer) Segment(id segment.ID) ([]byte, bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if b, ok := w.recent[id]; ok {
		return b, true
	}
	i, ok := w.known[id]
	if !ok {
		return nil, false
	}
	e := w.entries[i]
	end := int(e.Off) + e.Len
	return w.view[e.Off:end:end], true
}

// Flush makes durable what was written.
func (w *Writer) Flush() error {
	w.writing.Lock()
	defer w.writing.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	return w.sync()
}

// sync is not tried again after it failed: nobody knows then what is on the disk.
func (w *Writer) sync() error {
	err := w.file.SyncData()
	if err == nil && !w.named {
		err = w.fs.SyncDir(filepath.Dir(w.path))
		w.named = err == nil
	}
	if err != nil {
		w.failed = fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return err
}

// Close writes the trailer and makes all durable. Segments can be read on. An archive whose closing failed is one without
// index.
func (w *Writer) Close() error {
	w.writing.Lock()
	defer w.writing.Unlock()
	if w.closed {
		return ErrClosed
	}
	w.closed = true
	err := w.failed
	if err == nil && len(w.entries) > 0 {
		err = w.finish()
	}
	return errors.Join(err, w.file.Close())
}

// abandon closes the file without a trailer.
func (w *Writer) abandon() error {
	w.writing.Lock()
	defer w.writing.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	return w.file.Close()
}

// Entries goes through the segments written so far, in that order.
func (w *Writer) Entries() iter.Seq[Entry] {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return slices.Values(slices.Clone(w.entries))
}

// Graph is the references among the segments written so far and others.
func (w *Writer) Graph() (Graph, error) {
	g, _ := w.describe()
	return g, nil
}

// BlobReferences are the ids of binaries kept outside, of the segments written so far.
func (w *Writer) BlobReferences() (BlobReferences, error) {
	_, refs := w.describe()
	return refs, nil
}

// mapAll takes all segments out of memory.
func (w *Writer) mapAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.recent) > 0 {
		w.mapFile()
	}
}

// Unmap gives back what Segment returned.
func (w *Writer) Unmap() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	for _, m := range w.views {
		err = errors.Join(err, m.Unmap())
	}
	w.views, w.view, w.entries, w.known, w.recent, w.about = nil, nil, nil, nil, nil, nil
	return err
}
