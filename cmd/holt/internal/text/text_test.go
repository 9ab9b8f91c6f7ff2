// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/cmd/holt/internal/text"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		in     string
		format text.Format
		want   string
	}{
		{"plain text", text.Auto, "plain text"},
		{"größe 大", text.Auto, "größe 大"},
		{"", text.Auto, ""},
		{"two\nlines", text.Auto, "74776f0a6c696e6573"},
		{"\x1b[31m", text.Auto, "1b5b33316d"},
		{"\xff", text.Auto, "ff"},
		{"\uFFFD", text.Auto, "\uFFFD"},
		{"two\nlines\xff", text.ASCII, `"two\nlines\xff"`},
		{"\x00\xff", text.Hex, "00ff"},
		{"\x00\xff", text.Bytes, "\x00\xff"},
		{"", text.Redacted, "<redacted len:0 sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855>"},
	} {
		if got := c.format.Text([]byte(c.in)); got != c.want {
			t.Errorf("%q as %s: %q, want %q", c.in, c.format, got, c.want)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"a": `"a"`, `a"b`: `"a\"b"`, "\x00": "00", "": `""`} {
		if got := text.Quote([]byte(in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestFlagValues(t *testing.T) {
	var f text.Format
	for _, s := range text.Formats {
		if err := f.Set(s); err != nil || f.String() != s {
			t.Errorf("%s: %v, %v", s, f, err)
		}
	}
	if err := f.Set("base64"); err == nil || string(f) == "base64" {
		t.Errorf("base64: %v, %v", f, err)
	}
	var p text.ParseFormat
	for _, s := range text.ParseFormats {
		if err := p.Set(s); err != nil || p.String() != s {
			t.Errorf("%s: %v, %v", s, p, err)
		}
	}
	if err := p.Set("auto"); err == nil {
		t.Error("auto is no way to parse")
	}
}

func TestHexIsParsedBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		got, err := text.ParseHex.Parse(text.Hex.Text(b))
		if err != nil || string(got) != string(b) {
			t.Errorf("%x became %x (%v)", b, got, err)
		}
		if got, err := text.ParseASCII.Parse(string(b)); err != nil || string(got) != string(b) {
			t.Errorf("%q became %q (%v)", b, got, err)
		}
	})
	if _, err := text.ParseHex.Parse("0"); err == nil {
		t.Error("half a byte")
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1<<20 - 1: "1.0 MiB", 5 << 30: "5.0 GiB", 1<<63 - 1: "8.0 EiB",
	} {
		if got := text.Size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 keys", 1: "1 key", 2: "2 keys"} {
		if got := text.Plural(n, "key"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
