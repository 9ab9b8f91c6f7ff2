// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holtdb/holt/stack/alloc"
)

// The tables of FORMAT.md are held against files that the package writes: those of its example.

// formatFile is the file of the example.
type formatFile struct {
	*slabs
	kind    string // as FORMAT.md names it
	regions []alloc.Region
	payload []byte
}

var formatKinds = []struct {
	name string
	open opener
}{
	{"FirstFit", as(alloc.OpenFirstFit)},
	{"GhostTree", as(alloc.OpenGhostTree)},
	{"Slab", openSlab},
	{"CheckedSlab", openChecked},
	{"Segregated", openSeg},
}

func formatFiles(t *testing.T) (files []*formatFile) {
	t.Helper()
	for _, k := range formatKinds {
		f := &formatFile{slabs: newSlabs(t, k.open), kind: k.name}
		var err error
		f.regions, err = f.AllocBulk([]int64{40, 5, 40, 8})
		check(t, err)
		check(t, f.Update(func(b *alloc.Batch) error {
			handle := f.regions[1].Bytes()
			return errors.Join(b.WriteAt(f.regions[1], []byte("hello"), 0), b.WriteAt(f.Reserved(), handle[:], 0))
		}))
		f.free(t, f.regions[0], f.regions[2])
		f.payload, err = f.Stack().Peek(0)
		check(t, err)
		files = append(files, f)
	}
	return files
}

// spans of the layout of a kind.
func (f *formatFile) spans(t *testing.T, kind alloc.Kind) []alloc.Span {
	t.Helper()
	spans, err := f.Layout()
	check(t, err)
	return slices.DeleteFunc(spans, func(sp alloc.Span) bool { return sp.Kind != kind })
}

// A structure is what a table describes: its bytes as they were written, and what each row should have of them.
type structure struct {
	heading string
	written []byte
	lengths map[string]int64 // what rows call by a name
	cells   cells

	file *formatFile // nil if an allocator has no part in it
	span alloc.Span
	from int64 // offset of what was written in the payload
}

type cells map[string][]byte

func u32(n uint32) []byte { return le.AppendUint32(nil, n) }
func u64(n uint64) []byte { return le.AppendUint64(nil, n) }

// header is what the beginning of the payload should be.
func (f *formatFile) header(t *testing.T, fields cells) structure {
	t.Helper()
	sp := f.spans(t, alloc.Header)[0]
	handle := f.regions[1].Bytes()
	fields["for the program"] = append(handle[:], make([]byte, f.Reserved().Len-int64(len(handle)))...)
	fields["magic"] = f.payload[sp.Off : sp.Off+8] // see TestFormatMagics
	fields["arena"] = f.payload[sp.Off+sp.Len:]
	return structure{heading: "Header of " + f.kind, written: f.payload, cells: fields, file: f, span: sp}
}

// block is what the i-th span of a kind should be.
func (f *formatFile) block(
	t *testing.T, heading string, kind alloc.Kind, i int, lengths map[string]int64, fields cells,
) structure {
	t.Helper()
	sp := f.spans(t, kind)[i]
	return structure{
		heading: heading + " of " + f.kind, written: f.payload[sp.Off : sp.Off+sp.Len], lengths: lengths, cells: fields,
		file: f, span: sp, from: sp.Off,
	}
}

func structures(t *testing.T) []structure {
	t.Helper()
	files := formatFiles(t)
	return slices.Concat(files[0].firstFit(t), files[1].ghostTree(t), files[2].slab(t), files[3].checkedSlab(t),
		files[4].segregated(t), []structure{
			{heading: "Region", written: u128(files[0].regions[1]), cells: cells{"offset": u64(128), "length": u64(5)}},
			byteVec(t, files[1]),
		})
}

func u128(r alloc.Region) []byte {
	b := r.Bytes()
	return b[:]
}

