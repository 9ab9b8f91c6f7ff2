// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package text prints bytes and numbers for people, and reads bytes from the command line.
package text

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Format is how bytes are printed; the value of a flag.
type Format string

// The formats.
const (
	Auto     Format = "auto"          // text if all of it is printable, else hex
	ASCII    Format = "ascii-encoded" // a quoted Go string
	Hex      Format = "hex"
	Bytes    Format = "bytes"    // as they are
	Redacted Format = "redacted" // length and SHA-256 only
)

// Formats are all there are.
var Formats = []string{string(Auto), string(ASCII), string(Hex), string(Bytes), string(Redacted)}

// Text prints b.
func (f Format) Text(b []byte) string {
	switch f {
	case ASCII:
		return strconv.Quote(string(b))
	case Hex:
		return hex.EncodeToString(b)
	case Bytes:
		return string(b)
	case Redacted:
		return fmt.Sprintf("<redacted len:%d sha256:%x>", len(b), sha256.Sum256(b))
	default:
		if isPrintable(b) {
			return string(b)
		}
		return hex.EncodeToString(b)
	}
}

func isPrintable(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) {
			return false
		}
		b = b[n:]
	}
	return true
}

// Quote prints b the way it is best recognised in a sentence: quoted when it is text, else in hex.
func Quote(b []byte) string {
	if isPrintable(b) {
		return strconv.Quote(string(b))
	}
	return hex.EncodeToString(b)
}

// String, Set and Type make a Format the value of a flag.
func (f *Format) String() string { return string(*f) }

// Set refuses what is no format.
func (f *Format) Set(s string) error { return setOneOf((*string)(f), s, Formats) }

// Type names the values in the usage text.
func (f *Format) Type() string { return "format" }

// ParseFormat is how bytes are given on the command line; the value of a flag.
type ParseFormat string

// The Formats of arguments.
const (
	ParseASCII ParseFormat = "ascii-encoded" // the bytes of the argument
	ParseHex   ParseFormat = "hex"
)

// ParseFormats are all there are.
var ParseFormats = []string{string(ParseASCII), string(ParseHex)}

// Parse gives the bytes that an argument stands for.
func (f ParseFormat) Parse(arg string) ([]byte, error) {
	if f != ParseHex {
		return []byte(arg), nil
	}
	b, err := hex.DecodeString(arg)
	if err != nil {
		return nil, fmt.Errorf("%q is not hexadecimal: %w", arg, err)
	}
	return b, nil
}

// String, Set and Type make a ParseFormat the value of a flag.
func (f *ParseFormat) String() string { return string(*f) }

// Set refuses what is no format.
func (f *ParseFormat) Set(s string) error { return setOneOf((*string)(f), s, ParseFormats) }

// Type names the values in the usage text.
func (f *ParseFormat) Type() string { return "format" }

func setOneOf(to *string, s string, all []string) error {
	if !slices.Contains(all, s) {
		return fmt.Errorf("unsupported format %q, use one of %s", s, strings.Join(all, "|"))
	}
	*to = s
	return nil
}
