// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"fmt"
	"strings"

	"github.com/holtdb/holt/content/segment"
)

// PathError says that there is no node at a path.
type PathError struct {
	Path string
	Base string // the longest part of the path where there is one
}

func (e *PathError) Error() string {
	return fmt.Sprintf("no node %s: %s has no such child", e.Path, e.Base)
}

// CleanPath is a path in the form in which paths are printed: it begins with a slash, and does not end with one
// unless that is all.
func CleanPath(path string) string {
	return "/" + strings.Join(splitPath(path), "/")
}

func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// Find finds a node of a revision by its path.
func (s *Store) Find(revision segment.RecordID, path string) (segment.Node, error) {
	n, err := s.Root(revision)
	if err != nil {
		return n, err
	}
	return s.Descend(n, path)
}

// Descend finds a node by a path that begins at another.
func (s *Store) Descend(n segment.Node, path string) (segment.Node, error) {
	at := ""
	for _, name := range splitPath(path) {
		child, ok, err := n.Child(name)
		if err != nil {
			return n, fmt.Errorf("%s: %w", CleanPath(at), s.Locate(err))
		}
		if !ok {
			return n, &PathError{CleanPath(path), CleanPath(at)}
		}
		n, at = child, at+"/"+name
	}
	return n, nil
}
