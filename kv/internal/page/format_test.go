// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holtdb/holt/kv/internal/page"
)

// The tables of FORMAT.md are held against the code: what a function writes lies where the row says, what the row says
// is where a function reads, and there is a row for every byte.

var ne = binary.NativeEndian

// ones is a value whose bytes all differ from those of 0.
const ones = ^uint64(0)

// field is what the code knows of one row.
type field struct {
	put   func(b []byte, i int, v uint64) // writes 0 or ones
	get   func(b []byte, i int) uint64    // reads it back; nil if the row has several fields
	check func(t *testing.T, r row)       // in place of both
}

// structure is what the code knows of one table.
type structure struct {
	length int // of the fixed parts; 0 if the last row has no end
	fields map[string]field
}

// structures by heading of the table. A second table below a heading has " 2" behind it.
var structures = map[string]structure{
	"Page header": {page.HeaderSize, map[string]field{
		"id": {
			put: func(b []byte, _ int, v uint64) { page.Page(b).PutHeader(v, 0, 0, 0) },
			get: func(b []byte, _ int) uint64 { return page.Page(b).ID() },
		},
		"flags": {
			put: func(b []byte, _ int, v uint64) { page.Page(b).PutHeader(0, uint16(v), 0, 0) },
			get: func(b []byte, _ int) uint64 { return uint64(page.Page(b).Flags()) },
		},
		"count": {
			put: func(b []byte, _ int, v uint64) { page.Page(b).PutHeader(0, 0, int(uint16(v)), 0) },
			get: func(b []byte, _ int) uint64 { return uint64(page.Page(b).Count()) },
		},
		"overflow": {
			put: func(b []byte, _ int, v uint64) { page.Page(b).PutHeader(0, 0, 0, uint32(v)) },
			get: func(b []byte, _ int) uint64 { return uint64(page.Page(b).Overflow()) },
		},
	}},
	"Meta page": {0, map[string]field{
		"page header":     header,
		"magic":           meta32((*page.MetaView).SetMagic, (*page.MetaView).Magic),
		"version":         meta32((*page.MetaView).SetVersion, (*page.MetaView).Version),
		"page size":       meta32((*page.MetaView).SetPageSize, (*page.MetaView).PageSize),
		"flags":           meta32((*page.MetaView).SetFlags, (*page.MetaView).Flags),
		"root":            meta64((*page.MetaView).SetRoot, (*page.MetaView).Root),
		"root sequence":   {put: putSequence, get: meta64(nil, (*page.MetaView).Sequence).get},
		"free list":       meta64((*page.MetaView).SetFreelist, (*page.MetaView).Freelist),
		"high water mark": meta64((*page.MetaView).SetHWM, (*page.MetaView).HWM),
		"txid":            meta64((*page.MetaView).SetTxID, (*page.MetaView).TxID),
		"checksum":        {put: putChecksum, get: meta64(nil, (*page.MetaView).Checksum).get},
		"reserved":        {check: checkReserved},
	}},
	"Paired meta page": {0, map[string]field{
		"meta page": {check: func(t *testing.T, r row) {
			if r.at(0)+r.size != page.HeaderSize+page.MetaSize {
				t.Errorf("the meta page takes %d bytes", r.size)
			}
		}},
		"sum":   {check: checkPaired(func(b []byte, r row) bool { return ne.Uint32(b[r.at(0):]) == sumAsDocumented(b) })},
		"count": {check: checkPaired(func(b []byte, r row) bool { return ne.Uint32(b[r.at(0):]) == uint32(len(pairedSums)) })},
		"run i": {check: checkPaired(func(b []byte, r row) bool {
			return r.at(0) == 88 && r.step == 16 && ne.Uint64(b[r.at(1):]) == pairedSums[1].ID
		})},
	}},
	"Run of a paired meta page": {16, map[string]field{
		"id":    {check: checkPaired(func(b []byte, r row) bool { return ne.Uint64(b[88+r.at(0):]) == pairedSums[0].ID })},
		"pages": {check: checkPaired(func(b []byte, r row) bool { return ne.Uint32(b[88+r.at(0):]) == pairedSums[0].Pages })},
		"sum":   {check: checkPaired(func(b []byte, r row) bool { return ne.Uint32(b[88+r.at(0):]) == pairedSums[0].Sum })},
	}},
	"Branch and leaf pages": {0, map[string]field{
		"page header":     header,
		"element i":       {put: putElem},
		"keys and values": {check: checkTable},
	}},
	"Branch element": {page.ElemSize, map[string]field{
		"pos": {
			put: func(b []byte, i int, v uint64) { page.Page(b).PutBranchElem(i, posAt(i, v), 0, 0) },
			get: func(b []byte, i int) uint64 {
				off, _, _ := page.Page(b).BranchSpan(i)
				return off - elemAt(i)
			},
		},
		"key size": {
			put: func(b []byte, i int, v uint64) { page.Page(b).PutBranchElem(i, posAt(i, 0), uint32(v), 0) },
			get: func(b []byte, i int) uint64 {
				_, ksize, _ := page.Page(b).BranchSpan(i)
				return uint64(ksize)
			},
		},
		"child": {
			put: func(b []byte, i int, v uint64) { page.Page(b).PutBranchElem(i, posAt(i, 0), 0, v) },
			get: func(b []byte, i int) uint64 { return page.Page(b).Child(i) },
		},
	}},
	"Leaf element": {page.ElemSize, map[string]field{
		"flags": {
			put: func(b []byte, i int, v uint64) { page.Page(b).PutLeafElem(i, uint32(v), posAt(i, 0), 0, 0) },
			get: func(b []byte, i int) uint64 { return uint64(page.LeafFlags(page.Page(b).Elem(i))) },
		},
		"pos": {
			put: func(b []byte, i int, v uint64) { page.Page(b).PutLeafElem(i, 0, posAt(i, v), 0, 0) },
			get: func(b []byte, i int) uint64 {
				_, off, _, _, _ := page.Page(b).LeafSpan(i)
				return off - elemAt(i)
			},
		},
		"key size": {
			put: func(b []byte, i int, v uint64) { page.Page(b).PutLeafElem(i, 0, posAt(i, 0), uint32(v), 0) },
			get: func(b []byte, i int) uint64 {
				_, _, ksize, _, _ := page.Page(b).LeafSpan(i)
				return uint64(ksize)
			},
		},
		"value size": {
			put: func(b []byte, i int, v uint64) { page.Page(b).PutLeafElem(i, 0, posAt(i, 0), 0, uint32(v)) },
			get: func(b []byte, i int) uint64 {
				_, _, _, vsize, _ := page.Page(b).LeafSpan(i)
				return uint64(vsize)
			},
		},
	}},
	"Bucket value": {0, map[string]field{
		"root": {
			put: func(b []byte, _ int, v uint64) { page.PutBucketHeader(b, v, 0) },
			get: func(b []byte, _ int) uint64 { root, _, _, _ := page.BucketValue(b); return root },
		},
		"sequence": {
			put: func(b []byte, _ int, v uint64) { page.PutBucketHeader(b, 0, v) },
			get: func(b []byte, _ int) uint64 { _, sequence, _, _ := page.BucketValue(b); return sequence },
		},
		"inline page": {check: checkInline},
	}},
	"Free list page": {0, map[string]field{
		"page header": header,
		"id i":        freeID(page.MaxCount - 1),
	}},
	"Free list page 2": {0, map[string]field{
		"page header":   header,
		"number of ids": {check: checkFreeCount},
		"id i":          freeID(page.MaxCount),
	}},
}

