// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import "fmt"

var modeNames = map[uint64]string{
	modeSet: "Set", modeSpliceGrow: "SpliceGrow", modeSpliceShrink: "SpliceShrink", modeRepeat: "Repeat", modeCopy: "Copy",
	modeMultiWrite: "MultiWrite",
}

// modeName is the name that FORMAT.md has for a mode, or its number.
func modeName(mode uint64) string {
	if name, ok := modeNames[mode]; ok {
		return name
	}
	return fmt.Sprintf("unknown (%#x)", mode)
}

func magicFields(h []byte) []Field {
	return []Field{
		{0, prefixSize, "prefix", "version " + version(h)},
		{6, 1, "release", fmt.Sprint(h[6])},
		{7, 1, "reserved", ""},
	}
}

func lengthField(length uint64) Field { return Field{8, 8, "length", fmt.Sprint(length)} }

func recordFields(r record) []Field {
	target, mode := "none", "none"
	if r.target != 0 {
		target = fmt.Sprintf("offset %d in the file", r.target)
	}
	if r.armed() {
		mode = modeName(r.mode)
	}
	return []Field{lengthField(r.length), {16, 8, "target", target}, {24, 8, "mode", mode}}
}

// describeStaged adds the fields of what is staged.
func (s *Stack) describeStaged(st *State, r record) error {
	if st.Behind == 0 {
		return nil
	}
	from := headerSize + st.Payload
	if !st.Journal.Whole {
		st.add(from, st.Behind, "staged", "not whole, will be dropped")
		return nil
	}
	switch r.mode {
	case modeMultiWrite:
		return s.describeBlocks(st)
	case modeRepeat:
		return s.describeNumbers(st, from, "pattern", "count")
	case modeCopy:
		return s.describeNumbers(st, from, "ignored", "from", "size")
	}
	// What lies between the lengths of a SpliceGrow is ignored.
	if gap := st.Recovered - st.Payload; gap > 0 {
		st.add(from, gap, "unused", "")
		from += gap
	}
	st.add(from, st.Size-from, "staged", fmt.Sprintf("for offset %d of the payload", r.target-headerSize))
	return nil
}

func (st *State) add(off, n int64, name, value string) {
	if n > 0 {
		st.Fields = append(st.Fields, Field{off, n, name, value})
	}
}

// describeNumbers adds the numbers at the beginning of what is staged, and the rest.
func (s *Stack) describeNumbers(st *State, off int64, rest string, names ...string) error {
	p := make([]byte, 8*len(names))
	if err := s.readFile(p, off-headerSize); err != nil {
		return err
	}
	for i, name := range names {
		st.add(off, 8, name, fmt.Sprint(le.Uint64(p[8*i:])))
		off += 8
	}
	st.add(off, st.Size-off, rest, "")
	return nil
}

func (s *Stack) describeBlocks(st *State) error {
	v := &recovery{s: s, size: st.Size}
	n := 0
	return v.eachBlock(st.Payload, func(from, to, size int64) error {
		off := headerSize + from
		st.add(off-16, 8, "start", fmt.Sprintf("block %d, from offset %d of the payload", n, to))
		st.add(off-8, 8, "end", fmt.Sprintf("to offset %d", to+size))
		st.add(off, size, "data", fmt.Sprintf("%d bytes", size))
		n++
		return nil
	})
}
