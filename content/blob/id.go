// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

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

// key is the key of an id, in the sense of [Store].
func key(id string) (string, error) {
	parsed, err := ParseID(id)
	return parsed.Hash, err
}

// isHash says whether s can be the name of a file: one of a digest of 16 bytes or more.
func isHash(s string) bool {
	return len(s) >= 32 && len(s) <= 128 && len(s)%2 == 0 && isHex(s)
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// shorten keeps binaries out of error messages.
func shorten(s string) string {
	const most = 100
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// digest is the SHA-256 and length that an id tells of.
func digest(id string) (sum [sha256.Size]byte, length int64, ok bool) {
	parsed, err := ParseID(id)
	switch {
	case err != nil:
		return sum, 0, false
	case parsed.Hash == "":
		return sha256.Sum256(parsed.Inline), parsed.Length, true
	case len(parsed.Hash) != 2*sha256.Size || parsed.Length < 0:
		return sum, 0, false
	}
	_, err = hex.Decode(sum[:], []byte(parsed.Hash))
	return sum, parsed.Length, err == nil
}

// hashID is the id of a binary with a digest in hexadecimal.
func hashID(hash string, size int64) string { return hash + "#" + strconv.FormatInt(size, 10) }

// How many bytes a binary may have to be kept in its own id.
const (
	defaultInline = 4096    // as in Oak
	maxInline     = 1 << 18 // content stores read ids of no more than a MiB
)

// inlined is the id of a binary that is short enough to be in it. Otherwise rest is all that r has.
func inlined(r io.Reader, longest int) (id string, rest io.Reader, err error) {
	switch {
	case longest == 0:
		longest = defaultInline
	case longest < 0:
		longest = 0
	}
	longest = min(longest, maxInline)
	head, err := io.ReadAll(io.LimitReader(r, int64(longest)+1))
	if err != nil {
		return "", nil, err
	}
	if len(head) <= longest {
		return hashID("0x"+hex.EncodeToString(head), int64(len(head))), nil, nil
	}
	return "", io.MultiReader(bytes.NewReader(head), r), nil
}
