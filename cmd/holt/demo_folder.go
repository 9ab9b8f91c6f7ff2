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
		demo: d, db: db, root: bucket.Path{[]byte(cmp.Or(strings.Trim(filepath.Base(dir), `/\`), "root"))},
		demoFiles: demoFiles{top: dir, skip: d.dir, limits: folderLimits}, written: make(map[string]importedFile),
	}
	return errors.Join(f.run(ctx), db.Close())
}

// folderDemo is the part of the demo that copies the current folder.
type folderDemo struct {
	*demo
	demoFiles
	db      *kv.DB
	root    bucket.Path             // of the bucket for the folder
	written map[string]importedFile // by the place of the key
}

// importedFile is what was imported of one file.
type importedFile struct {
	path string
	sum  [sha256.Size]byte
}

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
	bar := progress.New(f.cmd.ErrOrStderr(), "importing "+f.top, 0)
	defer bar.Done()
	w := folder.NewWriter(f.db, f.root)
	err := f.each(ctx, fileVisitor{
		folder: func(e folder.Entry) error { return w.Folder(ctx, e.Names) },
		file: func(e folder.Entry, content []byte) error {
			bar.Add(1)
			f.written[f.place(e.Names)] = importedFile{path: e.Path, sum: sha256.Sum256(content)}
			return w.File(ctx, e.Names, content)
		},
	})
	if err != nil {
		return "", err
	}
	return f.report().String(), w.Flush(ctx)
}

// place identifies a key of the database: file names have no zero bytes.
func (f *folderDemo) place(names []string) string {
	return strings.Join(append([]string{string(f.root[0])}, names...), "\x00")
}

// readBack reads the whole database and holds every value against the hash taken at import.
func (f *folderDemo) readBack(ctx context.Context) (string, error) {
	n, size := 0, int64(0)
	err := f.eachValue(ctx, func(_ importedFile, value []byte) error {
		n, size = n+1, size+int64(len(value))
		return nil
	})
	if err == nil && n != len(f.written) {
		err = fmt.Errorf("%d keys came back of %d", n, len(f.written))
	}
	return fmt.Sprintf("%s, %s, all as they were imported", text.Plural(int64(n), "key"), text.Size(size)), err
}

// eachValue calls fn with every value of the database and the file it came from, having checked that it is the same.
func (f *folderDemo) eachValue(ctx context.Context, fn func(from importedFile, value []byte) error) error {
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
	err := f.eachValue(ctx, func(from importedFile, value []byte) error {
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
