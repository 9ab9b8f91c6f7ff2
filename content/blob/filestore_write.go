// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/holtdb/holt/internal/file"
)

// Write keeps all that r has. It takes memory for what fits into an id, and otherwise for a piece at a time.
//
// The bytes go to a temporary file in the directory, which is synced and then renamed. So there is never a file under
// the name of a digest that is not whole. What a crash leaves is for [FileStore.Clean].
func (s *FileStore) Write(r io.Reader) (string, error) {
	id, r, err := inlined(r, s.Inline)
	if err != nil || id != "" {
		return id, err
	}
	if s.Dir == "" {
		return "", fmt.Errorf("%w: nothing can be written", ErrNoStore)
	}
	if err := s.makeDir(); err != nil {
		return "", err
	}
	path := filepath.Join(s.Dir, fmt.Sprintf("tmp%d.tmp", rand.Uint64())) // as Oak's are
	s.begin(path)
	defer s.end(path)
	t, err := s.newTemp(path, r)
	if err != nil {
		return "", err
	}
	if err := s.keep(t); err != nil {
		return "", err
	}
	return hashID(t.hash, t.size), nil
}

// begin keeps [FileStore.Clean] from a temporary file, however long r takes.
func (s *FileStore) begin(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing == nil {
		s.writing = map[string]bool{}
	}
	s.writing[path] = true
}

func (s *FileStore) end(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.writing, path)
}

// makeDir makes the directory, and makes its name durable with those of the directories around it that were not there.
func (s *FileStore) makeDir() error {
	s.making.Lock()
	defer s.making.Unlock()
	if s.made {
		return nil
	}
	var parents []string
	for dir := filepath.Clean(s.Dir); ; dir = filepath.Dir(dir) {
		_, err := s.fs().Stat(dir)
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		parents = append(parents, filepath.Dir(dir))
	}
	if err := s.fs().MkdirAll(s.Dir, 0o777); err != nil {
		return err
	}
	for _, dir := range parents {
		if err := s.fs().SyncDir(dir); err != nil {
			return err
		}
	}
	s.made = true
	return nil
}

// temp is a binary in a temporary file: whole and durable, but for its name.
type temp struct {
	path string
	hash string // the digest in hexadecimal
	size int64
}

// newTemp writes a temporary file with all that r has.
func (s *FileStore) newTemp(path string, r io.Reader) (temp, error) {
	f, err := s.fs().OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return temp{}, err
	}
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(hash, io.NewOffsetWriter(f, 0)), r)
	if err == nil {
		err = f.SyncData()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		// By the clock by which it may be collected, which need not be that of a file server.
		err = s.fs().Chtimes(path, s.now())
	}
	if err != nil {
		s.discard(path)
		return temp{}, err
	}
	return temp{path, hex.EncodeToString(hash.Sum(nil)), size}, nil
}

// discard removes a temporary file. If that fails it will be cleaned up like those that crashes leave.
func (s *FileStore) discard(path string) { _ = s.fs().Remove(path) }

// keep makes a temporary file that of its digest, unless there is one.
func (s *FileStore) keep(t temp) error {
	path := s.Path(t.hash)
	there, err := s.place(t, path)
	if there != nil || err != nil {
		s.discard(t.path)
	}
	if there != nil { // whoever wrote it need not have synced it
		err = errors.Join(err, there.SyncData(), there.Close())
	}
	if err != nil {
		return err
	}
	// All directories, even if the file and they were there: another goroutine or process may have just made them, and
	// not be done. Those that nobody changed cost little.
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if err := s.fs().SyncDir(dir); err != nil || dir == filepath.Clean(s.Dir) {
			return err
		}
	}
}

// place renames a temporary file, or returns the file that is there already. No Delete comes between.
func (s *FileStore) place(t temp, path string) (there file.File, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there := s.renew(path, t.size); there != nil {
		return there, nil
	}
	const attempts = 3 // Oak takes directories away that have become empty
	for range attempts {
		if err = s.fs().MkdirAll(filepath.Dir(path), 0o777); err == nil {
			err = s.fs().Rename(t.path, path)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return nil, err
}

// renew makes a file that is there as young as if it had been written now. It returns nil if there is none, or one that
// is to be replaced: it has another length, so it is not what it should be, or it belongs to another user.
//
// The new time need not be durable. If a crash takes it away, then also every id that was not in a durable segment by
// then.
func (s *FileStore) renew(path string, size int64) file.File {
	f, err := s.fs().OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && info.Size() == size {
		if now := s.now(); info.ModTime().Before(now) {
			err = s.fs().Chtimes(path, now)
		}
		if err == nil {
			return f
		}
	}
	_ = f.Close() // nothing was written
	return nil
}
