// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import "fmt"

// Field is some bytes of the payload that an allocator keeps for itself.
type Field struct {
	Off, Len int64
	Name     string
	Value    string // as a number in decimal, for people; empty if the bytes say it all
}

// fieldMark says where a field is in a span: from its beginning, or if negative from its end.
type fieldMark struct {
	at, size int64
	name     string
}

// fieldMarks are the fields of spans, by the name of the allocator. FORMAT.md says what they mean.
var fieldMarks = map[string]map[Kind][]fieldMark{
	"ghosttree": {
		Header: {{0, 8, "magic"}, {8, 8, "root"}},
		Free: {
			{0, 8, "size"},
			{8, 1, "balance"},
			{9, 1, "height"},
			{10, 1, "height left"},
			{11, 1, "height right"},
			{12, 4, "reserved"},
			{16, 8, "left"},
			{24, 8, "right"},
		},
	},
	"firstfit": {
		Header: {{0, 8, "magic"}, {8, 4, "flags"}, {12, 4, "reserved"}, {16, 8, "free head"}, {24, 8, "unused"}},
		Used:   {{0, 8, "size"}, {8, 4, "flags"}, {12, 4, "reserved"}, {-8, 8, "size again"}},
		Free: {
			{0, 8, "size"}, {8, 4, "flags"}, {12, 4, "reserved"}, {16, 8, "next"}, {24, 8, "previous"}, {-8, 8, "size again"},
		},
	},
	"slab": {
		Header: {{0, 8, "magic"}, {8, 8, "block size"}, {16, 8, "free head"}},
		Free:   {{0, 8, "next"}},
	},
	"checked-slab": {
		Header: {{0, 8, "magic"}, {8, 8, "block size"}, {16, 8, "free head"}},
		Used:   {{0, 8, "in use, blocks"}},
		Free:   {{0, 8, "overhead"}, {8, 8, "next"}},
	},
	"segregated": {
		Header: segregatedHeader(),
		Used:   {{0, 8, "in use, size >> 4"}},
		Free:   {{0, 8, "size >> 4"}, {8, 8, "next"}},
	},
}

func segregatedHeader() []fieldMark {
	marks := []fieldMark{{0, 8, "magic"}, {8, 8, "reserved"}}
	for i := range int64(33) {
		marks = append(marks, fieldMark{16 + 8*i, 8, fmt.Sprintf("list %d", i)})
	}
	return marks
}

// Fields lists the fields of a span of a's Layout by offset, for tools that show what a file consists of. A span
// without any, or too short for them, as damage may make it, has none. a is from one of the Open functions.
func Fields(a Allocator, sp Span) ([]Field, error) {
	marks := fieldMarks[Name(a)][sp.Kind]
	fields := make([]Field, 0, len(marks))
	var need int64
	for _, m := range marks {
		need += m.size
	}
	if sp.Len < need {
		return nil, nil
	}
	for _, m := range marks {
		f := Field{Off: sp.Off + m.at, Len: m.size, Name: m.name}
		if m.at < 0 {
			f.Off += sp.Len
		}
		var b [8]byte
		if err := a.Stack().GetInto(f.Off, b[:f.Len]); err != nil {
			return nil, err
		}
		f.Value = m.value(b[:])
		fields = append(fields, f)
	}
	return fields, nil
}

func (m fieldMark) value(b []byte) string {
	switch n := le.Uint64(b); m.name {
	case "magic", "reserved", "unused":
		return ""
	case "balance":
		return fmt.Sprint(int8(n))
	case "in use, blocks", "in use, size >> 4":
		return fmt.Sprint(n &^ (1 << 63))
	default:
		return fmt.Sprint(n)
	}
}
