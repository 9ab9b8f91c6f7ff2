// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"
	"unicode/utf8"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

// traversal reads every name and value of a revision, as oak/src/Traversal.java does: numbers as numbers, and all bytes
// of texts, since Oak decodes these. The sum is the same in any order.
type traversal struct {
	nodes, properties atomic.Int64
	sum               atomic.Uint64
}

func (t *traversal) run(ctx context.Context, s *content.Store, workers int) error {
	head, _ := s.Head()
	return s.Walk(ctx, head, "/", content.WalkOptions{Workers: workers}, t.node)
}

func (t *traversal) node(v *content.Visit) error {
	var sum summer
	sum.name(v.Path[bytes.LastIndexByte(v.Path, '/')+1:])
	count := int64(0)
	p := v.Node.Properties()
	for p.Next() {
		count++
		if err := sum.property(&p.Property); err != nil {
			return v.Fail(err)
		}
	}
	if p.Err() != nil {
		return v.Fail(p.Err())
	}
	t.nodes.Add(1)
	t.properties.Add(count)
	t.sum.Add(uint64(sum))
	return nil
}

type summer uint64

func (s *summer) property(p *segment.Property) error {
	s.name(p.Name)
	*s += summer(p.Type.Base())
	for i := range p.Count() {
		v, err := p.Value(i)
		if err != nil {
			return err
		}
		if err := s.value(p.Type.Base(), v); err != nil {
			return fmt.Errorf("property %q: %w", p.Name, err)
		}
	}
	return nil
}

func (s *summer) value(typ segment.Type, v segment.Value) error {
	b, ok := v.Bytes()
	if !ok {
		return fmt.Errorf("a value of %d bytes", v.Len())
	}
	switch typ {
	case segment.TypeLong:
		n, err := strconv.ParseInt(string(b), 10, 64)
		*s += summer(n)
		return err
	case segment.TypeDouble:
		f, err := strconv.ParseFloat(string(b), 64)
		*s += summer(math.Float64bits(f))
		return err
	case segment.TypeBoolean:
		if string(b) == "true" {
			*s++
		}
		return nil
	}
	return s.text(b)
}

func (s *summer) text(b []byte) error {
	if !utf8.Valid(b) {
		return fmt.Errorf("%q is no text", b)
	}
	s.name(b)
	return nil
}

// name is a text that Oak has once and for all, or for all nodes of a shape.
func (s *summer) name(b []byte) {
	if n := len(b); n > 0 {
		*s += summer(31*n + 7*int(b[0]) + int(b[n-1]))
	}
}