var header = field{put: func(b []byte, _ int, v uint64) {
	page.Page(b).PutHeader(v, uint16(v), int(uint16(v)), uint32(v))
}}

func meta32(set func(*page.MetaView, uint32), get func(*page.MetaView) uint32) field {
	return field{
		put: func(b []byte, _ int, v uint64) { set(page.MetaOf(b), uint32(v)) },
		get: func(b []byte, _ int) uint64 { return uint64(get(page.MetaOf(b))) },
	}
}

func meta64(set func(*page.MetaView, uint64), get func(*page.MetaView) uint64) field {
	return field{
		put: func(b []byte, _ int, v uint64) { set(page.MetaOf(b), v) },
		get: func(b []byte, _ int) uint64 { return get(page.MetaOf(b)) },
	}
}

// putSequence takes the sequence out of a sealed page, as nothing else sets it.
func putSequence(b []byte, _ int, v uint64) {
	sealed := make([]byte, len(b))
	page.PutMeta(sealed, page.MetaRecord{Sequence: v})
	zero := make([]byte, len(b))
	page.PutMeta(zero, page.MetaRecord{})
	sum := page.MetaOf(zero).Checksum()
	for i := range sealed { // all that differs but the checksum, which is known by its value
		if sealed[i] != zero[i] && !within(sealed, i, page.MetaOf(sealed).Checksum()) && !within(zero, i, sum) {
			b[i] = sealed[i]
		}
	}
}

