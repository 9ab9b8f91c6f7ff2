// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/holtdb/holt/content/segment"
)

// BlobReferences are the ids of the binaries kept outside that the segments of an archive refer to, by generation.
type BlobReferences []BlobGroup

// BlobGroup is the part of the segments of one generation.
type BlobGroup struct {
	Generation segment.Generation
	Segments   []SegmentBlobs
}

// SegmentBlobs are the ids in one segment.
type SegmentBlobs struct {
	Segment segment.ID
	IDs     []string
}

// BlobIDs goes through the ids of binaries kept outside that any segment of the archives refers to, some of them
// several times: those that must not be deleted. An error is the last. It is one if there was more in an archive without
// index than can be read, or may have been in one that is not the newest, as nobody knows what that refers to: [Recover] says what is lost, and with what is left one can
// go on.
func BlobIDs(archives []Archive) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, a := range archives {
			if err := wholeForBlobs(a, archives[0]); err != nil {
				yield("", err)
				return
			}
			refs, err := a.BlobReferences()
			if err != nil {
				yield("", err)
				return
			}
			for id := range refs.ids() {
				if !yield(id, nil) {
					return
				}
			}
		}
	}
}

// wholeForBlobs demands that a scan has found all segments. The newest archive may end anywhere, perhaps with a segment that
// is being written: no revision knows yet of what is to follow.
func wholeForBlobs(a, newest Archive) error {
	r, ok := a.(*Reader)
	if !ok || !r.Scanned() {
		return nil
	}
	lost, _ := r.losses(sameNumber(a, newest) && r.unclosed == nil)
	if len(lost) == 0 {
		return nil
	}
	const format = "%s; what it refers to is not known (holt content recover-archive recovers the rest)"
	return &CorruptError{r.path, lost[0].Segment, lost[0].Off, fmt.Errorf(format, lost[0].Reason)}
}

func sameNumber(a, b Archive) bool {
	x, _ := ParseName(a.Name())
	y, _ := ParseName(b.Name())
	return x.Number == y.Number
}

func (refs BlobReferences) ids() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, g := range refs {
			for _, s := range g.Segments {
				for _, id := range s.IDs {
					if !yield(id) {
						return
					}
				}
			}
		}
	}
}

const (
	minGroup   = 22      // what a group takes at least, by the format's own rule
	maxBlobID  = 1 << 20 // bytes of an id
	minSegment = idSize + 4
)

// parseBlobs finds the binary references whose entry ends at a position of the archive. Their entry begins at start, magic
// is that of their version.
func parseBlobs(data []byte, end int) (refs BlobReferences, magic uint32, start int, err error) {
	body, f, start, err := part(data, end, "binary references", minGroup, magicBlobs1, magicBlobs2)
	if err != nil {
		return nil, 0, 0, err
	}
	d := &decoder{b: body, at: end - footerSize - len(body)}
	for range f.count() {
		if d.bad {
			break
		}
		refs = append(refs, d.group(f.magic()))
	}
	return refs, f.magic(), start, d.end("binary references")
}

func (d *decoder) group(magic uint32) BlobGroup {
	g := BlobGroup{Generation: segment.Generation{Generation: d.int32()}}
	if magic == magicBlobs1 {
		g.Generation.Full, g.Generation.Compacted = g.Generation.Generation, true
	} else {
		g.Generation.Full, g.Generation.Compacted = d.int32(), d.next(1)[0] != 0
	}
	g.Segments = make([]SegmentBlobs, d.count(minSegment))
	for i := range g.Segments {
		s := SegmentBlobs{Segment: d.id()}
		s.IDs = make([]string, d.count(4))
		for j := range s.IDs {
			s.IDs[j] = string(d.next(d.count(1)))
		}
		g.Segments[i] = s
	}
	return g
}

// encode is the data of the binary references' entry, with its footer.
func (refs BlobReferences) encode(magic uint32) []byte {
	var b []byte
	for _, g := range refs {
		b = be.AppendUint32(b, uint32(g.Generation.Generation))
		if magic == magicBlobs2 {
			b = be.AppendUint32(b, uint32(g.Generation.Full))
			b = appendFlag(b, g.Generation.Compacted)
		}
		b = be.AppendUint32(b, uint32(len(g.Segments)))
		for _, s := range g.Segments {
			b = appendID(b, s.Segment)
			b = be.AppendUint32(b, uint32(len(s.IDs)))
			for _, id := range s.IDs {
				b = be.AppendUint32(b, uint32(len(id)))
				b = append(b, id...)
			}
		}
	}
	return appendFooter(b, len(refs), 0, magic)
}

// add adds the ids of a segment, if it has any.
func (refs *BlobReferences) add(g segment.Generation, id segment.ID, ids []string) {
	if len(ids) == 0 {
		return
	}
	i := slices.IndexFunc(*refs, func(group BlobGroup) bool { return group.Generation == g })
	if i < 0 {
		i = len(*refs)
		*refs = append(*refs, BlobGroup{Generation: g})
	}
	group := &(*refs)[i]
	group.Segments = append(group.Segments, SegmentBlobs{id, ids})
}

// sort puts groups, segments and ids in order.
func (refs BlobReferences) sort() {
	slices.SortFunc(refs, func(a, b BlobGroup) int { return compareGenerations(a.Generation, b.Generation) })
	for _, g := range refs {
		slices.SortFunc(g.Segments, func(a, b SegmentBlobs) int { return a.Segment.Compare(b.Segment) })
		for _, s := range g.Segments {
			slices.Sort(s.IDs)
		}
	}
}

func compareGenerations(a, b segment.Generation) int {
	return cmp.Or(cmp.Compare(a.Generation, b.Generation), cmp.Compare(a.Full, b.Full), compareFlags(a.Compacted, b.Compacted))
}

func compareFlags(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// errBlobID begins errors about ids of binaries.
var errBlobID = errors.New("the id of a binary")

// blobIDs is the set of the ids in the BLOB_ID records of a segment, in order. Long ids are kept in records of their own,
// perhaps in other segments. With an error, which is of another kind than [segment.NotFoundError] if any is, it is the set
// of those that could be read.
func blobIDs(s *segment.Segment) (ids []string, err error) {
	for r := range s.RecordsOf(segment.RecordBlobID) {
		id, rerr := blobID(r)
		if rerr == nil {
			ids = append(ids, string(id))
		} else if err == nil || isLost(err) {
			err = fmt.Errorf("%w, record %d: %w", errBlobID, r.ID().Number, rerr)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

func blobID(r segment.Record) ([]byte, error) {
	v, err := r.Value()
	if err == nil {
		v, err = v.BlobID()
	}
	if err != nil {
		return nil, err
	}
	return v.AppendTo(nil, maxBlobID)
}

// isLost says whether an error is that a segment is not there.
func isLost(err error) bool {
	_, ok := lost(err)
	return ok
}
