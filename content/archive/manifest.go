// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/holtdb/holt/internal/file"
)

// Versions of stores, as manifests have them.
const (
	oldStore = 1
	newStore = 2
)

const (
	manifestName = "manifest"
	versionKey   = "store.version"
	maxManifest  = 1 << 16
)

// noManifest says what is wrong where there are archives alone. Which of the two it is cannot be told, as archives of
// before have the same names.
const noManifest = "archives without a manifest: either the store is older than Oak 1.6, which is not supported, or its " +
	"manifest was lost; a file " + manifestName + " with the line " + versionKey + "=2 beside the archives brings it back"

// manifest is a file of Java properties.
type manifest struct {
	lines   []string
	version int
}

// readManifest returns nil if there is none.
func readManifest(fsys file.FS, dir string) (*manifest, error) {
	path := filepath.Join(dir, manifestName)
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // as said
	}
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxManifest))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	m := parseManifest(string(b))
	switch {
	case m.version < oldStore:
		return nil, &VersionError{path, fmt.Sprintf("invalid store version %d", m.version)}
	case m.version > newStore:
		return nil, &VersionError{path, fmt.Sprintf("store version %d: known are %d and %d", m.version, oldStore, newStore)}
	}
	return m, nil
}

func parseManifest(text string) *manifest {
	m := &manifest{version: newStore}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		key, value := property(line)
		if key != versionKey {
			m.lines = append(m.lines, line)
			continue
		}
		if n, err := strconv.ParseInt(value, 10, 32); err == nil {
			m.version = int(n)
		}
	}
	return m
}

// property takes a line of the form key=value apart; the equals sign may be a colon or white space.
func property(line string) (key, value string) {
	const blanks = " \t\f"
	line = strings.TrimLeft(line, blanks)
	if line == "" || line[0] == '#' || line[0] == '!' {
		return "", ""
	}
	i := strings.IndexAny(line, "=:"+blanks)
	if i < 0 {
		return line, ""
	}
	value = strings.TrimLeft(line[i:], blanks)
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], blanks)
	}
	return line[:i], value
}

// upgrade writes the present version into the manifest, in place of m, which may be nil. The file is replaced as a whole.
func (m *manifest) upgrade(fsys file.FS, dir string, now time.Time) error {
	var lines []string
	if m != nil {
		lines = m.lines
	} else {
		lines = []string{"#" + now.UTC().Format("Mon Jan 02 15:04:05 UTC 2006")}
	}
	text := strings.Join(append(lines, fmt.Sprintf("%s=%d\n", versionKey, newStore)), "\n")
	return replaceFile(fsys, dir, manifestName, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
