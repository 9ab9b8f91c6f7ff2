// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/cmd/holt/internal/progress"
	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/kv"
)

// opener opens the databases that the kv commands name; its fields are flags of all of them.
type opener struct {
	timeout time.Duration
	names   text.ParseFormat // of the buckets among the arguments
	stderr  io.Writer        // for progress
}

func (o *opener) addFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&o.timeout, "timeout", 5*time.Second,
		"how long to wait for another process to release the file, 0 for ever")
	o.names = text.ParseASCII
	flags.Var(&o.names, "bucket-format", "format of bucket names in arguments, one of "+strings.Join(text.ParseFormats, "|"))
}

// mustExist makes sure that there is a database.
func mustExist(path string) error { return mustBeFile("source database file", path) }

// mustBeFile makes sure that there is a regular file, before an engine creates one or waits for a pipe.
func mustBeFile(what, path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s %q doesn't exist", what, path)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%q is not a regular file", path)
	}
	return nil
}

// open opens an existing database.
func (o *opener) open(ctx context.Context, path string, opts kv.Options) (*kv.DB, error) {
	if err := mustExist(path); err != nil {
		return nil, err
	}
	return o.openOrCreate(ctx, path, 0, opts)
}

func (o *opener) openOrCreate(ctx context.Context, path string, mode fs.FileMode, opts kv.Options) (*kv.DB, error) {
	bar := progress.New(o.stderr, "opening "+path+", pages", 0) // all of them, if the free ones are not known
	defer bar.Done()
	opts.Timeout, opts.Progress = o.timeout, bar.Add
	db, err := openReady(ctx, path, mode, &opts)
	switch {
	case errors.Is(err, kv.ErrTimeout):
		return nil, fmt.Errorf("%s is in use by another process: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return db, nil
}

// openReady opens a database, and finds the free pages if it is to be written to: the first transaction needs them.
func openReady(ctx context.Context, path string, mode fs.FileMode, opts *kv.Options) (*kv.DB, error) {
	db, err := kv.OpenContext(ctx, path, mode, opts)
	if err != nil || opts.ReadOnly {
		return db, err
	}
	tx, err := db.BeginContext(ctx, true)
	if err == nil {
		err = tx.Rollback()
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// view runs fn in a read transaction of a database opened for reading only.
func (o *opener) view(ctx context.Context, path string, fn func(*kv.Tx) error) error {
	return o.viewWith(ctx, path, kv.Options{}, fn)
}

func (o *opener) viewWith(ctx context.Context, path string, opts kv.Options, fn func(*kv.Tx) error) (err error) {
	opts.ReadOnly = true
	db, err := o.open(ctx, path, opts)
	if err != nil {
		return err
	}
	defer closeWith(&err, db)
	return db.ViewContext(ctx, fn)
}

// update runs fn in a write transaction, of a new database where create is set and there is none.
func (o *opener) update(ctx context.Context, path string, create bool, fn func(*kv.Tx) error) (err error) {
	db, err := o.openToWrite(ctx, path, create)
	if err != nil {
		return err
	}
	defer closeWith(&err, db)
	return db.UpdateContext(ctx, fn)
}

// newFileMode are the permissions of a database that did not exist.
const newFileMode = 0o600

func (o *opener) openToWrite(ctx context.Context, path string, create bool) (*kv.DB, error) {
	if err := mustExist(path); err != nil && (!create || exists(path)) {
		return nil, err
	}
	return o.openOrCreate(ctx, path, newFileMode, kv.Options{})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// closeWith closes c and adds its error to that of the function that defers it.
func closeWith(err *error, c interface{ Close() error }) {
	*err = errors.Join(*err, c.Close())
}

// parsePath parses the names of nested buckets.
func (o *opener) parsePath(args []string) (bucket.Path, error) {
	path := make(bucket.Path, len(args))
	for i, arg := range args {
		name, err := parseArg(o.names, arg)
		if err != nil {
			return nil, err
		}
		path[i] = name
	}
	return path, nil
}

// parseKey parses the names of buckets and, at the end, a key.
func (o *opener) parseKey(args []string, f text.ParseFormat) (path bucket.Path, key []byte, err error) {
	last := len(args) - 1
	if path, err = o.parsePath(args[:last]); err != nil {
		return nil, nil, err
	}
	key, err = parseArg(f, args[last])
	return path, key, err
}

// parseArg gives the bytes that an argument stands for.
func parseArg(f text.ParseFormat, arg string) ([]byte, error) {
	b, err := f.Parse(arg)
	if err != nil {
		return nil, usageError{err}
	}
	return b, nil
}