// within says whether byte i of b belongs to v, stored as a whole.
func within(b []byte, i int, v uint64) bool {
	at := bytes.Index(b, ne.AppendUint64(nil, v))
	return at >= 0 && at <= i && i < at+8
}

// putChecksum seals for ones, with a record whose sum has no byte that is 0.
func putChecksum(b []byte, _ int, v uint64) {
	m := page.MetaOf(b)
	for id := uint64(0); ; id++ {
		m.SetTxID(id)
		if bytes.IndexByte(ne.AppendUint64(nil, m.Sum()), 0) < 0 {
			break
		}
	}
	if v != 0 {
		m.Seal()
	}
}

func elemAt(i int) uint64 { return uint64(page.HeaderSize + page.ElemSize*i) }

// posAt is the place of a key so that pos of element i is the lower half of v.
func posAt(i int, v uint64) int { return int(elemAt(i)) + int(int32(v)) }

func putElem(b []byte, i int, v uint64) {
	page.Page(b).PutLeafElem(i, uint32(v), posAt(i, v), uint32(v), uint32(v))
}

func freeID(n int) field {
	return field{
		put: func(b []byte, i int, v uint64) {
			ids := page.Page(b).PutFreelistCount(0, n, 0)
			ne.PutUint64(ids[8*i:], v)
		},
		get: func(b []byte, i int) uint64 {
			page.Page(b).PutFreelistCount(0, n, 0)
			ids, ok := page.Page(b).FreelistIDs()
			if !ok || len(ids) != 8*n {
				return 1
			}
			return page.FreelistID(ids, i)
		},
	}
}

// checkReserved demands that the rest of a meta page is written as zeros and ignored.
// pairedSums are those of the paired meta page that checkPaired makes.
var pairedSums = []page.RunSum{{ID: 1<<40 + 5, Pages: 77, Sum: 0xABCD1234}, {ID: 9, Pages: 1, Sum: 3}}

// checkPaired looks at a row of a paired meta page.
func checkPaired(right func(b []byte, r row) bool) func(t *testing.T, r row) {
	return func(t *testing.T, r row) {
		t.Helper()
		b := make(page.Page, 1024)
		page.PutPaired(b, page.MetaRecord{PageSize: 1024, Root: 3, Freelist: 2, HWM: 4, TxID: 1<<40 + 7}, pairedSums)
		if m := page.MetaOf(b); !m.Paired() || m.Flags() != 7^0x746C6F48 || m.Validate() != nil {
			t.Errorf("flags %x, %v", m.Flags(), m.Validate())
		}
		if got, ok := b.PairedSums(); !ok || !slices.Equal(got, pairedSums) {
			t.Errorf("%v was read, %t", got, ok)
		}
		if !right(b, r) {
			t.Errorf("%q is not at %d", r.name, r.first)
		}
	}
}

// sumAsDocumented is the checksum of the checksums in b.
func sumAsDocumented(b []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(b[16:80], table), table, b[84:88+16*len(pairedSums)])
}

func checkReserved(t *testing.T, r row) {
	b := bytes.Repeat([]byte{0xFF}, 4096)
	page.PutMeta(b, page.MetaRecord{TxID: 1})
	at := r.at(0)
	if !bytes.Equal(b[at:], make([]byte, len(b)-at)) {
		t.Errorf("bytes from %d on are not written as zeros", at)
	}
	for i := at; i < len(b); i++ {
		b[i] = 0xFF
	}
	if err := page.MetaOf(b).Validate(); err != nil {
		t.Errorf("bytes from %d on are not ignored: %v", at, err)
	}
}

