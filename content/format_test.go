// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

// The tables of FORMAT.md are held against what the packages below write, and what they read from bytes that are put
// together from the tables alone.

// structure is what a table describes: its bytes as they were written, and what each row should have of them.
type structure struct {
	written []byte
	vars    map[string]int // the letters in offsets and sizes
	cells   []cell         // in the order of the rows
}

type cell struct {
	name string
	want [][]byte // several for a row that repeats
}

func one(name string, want ...byte) cell       { return cell{name, [][]byte{want}} }
func several(name string, want ...[]byte) cell { return cell{name, want} }

// tableRow is a row of a table of offsets.
type tableRow struct{ offset, size, name string }

// evaluate is the value of a sum of products.
func evaluate(t *testing.T, sum string, vars map[string]int) int {
	t.Helper()
	total := 0
	for product := range strings.SplitSeq(sum, " + ") {
		n := 1
		for factor := range strings.SplitSeq(product, " × ") {
			v, err := strconv.Atoi(factor)
			if err != nil {
				known := false
				if v, known = vars[factor]; !known {
					t.Fatalf("%q in %q means nothing", factor, sum)
				}
			}
			n *= v
		}
		total += n
	}
	return total
}

// documented returns the rows of all tables of FORMAT.md that have this head, by the heading above them.
func documented(t *testing.T, head string) map[string][][]string {
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
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			found[heading] = append(found[heading], cells)
		}
	}
	return found
}

func formatText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("FORMAT.md")
	must(t, err)
	return string(text)
}

func documentedRows(t *testing.T) map[string][]tableRow {
	t.Helper()
	tables := map[string][]tableRow{}
	for heading, rows := range documented(t, "offset | size | field | meaning") {
		for _, r := range rows {
			tables[heading] = append(tables[heading], tableRow{r[0], r[1], r[2]})
		}
	}
	return tables
}

// TestFormatTables demands a row for every byte of every structure, once, and what it says in its place.
func TestFormatTables(t *testing.T) {
	tables, known := documentedRows(t), structures(t)
	for heading := range tables {
		if _, ok := known[heading]; !ok {
			t.Errorf("FORMAT.md has a table %q that this test does not know", heading)
		}
	}
	for heading, s := range known {
		t.Run(heading, func(t *testing.T) { s.check(t, tables[heading]) })
	}
}

func (s structure) check(t *testing.T, rows []tableRow) {
	t.Helper()
	covered := make([]int, len(s.written))
	s.each(t, rows, func(name string, from int, want []byte) {
		end := from + len(want)
		if end > len(s.written) {
			t.Errorf("row %q ends at %d, of %d bytes", name, end, len(s.written))
			return
		}
		for i := from; i < end; i++ {
			covered[i]++
		}
		if got := s.written[from:end]; !bytes.Equal(got, want) {
			t.Errorf("row %q, at %d, holds %.80x, want %.80x", name, from, got, want)
		}
	})
	for i, n := range covered {
		if n != 1 {
			t.Fatalf("byte %d is in %d rows", i, n)
		}
	}
}

// each calls fn with every place that the rows describe, and what should be there.
func (s structure) each(t *testing.T, rows []tableRow, fn func(name string, from int, want []byte)) {
	t.Helper()
	if len(rows) != len(s.cells) {
		t.Fatalf("%d rows, want %d", len(rows), len(s.cells))
	}
	for k, r := range rows {
		c := s.cells[k]
		if r.name != c.name {
			t.Fatalf("row %q, want %q", r.name, c.name)
		}
		for i, want := range c.want {
			vars := map[string]int{"i": i}
			maps.Copy(vars, s.vars)
			if r.size != "rest" && evaluate(t, r.size, vars) != len(want) {
				t.Errorf("row %q has %s bytes, want %d", r.name, r.size, len(want))
			}
			fn(r.name, evaluate(t, r.offset, vars), want)
		}
	}
}

