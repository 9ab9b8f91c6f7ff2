// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holtdb/holt/internal/file"
)

// migrating is what is appended to the name of a file while its copy is made.
const migrating = ".migrating"

// Migrate turns a file of generation 0.1 or 0.2 into one of 0.4. The file is locked meanwhile. A copy is made beside it
// and takes its place when it is durable: a crash leaves the one or the other. [*VersionError] if the file is of
// another generation, 0.4 included.
func Migrate(ctx context.Context, path string, opts *Options) error {
	s := newStack(path, opts)
	f, err := s.fs.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	s.file, s.head = f, headerSizeV1
	return errors.Join(s.migrate(ctx), f.Close())
}

func (s *Stack) migrate(ctx context.Context) error {
	if err := s.file.TryLock(true); err != nil {
		if errors.Is(err, file.ErrLocked) {
			return fmt.Errorf("%w: %s", ErrLocked, s.path)
		}
		return err
	}
	if err := s.stillThere(); err != nil {
		return err
	}
	size, err := s.file.Size()
	if err != nil {
		return err
	}
	if size < headerSizeV1 {
		return &CorruptError{s.path, size, "the file ends inside the header"}
	}
	h := make([]byte, headerSizeV1)
	if err := s.readFile(h, -headerSizeV1); err != nil {
		return err
	}
	if !bytes.Equal(h[:prefixSize], prefixV1[:]) {
		if err := checkMagic(s.path, h); err != nil {
			return err
		}
		return &VersionError{s.path, "0.4"}
	}
	length := min(int64(min(le.Uint64(h[8:16]), maxLength)), size-headerSizeV1)
	if err := s.copyTo(ctx, s.path+migrating, length); err != nil {
		return err
	}
	if err := s.fs.Rename(s.path+migrating, s.path); err != nil {
		return err
	}
	s.log("migrated", "bytes", length)
	return s.fs.SyncDir(filepath.Dir(s.path))
}

// stillThere makes sure that the file that is locked now is the one of that name: another migration may have replaced
// it between the opening and the locking, and its copy may have changed since.
func (s *Stack) stillThere() error {
	mine, err := s.file.Stat()
	if err != nil {
		return err
	}
	current, err := s.fs.Stat(s.path)
	if err != nil {
		return err
	}
	if !s.fs.SameFile(mine, current) {
		return fmt.Errorf("%w: %s was replaced a moment ago", ErrLocked, s.path)
	}
	return nil
}

// copyTo makes a durable copy of the payload in a file of this generation.
func (s *Stack) copyTo(ctx context.Context, name string, length int64) (err error) {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	to, err := s.fs.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, to.Close())
		if err != nil {
			err = errors.Join(err, s.fs.Remove(name))
		}
	}()
	p := make([]byte, copyChunk)
	for off := int64(0); off < length; off += int64(len(p)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		p = p[:min(copyChunk, length-off)]
		if err := s.readFile(p, off); err != nil {
			return err
		}
		if _, err := to.WriteAt(p, headerSize+off); err != nil {
			return err
		}
	}
	if _, err := to.WriteAt(newHeader(record{length: uint64(length)}), 0); err != nil {
		return err
	}
	return to.Sync()
}
