// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

// nodeFile is the file with the properties of a node. No node's folder can have that name: a full stop at the start is
// escaped.
const nodeFile = ".node.json"

// partFile is the file that is being written. Nothing else can have that name: a percent sign is escaped.
const partFile = ".%part"

// exportFolder copies a node and all below it into a folder. Names in a store may be anything, so none is trusted:
// files are created below an [os.Root], and never over another. A file gets its name when it is complete.
func exportFolder(
	ctx context.Context, s *content.Store, revision segment.RecordID, path, dir string,
) (nodes int64, err error) {
	if _, err := s.Find(revision, path); err != nil { // before anything is made
		return 0, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	if err := mustBeEmpty(dir); err != nil {
		return 0, err
	}
	top, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer closeWith(&err, top)
	e := folderExport{ctx: ctx, store: s, top: top, skip: len(strings.TrimSuffix(content.CleanPath(path), "/"))}
	err = s.Walk(ctx, revision, path, content.WalkOptions{}, func(v *content.Visit) error {
		if err := e.node(v); err != nil {
			return v.Fail(err)
		}
		nodes++
		return nil
	})
	return nodes, err
}

func mustBeEmpty(dir string) (err error) {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer closeWith(&err, f)
	names, err := f.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if len(names) > 0 {
		err = fmt.Errorf("folder %q is not empty", dir)
	}
	return err
}

// folderExport is one export.
type folderExport struct {
	ctx   context.Context //nolint:containedctx // lives as long as one call
	store *content.Store
	top   *os.Root
	skip  int // bytes of the path where the export begins
}

func (e *folderExport) node(v *content.Visit) error {
	var names []string
	for name := range bytes.SplitSeq(v.Path[e.skip:], []byte("/")) {
		names = append(names, fileName(string(name)))
	}
	dir := filepath.Join(names...) // the first is empty
	if dir != "" {
		if err := e.top.Mkdir(dir, 0o755); err != nil {
			return explainExists(err)
		}
	}
	j := nodeJSON{content.CleanPath(string(v.Path)), []propertyJSON{}}
	p := v.Node.Properties()
	for p.Next() {
		prop, err := newPropertyJSON(e.store, &p.Property)
		if err == nil && p.Type.Base() == segment.TypeBinary {
			err = e.binaries(dir, &p.Property, prop)
		}
		if err != nil {
			return fmt.Errorf("property %q: %w", p.Name, err)
		}
		j.Properties = append(j.Properties, prop)
	}
	if p.Err() != nil {
		return p.Err()
	}
	return e.write(filepath.Join(dir, nodeFile), func(w io.Writer) error { return printJSON(w, j) })
}

// binaries writes the values of a property to files: . and its name, and in brackets which value it is if it can have
// several.
func (e *folderExport) binaries(dir string, p *segment.Property, j propertyJSON) error {
	for i := range p.Count() {
		name := "." + fileName(j.Name)
		if p.Type.IsArray() {
			name += fmt.Sprintf("[%d]", i)
		}
		if name == nodeFile {
			name = ".node%2Ejson"
		}
		v, err := p.Value(i)
		if err != nil {
			return err
		}
		j.Values[i].(*binaryJSON).File = name
		err = e.write(filepath.Join(dir, name), func(w io.Writer) error {
			r, err := e.store.Binary(v)
			if err != nil {
				return err
			}
			_, err = io.Copy(w, interruptible{e.ctx, r})
			return errors.Join(err, r.Close())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *folderExport) write(name string, fill func(io.Writer) error) error {
	f, err := e.top.OpenFile(partFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = errors.Join(fill(f), f.Close())
	if err == nil {
		err = e.rename(partFile, name)
	}
	if err != nil {
		return errors.Join(err, e.top.Remove(partFile))
	}
	return nil
}

// rename gives a file another name, unless there is one that the file system does not tell from it.
func (e *folderExport) rename(from, to string) error {
	_, err := e.top.Lstat(to)
	switch {
	case err == nil:
		return explainExists(&fs.PathError{Op: "create", Path: to, Err: fs.ErrExist})
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return e.top.Rename(from, to)
}

// interruptible reads until the context is done.
type interruptible struct {
	ctx context.Context //nolint:containedctx // lives as long as one copy
	r   io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

func explainExists(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: this file system does not tell it from another name", err)
	}
	return err
}

// fileName is a name as a file's. Different names stay different.
func fileName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c < ' ' || c == 0x7F || strings.IndexByte(`%/\[]`, c) >= 0 || c == '.' && i == 0 || onWindows(name, i) {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// onWindows says whether a byte has a meaning there.
func onWindows(name string, i int) bool {
	if runtime.GOOS != "windows" {
		return false
	}
	last := i == len(name)-1 && (name[i] == '.' || name[i] == ' ')
	return last || strings.IndexByte(`<>:"|?*`, name[i]) >= 0 || i == 0 && !filepath.IsLocal(name)
}
