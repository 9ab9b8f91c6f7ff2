// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Entry is something below the folder being walked, or that folder itself, whose names are empty.
type Entry struct {
	Path  string   // to open it with
	Names []string // from the topmost folder down
	Info  fs.FileInfo
}

// Visitor is what [Walk] calls.
type Visitor struct {
	Visit func(Entry) error

	// Unreadable is called when a folder that was visited cannot be listed, or not to its end. What it returns is
	// treated as if Visit had returned it. When it is nil the error ends the walk.
	Unreadable func(Entry, error) error
}

// readSize is how many entries of a folder are read at a time, so that walking can end early in a huge one.
const readSize = 512

// Walk visits a folder and everything below it, a folder before what is in it. It follows no links, except that dir may
// be one. A visit that returns [fs.SkipDir] for a folder leaves it out; other errors end the walk. What vanishes while
// walking was not there.
func Walk(ctx context.Context, dir string, v Visitor) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "read", Path: dir, Err: errors.New("not a folder")}
	}
	err = v.walk(ctx, Entry{Path: dir, Info: info})
	if errors.Is(err, fs.SkipDir) {
		return nil
	}
	return err
}

// walk visits the folder e. It reads the whole listing before it enters sub-folders, so that no more than one listing is
// open at a time however deep they are.
func (v Visitor) walk(ctx context.Context, e Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := v.Visit(e); err != nil {
		return err
	}
	folders, err := v.files(ctx, e)
	if err != nil {
		return err
	}
	for _, sub := range folders {
		if err := v.walk(ctx, sub); err != nil && !errors.Is(err, fs.SkipDir) {
			return err
		}
	}
	return nil
}

// files visits the files of a folder and returns its sub-folders.
func (v Visitor) files(ctx context.Context, e Entry) (folders []Entry, err error) {
	dir, err := os.Open(e.Path)
	if err != nil {
		return nil, v.unreadable(e, err)
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	for {
		entries, rerr := dir.ReadDir(readSize)
		for _, d := range entries {
			info, err := d.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			sub := e.child(info)
			if info.IsDir() {
				folders = append(folders, sub)
			} else if err := v.Visit(sub); err != nil {
				return nil, err
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if errors.Is(rerr, io.EOF) {
			return folders, nil
		}
		if rerr != nil {
			return folders, v.unreadable(e, rerr)
		}
	}
}

func (v Visitor) unreadable(e Entry, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if v.Unreadable == nil {
		return err
	}
	return v.Unreadable(e, err)
}

func (e Entry) child(info fs.FileInfo) Entry {
	names := append(slices.Clip(e.Names), info.Name())
	return Entry{Path: filepath.Join(e.Path, info.Name()), Names: names, Info: info}
}
