// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"io"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
)

// A Writer is what authors of random content write with: one [segment.Writer], or [Turns].
type Writer interface {
	segment.Store
	Flush() error
	Node(d *segment.Draft) (segment.RecordID, error)
	Children(children []segment.Child) (segment.Children, error)
	UpdateChildren(base segment.Node, changes []segment.Child) (segment.Children, error)
	Field(n segment.Node, i int) (segment.Field, error)
	String(s string) (segment.RecordID, error)
	Long(n int64) (segment.RecordID, error)
	Double(f float64) (segment.RecordID, error)
	Boolean(b bool) (segment.RecordID, error)
	Binary(r io.Reader) (segment.RecordID, error)
	BlobID(id string) (segment.RecordID, error)
}

// NewWriter makes one of several writers that take turns, or of one.
func NewWriter(o segment.Options, writers int) (Writer, error) {
	if writers == 1 {
		return segment.NewWriter(o)
	}
	p, err := segment.NewPool(o, writers)
	return Turns{p}, err
}

// Turns has the writers of a pool take turns, record by record: so their open segments refer to each other. It is used by
// one goroutine at a time.
type Turns struct{ *segment.Pool }

// turn has the writer write that has waited longest, as a pool does if there is one goroutine.
func turn[T any](t Turns, write func(w *segment.Writer) (T, error)) (v T, err error) {
	err = t.Do(func(w *segment.Writer) error {
		v, err = write(w)
		return err
	})
	return v, err
}

// Node is that of a writer, as the following.
func (t Turns) Node(d *segment.Draft) (segment.RecordID, error) {
	return turn(t, func(w *segment.Writer) (segment.RecordID, error) { return w.Node(d) })
}

// Children is that of a writer.
func (t Turns) Children(children []segment.Child) (segment.Children, error) {
	return turn(t, func(w *segment.Writer) (segment.Children, error) { return w.Children(children) })
}

// UpdateChildren is that of a writer.
func (t Turns) UpdateChildren(base segment.Node, changes []segment.Child) (segment.Children, error) {
	return turn(t, func(w *segment.Writer) (segment.Children, error) { return w.UpdateChildren(base, changes) })
}

// Field is that of a writer.
func (t Turns) Field(n segment.Node, i int) (segment.Field, error) {
	return turn(t, func(w *segment.Writer) (segment.Field, error) { return w.Field(n, i) })
}

// String is that of a writer.
func (t Turns) String(s string) (segment.RecordID, error) {
	return turn(t, func(w *segment.Writer) (segment.RecordID, error) { return w.String(s) })
}

// Long is that of a writer.
func (t Turns) Long(n int64) (segment.RecordID, error) {
	return turn(t, func(w *segment.Writer) (segment.RecordID, error) { return w.Long(n) })
}

// Double is that of a writer.
func (t Turns) Double(f float64) (segment.RecordID, error) {
	return turn(t, func(w *segment.Writer) (segment.RecordID, error) { return w.Double(f) })
}

// Boolean is that of a writer.
func (t Turns) Boolean(b bool) (segment.RecordID, error) {
	return turn(t, func(w *segment.Writer) (segment.RecordID, error) { return w.Boolean(b) })
}

// Binary is that of a writer.
func (t Turns) Binary(r io.Reader) (segment.RecordID, error) {
	return turn(t, func(w *segment.Writer) (segment.RecordID, error) { return w.Binary(r) })
}

// BlobID is that of a writer.
func (t Turns) BlobID(id string) (segment.RecordID, error) {
	return turn(t, func(w *segment.Writer) (segment.RecordID, error) { return w.BlobID(id) })
}

// Mutual counts the pairs of segments in an archive that refer to each other: they were open at the same time.
func Mutual(a archive.Archive) (pairs int, err error) {
	g, err := a.Graph()
	to := map[[2]segment.ID]bool{}
	for _, r := range g {
		for _, id := range r.To {
			to[[2]segment.ID{r.From, id}] = true
			if to[[2]segment.ID{id, r.From}] {
				pairs++
			}
		}
	}
	return pairs, err
}