func (f *formatFile) firstFit(t *testing.T) []structure {
	t.Helper()
	free := func(i int, next, previous uint64) structure {
		return f.block(t, "Free block", alloc.Free, i, map[string]int64{"size": 40}, cells{
			"size": u64(40), "flags": u32(1), "reserved": u32(0), "next": u64(next), "previous": u64(previous),
			"rest of the data": make([]byte, 24), "size again": u64(40),
		})
	}
	return []structure{
		f.header(t, cells{"flags": u32(0), "reserved": u32(0), "free head": u64(168), "unused": u64(0)}),
		f.block(t, "Live block", alloc.Used, 0, map[string]int64{"size": 16}, cells{
			"size": u64(16), "flags": u32(0), "reserved": u32(0), "size again": u64(16),
			"data": append([]byte("hello"), make([]byte, 11)...),
		}),
		free(0, 0, 168), free(1, 64, 0),
	}
}

func (f *formatFile) ghostTree(t *testing.T) []structure {
	t.Helper()
	return []structure{
		f.header(t, cells{"root": u64(48)}),
		f.block(t, "Live block", alloc.Used, 0, map[string]int64{"n": 5}, cells{
			"data": []byte("hello"), "padding": make([]byte, 27),
		}),
		f.block(t, "Free block", alloc.Free, 0, nil, cells{
			"size": u64(64), "balance": {1}, "height": {2}, "height left": {0}, "height right": {1}, "reserved": u32(0),
			"left": u64(0), "right": u64(144), "zeros": make([]byte, 32),
		}),
	}
}

func (f *formatFile) slab(t *testing.T) []structure {
	t.Helper()
	return []structure{
		f.header(t, cells{"block size": u64(32), "free head": u64(144)}),
		f.block(t, "Live blocks", alloc.Used, 0, map[string]int64{"n": 5}, cells{
			"data": []byte("hello"), "padding": make([]byte, 27),
		}),
		f.block(t, "Free block", alloc.Free, 0, nil, cells{"next": u64(80), "rest of the block": make([]byte, 24)}),
	}
}

func (f *formatFile) checkedSlab(t *testing.T) []structure {
	t.Helper()
	return []structure{
		f.header(t, cells{"block size": u64(32), "free head": u64(144)}),
		f.block(t, "Live blocks", alloc.Used, 0, map[string]int64{"n": 5}, cells{
			"in use, blocks": u64(1<<63 | 1), "data": []byte("hello"), "padding": make([]byte, 19),
		}),
		f.block(t, "Free block", alloc.Free, 0, nil, cells{
			"overhead": u64(0), "next": u64(80), "rest of the block": make([]byte, 16),
		}),
	}
}

func (f *formatFile) segregated(t *testing.T) []structure {
	t.Helper()
	header := cells{"reserved": u64(0)}
	for i := range 33 {
		header["list "+strconv.Itoa(i)] = u64(0)
	}
	header["list 2"] = u64(368)
	return []structure{
		f.header(t, header),
		f.block(t, "Live block", alloc.Used, 0, map[string]int64{"n": 5}, cells{
			"in use, size >> 4": u64(1<<63 | 1), "data": []byte("hello"), "padding": make([]byte, 3),
		}),
		f.block(t, "Free block", alloc.Free, 1, nil, cells{
			"size >> 4": u64(3), "next": u64(304), "rest of the block": make([]byte, 32),
		}),
	}
}

func byteVec(t *testing.T, f *formatFile) structure {
	t.Helper()
	v, err := alloc.NewByteVec(f, 9)
	check(t, err)
	check(t, v.Append([]byte("oak")...))
	b, err := f.View(v.Region()).Bytes()
	check(t, err)
	return structure{heading: "Byte vector", written: b, lengths: map[string]int64{"vector length": 3}, cells: cells{
		"vector length": u64(3), "capacity": u64(9), "bytes": []byte("oak"), "room": make([]byte, 6),
	}}
}

// row is a row of a table of offsets.
type row struct {
	offset, size int64 // size is -1 if there is no end
	name         string
	meaning      string
}

