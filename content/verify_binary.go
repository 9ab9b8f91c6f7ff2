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

// binaryValue reads a binary, the i-th value of a property.
func (v *verifier) binaryValue(p *segment.Property, i int, value segment.Value) error {
	if value.IsExternal() {
		return v.outsideValue(p, i, value)
	}
	if !v.binary {
		return nil
	}
	v.read.binaries++
	if !value.IsLong() {
		return nil
	}
	return v.once(p, i, func() error { return v.drain(value) })
}

func (v *verifier) outsideValue(p *segment.Property, i int, value segment.Value) error {
	id, err := v.store.BlobID(value)
	if err != nil || !v.binary {
		return err
	}
	if v.store.opts.Blobs != nil {
		err = v.once(p, i, func() error { return v.verifyOutside(id) })
	}
	if v.store.opts.Blobs == nil || errors.Is(err, segment.ErrExternal) {
		v.read.outside++
		return nil
	}
	v.read.binaries++
	return err
}

// verifyOutside compares a binary with its id.
func (v *verifier) verifyOutside(id string) error {
	r, err := v.store.opts.Blobs.Open(id)
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(h, sink{v}), r)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	want, length, ok := v.store.opts.Blobs.Digest(id)
	if err == nil && ok && (n != length || !bytes.Equal(h.Sum(nil), want[:])) {
		err = fmt.Errorf("binary %s: the bytes are others", id)
	}
	return err
}