// assemble is the bytes that the rows describe.
func (s structure) assemble(t *testing.T, heading string) []byte {
	t.Helper()
	var b []byte
	s.each(t, documentedRows(t)[heading], func(_ string, from int, want []byte) {
		if end := from + len(want); end > len(b) {
			b = append(b, make([]byte, end-len(b))...)
		}
		copy(b[from:], want)
	})
	return b
}

// TestFormatTypes holds the names of types against those of the code.
func TestFormatTypes(t *testing.T) {
	records := documented(t, "type | name | holds")["Records"]
	for i, r := range records {
		if r[0] != strconv.Itoa(i) || r[1] != segment.RecordType(i).String() {
			t.Errorf("record type %v, want %d, %s", r, i, segment.RecordType(i))
		}
	}
	properties := documented(t, "type | name | arrays | text")["Types of properties"]
	for i, r := range properties {
		typ := segment.Type(i + 1)
		if r[0] != strconv.Itoa(i+1) || r[1] != typ.String() || r[2] != (-typ).String() {
			t.Errorf("property type %v, want %d, %s, %s", r, i+1, typ, -typ)
		}
	}
	if len(records) != 9 || segment.RecordType(9).String() != "?" || len(properties) != 12 || segment.Type(13).String() != "?" {
		t.Errorf("%d types of records, %d of properties", len(records), len(properties))
	}
}

// TestFormatValues writes binaries of the lengths that FORMAT.md lists.
func TestFormatValues(t *testing.T) {
	p := newPress(t)
	rows := documented(t, "length | begins with")["Long value"]
	if len(rows) == 0 {
		t.Fatal("no lengths")
	}
	for _, r := range rows {
		n, err := strconv.Atoi(r[0])
		must(t, err)
		id, err := p.Binary(strings.NewReader(strings.Repeat("b", n)))
		must(t, err)
		if got := p.bytes(id); !strings.HasPrefix(hex.EncodeToString(got), r[1]) {
			t.Errorf("%d bytes begin with %.16x, want %s", n, got, r[1])
		}
	}
}

// TestFormatLeads reads a record with each first byte: it must be what FORMAT.md says.
func TestFormatLeads(t *testing.T) {
	var kinds [256]string
	next := 0
	for _, r := range documented(t, "first byte | what it is")["VALUE and BLOB_ID"] {
		var from, to int
		_, err := fmt.Sscanf(r[0], "0x%X to 0x%X", &from, &to)
		must(t, err)
		if from != next {
			t.Errorf("%s: the row before ends ahead of %#x", r[0], next)
		}
		next = to + 1
		for lead := from; lead <= to; lead++ {
			kinds[lead], _, _ = strings.Cut(r[1], " of ")
		}
	}
	p := newPress(t)
	id, err := p.Binary(strings.NewReader(strings.Repeat("b", 16511))) // room for all forms
	must(t, err)
	s, at := p.find(id)
	for lead := range 256 {
		want, _, _ := strings.Cut(kinds[lead], ":")
		if got := leadKind(t, s, id.Number, at, byte(lead)); got != want {
			t.Errorf("%#x: %s, want %s", lead, got, want)
		}
	}
}