func (s *structure) row(t *testing.T, r []string, i int64) row {
	t.Helper()
	name, numbered := strings.CutSuffix(r[2], " i")
	if numbered {
		name = fmt.Sprintf("%s %d", name, i)
	}
	out := row{offset: s.number(t, r[0], i), size: -1, name: name, meaning: r[3]}
	if r[1] != "rest" {
		out.size = s.number(t, r[1], i)
	}
	return out
}

// number is what an expression such as "40 + 8 × i" says.
func (s *structure) number(t *testing.T, expr string, i int64) (sum int64) {
	t.Helper()
	for term := range strings.SplitSeq(strings.ReplaceAll(expr, " − ", " + -1 × "), " + ") {
		product := int64(1)
		for factor := range strings.SplitSeq(term, " × ") {
			n, ok := s.lengths[factor]
			if factor == "i" {
				n, ok = i, true
			}
			if !ok {
				var err error
				n, err = strconv.ParseInt(factor, 10, 64)
				check(t, err)
			}
			product *= n
		}
		sum += product
	}
	return sum
}

// rows of the table of a structure. One with a number in its name is as many as there are cells for it.
func (s *structure) rows(t *testing.T, table [][]string) (rows []row) {
	t.Helper()
	for _, r := range table {
		if !strings.HasSuffix(r[2], " i") {
			rows = append(rows, s.row(t, r, 0))
			continue
		}
		for i := int64(0); ; i++ {
			one := s.row(t, r, i)
			if _, ok := s.cells[one.name]; !ok {
				break
			}
			rows = append(rows, one)
		}
	}
	return rows
}

// end is where a row ends.
func (s *structure) end(r row) int64 {
	if r.size < 0 {
		return int64(len(s.written))
	}
	return r.offset + r.size
}

// documentedTables returns the rows of all tables of FORMAT.md that have this head, by the heading above them.
func documentedTables(t *testing.T, head string) map[string][][]string {
	t.Helper()
	found := map[string][][]string{}
	heading, inside := "", false
	for line := range strings.Lines(formatText(t)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			heading, inside = strings.TrimLeft(line, "# "), false
		case !strings.HasPrefix(line, "|"):
			inside = false
		case line == "| "+head+" |":
			inside = true
		case inside && !strings.HasPrefix(line, "|---"):
			line = strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |")
			found[heading] = append(found[heading], strings.Split(line, " | "))
		}
	}
	return found
}

func documentedBytes(t *testing.T) map[string][][]string {
	t.Helper()
	tables := documentedTables(t, "offset | size | field | meaning")
	for _, table := range tables {
		for i, r := range table {
			table[i] = append(r, "")[:4] // the meaning may be empty
			table[i][2] = strings.TrimSuffix(r[2], " |")
		}
	}
	return tables
}

func formatText(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("FORMAT.md")
	check(t, err)
	return string(b)
}

// TestFormatTables demands a row for every byte of every structure, and what it says in its place.
func TestFormatTables(t *testing.T) {
	documented := documentedBytes(t)
	known := map[string]bool{}
	for _, s := range structures(t) {
		known[s.heading] = true
		s.check(t, s.rows(t, documented[s.heading]))
	}
	for heading := range documented {
		if !known[heading] {
			t.Errorf("FORMAT.md has a table %q that this test does not know", heading)
		}
	}
}

func (s *structure) check(t *testing.T, rows []row) {
	t.Helper()
	at := int64(0)
	for _, r := range rows {
		want, ok := s.cells[r.name]
		if !ok || r.offset != at || s.end(r) < at || s.end(r) > int64(len(s.written)) {
			t.Errorf("%s: row %+v is extra, or does not start at %d", s.heading, r, at)
			return
		}
		if at = s.end(r); !bytes.Equal(s.written[r.offset:at], want) {
			t.Errorf("%s: row %q holds %x, want %x", s.heading, r.name, s.written[r.offset:at], want)
		}
	}
	if at != int64(len(s.written)) || len(rows) != len(s.cells) {
		t.Errorf("%s: %d rows end at %d, want %d at %d", s.heading, len(rows), at, len(s.cells), len(s.written))
	}
}

