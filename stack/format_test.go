// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holtdb/holt/internal/file"
)

// The tables of FORMAT.md are held against files that the package writes, caught at the moment at which a journal is
// armed, and against files that are put together from the tables alone.

// A structure is what a table describes: its bytes as they were written, and what each row should have of them.
type structure struct {
	written []byte
	cells   map[string][]byte
}

func structures(t *testing.T) map[string]structure {
	repeated, _ := armedFile(t, zeros, repeatExample)
	copied, _ := armedFile(t, zeros, copyExample)
	several, _ := armedFile(t, []byte("hello, world"), func(s *Stack) error {
		return s.SetBatched([]Piece{{1, []byte("a")}, {4, []byte("two")}})
	})
	set, _ := armedFile(t, zeros, func(s *Stack) error { return s.Set(250-headerSize, text) })
	return map[string]structure{
		"Header": {set, map[string][]byte{
			"prefix": []byte("BSTK\x00\x04"), "release": {4}, "reserved": {0},
			"length": u64(len(zeros)), "target": u64(250), "mode": u64(0), "payload": slices.Concat(zeros, text),
		}},
		"Repeat": {repeated[headerSize+len(zeros):], map[string][]byte{
			"count": u64(0x10101), "pattern": text,
		}},
		"Copy": {copied[headerSize+len(zeros):], map[string][]byte{
			"from": u64(0x20202), "size": u64(0x12345),
		}},
		"MultiWrite": {several[headerSize+len("hello, world")+17:], map[string][]byte{
			"start": u64(4), "end": u64(7), "data": []byte("two"),
		}},
		"Header of generation 0.1": {[]byte("BSTK\x00\x01\x0f\x00\x03\x00\x00\x00\x00\x00\x00\x00one"), map[string][]byte{
			"prefix": []byte("BSTK\x00\x01"), "release": {0x0f}, "reserved": {0},
			"length": u64(3), "payload": []byte("one"),
		}},
	}
}

var (
	zeros = make([]byte, 2_000_000)
	text  = []byte("a pattern, or what is set")
)

func repeatExample(s *Stack) error { return s.Repeat(1000, text, 0x10101) }
func copyExample(s *Stack) error   { return s.Copy(0x20202, 1000, 0x12345) }

func u64(n int) []byte { return le.AppendUint64(nil, uint64(n)) }

// armedFile is the file of a payload just after a change of it was armed, and the payload that it stands for.
func armedFile(t *testing.T, payload []byte, change func(s *Stack) error) (armed, after []byte) {
	t.Helper()
	for cut := 1; ; cut++ {
		disk := file.NewCrash()
		s := openBytes(t, disk, slices.Concat(newHeader(record{length: uint64(len(payload))}), payload), nil)
		disk.CutAt(cut)
		err := change(s)
		_ = s.Close() // without power it fails as everything else
		if err == nil && !disk.IsCut() {
			t.Fatal("the change is made without a journal")
		}
		found := disk.AfterCutKeeping(file.KeepAll)
		if b := fileBytes(t, found); parseRecord(b[recordOff:]).armed() {
			s := openBytes(t, file.NewMemory(), b, nil)
			after, err := s.Peek(0)
			if err := errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			return b, after
		}
	}
}

const testFile = "test.stack"

