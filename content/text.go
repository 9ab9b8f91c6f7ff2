// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"io"
	"unicode/utf8"

	"github.com/holtdb/holt/content/segment"
)

// WriteText writes a string's value as text: what is not UTF-8 becomes U+FFFD. It takes little memory however long the
// value is.
func (s *Store) WriteText(w io.Writer, v segment.Value) error {
	if b, ok := v.Bytes(); ok && utf8.Valid(b) {
		_, err := w.Write(b)
		return err
	}
	t := textWriter{w: w}
	if _, err := v.WriteTo(&t); err != nil {
		return s.Locate(err)
	}
	return t.end()
}

// textWriter makes text of stored bytes.
type textWriter struct {
	w    io.Writer
	rest []byte // the beginning of a character whose end is still to come
	text []byte
}

func (t *textWriter) Write(p []byte) (int, error) {
	t.rest = append(t.rest, p...)
	whole := len(t.rest) - unfinished(t.rest)
	if err := t.flush(whole); err != nil {
		return 0, err
	}
	return len(p), nil
}

// unfinished is the number of bytes at the end that more bytes might make a character of, or what becomes one U+FFFD:
// from the last byte on that begins something, if that is longer by its first byte.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		switch lead := b[len(b)-n]; {
		case !utf8.RuneStart(lead):
			continue
		case lead >= 0xF0 && n < 4, lead >= 0xE0 && n < 3, lead >= 0xC0 && n < 2:
			return n
		}
		return 0
	}
	return 0
}

func (t *textWriter) flush(n int) error {
	t.text = segment.AppendText(t.text[:0], t.rest[:n])
	t.rest = append(t.rest[:0], t.rest[n:]...)
	_, err := t.w.Write(t.text)
	return err
}

func (t *textWriter) end() error { return t.flush(len(t.rest)) }
