// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/holtdb/holt/internal/file"
)

// logFile is a text to which lines are added.
type logFile struct {
	fs     file.FS
	path   string
	file   file.File // nil until it is needed
	end    int64     // of what counts
	torn   bool      // the last line has no end
	named  bool      // the directory's entry is durable
	failed error
}

// openLog opens a log to be read, up to the end it has now, and to be added to if write is true. There need not be a file.
func openLog(fsys file.FS, path string, write bool) (*logFile, error) {
	l := &logFile{fs: fsys, path: path}
	flag := os.O_RDONLY
	if write {
		flag = os.O_RDWR
	}
	var err error
	l.file, err = fsys.OpenFile(path, flag, 0)
	if errors.Is(err, fs.ErrNotExist) {
		l.file = nil
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	if l.end, err = l.file.Size(); err == nil && l.end > 0 {
		var last [1]byte
		_, err = l.file.ReadAt(last[:], l.end-1)
		l.torn = last[0] != '\n'
	}
	if err != nil {
		return nil, errors.Join(err, l.file.Close())
	}
	return l, nil
}

// add adds a line and makes it durable. What is left of one that was cut off by a crash is made a line of its own. After a
// failure nobody knows what is in the file: nothing can be added until it is opened again.
func (l *logFile) add(line []byte) error {
	if l.failed != nil {
		return l.failed
	}
	err := l.write(line)
	if err != nil {
		l.failed = fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return err
}

func (l *logFile) write(line []byte) (err error) {
	if l.file == nil {
		if l.file, err = l.fs.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
			l.file = nil
			return err
		}
	}
	if l.torn {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := l.file.WriteAt(line, l.end); err != nil {
		return err
	}
	if err := l.file.SyncData(); err != nil {
		return err
	}
	if !l.named {
		if err := l.fs.SyncDir(filepath.Dir(l.path)); err != nil {
			return err
		}
	}
	l.end, l.torn, l.named = l.end+int64(len(line)), false, true
	return nil
}

// lines goes through the lines, last one first.
func (l *logFile) lines() iter.Seq2[string, error] {
	if l.file == nil {
		return func(func(string, error) bool) {}
	}
	return backward(l.file, l.end)
}

func (l *logFile) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

const (
	chunk   = 8 << 10
	maxLine = 4 << 10 // longer ones mean nothing
)

// backward goes through the lines of a text of the given length, last one first. The part behind the last line feed is
// one too. Those that are longer than maxLine are left out.
func backward(r io.ReaderAt, length int64) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var text []byte // from length on, up to the end of the line
		long := false   // the line has more
		for {
			if i := bytes.LastIndexByte(text, '\n'); i >= 0 || length == 0 {
				line := string(bytes.TrimSuffix(text[i+1:], []byte{'\r'}))
				if !long && len(line) <= maxLine && !yield(line, nil) || i < 0 {
					return
				}
				text, long = text[:i], false
				continue
			}
			if len(text) > maxLine {
				text, long = nil, true
			}
			n := min(chunk, length)
			b := make([]byte, int(n)+len(text))
			copy(b[n:], text)
			length -= n
			if k, err := r.ReadAt(b[:n], length); int64(k) < n {
				yield("", err)
				return
			}
			text = b
		}
	}
}
