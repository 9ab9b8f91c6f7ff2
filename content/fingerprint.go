// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/holtdb/holt/content/segment"
)

// Fingerprint is one digest of what is at a path of a revision and below. It is the same for equal trees, in whatever
// segments they are, whether their binaries are kept outside or not, and in whatever order children and properties are
// stored.
//
// The digest of a node is the SHA-256 of, for each property by name: P, name, type, number of values, values; for
// each child by name: C, name, digest. A name is its length and UTF-8, a type one signed byte, a value: S, length and
// text, or if the text is longer than 200 bytes L, length, and SHA-256; B, length and SHA-256 of a binary. Lengths
// and numbers are 8 bytes, big-endian.
func (s *Store) Fingerprint(ctx context.Context, revision segment.RecordID, path string) ([sha256.Size]byte, error) {
	n, err := s.Find(revision, path)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	f := fingerprinter{descent: descent{walk: &walk{store: s}, ctx: ctx, at: Visit{Path: pathOf(path), store: s}}}
	sum, err := f.node(n)
	s.opts.Progress(f.nodes % reportEvery)
	return sum, err
}

type fingerprinter struct {
	descent
	text abridger
}

func (f *fingerprinter) node(n segment.Node) (sum [sha256.Size]byte, err error) {
	if err := f.pace(); err != nil {
		return sum, err
	}
	if f.at.Depth > MaxDepth {
		return sum, f.at.Fail(errTooDeep)
	}
	var b []byte
	properties, err := sortedProperties(n)
	for i := range properties {
		if err == nil {
			b, err = f.property(b, &properties[i])
		}
	}
	if err != nil {
		return sum, f.at.Fail(err)
	}
	children, err := sortedChildren(n)
	if err != nil {
		return sum, f.at.Fail(err)
	}
	parent := f.at
	for _, c := range children {
		f.at = Visit{appendName(parent.Path, c.name), parent.Depth + 1, c.node, f.store}
		child, err := f.node(c.node)
		if err != nil {
			return sum, err
		}
		parent.Path = f.at.Path[:len(parent.Path)]
		b = append(appendText(append(b, 'C'), c.name), child[:]...)
	}
	f.at = parent
	return sha256.Sum256(b), nil
}

func (f *fingerprinter) property(b []byte, p *segment.Property) ([]byte, error) {
	b = appendText(append(b, 'P'), p.Name)
	b = append(b, byte(p.Type))
	b = appendNumber(b, int64(p.Count()))
	for i := range p.Count() {
		v, err := p.Value(i)
		if err == nil {
			b, err = f.value(b, p.Type, v)
		}
		if err != nil {
			return b, fmt.Errorf("property %q: %w", p.Name, err)
		}
	}
	return b, nil
}

func (f *fingerprinter) value(b []byte, t segment.Type, v segment.Value) ([]byte, error) {
	if t.Base() == segment.TypeBinary {
		sum, n, err := f.store.Digest(v)
		return append(appendNumber(append(b, 'B'), n), sum[:]...), err
	}
	f.text.reset()
	if err := f.store.WriteText(&f.text, v); err != nil {
		return b, err
	}
	if f.text.many {
		return f.text.sum.Sum(appendNumber(append(b, 'L'), f.text.n)), nil
	}
	return append(appendNumber(append(b, 'S'), f.text.n), f.text.kept...), nil
}

func appendText(b, name []byte) []byte {
	at := len(b)
	b = segment.AppendText(appendNumber(b, 0), name)
	binary.BigEndian.PutUint64(b[at:], uint64(len(b)-at-8))
	return b
}

func appendNumber(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }
