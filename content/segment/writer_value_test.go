// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/content/segment"
)

// TestWriteValueHeads has the first bytes of values of each length class.
func TestWriteValueHeads(t *testing.T) {
	for n, want := range map[int]string{
		0: "00", 5: "05", 127: "7f", 128: "8000", 16_511: "bfff", 16_512: "c000000000000000", 20_000: "c000000000000da0",
	} {
		for kind, write := range map[string]func(*pen, []byte) segment.RecordID{
			"string": func(p *pen, b []byte) segment.RecordID { return p.text(string(b)) }, "binary": (*pen).binary,
		} {
			p := newPen(t, newStore(), segment.Options{})
			r := p.open(write(p, bytes.Repeat([]byte("x"), n)))
			b, err := r.Block(len(unhex(t, want)))
			if err != nil || !bytes.Equal(b, unhex(t, want)) {
				t.Errorf("%s of %d bytes begins %x, want %s: %v", kind, n, b, want, err)
			}
		}
	}
	for n, want := range map[int]string{0: "e000", 70: "e046", 4095: "efff", 4096: "f0", 20_000: "f0"} {
		p := newPen(t, newStore(), segment.Options{})
		id := strings.Repeat("x", n)
		rid := p.id(p.BlobID(id))
		v := p.openValue(rid, segment.RecordBlobID)
		b, err := p.open(rid).Block(len(unhex(t, want)))
		if err != nil || !bytes.Equal(b, unhex(t, want)) {
			t.Errorf("an id of %d bytes begins %x, want %s: %v", n, b, want, err)
		}
		text, err := v.BlobID()
		must(t, err)
		if have, err := text.Text(1 << 20); err != nil || have != id {
			t.Errorf("an id of %d bytes is %.80q: %v", n, have, err)
		}
	}
}

// TestWriteSizes has strings and binaries around all sizes where something changes.
func TestWriteSizes(t *testing.T) {
	sizes := []int{0, 1, 126, 127, 128, 129, 16_510, 16_511, 16_512, 16_513, 20_000, 20_480, 20_481}
	for _, n := range []int{segment.MaxSize, 2 * segment.MaxSize, 255 * segment.BlockSize, 256 * segment.BlockSize} {
		sizes = append(sizes, n-1, n, n+1, n+4096)
	}
	data := randomBytes(3 * segment.MaxSize)
	data = append(data, randomBytes(segment.MaxSize+5000)...)
	ascii := make([]byte, len(data))
	for i, b := range data {
		ascii[i] = b&31 + 'A'
	}
	for _, n := range sizes {
		p := newPen(t, newStore(), segment.Options{})
		checkBytes(t, p.openValue(p.text(string(ascii[:n])), segment.RecordValue), ascii[:n])
		full := 0
		if n >= 16_512 {
			full = n / segment.MaxSize
		}
		p.checkBulk("a string of "+strconv.Itoa(n), full*segment.MaxSize, full)

		p = newPen(t, newStore(), segment.Options{})
		checkBytes(t, p.openValue(p.binary(data[:n]), segment.RecordValue), data[:n])
		if n < 16_512 {
			p.checkBulk("a binary of "+strconv.Itoa(n), 0, 0)
		} else {
			p.checkBulk("a binary of "+strconv.Itoa(n), n, (n+segment.MaxSize-1)/segment.MaxSize)
		}
		if blocks := p.count(segment.RecordBlock); blocks != 0 {
			t.Errorf("a binary of %d bytes has %d blocks in data segments", n, blocks)
		}
	}
}

func checkBytes(t *testing.T, v segment.Value, want []byte) {
	t.Helper()
	if have, err := v.AppendTo(nil, 1<<30); err != nil || !bytes.Equal(have, want) {
		t.Errorf("%d bytes, want %d: %v", len(have), len(want), err)
	}
}

// checkBulk demands so many bytes in so many bulk segments.
func (p *pen) checkBulk(what string, size, count int) {
	p.t.Helper()
	for id, raw := range p.store.raw {
		if id.IsBulk() {
			size -= len(raw)
			count--
		}
	}
	if size != 0 || count != 0 {
		p.t.Errorf("%s: %d bytes and %d bulk segments are missing", what, size, count)
	}
}

// TestBinaryVector has the record numbers of the blocks of a binary of 20,000 bytes.
func TestBinaryVector(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	s := p.open(p.binary(randomBytes(20_000))).Segment()
	for row := range s.Records() {
		if row.Type != segment.RecordBucket {
			continue
		}
		links, err := row.Links()
		must(t, err)
		var have []uint32
		for _, l := range links {
			have = append(have, l.ID.Number)
		}
		want := []uint32{242144, 246240, 250336, 254432, 258528}
		if len(have) != 5 || [5]uint32(have) != [5]uint32(want) {
			t.Errorf("blocks %d, want %d", have, want)
		}
		return
	}
	t.Error("no bucket")
}

// TestBinaryFromReader has readers that give little at a time, and such that fail.
func TestBinaryFromReader(t *testing.T) {
	for _, n := range []int{0, 100, 16_511, 16_512, 70_000, segment.MaxSize, segment.MaxSize + 1} {
		data := randomBytes(n)
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"data and error": iotest.DataErrReader, "half": iotest.HalfReader, "one byte": iotest.OneByteReader,
		} {
			p := newPen(t, newStore(), segment.Options{})
			id, err := p.Binary(wrap(bytes.NewReader(data)))
			if err != nil {
				t.Errorf("%s, %d bytes: %v", name, n, err)
				continue
			}
			checkBytes(t, p.openValue(id, segment.RecordValue), data)
		}
		p := newPen(t, newStore(), segment.Options{})
		broken := errors.New("broken")
		_, err := p.Binary(io.MultiReader(bytes.NewReader(data), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("%d bytes, then an error: %v", n, err)
		}
	}
}

// TestWriteText has what is not UTF-8: half surrogate pairs are written as Java writes them, the rest as it is read.
func TestWriteText(t *testing.T) {
	for raw, want := range map[string]string{
		"":                         "",
		"a\x00é\U0001F600":         "a\x00é\U0001F600",
		"\uFFFD":                   "\uFFFD",
		"\xED\xA0\x80":             "?",
		"a\xED\xBF\xBFb":           "a?b",
		"\xED\xA0\xBD\xED\xB8\x80": "??",
		"\xFF":                     "\uFFFD",
		"\xED\xA0":                 "\uFFFD",
		"x\xE2\x82":                "x\uFFFD",
		"\xED\xA0\x80\uFFFD":       "?\uFFFD",
	} {
		p := newPen(t, newStore(), segment.Options{})
		v := p.openValue(p.text(raw), segment.RecordValue)
		if b, ok := v.Bytes(); !ok || string(b) != want {
			t.Errorf("%q is written as %q, want %q", raw, b, want)
		}
		c := p.openNode(p.node([]property{{raw + "!", segment.TypeLong, []string{"1"}}}, p.named(raw+"!")...))
		if _, ok, err := c.Property(want + "!"); !ok || err != nil {
			t.Errorf("property %q: %t, %v", raw, ok, err)
		}
		if _, ok, err := c.Child(want + "!"); !ok || err != nil {
			t.Errorf("child %q: %t, %v", raw, ok, err)
		}
		names := []string{raw + "1", raw + "2", raw + "3"}
		m := p.openMap(p.id(p.Map(p.named(names...))))
		for i := range names {
			if _, ok, err := m.Get(want + strconv.Itoa(i+1)); !ok || err != nil {
				t.Errorf("child %q of a map: %t, %v", raw, ok, err)
			}
		}
	}
}

// TestCleanText has the same become of text that is written and of text that is read, but for question marks.
func TestCleanText(t *testing.T) {
	odd := []string{"a", "é", "\uFFFD", "\xED\xA0\x80", "\xED\xBF\xBF", "\xED\xA0", "\xFF", "\xE2\x82", "\xF0\x9F\x98", "?"}
	rapid.Check(t, func(t *rapid.T) {
		raw := strings.Join(rapid.SliceOf(rapid.SampledFrom(odd)).Draw(t, "raw"), "")
		have := segment.CleanText(raw)
		same := strings.NewReplacer("?", "\uFFFD")
		if want := string(segment.AppendText(nil, []byte(raw))); same.Replace(have) != same.Replace(want) {
			t.Fatalf("%q became %q, want %q", raw, have, want)
		}
		if questions := strings.Count(have, "?"); questions != strings.Count(raw, "\xED\xA0\x80")+
			strings.Count(raw, "\xED\xBF\xBF")+strings.Count(raw, "?") {
			t.Fatalf("%q became %q", raw, have)
		}
	})
}

func TestNumbers(t *testing.T) {
	p := newPen(t, newStore(), segment.Options{})
	for _, tt := range []struct {
		id   segment.RecordID
		want string
	}{
		{p.id(p.Long(0)), "0"},
		{p.id(p.Long(math.MinInt64)), "-9223372036854775808"},
		{p.id(p.Boolean(true)), "true"},
		{p.id(p.Boolean(false)), "false"},
		{p.id(p.Double(1.5)), "1.5"},
	} {
		if b, _ := p.openValue(tt.id, segment.RecordValue).Bytes(); string(b) != tt.want {
			t.Errorf("%q, want %q", b, tt.want)
		}
	}
}

func TestFormatDouble(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1: "-1.0", 0.1: "0.1", 100: "100.0", 123456.75: "123456.75",
		0.001: "0.001", 0.00099: "9.9E-4", 9999999: "9999999.0", 9999999.5: "9999999.5", 1e7: "1.0E7", -1.5e7: "-1.5E7",
		1e10: "1.0E10", 12345678.9: "1.23456789E7", 2e23: "2.0E23", 1e23: "1.0E23", 1e-5: "1.0E-5",
		math.MaxFloat64: "1.7976931348623157E308", math.SmallestNonzeroFloat64: "4.9E-324", 1e-323: "9.9E-324",
		math.Inf(1): "Infinity", math.Inf(-1): "-Infinity", math.Copysign(0, -1): "-0.0",
	} {
		if f == 0 {
			want = map[bool]string{false: "0.0", true: "-0.0"}[math.Signbit(f)] // both are one key
		}
		if have := segment.FormatDouble(f); have != want {
			t.Errorf("%g is %s, want %s", f, have, want)
		}
	}
	if have := segment.FormatDouble(math.Copysign(0, -1)); have != "-0.0" {
		t.Errorf("-0 is %s", have)
	}
	if have := segment.FormatDouble(math.NaN()); have != "NaN" {
		t.Errorf("NaN is %s", have)
	}
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		s := segment.FormatDouble(f)
		if have, err := strconv.ParseFloat(s, 64); err != nil || have != f && !math.IsNaN(f) {
			t.Fatalf("%g is %s, which is %g: %v", f, s, have, err)
		}
	})
}