// notFields are rows of bytes that are not the allocator's.
var notFields = []string{
	"for the program", "arena", "data", "padding", "rest of the data", "rest of the block", "zeros",
}

// TestFormatFields holds what Fields says against the tables.
func TestFormatFields(t *testing.T) {
	documented := documentedBytes(t)
	for _, s := range structures(t) {
		if s.file == nil {
			continue
		}
		fields, err := alloc.Fields(s.file.Allocator, s.span)
		check(t, err)
		rows := slices.DeleteFunc(s.rows(t, documented[s.heading]), func(r row) bool {
			return slices.Contains(notFields, r.name)
		})
		if len(fields) != len(rows) {
			t.Errorf("%s: %d fields, %d rows", s.heading, len(fields), len(rows))
			continue
		}
		for i, r := range rows {
			if f := fields[i]; f.Name != r.name || f.Off != s.from+r.offset || f.Len != r.size {
				t.Errorf("%s: field %+v, row %+v", s.heading, f, r)
			}
		}
	}
}

// TestFormatIgnored sets what the tables call ignored.
func TestFormatIgnored(t *testing.T) {
	documented, tried := documentedBytes(t), 0
	for _, s := range structures(t) {
		if s.file == nil {
			continue
		}
		payload := slices.Clone(s.file.payload)
		for _, r := range s.rows(t, documented[s.heading]) {
			if !strings.HasSuffix(r.meaning, ", ignored") || r.name == "flags" {
				continue
			}
			tried++
			for i := s.from + r.offset; i < s.from+s.end(r); i++ {
				payload[i] = 0xA5
			}
		}
		w := &slabs{disk: diskOf(t, payload), open: s.file.open}
		check(t, w.start(w.disk))
		for err := range w.Check() {
			t.Errorf("%s: %v", s.heading, err)
		}
		if len(w.Repaired()) > 0 {
			t.Errorf("%s: repaired: %q", s.heading, w.Repaired())
		}
		check(t, w.Stack().Close())
	}
	if tried < 6 {
		t.Errorf("only %d rows", tried)
	}
}

// magicRow is a row of the table of headers.
type magicRow struct {
	reserved, at, arena int64
	magic               []byte
}

func documentedMagics(t *testing.T) map[string]magicRow {
	t.Helper()
	rows := map[string]magicRow{}
	for _, r := range documentedTables(t, "allocator | for the program | magic at | magic | arena at")["Header"] {
		letters, rest, ok := strings.Cut(strings.TrimPrefix(r[3], "`"), "` ")
		numbers, err := hex.DecodeString(strings.ReplaceAll(rest, " ", ""))
		if check(t, err); !ok {
			t.Fatalf("no magic: %q", r)
		}
		var s structure
		rows[r[0]] = magicRow{
			s.number(t, r[1], 0), s.number(t, r[2], 0), s.number(t, r[4], 0), append([]byte(letters), numbers...),
		}
	}
	return rows
}

// TestFormatMagics holds the table of headers against files, and flips every byte of their magics.
func TestFormatMagics(t *testing.T) {
	rows := documentedMagics(t)
	if len(rows) != len(formatKinds) {
		t.Errorf("FORMAT.md has %d magics", len(rows))
	}
	for _, f := range formatFiles(t) {
		row := rows[f.kind]
		header := f.spans(t, alloc.Header)[0]
		same(t, f.kind, f.payload[row.at:row.at+8], row.magic)
		if r := f.Reserved(); r.Off != 0 || r.Len != row.reserved {
			t.Errorf("%s: %v is the program's", f.kind, r)
		}
		if header.Off != row.at || header.Off+header.Len != row.arena {
			t.Errorf("%s: the header is %+v", f.kind, header)
		}
		for i := range row.magic {
			payload := slices.Clone(f.payload)
			payload[row.at+int64(i)] ^= 0x40
			w := &slabs{disk: diskOf(t, payload), open: f.open}
			err := w.start(w.disk)
			if (i < 6) != errors.Is(err, alloc.ErrFormat) {
				t.Errorf("%s: byte %d of the magic flipped: %v", f.kind, i, err)
			}
			if err == nil {
				check(t, w.Stack().Close())
			}
		}
	}
}

