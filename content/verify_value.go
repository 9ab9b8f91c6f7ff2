// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/holtdb/holt/content/segment"
)

// value reads the i-th value of a property.
func (v *verifier) value(p *segment.Property, i int) error {
	value, err := p.Value(i)
	if err != nil {
		return err
	}
	if p.Type.Base() == segment.TypeBinary {
		return v.binaryValue(p, i, value)
	}
	b, inline := value.Bytes()
	switch parsed := isParsed(p.Type.Base()); {
	case !inline && !parsed:
		return v.once(p, i, func() error { return v.drain(value) })
	case !parsed, inline && len(b) > maxParsed, inline && parses(p.Type.Base(), b):
		return nil
	}
	return fmt.Errorf("%.100q is no %s", b, p.Type.Base())
}

// once reads a value that takes long, unless that was done before.
func (v *verifier) once(p *segment.Property, i int, read func() error) error {
	r, err := p.Values().Entry(i)
	if err != nil {
		return err
	}
	m := v.large.mark(r)
	if m.state() == whole {
		return nil
	}
	if err := read(); err != nil {
		return err
	}
	m.change(unknown, whole)
	return nil
}

// drain reads all bytes of a value that is not in one piece.
func (v *verifier) drain(value segment.Value) error {
	_, err := value.WriteTo(sink{v})
	return err
}

// sink takes in blocks, as long as nobody has the check end.
type sink struct{ v *verifier }

func (s sink) Write(p []byte) (int, error) { return len(p), s.v.tick() }

// maxParsed bounds the text of numbers.
const maxParsed = 4096

func isParsed(t segment.Type) bool {
	switch t {
	case segment.TypeLong, segment.TypeDouble, segment.TypeBoolean, segment.TypeDecimal:
		return true
	}
	return false
}

// parses says whether a text is what Java takes for a value of the type.
func parses(t segment.Type, text []byte) bool {
	switch t {
	case segment.TypeLong:
		_, err := strconv.ParseInt(string(text), 10, 64)
		return err == nil
	case segment.TypeDouble:
		return isDecimal(text) || string(text) == "NaN" || string(bytes.TrimLeft(text, "+-")) == "Infinity"
	case segment.TypeBoolean:
		return bytes.EqualFold(text, []byte("true")) || bytes.EqualFold(text, []byte("false"))
	case segment.TypeDecimal:
		return isDecimal(text)
	}
	return true
}

// isDecimal says whether a text is a number: an optional sign, digits with a point ahead of, among or behind them, and an
// exponent perhaps.
func isDecimal(text []byte) bool {
	text = unsigned(text)
	whole := digits(text)
	text = text[whole:]
	fraction := 0
	if len(text) > 0 && text[0] == '.' {
		fraction = digits(text[1:])
		text = text[1+fraction:]
	}
	if whole+fraction == 0 {
		return false
	}
	if len(text) > 0 && text[0]|0x20 == 'e' {
		exponent := unsigned(text[1:])
		return len(exponent) > 0 && digits(exponent) == len(exponent)
	}
	return len(text) == 0
}

func unsigned(text []byte) []byte {
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		return text[1:]
	}
	return text
}

// digits is with how many digits a text begins.
func digits(text []byte) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}
