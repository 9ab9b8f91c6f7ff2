// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrID is wrapped by errors about ids that are none of a FileDataStore.
var ErrID = errors.New("blob: no id of a file data store")

// ID is an id taken apart.
type ID struct {
	Hash   string // the digest in hexadecimal; empty if the binary is in the id
	Inline []byte // the binary, if Hash is empty
	Length int64  // in bytes, -1 if it is not known
}

// ParseID takes an id apart: lower-case hexadecimal digits, of a digest or after 0x of the binary itself, and after #
// the length.
func ParseID(s string) (ID, error) {
	digits, length := s, int64(-1)
	if i := strings.LastIndexByte(s, '#'); i >= 0 {
		n, err := strconv.ParseUint(s[i+1:], 10, 63)
		if err != nil {
			return ID{}, fmt.Errorf("%w: %q: the length is no number", ErrID, shorten(s))
		}
		digits, length = s[:i], int64(n)
	}
	if content, ok := strings.CutPrefix(digits, "0x"); ok {
		b, err := hex.DecodeString(content)
		if err != nil || length >= 0 && length != int64(len(b)) {
			return ID{}, fmt.Errorf("%w: %q: not a binary of that length", ErrID, shorten(s))
		}
		return ID{Inline: b, Length: int64(len(b))}, nil
	}
	if !isHash(digits) {
		return ID{}, fmt.Errorf("%w: %q", ErrID, shorten(s))
	}
	return ID{Hash: digits, Length: length}, nil
}

// isHash says whether s can be the name of a file: one of a digest of 16 bytes or more.
func isHash(s string) bool {
	if len(s) < 32 || len(s) > 128 || len(s)%2 != 0 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

// shorten keeps binaries out of error messages.
func shorten(s string) string {
	const most = 100
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// digest is the SHA-256 and length that an id tells of.
func (id ID) digest() (sum [sha256.Size]byte, length int64, ok bool) {
	if id.Hash == "" {
		return sha256.Sum256(id.Inline), id.Length, true
	}
	if len(id.Hash) != 2*sha256.Size || id.Length < 0 {
		return sum, 0, false
	}
	_, err := hex.Decode(sum[:], []byte(id.Hash))
	return sum, id.Length, err == nil
}
