// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/blob"
	"github.com/holtdb/holt/content/segment"
)

// contentOpener opens content stores, as the flags of a command say.
type contentOpener struct {
	blobs    outsideBlobs
	revision string
	anyHead  bool // a journal that leads nowhere is fine
}

// outsideBlobs finds binaries kept outside, and names the flag that is missing if it cannot.
type outsideBlobs struct{ blob.FileStore }

func (b *outsideBlobs) Open(id string) (io.ReadCloser, error) {
	r, err := b.FileStore.Open(id)
	if errors.Is(err, blob.ErrNoStore) {
		return nil, fmt.Errorf("%w: %s (--datastore says where)", segment.ErrExternal, id)
	}
	return r, err
}

// blobFlag adds --datastore.
func (o *contentOpener) blobFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.blobs.Dir, "datastore", "",
		"directory of the binaries that are kept outside, a FileDataStore of Oak's")
}

// revisionFlag adds --revision.
func (o *contentOpener) revisionFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.revision, "revision", "",
		`revision to look at instead of the head, as "holt content journal" prints it`)
}

// view runs fn with a store and the revision to look at. What takes long is shown as nodes read.
func (o *contentOpener) view(
	cmd *cobra.Command, dir, what string, fn func(s *content.Store, revision segment.RecordID) error,
) (err error) {
	var revision segment.RecordID
	if o.revision != "" {
		if revision, err = parseRevision(o.revision); err != nil {
			return err
		}
	}
	bar := progress.New(cmd.ErrOrStderr(), what+" "+dir+", nodes", 0)
	defer bar.Done()
	opts := content.Options{Blobs: &o.blobs, NoHead: o.anyHead || o.revision != "", Progress: bar.Add}
	s, err := content.Open(dir, &opts)
	if err != nil {
		return err
	}
	defer closeWith(&err, s)
	if o.revision == "" {
		revision, _ = s.Head()
	}
	return fn(s, revision)
}

func parseRevision(arg string) (segment.RecordID, error) {
	id, err := segment.ParseRecordID(arg)
	if err != nil {
		return id, usagef(`%q is no revision: write it as "holt content journal" prints it`, arg)
	}
	return id, nil
}

// pathArg is the path that may follow the directory.
func pathArg(args []string, otherwise string) string {
	if len(args) < 2 {
		return otherwise
	}
	return args[1]
}

// lastName is the name of the node at a path.
func lastName(path []byte) []byte { return path[bytes.LastIndexByte(path, '/')+1:] }

// shortValue prints a value for people: the start of it, if it is long.
func shortValue(s *content.Store, t segment.Type, v segment.Value, most int) (string, error) {
	if t.Base() == segment.TypeBinary {
		return binaryText(s, v)
	}
	b := make([]byte, min(v.Len(), int64(most)))
	if _, err := v.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	shown := text.Quote(segment.AppendText(nil, b))
	if v.Len() > int64(most) {
		shown += fmt.Sprintf("… (%d bytes)", v.Len())
	}
	return shown, nil
}

func binaryText(s *content.Store, v segment.Value) (string, error) {
	if !v.IsExternal() {
		return text.Plural(v.Len(), "byte"), nil
	}
	id, err := s.BlobID(v)
	if len(id) > 100 {
		id = id[:100] + "…"
	}
	return "outside, " + id, err
}
