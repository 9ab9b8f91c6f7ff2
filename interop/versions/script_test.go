// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A script is a list of commands that the driver, package kv and a model
// understand.
type script []command

type command struct {
	verb     string // as in a script of the driver
	at       []string
	key      string
	value    string
	sequence uint64
}

// String is the script as the driver reads it.
func (s script) String() string {
	var b strings.Builder
	for _, c := range s {
		switch c.verb {
		case "commit":
			fmt.Fprintln(&b, c.verb)
		case "put":
			fmt.Fprintln(&b, c.verb, hexPath(c.at), word(c.key), word(c.value))
		case "delete":
			fmt.Fprintln(&b, c.verb, hexPath(c.at), word(c.key))
		case "sequence":
			fmt.Fprintln(&b, c.verb, hexPath(c.at), c.sequence)
		default:
			fmt.Fprintln(&b, c.verb, hexPath(c.at))
		}
	}
	return b.String()
}

func (s *script) bucket(at ...string) { *s = append(*s, command{verb: "bucket", at: at}) }
func (s *script) drop(at ...string)   { *s = append(*s, command{verb: "drop", at: at}) }
func (s *script) commit()             { *s = append(*s, command{verb: "commit"}) }
func (s *script) delete(at []string, k string) {
	*s = append(*s, command{verb: "delete", at: at, key: k})
}

func (s *script) put(at []string, k, v string) {
	*s = append(*s, command{verb: "put", at: at, key: k, value: v})
}

func (s *script) sequence(at []string, n uint64) {
	*s = append(*s, command{verb: "sequence", at: at, sequence: n})
}

func hexPath(at []string) string {
	words := make([]string, len(at))
	for i, name := range at {
		words[i] = hex.EncodeToString([]byte(name))
	}
	return strings.Join(words, "/")
}

// word is a key or value of a script or dump.
func word(s string) string {
	if s == "" {
		return "-"
	}
	return hex.EncodeToString([]byte(s))
}

// A model is a bucket as nested maps.
type model struct {
	pairs    map[string]string
	buckets  map[string]*model
	sequence uint64
}

func newModel() *model {
	return &model{pairs: map[string]string{}, buckets: map[string]*model{}}
}

// apply runs a script whose commands all succeed.
func (m *model) apply(s script) {
	for _, c := range s {
		if c.verb == "commit" {
			continue
		}
		outer, b := m.find(c.at[:len(c.at)-1]), m.find(c.at)
		name := c.at[len(c.at)-1]
		switch c.verb {
		case "bucket":
			outer.buckets[name] = newModel()
		case "drop":
			delete(outer.buckets, name)
		case "put":
			b.pairs[c.key] = c.value
		case "delete":
			delete(b.pairs, c.key)
		case "sequence":
			b.sequence = c.sequence
		}
	}
}

func (m *model) find(at []string) *model {
	for _, name := range at {
		if m != nil {
			m = m.buckets[name]
		}
	}
	return m
}

// dump lists the model as the driver lists a file.
func (m *model) dump() []string { return m.appendTo(nil, nil) }

func (m *model) appendTo(lines, at []string) []string {
	if len(at) > 0 {
		lines = append(lines, fmt.Sprintf("bucket %s %d", hexPath(at), m.sequence))
	}
	for _, k := range sortedKeys(m.pairs) {
		lines = append(lines, fmt.Sprintf("pair %s %s %s", hexPath(at), word(k), word(m.pairs[k])))
	}
	for _, name := range sortedKeys(m.buckets) {
		lines = m.buckets[name].appendTo(lines, append(slices.Clone(at), name))
	}
	return lines
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
