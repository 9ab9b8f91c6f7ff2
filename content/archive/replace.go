// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/holtdb/holt/internal/file"
)

// tempSuffix ends the names of files that are to be renamed once they are whole.
const tempSuffix = ".tmp"

// backupSuffix ends the names of archives that recovery has put aside.
const backupSuffix = ".bak"

// stoppedSuffix comes ahead of it, and of a number, if the writer of the archive may have been stopped.
const stoppedSuffix = ".stopped"

// readerSuffix ends the names of copies that Oak's readers make of archives without index.
const readerSuffix = ".ro" + backupSuffix

// replaceFile writes a file, in place of one of that name perhaps. A crash leaves that as it was, or the whole of the new
// one, and perhaps a file that means nothing.
func replaceFile(fsys file.FS, dir, name string, fill func(w io.Writer) error) error {
	path := filepath.Join(dir, name)
	if err := writeWhole(fsys, path+tempSuffix, fill); err != nil {
		return err
	}
	return putInPlace(fsys, dir, name)
}

// putInPlace is the second half of replaceFile: the file gets its name.
func putInPlace(fsys file.FS, dir, name string) error {
	path := filepath.Join(dir, name)
	if err := fsys.Rename(path+tempSuffix, path); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

func writeWhole(fsys file.FS, path string, fill func(w io.Writer) error) error {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(io.NewOffsetWriter(f, 0))
	if err = fill(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// isLeftover says whether a file was not renamed in time, and so means nothing.
func isLeftover(name string) bool {
	base, ok := strings.CutSuffix(name, tempSuffix)
	_, isArchive := ParseName(base)
	isJournal := base == journalName || strings.HasPrefix(base, journalBackup)
	return ok && (isArchive || isJournal || base == manifestName)
}
