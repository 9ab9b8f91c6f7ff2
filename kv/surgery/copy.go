// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package surgery

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/holtdb/holt/internal/file"
)

// Edit copies src to the new file dst and runs edit on the copy. When edit and the final sync succeed the copy is
// durable; otherwise it is removed. The source is not changed.
func Edit(src, dst string, edit func(*Editor) error) error {
	if err := Copy(src, dst); err != nil {
		return err
	}
	if err := editInPlace(dst, edit); err != nil {
		return errors.Join(err, os.Remove(dst))
	}
	return nil
}

func editInPlace(path string, edit func(*Editor) error) error {
	f, err := open(path, os.O_RDWR)
	if err != nil {
		return err
	}
	e := &Editor{File: f}
	if err = e.makePlain(); err == nil {
		err = edit(e)
	}
	if err == nil {
		err = f.f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Copy copies src to the new file dst, with src's permissions, and makes it durable. It refuses to overwrite a file,
// and with [ErrInUse] to copy a database that another process is writing to.
func Copy(src, dst string) (err error) {
	in, err := file.OS.OpenFile(src, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if err := in.TryLock(false); err != nil {
		if errors.Is(err, file.ErrLocked) {
			return fmt.Errorf("%s: %w", src, ErrInUse)
		}
		return err
	}
	return copyTo(dst, in)
}

func copyTo(dst string, in file.File) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	// The owner must be able to write the copy, whatever protects the source.
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("output file %q already exists", dst)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.NewSectionReader(in, 0, math.MaxInt64))
	if err == nil {
		err = out.Sync()
	}
	err = errors.Join(err, out.Close())
	if err == nil {
		err = syncDirOf(dst)
	}
	if err != nil {
		return errors.Join(err, os.Remove(dst))
	}
	return nil
}
