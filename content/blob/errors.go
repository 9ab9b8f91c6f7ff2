// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"errors"
	"fmt"
)

// ErrID is wrapped by errors about ids that are none of a FileDataStore.
var ErrID = errors.New("blob: no id of a file data store")

// ErrNoStore is returned when the file of a binary is asked for, or to be written, and there is no directory of them.
var ErrNoStore = errors.New("blob: the binary is kept outside, and the data store is not known")

// NotFoundError says that a binary is not there.
type NotFoundError struct {
	ID   string
	Path string // of its file; empty if it would not be in one
}

func (e *NotFoundError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("blob: %s: not found", shorten(e.ID))
	}
	return fmt.Sprintf("blob: %s: no such file: %s", shorten(e.ID), e.Path)
}

// CorruptError reports a file that is not the binary it should be.
type CorruptError struct {
	Path   string
	Reason string
}

func (e *CorruptError) Error() string { return fmt.Sprintf("blob: %s: %s", e.Path, e.Reason) }
