// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/holtdb/holt/content/segment"
)

// verifyBinary reads a binary.
func (v *verifier) verifyBinary(value segment.Value) error {
	if !value.IsExternal() {
		if !v.binaries {
			return nil
		}
		v.read++
		_, err := value.WriteTo(io.Discard)
		return err
	}
	id, err := v.store.BlobID(value)
	if err != nil || !v.binaries {
		return err
	}
	if v.store.opts.Blobs != nil {
		err = v.verifyOutside(id)
	}
	if v.store.opts.Blobs == nil || errors.Is(err, segment.ErrExternal) {
		v.outside++
		return nil
	}
	v.read++
	return err
}

// verifyOutside compares a binary with its id.
func (v *verifier) verifyOutside(id string) error {
	r, err := v.store.opts.Blobs.Open(id)
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(h, r)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	want, length, ok := v.store.opts.Blobs.Digest(id)
	if err == nil && ok && (n != length || !bytes.Equal(h.Sum(nil), want[:])) {
		err = fmt.Errorf("binary %s: the bytes are others", id)
	}
	return err
}
