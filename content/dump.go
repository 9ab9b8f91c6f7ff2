// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"

	"github.com/holtdb/holt/content/segment"
)

// Dump prints what is at a path of a revision and below as lines of text, by name, so that dumps can be compared:
//
//	HEAD <record id>
//	N <hex of the path> <stable id>
//	P <hex of the name> <type> <number of values> <value> …
//
// A value is the hex of its text, a binary its length, a colon and its SHA-256. If all values of a property, each
// with a blank in front, are longer than 200 bytes, H, the length of that text, a colon and its SHA-256 stand in
// their place.
func (s *Store) Dump(ctx context.Context, out io.Writer, revision segment.RecordID, path string) error {
	if _, err := s.Find(revision, path); err != nil { // before anything is printed
		return err
	}
	w := bufio.NewWriter(out)
	d := dumper{store: s, out: w}
	d.hex = hex.NewEncoder(&d.values)
	fmt.Fprintf(w, "HEAD %s\n", revision.Hex())
	err := s.Walk(ctx, revision, path, WalkOptions{Sorted: true}, d.node)
	if ferr := w.Flush(); err == nil {
		err = ferr
	}
	return err
}

type dumper struct {
	store  *Store
	out    *bufio.Writer
	values abridger
	hex    io.Writer // encodes for values
	line   []byte
	text   []byte
}

func (d *dumper) node(v *Visit) error {
	stable, err := v.Node.StableID()
	if err != nil {
		return v.Fail(err)
	}
	d.line = hex.AppendEncode(append(d.line[:0], "N "...), v.Path)
	d.line = append(append(append(d.line, ' '), stable.String()...), '\n')
	if _, err := d.out.Write(d.line); err != nil {
		return err
	}
	list, err := sortedProperties(v.Node)
	if err != nil {
		return v.Fail(err)
	}
	for i := range list {
		if err := d.property(&list[i]); err != nil {
			return v.Fail(fmt.Errorf("property %q: %w", list[i].Name, err))
		}
	}
	return nil
}

func (d *dumper) property(p *segment.Property) error {
	d.values.reset()
	for i := range p.Count() {
		value, err := p.Value(i)
		if err != nil {
			return d.store.Locate(err)
		}
		_, _ = d.values.Write(blank) // never fails
		if err := d.value(p.Type, value); err != nil {
			return err
		}
	}
	d.text = segment.AppendText(d.text[:0], p.Name)
	d.line = hex.AppendEncode(append(d.line[:0], "P "...), d.text)
	d.line = append(append(append(d.line, ' '), p.Type.String()...), ' ')
	d.line = strconv.AppendInt(d.line, int64(p.Count()), 10)
	if _, err := d.out.Write(d.line); err != nil {
		return err
	}
	if d.values.many {
		_, err := fmt.Fprintf(d.out, " H%d:%x\n", d.values.n, d.values.sum.Sum(nil))
		return err
	}
	_, err := d.out.Write(append(d.values.kept, '\n'))
	return err
}

var blank = []byte{' '}

func (d *dumper) value(t segment.Type, v segment.Value) error {
	if t.Base() != segment.TypeBinary {
		return d.store.WriteText(d.hex, v)
	}
	sum, n, err := d.store.Digest(v)
	fmt.Fprintf(&d.values, "%d:%x", n, sum)
	return err
}
