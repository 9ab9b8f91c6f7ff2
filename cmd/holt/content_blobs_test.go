// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/blob"
	"github.com/holtdb/holt/content/segment"
)

// scriptOutside makes a content store with two binaries that are kept outside, of 5000 and 20000 bytes, and one in its
// id; and writes another one of 6000 that nobody uses: outside store datastore
func scriptOutside(ts *testscript.TestScript, args []string) {
	blobs := &blob.FileStore{Dir: ts.MkAbs(args[1])}
	ts.Check(writeOutside(ts.MkAbs(args[0]), blobs, 5000, 20000, 2000, 3))
	_, err := blobs.Write(bytes.NewReader(make([]byte, 6000)))
	ts.Check(err)
}

func writeOutside(dir string, blobs *blob.FileStore, sizes ...int) error {
	files, err := archive.Open(dir, nil)
	if err != nil {
		return err
	}
	s := content.New(files, content.Options{})
	w, err := segment.NewWriter(segment.Options{Store: s, Sink: files, Outside: blobs, Threshold: 1000})
	if err != nil {
		return err
	}
	root, err := binariesNode(w, sizes...)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = files.SetHead(segment.RecordID{}, archive.Revision{ID: root, Time: time.UnixMilli(1796041571680)})
	}
	return errors.Join(err, s.Close())
}

// binariesNode writes a super-root whose content has a property with binaries.
func binariesNode(w *segment.Writer, sizes ...int) (segment.RecordID, error) {
	f := segment.Field{Name: "binaries", Type: segment.TypeBinaries}
	for _, n := range sizes {
		id, err := w.Binary(io.LimitReader(bytes.NewReader(bytes.Repeat([]byte("text"), n)), int64(n)))
		if err != nil {
			return id, err
		}
		f.Values = append(f.Values, id)
	}
	leaf, err := w.Node(&segment.Draft{Fields: []segment.Field{f}})
	if err != nil {
		return leaf, err
	}
	c, err := w.Children([]segment.Child{{Name: "root", Node: leaf}})
	if err != nil {
		return leaf, err
	}
	return w.Node(&segment.Draft{Children: c})
}
