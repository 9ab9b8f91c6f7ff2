// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/holtdb/holt/kv/internal/page"
)

// create writes the pages of an empty database, the meta records last: until they are there the file is an unfinished one,
// which the next Open finishes.
func (db *DB) create(path string) error {
	ps := int64(db.pageSize)
	if ps < page.MinSize {
		return fmt.Errorf("kv: %s cannot be made with pages of %d bytes: %d are the least", path, ps, page.MinSize)
	}
	if db.readOnly {
		return fmt.Errorf("kv: %s is empty and cannot be made a database read-only: %w", path, ErrInvalid)
	}
	buf := make([]byte, 4*db.pageSize)
	page.Initial(buf, db.pageSize)
	if err := db.file.Truncate(4 * ps); err != nil {
		return err
	}
	if err := db.file.Sync(); err != nil { // so that no write can be all that gives the file a length
		return err
	}
	blank := bytes.Clone(buf) // with the headers of the meta pages, which no checksum covers
	*page.MetaOf(blank), *page.MetaOf(blank[ps:]) = page.MetaView{}, page.MetaView{}
	if _, err := db.file.WriteAt(blank, 0); err != nil {
		return err
	}
	if err := db.file.Sync(); err != nil {
		return err
	}
	if _, err := db.file.WriteAt(buf[:2*ps], 0); err != nil {
		return err
	}
	if err := db.file.Sync(); err != nil {
		return err
	}
	db.fileSize, db.settled = 4*ps, true
	if db.openFile != nil {
		return nil // the file may lie anywhere
	}
	return db.fs.SyncDir(filepath.Dir(path))
}

// unfinished says whether the file is what a crash during create leaves: of the right length, and nowhere anything but
// zeros or what create writes. Nothing is lost by writing it anew.
func (db *DB) unfinished() bool {
	have := make([]byte, 4*db.pageSize)
	if db.pageSize < page.MinSize || db.fileSize != int64(len(have)) {
		return false
	}
	if _, err := db.file.ReadAt(have, 0); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	want := make([]byte, len(have))
	page.Initial(want, db.pageSize)
	for i, b := range have {
		if b != 0 && b != want[i] {
			return false
		}
	}
	return true
}
