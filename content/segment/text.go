// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"cmp"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is stored as UTF-8, but hashed and ordered as what it is for Java: UTF-16 code units. Bytes that are not UTF-8
// count as U+FFFD.
type text interface{ string | []byte }

// javaHash is the hash of a string in Java.
func javaHash[T text](s T) uint32 {
	var h uint32
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			h = h*31 + uint32(s[i])
			i++
			continue
		}
		r, size := runeAt(s, i)
		i += size
		if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
			h = h*31 + uint32(hi)
			r = lo
		}
		h = h*31 + uint32(r)
	}
	return h
}

// mapHash is the hash by which a map finds a name.
func mapHash[T text](s T) uint32 {
	const m = 0xDEECE66D
	return (javaHash(s)^m)*m + 0xB
}

// compareText orders by UTF-16 code units: characters beyond U+FFFF, which begin with D800 to DBFF there, come before
// U+E000 to U+FFFF.
func compareText[T, U text](a T, b U) int {
	for i, j := 0, 0; ; {
		if i >= len(a) || j >= len(b) {
			return cmp.Compare(len(a)-i, len(b)-j)
		}
		r, n := runeAt(a, i)
		q, m := runeAt(b, j)
		if r != q {
			if high := r > 0xFFFF; high != (q > 0xFFFF) {
				return cmp.Compare(firstUnit(r), firstUnit(q))
			}
			return cmp.Compare(r, q)
		}
		i, j = i+n, j+m
	}
}

func firstUnit(r rune) rune {
	if hi, _ := utf16.EncodeRune(r); hi != utf8.RuneError {
		return hi
	}
	return r
}

// runeAt is the character at s[i], and its size.
func runeAt[T text](s T, i int) (rune, int) {
	if s[i] < utf8.RuneSelf {
		return rune(s[i]), 1
	}
	var b [utf8.UTFMax]byte
	n := copy(b[:], s[i:])
	r, size := utf8.DecodeRune(b[:n])
	if r == utf8.RuneError && size == 1 {
		size = malformedSize(b[:n])
	}
	return r, size
}

// malformedSize is how many bytes Java replaces by one U+FFFD: as much as could still begin a character, where it takes
// surrogates for such.
func malformedSize(b []byte) int {
	var second, third byte
	if len(b) > 1 {
		second = b[1]
	}
	if len(b) > 2 {
		third = b[2]
	}
	switch lead := b[0]; {
	case lead < 0xE0 || lead > 0xF4 || !continues(second):
		return 1
	case lead == 0xE0 && second < 0xA0, lead == 0xF0 && second < 0x90, lead == 0xF4 && second > 0x8F:
		return 1
	case !continues(third):
		return 2
	}
	return 3
}

func continues(b byte) bool { return b&0xC0 == 0x80 }

// AppendText appends stored bytes as text: what is not UTF-8 in them becomes U+FFFD.
func AppendText(dst, raw []byte) []byte {
	if utf8.Valid(raw) {
		return append(dst, raw...)
	}
	for i := 0; i < len(raw); {
		r, size := runeAt(raw, i)
		dst = utf8.AppendRune(dst, r)
		i += size
	}
	return dst
}
