// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package folder copies folders into kv databases and back: a folder becomes a bucket, a file becomes a key with the
// file's contents as its value. What comes back is the same, byte for byte and name for name.
//
// Names and contents are all that is kept. What has no place on the other side is a [Problem]: links and devices on the
// way in, on the way out keys that are no file names and buckets with a sequence.
package folder

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/holtdb/holt/cmd/holt/internal/text"
)

// Problem says why something cannot be represented on the other side.
type Problem struct {
	What   string // a path of the file system, or of the database
	Reason string
}

func (p *Problem) Error() string { return p.What + ": " + p.Reason }

// Report counts what was copied.
type Report struct {
	Folders int64 `json:"folders"` // the topmost one included
	Files   int64 `json:"files"`
	Bytes   int64 `json:"bytes"` // contents of the files
	Skipped int64 `json:"skipped"`

	// Self says that the database itself was in the folder to import, and was left out.
	Self bool `json:"-"`
}

// String is the report in a sentence.
func (r Report) String() string {
	s := fmt.Sprintf("%s in %s, %s", text.Plural(r.Files, "file"), text.Plural(r.Folders, "folder"), text.Size(r.Bytes))
	if r.Skipped > 0 {
		s += fmt.Sprintf(", %d left out", r.Skipped)
	}
	return s
}

// Options adjust [Import] and [Export].
type Options struct {
	// Skip is called with everything that cannot be represented, which is then left out. When it is nil the first
	// such thing is returned as an error, before anything is written.
	Skip func(*Problem)

	// Progress is called with the number of bytes of every file that was copied.
	Progress func(bytes int64)
}

// problem deals with p: the error is nil when it is to be left out.
func (o *Options) problem(r *Report, p *Problem) error {
	if o.Skip == nil {
		return p
	}
	r.Skipped++
	o.Skip(p)
	return nil
}

// ErrTooLarge is returned by [Read] for a file beyond the limit.
var ErrTooLarge = errors.New("the file is too large")

// Read reads a whole file of at most limit bytes.
func Read(path string, limit int64) (content []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	content, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("%s: %w", path, ErrTooLarge)
	}
	return content, err
}
