// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"hash/crc32"
)

// A value is a description of bytes to store: it stays short when a history
// is printed, however long the bytes are.
type value struct {
	isNil bool
	size  int
	tag   byte
}

func (v value) bytes() []byte {
	if v.isNil {
		return nil
	}
	b := make([]byte, v.size)
	for i := range b {
		b[i] = byte(i*131+i>>8) ^ v.tag
	}
	return b
}

func (v value) String() string {
	if v.isNil {
		return "nil"
	}
	return fmt.Sprintf("%d bytes (%d)", v.size, v.tag)
}

// show renders a key or value of a trace. It keeps nil and empty apart.
func show(b []byte) string {
	switch {
	case b == nil:
		return "nil"
	case len(b) > 40:
		return fmt.Sprintf("%q…%d:%08x", b[:8], len(b), crc32.ChecksumIEEE(b))
	default:
		return fmt.Sprintf("%q", b)
	}
}
