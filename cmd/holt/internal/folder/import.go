// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/kv"
)

// Survey says how much there is to import from a folder, and finds what cannot be represented. The database at the path
// db, which may lie in the folder, is left out, as Import will.
func Survey(ctx context.Context, dir, db string, o Options) (Report, error) {
	info, err := os.Stat(db)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Report{}, err
	}
	im := importer{ctx: ctx, options: o, self: info}
	err = im.walk(dir, func(e Entry) error {
		if !e.Info.IsDir() {
			im.report.Bytes += e.Info.Size()
		}
		return nil
	})
	return im.report, err
}

// Import copies a folder into the bucket at path, which is made when it is missing. Files of names that are there
// already replace them. Large folders take several transactions; after an error some of them may have been committed.
func Import(ctx context.Context, db *kv.DB, path bucket.Path, dir string, o Options) (Report, error) {
	self, err := os.Stat(db.Path())
	if err != nil {
		return Report{}, err
	}
	im := importer{ctx: ctx, options: o, self: self}
	w := NewWriter(db, path)
	err = im.walk(dir, func(e Entry) error {
		if e.Info.IsDir() {
			return w.Folder(ctx, e.Names)
		}
		content, err := Read(e.Path, kv.MaxValueSize)
		if err != nil {
			return err
		}
		im.report.Bytes += int64(len(content))
		if o.Progress != nil {
			o.Progress(int64(len(content)))
		}
		return w.File(ctx, e.Names, content)
	})
	if err == nil {
		err = w.Flush(ctx)
	}
	return im.report, err
}

// importer walks a folder for Survey and Import.
type importer struct {
	ctx     context.Context //nolint:containedctx // lives as long as one call
	options Options
	self    fs.FileInfo // the database, nil when there is none yet
	report  Report
}

// walk visits what can be imported, and counts it.
func (im *importer) walk(dir string, visit func(Entry) error) error {
	return Walk(im.ctx, dir, Visitor{Visit: func(e Entry) error {
		if im.self != nil && os.SameFile(im.self, e.Info) {
			im.report.Self = true
			return nil
		}
		if reason := refuse(e.Info); reason != "" {
			return im.options.problem(&im.report, &Problem{What: e.Path, Reason: reason})
		}
		if e.Info.IsDir() {
			im.report.Folders++
		} else {
			im.report.Files++
		}
		return visit(e)
	}})
}

// refuse says why something cannot be imported, "" when it can.
func refuse(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return ""
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link has no place in a database"
	case !mode.IsRegular():
		return "only files and folders have a place in a database"
	case info.Size() > kv.MaxValueSize:
		return "the file is larger than a value can be"
	}
	return ""
}
