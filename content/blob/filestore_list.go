// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"time"
)

// All goes through the files of binaries in order of their digests. It has the names of one directory at a time in
// memory. Whatever else is in the directories is passed over. A directory that is not there has nothing in it.
func (s *FileStore) All() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if s.Dir != "" {
			s.walk(s.Dir, "", yield)
		}
	}
}

// digits is how many digits of a digest the directories have that its file is in, two each.
const digits = 6

// walk goes through a directory, whose files have digests that begin with prefix. It is false if nobody wants to see
// more.
func (s *FileStore) walk(dir, prefix string, yield func(Entry, error) bool) bool {
	if len(prefix) == digits {
		return s.files(dir, prefix, yield)
	}
	names, err := s.fs().Subdirs(dir)
	if !ignorable(err) {
		yield(Entry{}, err)
		return false
	}
	for _, name := range names {
		if len(name) == 2 && isHex(name) && !s.walk(filepath.Join(dir, name), prefix+name, yield) {
			return false
		}
	}
	return true
}

// ignorable says whether an error, if it is one, means no more than that somebody has removed something.
func ignorable(err error) bool { return err == nil || errors.Is(err, fs.ErrNotExist) }

func (s *FileStore) files(dir, prefix string, yield func(Entry, error) bool) bool {
	names, err := s.fs().ReadDir(dir)
	if !ignorable(err) {
		yield(Entry{}, err)
		return false
	}
	for _, name := range names {
		if !isHash(name) || !strings.HasPrefix(name, prefix) {
			continue
		}
		info, err := s.regular(filepath.Join(dir, name))
		if err != nil {
			yield(Entry{}, err)
			return false
		}
		if info == nil {
			continue
		}
		id := hashID(name, info.Size())
		if !yield(Entry{id, id[:len(name)], info.Size(), info.ModTime()}, nil) {
			return false
		}
	}
	return true
}

// regular describes a file, nil if it is not there or none.
func (s *FileStore) regular(path string) (fs.FileInfo, error) {
	info, err := s.fs().Stat(path)
	if err != nil {
		if ignorable(err) {
			err = nil
		}
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil //nolint:nilnil // as said
	}
	return info, nil
}

// Delete deletes a binary, if it was last written before a time. Directories stay: somebody may be about to use them.
func (s *FileStore) Delete(id string, before time.Time) (bool, error) {
	hash, err := s.Key(id)
	switch {
	case err != nil || hash == "":
		return false, err
	case s.Dir == "":
		return false, ErrNoStore
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remove(s.Path(hash), before)
}

// remove removes a file that was last written before a time, with mu held. That need not be durable: what comes back is
// collected again.
func (s *FileStore) remove(path string, before time.Time) (bool, error) {
	info, err := s.regular(path)
	if info == nil || !info.ModTime().Before(before) {
		return false, err
	}
	err = s.fs().Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Clean deletes temporary files, ours and Oak's, that were not written to since a time. Those that this FileStore is
// writing stay.
func (s *FileStore) Clean(before time.Time, dryRun bool) (Tally, error) {
	var t Tally
	if s.Dir == "" {
		return t, nil
	}
	names, err := s.fs().ReadDir(s.Dir)
	if !ignorable(err) {
		return t, err
	}
	for _, name := range names {
		if !isTemp(name) {
			continue
		}
		size, err := s.clean(filepath.Join(s.Dir, name), before, dryRun)
		if err != nil {
			return t, err
		}
		if size >= 0 {
			t.add(size)
		}
	}
	return t, nil
}

// clean deletes one, or would, and returns its length; -1 if it stays.
func (s *FileStore) clean(path string, before time.Time, dryRun bool) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := s.regular(path)
	if info == nil || s.writing[path] || !info.ModTime().Before(before) {
		return -1, err
	}
	if !dryRun {
		if gone, err := s.remove(path, before); !gone {
			return -1, err
		}
	}
	return info.Size(), nil
}

// isTemp says whether a name is that of a temporary file: of ours, or what Java calls its own.
func isTemp(name string) bool {
	number, ok := strings.CutPrefix(name, "tmp")
	if !ok {
		return false
	}
	number, ok = strings.CutSuffix(number, ".tmp")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}
