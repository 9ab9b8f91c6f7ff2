// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
)

// Export copies the bucket b at path into a folder, which must be empty or not exist yet. The keys of a database may be
// anything, so none is trusted: what is no plain file name is a [Problem], and files are created below an [os.Root],
// never outside of dir and never over another.
func Export(ctx context.Context, b *kv.Bucket, path bucket.Path, dir string, o Options) (Report, error) {
	if err := emptyFolder(dir); err != nil {
		return Report{}, err
	}
	if o.Skip == nil {
		survey := exporter{ctx: ctx, options: o, walker: bucket.NewWalker()}
		if err := survey.folder(b, path, ""); err != nil {
			return Report{}, err
		}
	}
	return write(ctx, b, path, dir, o)
}

func write(ctx context.Context, b *kv.Bucket, path bucket.Path, dir string, o Options) (r Report, err error) {
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return r, err
	}
	top, err := os.OpenRoot(dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, top.Close()) }()
	ex := exporter{ctx: ctx, options: o, walker: bucket.NewWalker(), top: top}
	err = ex.folder(b, path, "")
	return ex.report, err
}

const (
	folderMode fs.FileMode = 0o755
	fileMode   fs.FileMode = 0o644
)

func emptyFolder(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%q is not a folder", dir)
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if len(names) > 0 {
		err = fmt.Errorf("folder %q is not empty", dir)
	}
	return errors.Join(err, f.Close())
}

// exporter walks buckets. Without top it only looks for problems.
type exporter struct {
	ctx     context.Context //nolint:containedctx // lives as long as one call
	options Options
	walker  *bucket.Walker
	top     *os.Root
	report  Report
}

// folder copies the contents of b, the bucket at path, into the existing folder called to.
func (ex *exporter) folder(b *kv.Bucket, path bucket.Path, to string) error {
	ex.report.Folders++
	if n := b.Sequence(); n != 0 {
		p := &Problem{What: "bucket " + path.String(), Reason: fmt.Sprintf("its sequence, %d, has no place in a folder", n)}
		if err := ex.options.problem(&ex.report, p); err != nil {
			return err
		}
	}
	return bucket.Each(ex.ctx, b, func(name, value []byte) error {
		if reason := refuseName(string(name)); reason != "" {
			p := &Problem{What: ex.what(path, name, value), Reason: reason}
			return ex.options.problem(&ex.report, p)
		}
		file := filepath.Join(to, string(name))
		if value != nil {
			return ex.file(file, value)
		}
		if err := ex.mkdir(file); err != nil {
			return err
		}
		sub, err := ex.walker.Enter(b, name)
		if err != nil {
			return err
		}
		defer ex.walker.Leave()
		return ex.folder(sub, path.Child(name), file)
	})
}

func (ex *exporter) what(path bucket.Path, name, value []byte) string {
	if value == nil {
		return "bucket " + path.Child(name).String()
	}
	return "key " + path.Child(name).String()
}

func (ex *exporter) mkdir(name string) error {
	if ex.top == nil {
		return nil
	}
	return ex.explain(ex.top.Mkdir(name, folderMode))
}

func (ex *exporter) file(name string, content []byte) (err error) {
	ex.report.Files++
	ex.report.Bytes += int64(len(content))
	if ex.top == nil {
		return nil
	}
	f, err := ex.top.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return ex.explain(err)
	}
	_, err = f.Write(content)
	if ex.options.Progress != nil {
		ex.options.Progress(int64(len(content)))
	}
	return errors.Join(err, f.Close())
}

// explain adds what it means that a name in a folder that was empty is taken.
func (ex *exporter) explain(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: this file system does not tell it from another name", err)
	}
	return err
}

// maxName is the length in bytes of file names that file systems agree on.
const maxName = 255

// refuseName says why a key cannot be the name of a file on this system, "" when it can. The same name must come back
// from the file system, and nothing but a file in the folder at hand may be meant by it.
func refuseName(name string) string {
	switch {
	case name == "." || name == "..":
		return "it would mean a folder that exists, not a file"
	case strings.ContainsAny(name, "/\x00"), strings.ContainsRune(name, filepath.Separator):
		return "no file name can contain a separator or a zero byte"
	case len(name) > maxName:
		return fmt.Sprintf("%s are too many for a file name", text.Plural(len(name), "byte"))
	case !filepath.IsLocal(name):
		return "the name is reserved on this system"
	case filepath.Separator == '\\' && (strings.ContainsAny(name, `<>:"|?*`) || strings.TrimRight(name, ". ") != name):
		return "the name is not allowed on this system"
	}
	return ""
}
