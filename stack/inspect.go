// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/holtdb/holt/internal/file"
)

// State is what a file holds beside the bytes of its payload, and what opening it would make of it.
type State struct {
	Version    string // of the format
	Release    int    // of the program that created the file, as it says itself
	Unfinished bool   // a crash interrupted the creation of the file: there is nothing but some of the header

	Size       int64    // of the file, in bytes
	HeaderSize int64    // of the file's header; the payload follows
	Length     uint64   // of the payload, as the header says
	Payload    int64    // of the payload, as far as the file has it
	Behind     int64    // bytes behind the payload: staged, or never committed
	Journal    *Journal // nil if none is armed
	Recovered  int64    // the payload's length when the file has been opened for writing
	Fields     []Field  // of the header and, if it is whole, the journal, by offset
}

// AtRest says whether opening the file would change nothing.
func (st *State) AtRest() bool {
	return !st.Unfinished && st.Journal == nil && st.Behind == 0 && uint64(st.Payload) == st.Length
}

// Journal describes a change that was interrupted.
type Journal struct {
	Mode   string  // such as "MultiWrite"
	Target uint64  // an offset in the file; 0 for modes that have none
	Staged int64   // bytes behind the payload
	Whole  bool    // it will be completed; otherwise what is staged will be dropped
	Writes []Range // the parts of the payload that completing it writes
}

// Field is some bytes of a file that mean something by themselves.
type Field struct {
	Off, Len int64 // in the file
	Name     string
	Value    string // for people; empty if the bytes say it all
}

// Inspect describes a file without changing it, also one that has to be recovered. It locks the file meanwhile as a
// reader does: [ErrLocked]. [*VersionError] and [*CorruptError] are those of [Open].
func Inspect(path string, opts *Options) (*State, error) {
	s := newStack(path, opts)
	s.opts.Logger = slog.New(slog.DiscardHandler)
	f, err := s.fs.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	v := &rehearsal{File: f}
	s.file = v
	st, err := s.inspect(v)
	return st, errors.Join(err, f.Close())
}

// rehearsal is a file that recovery reads, and that notes what recovery would write into the payload. No replay reads
// what it has written, so it makes no difference that nothing is.
type rehearsal struct {
	file.File
	writes []Range
}

func (v *rehearsal) WriteAt(p []byte, off int64) (int, error) {
	if off -= headerSize; off >= 0 && len(p) > 0 {
		v.note(Range{off, off + int64(len(p))})
	}
	return len(p), nil
}

func (v *rehearsal) WriteThrough(p []byte, off int64) (int, error) { return v.WriteAt(p, off) }

// note adds to the last range what continues it.
func (v *rehearsal) note(r Range) {
	if n := len(v.writes); n > 0 && v.writes[n-1].End == r.Start {
		v.writes[n-1].End = r.End
		return
	}
	v.writes = append(v.writes, r)
}

func (v *rehearsal) Truncate(int64) error { return nil }
func (v *rehearsal) SyncData() error      { return nil }

func (s *Stack) inspect(v *rehearsal) (*State, error) {
	if err := v.TryLock(false); err != nil {
		if errors.Is(err, file.ErrLocked) {
			return nil, fmt.Errorf("%w: %s", ErrLocked, s.path)
		}
		return nil, err
	}
	size, err := v.Size()
	if err != nil {
		return nil, err
	}
	h := make([]byte, headerSize)
	n, err := v.ReadAt(h, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return s.describe(v, h[:n], size)
}

// describe tells the cases apart in the order in which opening does.
func (s *Stack) describe(v *rehearsal, h []byte, size int64) (*State, error) {
	switch {
	case size == int64(len(h)) && unfinished(h) && (size < headerSize || checkMagic(s.path, h) != nil):
		return &State{
			Version: version(magic[:]), Release: int(magic[6]), Unfinished: true, Size: size, HeaderSize: size,
		}, nil
	case len(h) >= headerSizeV1 && [prefixSize]byte(h) == prefixV1:
		return describeV1(h, size), nil
	case len(h) >= len(magic) && checkMagic(s.path, h) != nil:
		return nil, checkMagic(s.path, h)
	case len(h) < headerSize:
		return nil, &CorruptError{s.path, int64(len(h)), "the file ends inside the header"}
	}
	r := parseRecord(h[recordOff:])
	st := &State{
		Version: version(h), Release: int(h[6]), Size: size, HeaderSize: headerSize,
		Length: r.length, Payload: min(int64(min(r.length, maxLength)), size-headerSize),
	}
	st.Behind = size - headerSize - st.Payload
	st.Fields = append(magicFields(h), recordFields(r)...)
	var err error
	if st.Recovered, err = s.recover(r, size); err != nil || !r.armed() {
		return st, err
	}
	st.Journal = &Journal{
		Mode: modeName(r.mode), Target: r.target, Staged: st.Behind, Writes: v.writes,
		Whole: r.length == uint64(st.Payload) && (len(v.writes) > 0 || st.Recovered != st.Payload),
	}
	return st, s.describeStaged(st, r)
}

// describeV1 is describe for generation 0.1, which has no journal.
func describeV1(h []byte, size int64) *State {
	length := le.Uint64(h[8:16])
	payload := min(int64(min(length, maxLength)), size-headerSizeV1)
	return &State{
		Version: version(h), Release: int(h[6]), Size: size, HeaderSize: headerSizeV1,
		Length: length, Payload: payload, Behind: size - headerSizeV1 - payload, Recovered: payload,
		Fields: append(magicFields(h), lengthField(length)),
	}
}

func version(h []byte) string { return fmt.Sprintf("%d.%d", h[4], h[5]) }
