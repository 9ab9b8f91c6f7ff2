// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/holtdb/holt/cmd/holt/internal/text"
	"github.com/holtdb/holt/stack"
	"github.com/holtdb/holt/stack/alloc"
)

// inspectStack describes a stack file that need not be one at rest.
func inspectStack(path string) (*stack.State, error) {
	if err := mustBeFile("stack file", path); err != nil {
		return nil, err
	}
	st, err := stack.Inspect(path, nil)
	return st, inUse(path, err)
}

// inUse says in one's own words what an error of opening a file is about.
func inUse(path string, err error) error {
	version := new(stack.VersionError)
	switch {
	case errors.Is(err, stack.ErrLocked):
		return fmt.Errorf("%s is in use by another process: %w", path, stack.ErrLocked)
	case errors.As(err, &version) && version.Version == "0.1":
		return fmt.Errorf("%w: holt stack migrate %s", err, quoteArg(path))
	}
	return err
}

// viewStack runs fn with a stack opened for reading only.
func viewStack(path string, fn func(s *stack.Stack) error) (err error) {
	st, err := inspectStack(path)
	if err != nil {
		return err
	}
	if st.Journal != nil || st.Unfinished {
		return fmt.Errorf("%s: %s: holt stack recover %s", path, leftover(st), quoteArg(path))
	}
	return withStack(path, stack.Options{ReadOnly: true}, fn)
}

// changeStack runs fn with a stack opened for writing.
func changeStack(path string, fn func(s *stack.Stack) error) error {
	return withStack(path, stack.Options{}, fn)
}

func withStack(path string, opts stack.Options, fn func(s *stack.Stack) error) (err error) {
	if err := mustBeFile("stack file", path); err != nil {
		return err
	}
	return openStack(path, opts, fn)
}

// createStack is changeStack for a file that is missing.
func createStack(path string, fn func(s *stack.Stack) error) error {
	return openStack(path, stack.Options{}, fn)
}

func openStack(path string, opts stack.Options, fn func(s *stack.Stack) error) (err error) {
	s, err := stack.Open(path, &opts)
	if err != nil {
		return inUse(path, err)
	}
	defer closeWith(&err, s)
	return fn(s)
}

// withAllocator makes of fn a function for viewStack and changeStack that opens the allocator in the stack.
func withAllocator(fn func(a alloc.Allocator) error) func(s *stack.Stack) error {
	return func(s *stack.Stack) error {
		a, err := alloc.Open(s)
		switch {
		case errors.Is(err, stack.ErrReadOnly):
			return fmt.Errorf("%s: the allocator has to be recovered: holt stack recover %s", s.Path(), quoteArg(s.Path()))
		case err != nil:
			return err
		}
		return fn(a)
	}
}

// isNoAllocator says whether an error of withAllocator is about a payload that no allocator manages.
func isNoAllocator(err error) bool { return errors.Is(err, alloc.ErrFormat) }

// leftover says what a crash left of a file, empty if nothing.
func leftover(st *stack.State) string {
	switch j := st.Journal; {
	case st.Unfinished:
		return "an interrupted creation"
	case j != nil && j.Whole:
		return fmt.Sprintf("an interrupted change, to be completed (%s, %s staged)", j.Mode, text.Plural(j.Staged, "byte"))
	case j != nil:
		return fmt.Sprintf("an interrupted change, to be dropped (%s, %s staged)", j.Mode, text.Plural(j.Staged, "byte"))
	case uint64(st.Payload) != st.Length:
		return fmt.Sprintf("a payload of %d bytes where the header says %d", st.Payload, st.Length)
	case st.Behind > 0:
		return text.Plural(st.Behind, "byte") + " behind the payload that were never committed"
	}
	return ""
}

// parseRegion parses a region as regionText prints it.
func parseRegion(arg string) (alloc.Region, error) {
	off, length, ok := strings.Cut(arg, "+")
	if ok {
		r := alloc.Region{}
		var errOff, errLen error
		r.Off, errOff = parseCount(off)
		r.Len, errLen = parseCount(length)
		if errOff == nil && errLen == nil {
			return r, nil
		}
	}
	return alloc.Region{}, usagef("%q is no region: write OFFSET+LENGTH, such as 112+64", arg)
}

func parseRegions(args []string) ([]alloc.Region, error) {
	rs := make([]alloc.Region, len(args))
	for i, arg := range args {
		r, err := parseRegion(arg)
		if err != nil {
			return nil, err
		}
		rs[i] = r
	}
	return rs, nil
}

// parseCount parses a number of bytes or an offset.
func parseCount(arg string) (int64, error) {
	n, err := strconv.ParseUint(arg, 10, 63)
	if err != nil {
		return 0, usagef("%q is no number of bytes", arg)
	}
	return int64(n), nil
}

func regionText(r alloc.Region) string { return fmt.Sprintf("%d+%d", r.Off, r.Len) }

// regionJSON is a region for programs.
type regionJSON struct {
	Off int64 `json:"offset"`
	Len int64 `json:"length"`
}