// checkTable demands that a page may end where its table does, and no earlier.
func checkTable(t *testing.T, r row) {
	for _, count := range []int{0, 1, 7} {
		b := page.Page(make([]byte, 4096))
		b.PutHeader(2, page.Leaf, count, 0)
		if at := r.at(count); !b[:at].TableFits() || count > 0 && b[:at-1].TableFits() {
			t.Errorf("the table of %d elements does not end at %d", count, at)
		}
	}
}

func checkInline(t *testing.T, r row) {
	value := make([]byte, 100)
	_, _, inline, ok := page.BucketValue(value)
	if at := r.at(0); !ok || len(inline) != len(value)-at || &inline[0] != &value[at] {
		t.Errorf("the inline page does not start at %d", at)
	}
	page.PutBucketHeader(value, 5, 0)
	if _, _, inline, ok := page.BucketValue(value); !ok || inline != nil {
		t.Error("there is an inline page although root is not 0")
	}
}

func checkFreeCount(t *testing.T, r row) {
	const n = page.MaxCount + 1
	b := page.Page(make([]byte, page.FreelistSize(n)))
	b.PutFreelistCount(2, n, 0)
	cell := b[r.at(0) : r.at(0)+r.size]
	if b.Count() != page.MaxCount || ne.Uint64(cell) != n {
		t.Errorf("count %#x, number of ids %d for %d ids", b.Count(), ne.Uint64(cell), n)
	}
	ne.PutUint64(cell, 3)
	if ids, ok := b.FreelistIDs(); !ok || len(ids) != 24 {
		t.Errorf("%d bytes of ids after 3 was written at %d", len(ids), r.at(0))
	}
}

// row is a row of a table: offset first + step × i.
type row struct {
	first, step int
	variable    string // what step is multiplied by
	size        int    // rest is -1
	name        string
	meaning     string
}

const rest = -1

func (r row) at(i int) int { return r.first + r.step*i }

var offsetExpr = regexp.MustCompile(`^(\d+)(?: \+ (\d+) × (i|count))?$`)

