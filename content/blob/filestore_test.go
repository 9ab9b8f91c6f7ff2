// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package blob_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/blob"
)

func TestFileStore(t *testing.T) {
	dir := t.TempDir()
	content := strings.Repeat("content ", 1000)
	sum := sha256.Sum256([]byte(content))
	hash := fmt.Sprintf("%x", sum)
	path := filepath.Join(dir, hash[:2], hash[2:4], hash[4:6], hash)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(content), 0o600))

	s := &blob.FileStore{Dir: dir}
	for id, want := range map[string]string{
		hash + "#8000":     content,
		hash:               content, // length unknown
		"0x68656c6c6f#5":   "hello",
		"0x#0":             "",
		"0x68656c6c6f":     "hello",
		"0x6865#2":         "he",
		hash + "#00008000": content,
	} {
		if got, err := readAll(s, id); err != nil || got != want {
			t.Errorf("%.20s: %.20q, %v", id, got, err)
		}
	}
	if got, n, ok := s.Digest(hash + "#8000"); !ok || n != 8000 || got != sum {
		t.Errorf("digest %x, %d, %v", got, n, ok)
	}
	if got, n, ok := s.Digest("0x68656c6c6f#5"); !ok || n != 5 || got != sha256.Sum256([]byte("hello")) {
		t.Errorf("digest %x, %d, %v", got, n, ok)
	}
	if _, _, ok := s.Digest(hash); ok {
		t.Error("the length is known to nobody")
	}

	if _, err := readAll(s, hash+"#7999"); !isCorrupt(err) {
		t.Errorf("wrong length: %v", err)
	}
	missing := strings.Repeat("ab", 32) + "#1"
	if _, err := readAll(s, missing); !isNotFound(err) || !strings.Contains(err.Error(), filepath.Join("ab", "ab", "ab")) {
		t.Errorf("missing: %v", err)
	}
	if _, err := readAll(&blob.FileStore{}, missing); !errors.Is(err, blob.ErrNoStore) {
		t.Errorf("no directory: %v", err)
	}
}

func TestNoIDs(t *testing.T) {
	for _, id := range []string{
		"", "#", "#5", "0x6#1", "0x68#2", "0xzz#1", "abcd#2", "../../../../../../../../../../etc/passwd#1",
		strings.Repeat("AB", 32) + "#1", strings.Repeat("ab", 32) + "#-1", strings.Repeat("ab", 32) + "#x",
		strings.Repeat("ab", 100) + "#1",
	} {
		if _, err := readAll(&blob.FileStore{Dir: t.TempDir()}, id); !errors.Is(err, blob.ErrID) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("0x68656c6c6f#5")
	f.Add(strings.Repeat("ab", 32) + "#1")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := blob.ParseID(s)
		if err != nil {
			return
		}
		if id.Hash == "" && id.Length != int64(len(id.Inline)) {
			t.Errorf("%q: length %d of %d bytes", s, id.Length, len(id.Inline))
		}
		if id.Hash != "" && !filepath.IsLocal((&blob.FileStore{}).Path(id.Hash)) {
			t.Errorf("%q leads outside", s)
		}
	})
}

func isCorrupt(err error) bool {
	_, ok := errors.AsType[*blob.CorruptError](err)
	return ok
}

func isNotFound(err error) bool {
	_, ok := errors.AsType[*blob.NotFoundError](err)
	return ok
}

func readAll(s *blob.FileStore, id string) (string, error) {
	r, err := s.Open(id)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	return string(b), errors.Join(err, r.Close())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
