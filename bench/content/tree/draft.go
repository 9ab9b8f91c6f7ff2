// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"strconv"

	"github.com/holtdb/holt/content/segment"
)

// A Draft has the properties of one node at a time. Their values share one string.
type Draft struct {
	Properties []Property

	rng    rng
	buf    []byte
	ends   []int // of the values in buf
	values []string
}

// A Property is a name, a type, and values as text.
type Property struct {
	Name   string
	Type   segment.Type
	Values []string
	first  int // of the values of the draft
}

func (d *Draft) begin(seed uint64) {
	d.rng = rng(mix(seed))
	d.Properties, d.buf, d.ends = d.Properties[:0], d.buf[:0], d.ends[:0]
}

// add begins a property. Values follow.
func (d *Draft) add(name string, typ segment.Type) *Draft {
	d.Properties = append(d.Properties, Property{Name: name, Type: typ, first: len(d.ends)})
	return d
}

func (d *Draft) end() {
	text, at := string(d.buf), 0
	d.values = d.values[:0]
	for _, end := range d.ends {
		d.values = append(d.values, text[at:end])
		at = end
	}
	last := len(d.values)
	for i := len(d.Properties) - 1; i >= 0; i-- {
		p := &d.Properties[i]
		p.Values = d.values[p.first:last]
		last = p.first
	}
}

// value ends a value.
func (d *Draft) value() *Draft {
	d.ends = append(d.ends, len(d.buf))
	return d
}

func (d *Draft) text(s string) *Draft {
	d.buf = append(d.buf, s...)
	return d.value()
}

// one is one of n texts that begin alike.
func (d *Draft) one(prefix string, n int) {
	d.buf = append(d.buf, prefix...)
	d.number(n)
}

// some is up to that many of n texts that begin alike.
func (d *Draft) some(prefix string, n, most int) {
	for range d.rng.below(most + 1) {
		d.one(prefix, n)
	}
}

func (d *Draft) number(n int) {
	d.buf = strconv.AppendInt(d.buf, int64(d.rng.below(n)), 10)
	d.value()
}

func (d *Draft) numbers(n, most int) {
	for range d.rng.below(most + 1) {
		d.number(n)
	}
}

// fraction is a number that is exact in binary and in decimal digits.
func (d *Draft) fraction() { d.text(segment.FormatDouble(float64(d.rng.below(100_000)) / 8)) }

func (d *Draft) flag() { d.text(strconv.FormatBool(d.rng.below(2) == 0)) }

func (d *Draft) words(least, most int) {
	for i := range least + d.rng.below(most-least+1) {
		if i > 0 {
			d.buf = append(d.buf, ' ')
		}
		d.buf = append(d.buf, words[d.rng.below(len(words))]...)
	}
	d.value()
}

func (d *Draft) id() {
	for range 2 {
		for x, i := d.rng.next(), 0; i < 16; i++ {
			d.buf = append(d.buf, "0123456789abcdef"[x>>60])
			x <<= 4
		}
	}
	d.value()
}

func (d *Draft) date() {
	d.padded(2010+d.rng.below(15), 4, '-')
	d.padded(1+d.rng.below(12), 2, '-')
	d.padded(1+d.rng.below(28), 2, 'T')
	d.padded(d.rng.below(24), 2, ':')
	d.padded(d.rng.below(60), 2, ':')
	d.padded(d.rng.below(60), 2, '.')
	d.padded(d.rng.below(1000), 3, '+')
	d.text("01:00")
}

func (d *Draft) padded(n, digits int, then byte) {
	at := len(d.buf)
	for range digits {
		d.buf = append(d.buf, 0)
	}
	for i := at + digits - 1; i >= at; i-- {
		d.buf[i] = '0' + byte(n%10)
		n /= 10
	}
	d.buf = append(d.buf, then)
}

// rng is splitmix64.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9E3779B97F4A7C15
	return mix(uint64(*r))
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func (r *rng) below(n int) int { return int(r.next() >> 33 % uint64(n)) }

// words are of one to three syllables.
var words = func() (list [1024]string) {
	for i := range list {
		x := mix(uint64(i))
		for range 1 + i%3 {
			list[i] += string("bcdfghjklmnprstv"[x&15]) + string("aeiou"[x>>4%5])
			x >>= 8
		}
	}
	return list
}()