func parseRow(t *testing.T, cells []string) row {
	t.Helper()
	m := offsetExpr.FindStringSubmatch(cells[0])
	if len(cells) != 4 || m == nil {
		t.Fatalf("row %q: want offset | size | field | meaning", cells)
	}
	r := row{first: atoi(t, m[1]), variable: m[3], size: rest, name: cells[2], meaning: cells[3]}
	if m[2] != "" {
		r.step = atoi(t, m[2])
	}
	if cells[1] != "rest" {
		r.size = atoi(t, cells[1])
	}
	return r
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.ParseInt(s, 0, strconv.IntSize)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// table is a table of a Markdown file: its rows of cells, without the head.
type table struct {
	heading string // the last one before it; with " 2" behind it for the second, and so on
	head    string
	rows    [][]string
}

func readTables(t *testing.T) (tables []table) {
	t.Helper()
	text, err := os.ReadFile("../../FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	heading, inside := "", false
	count := map[string]int{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			heading, inside = strings.TrimLeft(line, "# "), false
		case !strings.HasPrefix(line, "|"):
			inside = false
		case !inside:
			inside = true
			tab := table{heading: heading, head: strings.Join(cellsOf(line), " | ")}
			if n := count[heading+tab.head] + 1; n > 1 {
				tab.heading += " " + strconv.Itoa(n)
			}
			count[heading+tab.head]++
			tables = append(tables, tab)
		case !strings.HasPrefix(line, "|---"):
			last := &tables[len(tables)-1]
			last.rows = append(last.rows, cellsOf(line))
		}
	}
	return tables
}

func cellsOf(line string) []string {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// layouts are the rows of all tables that describe a structure.
func layouts(t *testing.T) map[string][]row {
	t.Helper()
	found := map[string][]row{}
	for _, tab := range readTables(t) {
		if tab.head != "offset | size | field | meaning" {
			continue
		}
		for _, cells := range tab.rows {
			found[tab.heading] = append(found[tab.heading], parseRow(t, cells))
		}
	}
	return found
}

func TestFormatTables(t *testing.T) {
	documented := layouts(t)
	for name := range documented {
		if _, ok := structures[name]; !ok {
			t.Errorf("FORMAT.md has a table %q that this test does not know", name)
		}
	}
	base := map[string]func(i int) int{"Branch element": nil, "Leaf element": nil}
	for _, r := range documented["Branch and leaf pages"] {
		if r.name == "element i" {
			base["Branch element"], base["Leaf element"] = r.at, r.at
		}
	}
	for name, s := range structures {
		t.Run(name, func(t *testing.T) {
			rows := documented[name]
			checkComplete(t, s, rows)
			for _, r := range rows {
				checkRow(t, s.fields[r.name], r, base[name])
			}
		})
	}
}

// checkComplete demands one row for every field, and one behind the other.
func checkComplete(t *testing.T, s structure, rows []row) {
	t.Helper()
	missing := map[string]bool{}
	for name := range s.fields {
		missing[name] = true
	}
	end, open := 0, false
	for i, r := range rows {
		if !missing[r.name] {
			t.Errorf("row %q is extra", r.name)
		}
		delete(missing, r.name)
		if open {
			t.Errorf("row %q lies behind one without end", r.name)
		}
		if r.first != end {
			t.Errorf("row %q starts at %d, the one before ends at %d", r.name, r.first, end)
		}
		switch {
		case r.variable == "i" && r.step != r.size:
			t.Errorf("row %q: %d bytes, the next one %d behind it", r.name, r.size, r.step)
		case r.variable == "i" && i+1 < len(rows):
			if next := rows[i+1]; next.variable != "count" || next.step != r.step {
				t.Errorf("row %q does not end where %q starts", r.name, next.name)
			}
		case r.variable == "i" || r.size == rest:
			open = true
		default:
			end += r.size
		}
	}
	for name := range missing {
		t.Errorf("row %q is missing", name)
	}
	if open != (s.length == 0) || !open && end != s.length {
		t.Errorf("the rows end at %d (open: %t), the structure at %d", end, open, s.length)
	}
}

// checkRow demands that f writes and reads where r says. base is where a structure that lies in another starts.
func checkRow(t *testing.T, f field, r row, base func(i int) int) {
	t.Helper()
	if f.check != nil {
		f.check(t, r)
		return
	}
	if f.put == nil {
		return // extra, and reported
	}
	if r.size == rest {
		t.Errorf("row %q has no end", r.name)
		return
	}
	for _, i := range []int{0, 1, 5} {
		at := r.at(i)
		if base != nil {
			at += base(i)
		}
		checkPut(t, f, r, i, at)
		if f.get != nil {
			checkGet(t, f, r, i, at)
		}
	}
}

const bufSize = 1 << 20 // holds a long free list

func checkPut(t *testing.T, f field, r row, i, at int) {
	t.Helper()
	lo, hi := make([]byte, bufSize), make([]byte, bufSize)
	f.put(lo, i, 0)
	f.put(hi, i, ones)
	for b := range lo {
		if changed, want := lo[b] != hi[b], at <= b && b < at+r.size; changed != want {
			t.Errorf("row %q, i = %d: byte %d changed: %t, want %t", r.name, i, b, changed, want)
			return
		}
	}
}

func checkGet(t *testing.T, f field, r row, i, at int) {
	t.Helper()
	all := ones >> (64 - 8*r.size)
	for _, inside := range []byte{0, 0xFF} {
		b := bytes.Repeat([]byte{^inside}, bufSize)
		for k := at; k < at+r.size; k++ {
			b[k] = inside
		}
		want := all
		if inside == 0 {
			want = 0
		}
		if got := f.get(b, i); got != want {
			t.Errorf("row %q, i = %d: read as %#x, want %#x", r.name, i, got, want)
		}
	}
}

// TestFormatChecksum flips every byte of a meta page: those that FORMAT.md says are covered must be noticed, and those
// of the checksum, and no other.
func TestFormatChecksum(t *testing.T) {
	var from, to, sum int
	for _, r := range layouts(t)["Meta page"] {
		if r.name != "checksum" {
			continue
		}
		m := regexp.MustCompile(`of page bytes (\d+) to (\d+)`).FindStringSubmatch(r.meaning)
		if m == nil {
			t.Fatalf("the checksum %q does not say what it covers", r.meaning)
		}
		from, to, sum = atoi(t, m[1]), atoi(t, m[2]), r.at(0)
	}
	if to+1 != sum {
		t.Errorf("the checksum covers bytes up to %d and lies at %d", to, sum)
	}
	b := make([]byte, 4096)
	page.PutMeta(b, page.MetaRecord{PageSize: 4096, Root: 3, Freelist: 2, HWM: 4, TxID: 1})
	for i := range b {
		b[i] ^= 0x40
		covered := from <= i && i <= to || sum <= i && i < sum+8
		if err := page.MetaOf(b).Validate(); (err != nil) != covered {
			t.Errorf("byte %d flipped: error %v, covered: %t", i, err, covered)
		}
		b[i] ^= 0x40
	}
}

// TestFormatConstants holds the numbers in the meanings against the code.
func TestFormatConstants(t *testing.T) {
	for name, want := range map[string]uint64{
		"magic": page.Magic, "version": page.Version, "free list": page.NoFreelist,
	} {
		found := false
		for _, r := range layouts(t)["Meta page"] {
			if r.name != name {
				continue
			}
			words := regexp.MustCompile(`\b(0x[0-9A-F]+|\d+)\b`).FindAllString(r.meaning, -1)
			found = len(words) == 1 && strings.EqualFold(strings.TrimPrefix(words[0], "0x"),
				strconv.FormatUint(want, 16))
		}
		if !found {
			t.Errorf("the row of %s does not say %#x", name, want)
		}
	}
	for _, r := range layouts(t)["Leaf element"] {
		if bit, _, _ := strings.Cut(r.meaning, ":"); r.name == "flags" {
			if n := atoi(t, strings.TrimPrefix(bit, "bit ")); 1<<n != page.BucketFlag {
				t.Errorf("%q is documented as the flag of a bucket, not %#x", bit, page.BucketFlag)
			}
		}
	}
}

// TestFormatTypes holds the table of page types against the code.
func TestFormatTypes(t *testing.T) {
	documented := map[uint16]string{}
	for _, tab := range readTables(t) {
		if tab.head != "flags | type | elements" {
			continue
		}
		for _, cells := range tab.rows {
			flags := uint16(atoi(t, cells[0]))
			if documented[flags] != "" {
				t.Errorf("flags %#x are documented twice", flags)
			}
			documented[flags] = cells[1]
		}
	}
	for flags := range 1 << 16 {
		name, ok := documented[uint16(flags)]
		if ok != page.ValidFlags(uint16(flags)) || ok && name != page.TypeName(uint16(flags)) {
			t.Errorf("flags %#x: documented as %q, valid: %t, called %q",
				flags, name, page.ValidFlags(uint16(flags)), page.TypeName(uint16(flags)))
		}
	}
}

// TestFormatNewFile makes the pages that the table of a new file describes.
func TestFormatNewFile(t *testing.T) {
	const size = 1024
	var want []byte
	for _, tab := range readTables(t) {
		if tab.head != "page | type | txid | root | free list | high water mark" {
			continue
		}
		for _, cells := range tab.rows {
			want = append(want, newPage(t, cells, size)...)
		}
	}
	have := bytes.Repeat([]byte{0xFF}, 4*size)
	page.Initial(have, size)
	if !bytes.Equal(have, want) {
		t.Errorf("a new file\nhas   %x\nwants %x", have, want)
	}
}

func newPage(t *testing.T, cells []string, size int) page.Page {
	t.Helper()
	p := page.Page(make([]byte, size))
	id := uint64(atoi(t, cells[0]))
	switch cells[1] {
	case "meta":
		page.PutMeta(p, page.MetaRecord{
			PageSize: uint32(size), TxID: uint64(atoi(t, cells[2])), Root: uint64(atoi(t, cells[3])),
			Freelist: uint64(atoi(t, cells[4])), HWM: uint64(atoi(t, cells[5])),
		})
		p.SetID(id)
	case "freelist":
		p.PutHeader(id, page.Freelist, 0, 0)
	case "leaf":
		p.PutHeader(id, page.Leaf, 0, 0)
	default:
		t.Fatalf("page %d has the type %q", id, cells[1])
	}
	return p
}
