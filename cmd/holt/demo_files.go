// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/holtdb/holt/cmd/holt/internal/folder"
	"github.com/holtdb/holt/cmd/holt/internal/text"
)

// demoLimits keep the demo short in any folder.
type demoLimits struct {
	fileSize int64
	total    int64
	files    int
	time     time.Duration // for each of importing and comparing
}

// demoFiles are the files of a folder that a demo works on.
type demoFiles struct {
	top    string
	skip   string // what is left out below it: that of the demo itself
	limits demoLimits

	folders, files, bytes int64
	left                  leftOut
}

// fileVisitor is told of folders, if it wants to be, and files.
type fileVisitor struct {
	folder func(e folder.Entry) error
	file   func(e folder.Entry, content []byte) error
}

// errEnough ends the walk through a folder that is too large for a demo.
var errEnough = errors.New("enough")

// each visits the folder and what is in it, within the limits.
func (f *demoFiles) each(ctx context.Context, v fileVisitor) error {
	deadline := time.Now().Add(f.limits.time)
	visit := func(e folder.Entry) error {
		switch {
		case e.Info.IsDir() && e.Info.Name() == ".git" && len(e.Names) > 0:
			f.left.git++
			return fs.SkipDir
		case e.Info.IsDir() && sameFile(e.Path, f.skip):
			return fs.SkipDir
		case e.Info.IsDir():
			f.folders++
			if v.folder == nil {
				return nil
			}
			return v.folder(e)
		case f.files == int64(f.limits.files), f.bytes >= f.limits.total, time.Now().After(deadline):
			f.left.rest = true
			return errEnough
		}
		content, ok := f.left.read(e, f.limits.fileSize)
		if !ok {
			return nil
		}
		f.files++
		f.bytes += int64(len(content))
		return v.file(e, content)
	}
	unreadable := func(folder.Entry, error) error {
		f.left.unreadable++
		return nil
	}
	err := folder.Walk(ctx, f.top, folder.Visitor{Visit: visit, Unreadable: unreadable})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// report is how much it was.
func (f *demoFiles) report() folder.Report {
	return folder.Report{Folders: f.folders, Files: f.files, Bytes: f.bytes}
}

// readWhole reads a file of at most limit bytes. It does not open one that says it is empty: there are files, of the
// kernel say, that say so and then block.
func readWhole(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 {
		return []byte{}, nil
	}
	return folder.Read(path, limit)
}

// leftOut counts what was not imported.
type leftOut struct {
	git        int64 // folders called .git
	large      int64
	special    int64 // links, devices and the like
	unreadable int64
	rest       bool // what comes after the limits of the demo
}

// read reads a file, or counts it as left out.
func (l *leftOut) read(e folder.Entry, limit int64) (content []byte, ok bool) {
	if !e.Info.Mode().IsRegular() {
		l.special++
		return nil, false
	}
	if e.Info.Size() > limit {
		l.large++
		return nil, false
	}
	content, err := readWhole(e.Path, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false // it is gone already
	case errors.Is(err, folder.ErrTooLarge):
		l.large++
	case err != nil:
		l.unreadable++
	}
	return content, err == nil
}

// print says what was left out.
func (l *leftOut) print(d *demo, limits demoLimits) {
	for _, part := range []struct {
		n    int64
		what string
	}{
		{l.git, "folder called .git"},
		{l.large, "file larger than " + text.Size(limits.fileSize)},
		{l.special, "link or device"},
		{l.unreadable, "unreadable file or folder"},
	} {
		if part.n > 0 {
			d.printf("           left out: %d × %s", part.n, part.what)
		}
	}
	if l.rest {
		d.printf("           left out: the rest, after %d files, %s or %v", limits.files, text.Size(limits.total), limits.time)
	}
}
