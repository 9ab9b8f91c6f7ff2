// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/holtdb/holt/content/segment"
)

// verifier reads all there is below nodes, every node once.
type verifier struct {
	descent
	binaries bool
	marks    map[*segment.Segment]*marks
	found    func(error) error
	revision segment.RecordID // that found is told
	findings int              // since the caller set it to zero

	values, read, outside int64
}

// state is what is known of a node and all below it.
type state uint8

const (
	unknown state = iota
	begun         // the walk is below it
	whole
	damaged
)

// marks has the states of the nodes of a segment: by number, as far as there are so many records, which nearly always
// is all.
type marks struct {
	few  []state
	many map[uint32]state
}

func (v *verifier) marksOf(s *segment.Segment) *marks {
	m := v.marks[s]
	if m == nil {
		m = &marks{few: make([]state, s.Count()), many: map[uint32]state{}}
		v.marks[s] = m
	}
	return m
}

func (m *marks) get(number uint32) state {
	if int64(number) < int64(len(m.few)) {
		return m.few[number]
	}
	return m.many[number]
}

func (m *marks) set(number uint32, s state) {
	if int64(number) < int64(len(m.few)) {
		m.few[number] = s
		return
	}
	m.many[number] = s
}

// node says whether everything in a node and below it can be read.
func (v *verifier) node(n segment.Node) (good bool, err error) {
	m, number := v.marksOf(n.Segment()), n.ID().Number
	switch m.get(number) {
	case whole:
		return true, nil
	case damaged:
		return false, nil
	case begun:
		return false, v.report(fmt.Errorf("node %s is among its own descendants", n.ID()))
	}
	if v.at.Depth > MaxDepth {
		return false, v.report(errTooDeep)
	}
	if err := v.pace(); err != nil {
		return false, err
	}
	m.set(number, begun)
	good, err = v.content(n)
	if err == nil {
		var below bool
		below, err = v.below(n)
		good = good && below
	}
	m.set(number, damaged)
	if good && err == nil {
		m.set(number, whole)
	}
	return good, err
}

// report tells where something was found.
func (v *verifier) report(err error) error {
	v.findings++
	return v.found(fmt.Errorf("revision %s: %w", v.revision, v.at.Fail(err)))
}

func (v *verifier) below(n segment.Node) (good bool, err error) {
	good = true
	parent := v.at
	c := n.Children()
	for c.Next() {
		v.at = Visit{appendName(parent.Path, c.Name), parent.Depth + 1, n, v.store}
		child, err := c.Node()
		whole := false
		if err == nil {
			whole, err = v.node(child)
		} else {
			err = v.report(err)
		}
		if err != nil {
			return false, err
		}
		good = good && whole
		parent.Path = v.at.Path[:len(parent.Path)]
	}
	v.at = parent
	if c.Err() != nil {
		return false, v.report(c.Err())
	}
	return good, nil
}

// content reads what is in the node itself.
func (v *verifier) content(n segment.Node) (good bool, err error) {
	good = true
	if _, err := n.StableID(); err != nil {
		good = false
		if err := v.report(err); err != nil {
			return false, err
		}
	}
	p := n.Properties()
	for p.Next() {
		for i := range p.Count() {
			v.values++
			if err := v.value(&p.Property, i); err != nil {
				good = false
				if err := v.report(fmt.Errorf("property %q: %w", p.Name, v.store.Locate(err))); err != nil {
					return false, err
				}
			}
		}
	}
	if p.Err() != nil {
		return false, v.report(p.Err())
	}
	return good, nil
}

func (v *verifier) value(p *segment.Property, i int) error {
	value, err := p.Value(i)
	if err != nil {
		return err
	}
	if p.Type.Base() == segment.TypeBinary {
		return v.verifyBinary(value)
	}
	if !isParsed(p.Type.Base()) {
		_, err := value.WriteTo(io.Discard)
		return err
	}
	b, ok := value.Bytes()
	if ok && len(b) <= maxParsed {
		ok = parses(p.Type.Base(), string(b))
	}
	if !ok {
		return fmt.Errorf("%.100q is no %s", b, p.Type.Base())
	}
	return nil
}

// maxParsed bounds the text of numbers.
const maxParsed = 4096

func isParsed(t segment.Type) bool {
	switch t {
	case segment.TypeLong, segment.TypeDouble, segment.TypeBoolean, segment.TypeDecimal:
		return true
	}
	return false
}

var decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

func parses(t segment.Type, text string) bool {
	switch t {
	case segment.TypeLong:
		_, err := strconv.ParseInt(text, 10, 64)
		return err == nil
	case segment.TypeDouble:
		return text == "NaN" || strings.TrimLeft(text, "+-") == "Infinity" || decimal.MatchString(text)
	case segment.TypeBoolean:
		return strings.EqualFold(text, "true") || strings.EqualFold(text, "false")
	case segment.TypeDecimal:
		return decimal.MatchString(text)
	}
	return true
}