// TestFormatToldApart puts the magics of others into what is the program's.
func TestFormatToldApart(t *testing.T) {
	rows := documentedMagics(t)
	for _, f := range formatFiles(t) {
		for _, other := range rows {
			payload := slices.Clone(f.payload)
			if other.at+8 <= rows[f.kind].reserved {
				copy(payload[other.at:], other.magic)
			}
			s, err := openStack(diskOf(t, payload))
			check(t, err)
			a, err := alloc.Open(s)
			check(t, err)
			if got, want := alloc.Name(a), alloc.Name(f.Allocator); got != want {
				t.Errorf("%s is opened as %s", want, got)
			}
			check(t, s.Close())
		}
	}
}

// TestFormatClasses allocates blocks of the classes of Segregated, and frees them.
func TestFormatClasses(t *testing.T) {
	var classes []int64
	for _, r := range documentedTables(t, "lists | sizes")["Classes of Segregated"] {
		if r[0] == "32" && r[1] == "all multiples of 16 above 4096" {
			break
		}
		first := len(classes)
		for size := range strings.FieldsSeq(r[1]) {
			n, err := strconv.ParseInt(size, 10, 64)
			check(t, err)
			classes = append(classes, n)
		}
		if lists := fmt.Sprintf("%d to %d", first, len(classes)-1); r[0] != lists {
			t.Errorf("row %q is of lists %s", r, lists)
		}
	}
	if len(classes) != 32 {
		t.Fatalf("FORMAT.md has %d classes", len(classes))
	}
	sizes := append(classes, 4112)
	for list, size := range sizes {
		w := newSlabs(t, openSeg)
		rs, err := w.AllocBulk([]int64{size - 8, 8})
		check(t, err)
		if got := w.Stack().Len() - 304 - 16; got != size {
			t.Errorf("a region of %d bytes has a block of %d, want %d", size-8, got, size)
		}
		w.free(t, rs[0])
		if head := w.word(t, int64(40+8*list)); head != 304 {
			t.Errorf("a free block of %d bytes is not on list %d, which begins at %d", size, list, head)
		}
		if list > 0 { // one byte too many for the class before
			r, err := w.Alloc(sizes[list-1] - 7)
			at(t, r, err, 304+8, sizes[list-1]-7)
		}
	}
}

var exampleLine = regexp.MustCompile(`(?m)^(\d{3})-(\d{3}): x ([0-9a-f]+) +# \S`)

// TestFormatExample holds the annotated dumps against the files that they describe.
func TestFormatExample(t *testing.T) {
	for _, f := range formatFiles(t) {
		_, text, ok := strings.Cut(formatText(t), "\n### The example in "+f.kind+"\n")
		if !ok {
			t.Fatalf("no example of %s", f.kind)
		}
		text, _, _ = strings.Cut(text, "\n##")
		r := f.regions
		intro := fmt.Sprintf("The regions are at %d, %d, %d and %d. Length %d.",
			r[0].Off, r[1].Off, r[2].Off, r[3].Off, len(f.payload))
		if !strings.Contains(text, intro) {
			t.Errorf("%s: the example does not say: %s", f.kind, intro)
		}
		want := make([]byte, len(f.payload))
		at := 0
		for _, m := range exampleLine.FindAllStringSubmatch(text, -1) {
			data, err := hex.DecodeString(m[3])
			check(t, err)
			from, err1 := strconv.Atoi(m[1])
			to, err2 := strconv.Atoi(m[2])
			if check(t, errors.Join(err1, err2)); from < at || to != from+len(data) || to > len(want) {
				t.Fatalf("%s: %s", f.kind, m[0])
			}
			at = to
			copy(want[from:], data)
		}
		same(t, f.kind, f.payload, want)
		f.clean(t)
	}
}