// leadKind is what a record with another first byte is read as, in the words of FORMAT.md.
func leadKind(t *testing.T, s *segment.Segment, number uint32, at int, lead byte) string {
	t.Helper()
	b := bytes.Clone(s.Bytes())
	copy(b[at:], []byte{lead, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	s, err := segment.Parse(s.ID(), b)
	must(t, err)
	r, err := s.Record(number)
	must(t, err)
	v, err := r.Value()
	switch {
	case err != nil:
		return leadOfError(lead, err)
	case v.IsExternal():
		return "a BLOB_ID"
	case v.IsLong():
		return "a long value"
	case lead < 0x80 && v.Len() == int64(lead), lead >= 0x80 && v.Len() == int64(lead&0x3F)<<8+1+128:
		return "a value"
	}
	return fmt.Sprintf("%d bytes", v.Len())
}

// leadOfError tells a length beyond all bounds, which there is behind 0xC0 to 0xDF here, from what is no value.
func leadOfError(lead byte, err error) string {
	if strings.Contains(err.Error(), "no value begins with") {
		return "damage"
	}
	if lead < 0xE0 && strings.Contains(err.Error(), "a value of") {
		return "a long value"
	}
	return err.Error()
}

// TestFormatHashes finds the hashes of names in the leaves of maps.
func TestFormatHashes(t *testing.T) {
	p := newPress(t)
	rows := documented(t, "name | hash")["Maps"]
	if len(rows) == 0 {
		t.Fatal("no hashes")
	}
	for _, r := range rows {
		id, err := p.Map([]segment.Child{{Name: r[0], Node: p.leaves(1)[0]}})
		must(t, err)
		if got := hex.EncodeToString(p.bytes(id)[4:8]); got != r[1] {
			t.Errorf("%s: %s, want %s", r[0], got, r[1])
		}
	}
}

// TestFormatBits puts the heads of templates together from the table of their bits.
func TestFormatBits(t *testing.T) {
	shift := map[string]int{}
	for _, r := range documented(t, "bits | meaning")["TEMPLATE"] {
		low, _, _ := strings.Cut(r[0], " to ")
		n, err := strconv.Atoi(low)
		must(t, err)
		shift[r[1]] = n
	}
	bits := func(values map[string]int) (head uint32) {
		for name, v := range values {
			n, ok := shift[name]
			if !ok {
				t.Fatalf("no row %q", name)
			}
			head |= uint32(v) << n
		}
		return head
	}
	const (
		primary, mixins, none = "there is a primary type", "there are mixin types, perhaps none", "no child"
		many                  = "two or more children"
		mixinCount, count     = "number of mixin types", "number of other properties"
	)
	for _, test := range []struct {
		primary         bool
		mixins          int // -1 for no such property
		children, other int
		want            map[string]int
	}{
		{false, -1, 0, 0, map[string]int{none: 1}},
		{false, -1, 1, 0, map[string]int{}},
		{true, -1, 2, 1, map[string]int{primary: 1, many: 1, count: 1}},
		{true, 0, 0, 3, map[string]int{primary: 1, mixins: 1, none: 1, count: 3}},
		{false, 3, 1, 2, map[string]int{mixins: 1, mixinCount: 3, count: 2}},
	} {
		p := newPress(t)
		d := p.draft(test.primary, test.mixins, test.children, test.other)
		id, err := p.Template(d)
		must(t, err)
		if got, want := be.Uint32(p.bytes(id)), bits(test.want); got != want {
			t.Errorf("%+v: head %08x, want %08x", test, got, want)
		}
	}
}

// TestFormatExample holds the annotated dump against the archive in testdata.
func TestFormatExample(t *testing.T) {
	_, text, ok := strings.Cut(formatText(t), "\n## An example\n")
	if !ok {
		t.Fatal("FORMAT.md has no example")
	}
	got, err := os.ReadFile(filepath.Join("testdata", "tiny", "data00000a.tar"))
	must(t, err)
	want := make([]byte, len(got))
	lines := regexp.MustCompile(`(?m)^(\d{4})-(\d{4}): x ([0-9a-f]+) +# \S`).FindAllStringSubmatch(text, -1)
	end := 0
	for _, m := range lines {
		data, err := hex.DecodeString(m[3])
		must(t, err)
		from, _ := strconv.Atoi(m[1])
		if from < end || m[2] != fmt.Sprintf("%04d", from+len(data)) || from+len(data) > len(want) {
			t.Fatalf("%s: the positions are wrong", m[0])
		}
		end = from + copy(want[from:], data)
	}
	if !bytes.Equal(got, want) {
		t.Error("the example is not the archive")
	}
	if !strings.Contains(text, fmt.Sprintf("\nLength %d.", len(got))) {
		t.Error("the example does not say how long it is")
	}
	journal, err := os.ReadFile(filepath.Join("testdata", "tiny", "journal.log"))
	must(t, err)
	if !strings.Contains(formatText(t), "\n```\n"+string(journal)+"```\n") {
		t.Error("the journal of the example is not in FORMAT.md")
	}
}