func openBytes(t *testing.T, disk *file.Crash, b []byte, opts *Options) *Stack {
	t.Helper()
	f, err := disk.OpenFile(testFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(b, 0)
	if err := errors.Join(err, f.Sync(), f.Close(), disk.SyncDir(".")); err != nil {
		t.Fatal(err)
	}
	s, err := OpenFS(disk, testFile, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fileBytes(t *testing.T, disk *file.Crash) []byte {
	t.Helper()
	f, err := disk.OpenFile(testFile, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<40))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// row is a row of a table of offsets.
type row struct {
	offset, size int // size is -1 if there is no end
	name         string
}

func parseRow(t *testing.T, cells []string) row {
	t.Helper()
	r := row{size: -1, name: cells[2]}
	var err error
	if cells[1] != "rest" {
		r.size, err = strconv.Atoi(cells[1])
	}
	offset, err2 := strconv.Atoi(cells[0])
	if err := errors.Join(err, err2); err != nil {
		t.Fatalf("row %q: %v", cells, err)
	}
	r.offset = offset
	return r
}

// documentedTables returns the rows of all tables of FORMAT.md that have this head, by the heading above them.
func documentedTables(t *testing.T, head string) map[string][][]string {
	t.Helper()
	found := map[string][][]string{}
	heading, inside := "", false
	for line := range strings.Lines(formatText(t)) {
		line = strings.TrimSpace(line)
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case strings.HasPrefix(line, "#"):
			heading, inside = strings.TrimLeft(line, "# "), false
		case !strings.HasPrefix(line, "|"):
			inside = false
		case line == "| "+head+" |":
			inside = true
		case inside && !strings.HasPrefix(line, "|---"):
			found[heading] = append(found[heading], cells)
		}
	}
	return found
}

func formatText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFormatTables demands a row for every byte of every structure, and what it says in its place.
func TestFormatTables(t *testing.T) {
	documented := documentedTables(t, "offset | size | field | meaning")
	known := structures(t)
	for heading := range documented {
		if _, ok := known[heading]; !ok {
			t.Errorf("FORMAT.md has a table %q that this test does not know", heading)
		}
	}
	for heading, s := range known {
		end := 0
		for _, cells := range documented[heading] {
			r := parseRow(t, cells)
			want, ok := s.cells[r.name]
			if !ok || r.offset != end {
				t.Errorf("%s: row %q is extra, or does not start at %d", heading, r.name, end)
				continue
			}
			delete(s.cells, r.name)
			end = r.offset + r.size
			if r.size < 0 {
				end = len(s.written)
			}
			if got := s.written[r.offset:end]; !bytes.Equal(got, want) {
				t.Errorf("%s: row %q holds %x, want %x", heading, r.name, short(got), short(want))
			}
		}
		if end != len(s.written) || len(s.cells) > 0 {
			t.Errorf("%s: the rows end at %d of %d; missing: %d", heading, end, len(s.written), len(s.cells))
		}
	}
}

func short(b []byte) []byte { return b[:min(len(b), 40)] }

// documentedModes returns the values of the modes that FORMAT.md lists, and those of them that have a target.
func documentedModes(t *testing.T) (modes map[string]uint64, aimed, written map[string]bool) {
	t.Helper()
	modes, aimed, written = map[string]uint64{}, map[string]bool{}, map[string]bool{}
	for _, cells := range documentedTables(t, "mode | name | target | what it does | we write it")["Journal"] {
		value, err := strconv.ParseUint(cells[0], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		name := cells[1]
		modes[name], aimed[name], written[name] = value, cells[2] == "yes", cells[4] == "yes"
	}
	return modes, aimed, written
}

// TestFormatModes arms a journal of every mode that FORMAT.md says we write, and demands that it is the one it says.
func TestFormatModes(t *testing.T) {
	modes, aimed, written := documentedModes(t)
	hello := []byte("hello, world")
	changes := map[string]struct {
		payload []byte
		change  func(s *Stack) error
		target  int
		staged  []byte
	}{
		"Set":          {zeros, func(s *Stack) error { return s.Set(250-headerSize, text) }, 250, text},
		"SpliceShrink": {hello, func(s *Stack) error { return s.Atrunc(5, []byte("abc")) }, headerSize + 7, []byte("abc")},
		"Repeat":       {zeros, repeatExample, headerSize + 1000, slices.Concat(u64(0x10101), text)},
		"Copy":         {zeros, copyExample, headerSize + 1000, slices.Concat(u64(0x20202), u64(0x12345))},
		"MultiWrite": {hello, func(s *Stack) error { return s.CrossExchange(1, 8, 2) }, 0, slices.Concat(
			u64(1), u64(3), []byte("or"), u64(8), u64(10), []byte("el"))},
	}
	for name := range modes {
		change, ok := changes[name]
		if ok != written[name] {
			t.Errorf("%s: written by us, says FORMAT.md: %t; known to this test: %t", name, written[name], ok)
		}
		if !ok {
			continue
		}
		b, _ := armedFile(t, change.payload, change.change)
		r := parseRecord(b[recordOff:])
		if r.mode != modes[name] || r.target != uint64(change.target) || aimed[name] != (r.target != 0) {
			t.Errorf("%s: record %+v, want mode %#x, target %d", name, r, modes[name], change.target)
		}
		if got := b[headerSize+len(change.payload):]; !bytes.Equal(got, change.staged) {
			t.Errorf("%s: %x is staged, want %x", name, short(got), short(change.staged))
		}
	}
	if len(modes) != 6 {
		t.Errorf("FORMAT.md lists %d modes", len(modes))
	}
}

// TestFormatReplay opens files that are put together from what FORMAT.md says.
func TestFormatReplay(t *testing.T) {
	modes, _, _ := documentedModes(t)
	const payload = "0123456789"
	for _, test := range []struct {
		mode   string
		length int
		target int
		behind string
		want   string
	}{
		{"Set", 10, 32 + 3, "abc", "012abc6789"},
		{"Set", 10, 32 + 7, "abc", "0123456abc"},
		{"Set", 10, 32 + 8, "abc", "0123456789"}, // beyond L
		{"Set", 10, 31, "abc", "0123456789"},     // before the payload
		{"Set", 10, 35, "", "0123456789"},        // nothing staged
		{"Set", 12, 32, "+-abc", "abc3456789+-"}, // with growth
		{"Repeat", 10, 32 + 3, "\x03\x00\x00\x00\x00\x00\x00\x00ab", "012ababab9"},
		{"Repeat", 10, 32 + 3, "\x04\x00\x00\x00\x00\x00\x00\x00ab", payload},
		{"Repeat", 10, 32 + 3, "\x03\x00\x00\x00\x00\x00\x00\x00", payload},
		{"Copy", 10, 32 + 6, "\x01\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00 ignored", "0123451234"},
		{"Copy", 10, 32 + 4, "\x01\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00", payload}, // overlaps
		{"Copy", 10, 32 + 6, "\x01\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00", payload},     // cut off
		{"MultiWrite", 10, 0, string(blockHeadOf(8, 9)) + "x" + string(blockHeadOf(0, 2)) + "yz", "yz234567x9"},
		{"MultiWrite", 10, 0, string(blockHeadOf(8, 9)) + "x" + string(blockHeadOf(0, 2)) + "y", payload},
		{"MultiWrite", 10, 0, string(blockHeadOf(8, 9)) + "x+", payload},
		{"MultiWrite", 10, 0, string(blockHeadOf(8, 11)) + "xyz", payload},
		{"MultiWrite", 10, 32, string(blockHeadOf(8, 9)) + "x", payload}, // has no target
		{"SpliceGrow", 10, 32 + 8, "...abcde", "01234567abcde"},
		{"SpliceGrow", 10, 32 + 8, "...abcdef", payload}, // odd
		{"SpliceShrink", 10, 32 + 4, "abcd", "0123abcd"},
		{"SpliceShrink", 10, 32 + 4, "abcdef", payload}, // no shorter
		{"SpliceShrink", 10, 32 + 4, "", "0123"},
	} {
		b := slices.Concat(newHeader(record{uint64(test.length), uint64(test.target), modes[test.mode]}),
			[]byte(payload), []byte(test.behind))
		t.Run(test.mode, func(t *testing.T) { checkReplay(t, b, test.want) })
	}
	for _, mode := range []uint64{1, 1<<64 - 1, 1<<64 - 7} {
		for _, target := range []uint64{0, 32} {
			b := slices.Concat(newHeader(record{10, target, mode}), []byte(payload), []byte("abc"))
			t.Run("unknown", func(t *testing.T) { checkReplay(t, b, payload) })
		}
	}
}

func blockHeadOf(start, end int) []byte { return slices.Concat(u64(start), u64(end)) }

func checkReplay(t *testing.T, b []byte, want string) {
	t.Helper()
	disk := file.NewCrash()
	s := openBytes(t, disk, b, nil)
	got, err := s.Peek(0)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("payload %q, want %q", got, want)
	}
	resting := append(newHeader(record{length: uint64(len(want))}), want...)
	if got := fileBytes(t, disk.AfterCutKeeping(file.KeepNone)); !bytes.Equal(got, resting) {
		t.Errorf("durable is %q, want %q", got, resting)
	}
}

// TestFormatHeader flips every byte of the header of a file that is armed.
func TestFormatHeader(t *testing.T) {
	ignored := map[string]bool{"release": true, "reserved": true}
	for _, cells := range documentedTables(t, "offset | size | field | meaning")["Header"][:3] {
		r := parseRow(t, cells)
		for i := r.offset; i < r.offset+r.size; i++ {
			b := append(newHeader(record{length: 5}), "hello"...)
			b[i] ^= 0x40
			if err := checkMagic(testFile, b); (err == nil) != ignored[r.name] {
				t.Errorf("byte %d, of %s, flipped: %v", i, r.name, err)
			}
		}
	}
}

// TestFormatOlder reads a file of generation 0.1 that is put together from its table.
func TestFormatOlder(t *testing.T) {
	s := openBytes(t, file.NewMemory(), structures(t)["Header of generation 0.1"].written, &Options{ReadOnly: true})
	got, err := s.Peek(0)
	if err := errors.Join(err, s.Close()); err != nil || string(got) != "one" {
		t.Errorf("payload %q, error %v", got, err)
	}
}

// TestFormatExample holds the annotated dump against the file that it describes.
func TestFormatExample(t *testing.T) {
	_, text, ok := strings.Cut(formatText(t), "\n## An example\n")
	if !ok {
		t.Fatal("FORMAT.md has no example")
	}
	var want []byte
	for _, m := range regexp.MustCompile(`(?m)^(\d+)-(\d+): x ([0-9a-f]+) +# \S`).FindAllStringSubmatch(text, -1) {
		data, err := hex.DecodeString(m[3])
		if err != nil {
			t.Fatal(err)
		}
		from := len(want)
		want = append(want, data...)
		if m[1] != padded(from) || m[2] != padded(len(want)) {
			t.Errorf("%s: should be %d-%d", m[0], from, len(want))
		}
	}
	got, after := armedFile(t, []byte("hello, world"), func(s *Stack) error {
		return s.Update(func(u *Unit) error {
			_, err1 := u.WriteAt([]byte("J"), 0)
			_, err2 := u.WriteAt([]byte("W"), 7)
			_, err3 := u.Push([]byte("!"))
			return errors.Join(err1, err2, err3)
		})
	})
	if !bytes.Equal(got, want) {
		t.Errorf("the file is\n%x, the example\n%x", got, want)
	}
	if string(after) != "Jello, World!" {
		t.Errorf("it is recovered to %q", after)
	}
	if !strings.Contains(text, "Length "+strconv.Itoa(len(want))+".") {
		t.Error("the example does not say how long it is")
	}
}

func padded(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}
