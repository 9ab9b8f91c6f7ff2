// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/cmd/holt/internal/folder"
	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
)

// demoLimits keep the demo short in any folder.
type demoLimits struct {
	fileSize int64
	total    int64
	files    int
	time     time.Duration // for each of importing and comparing
}

var folderLimits = demoLimits{fileSize: 1 << 20, total: 32 << 20, files: 5000, time: 3 * time.Second}

// demoFolder copies the current folder into a new database and compares what comes back.
func demoFolder(ctx context.Context, d *demo, path string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	d.printf("\nThis folder as a database, a bucket for each folder and a key for each file:")
	db, err := kv.OpenContext(ctx, path, newFileMode, nil)
	if err != nil {
		return err
	}
	f := &folderDemo{
		demo: d, db: db, dir: dir, root: bucket.Path{[]byte(cmp.Or(strings.Trim(filepath.Base(dir), `/\`), "root"))},
		limits: folderLimits, written: make(map[string]file),
	}
	return errors.Join(f.run(ctx), db.Close())
}

// folderDemo is the part of the demo that copies the current folder.
type folderDemo struct {
	*demo
	db     *kv.DB
	dir    string
	root   bucket.Path // of the bucket for dir
	limits demoLimits

	written map[string]file // by the place of the key
	bytes   int64
	left    leftOut
}

// file is what was imported of one file.
type file struct {
	path string
	sum  [sha256.Size]byte
}

// errEnough ends the walk through a folder that is too large for a demo.
var errEnough = errors.New("enough")

func (f *folderDemo) run(ctx context.Context) error {
	steps := []struct {
		what string
		fn   func(context.Context) (string, error)
	}{
		{"import", f.copy},
		{"read", f.readBack},
		{"compare", f.compare},
	}
	for _, s := range steps {
		if err := f.step(s.what, func() (string, error) { return s.fn(ctx) }); err != nil {
			return err
		}
		if s.what == "import" {
			f.left.print(f.demo, f.limits)
		}
	}
	return f.db.ViewContext(ctx, func(tx *kv.Tx) error {
		f.printf("  %-8s %s, %s", "file", f.db.Path(), text.Size(fileSize(f.db.Path())))
		return showCheck(ctx, f.demo, tx)
	})
}

// copy imports the folder, and notes a hash of every file, since files may change from now on.
func (f *folderDemo) copy(ctx context.Context) (string, error) {
	bar := progress.New(f.cmd.ErrOrStderr(), "importing "+f.dir, 0)
	defer bar.Done()
	w := folder.NewWriter(f.db, f.root)
	deadline := time.Now().Add(f.limits.time)
	folders := int64(0)
	visit := func(e folder.Entry) error {
		switch {
		case e.Info.IsDir() && e.Info.Name() == ".git" && len(e.Names) > 0:
			f.left.git++
			return fs.SkipDir
		case e.Info.IsDir() && sameFile(e.Path, f.demo.dir):
			return fs.SkipDir // the demo's own files
		case e.Info.IsDir():
			folders++
			return w.Folder(ctx, e.Names)
		case len(f.written) == f.limits.files, f.bytes >= f.limits.total, time.Now().After(deadline):
			f.left.rest = true
			return errEnough
		}
		content, ok := f.left.read(e, f.limits.fileSize)
		if !ok {
			return nil
		}
		bar.Add(1)
		f.bytes += int64(len(content))
		f.written[f.place(e.Names)] = file{path: e.Path, sum: sha256.Sum256(content)}
		return w.File(ctx, e.Names, content)
	}
	unreadable := func(folder.Entry, error) error {
		f.left.unreadable++
		return nil
	}
	err := folder.Walk(ctx, f.dir, folder.Visitor{Visit: visit, Unreadable: unreadable})
	if err != nil && !errors.Is(err, errEnough) {
		return "", err
	}
	r := folder.Report{Folders: folders, Files: int64(len(f.written)), Bytes: f.bytes}
	return r.String(), w.Flush(ctx)
}

// place identifies a key of the database: file names have no zero bytes.
func (f *folderDemo) place(names []string) string {
	return strings.Join(append([]string{string(f.root[0])}, names...), "\x00")
}

// readBack reads the whole database and holds every value against the hash taken at import.
func (f *folderDemo) readBack(ctx context.Context) (string, error) {
	n, size := 0, int64(0)
	err := f.eachValue(ctx, func(_ file, value []byte) error {
		n, size = n+1, size+int64(len(value))
		return nil
	})
	if err == nil && n != len(f.written) {
		err = fmt.Errorf("%d keys came back of %d", n, len(f.written))
	}
	return fmt.Sprintf("%s, %s, all as they were imported", text.Plural(int64(n), "key"), text.Size(size)), err
}

// eachValue calls fn with every value of the database and the file it came from, having checked that it is the same.
func (f *folderDemo) eachValue(ctx context.Context, fn func(from file, value []byte) error) error {
	return f.db.ViewContext(ctx, func(tx *kv.Tx) error {
		return bucket.Walk(ctx, bucket.Root(tx), nil, func(path bucket.Path, key, value []byte) error {
			if value == nil {
				return nil
			}
			from, ok := f.written[string(bytes.Join(slices.Concat(path, bucket.Path{key}), []byte{0}))]
			if !ok {
				return fmt.Errorf("%s: nobody imported that", path.Child(key))
			}
			if sha256.Sum256(value) != from.sum {
				return fmt.Errorf("%s: the value is not what was imported", path.Child(key))
			}
			return fn(from, value)
		})
	})
}

// compare holds every value against the file as it is now. A value was found to be what was imported, so where they
// differ the file has changed since.
func (f *folderDemo) compare(ctx context.Context) (string, error) {
	bar := progress.New(f.cmd.ErrOrStderr(), "comparing with the files", int64(len(f.written)))
	defer bar.Done()
	deadline := time.Now().Add(f.limits.time)
	same, changed := int64(0), int64(0)
	err := f.eachValue(ctx, func(from file, value []byte) error {
		if time.Now().After(deadline) {
			return errEnough
		}
		bar.Add(1)
		now, err := readWhole(from.path, int64(len(value)))
		if err == nil && bytes.Equal(now, value) {
			same++
		} else {
			changed++
		}
		return nil
	})
	result := text.Plural(same, "value") + " equal to the file, byte for byte"
	if changed > 0 {
		result += fmt.Sprintf("; %s changed meanwhile", text.Plural(changed, "file"))
	}
	if errors.Is(err, errEnough) {
		err = nil
		result += "; no time for the rest"
	}
	return result, err
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
