// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"strings"
	"unicode/utf8"
)

// maxName bounds the names that are copied because they do not lie in one piece.
const maxName = 16 << 20

// name is the name that the record id at a position leads to: a view, or a copy if it is long.
func (s *Segment) name(at uint32) ([]byte, error) {
	r, err := s.record(at)
	if err != nil {
		return nil, err
	}
	return r.name()
}

// name takes the record for the name of a node or property.
func (r Record) name() ([]byte, error) {
	// Nearly all names are small values, and reading names is half of all reading.
	data := r.seg.data[r.at:]
	if n := int(data[0]); n < smallMax && n < len(data) {
		return data[1 : 1+n], nil
	}
	v, err := r.text()
	if err != nil {
		return nil, err
	}
	if v.form == inline {
		return v.inline(), nil
	}
	return v.AppendTo(nil, maxName)
}

// ambiguous says whether a name may be equal, as text, to other bytes.
func ambiguous(name string) bool { return strings.ContainsRune(name, utf8.RuneError) }
