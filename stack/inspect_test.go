// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

func inspect(t *testing.T, content []byte) *stack.State {
	t.Helper()
	disk := file.NewMemory()
	put(t, disk, content)
	st, err := stack.Inspect(name, &stack.Options{FS: disk})
	check(t, err)
	if !bytes.Equal(raw(t, disk), content) {
		t.Error("the file has changed")
	}
	return st
}

// TestInspectLeftovers holds what Inspect says about files that a crash left against what recovery makes of them.
func TestInspectLeftovers(t *testing.T) {
	for _, l := range leftovers {
		t.Run(l.name, func(t *testing.T) {
			st := inspect(t, l.content)
			if st.Recovered != int64(len(l.want)) {
				t.Errorf("the payload will have %d bytes, not %d", st.Recovered, len(l.want))
			}
			if st.Size != int64(len(l.content)) || st.HeaderSize+st.Payload+st.Behind != st.Size {
				t.Errorf("%d + %d + %d bytes of %d", st.HeaderSize, st.Payload, st.Behind, len(l.content))
			}
			if rest := bytes.Equal(l.content, resting(l.want)); st.AtRest() != rest {
				t.Errorf("at rest: %t", st.AtRest())
			}
			coverWrites(t, l, st)
			coverFields(t, st)
		})
	}
}

// coverWrites demands that the journal has what recovery changes, and no more than the payload.
func coverWrites(t *testing.T, l leftover, st *stack.State) {
	t.Helper()
	wrote := make([]bool, len(l.want))
	if st.Journal != nil {
		for _, r := range st.Journal.Writes {
			for i := r.Start; i < r.End; i++ {
				wrote[i] = true
			}
		}
	}
	now := l.content[headerSize:]
	for i, b := range l.want {
		if (i >= len(now) || now[i] != b) && !wrote[i] {
			t.Fatalf("byte %d changes, which is in no range of the journal", i)
		}
	}
	if st.Journal != nil && !st.Journal.Whole && (len(st.Journal.Writes) > 0 || st.Recovered != st.Payload) {
		t.Errorf("a journal that is not whole changes the payload: %+v", *st.Journal)
	}
}

// coverFields demands that the fields are all of the header and of what is staged, one behind the other.
func coverFields(t *testing.T, st *stack.State) {
	t.Helper()
	var at int64
	for _, f := range st.Fields {
		if at == st.HeaderSize {
			at += st.Payload
		}
		if f.Off != at || f.Len <= 0 || f.Name == "" {
			t.Fatalf("field %+v, want one at %d", f, at)
		}
		at += f.Len
	}
	if end := st.Size; st.Journal != nil && st.Behind > 0 && at != end {
		t.Errorf("the fields end at %d, the file at %d", at, end)
	}
}

func TestInspectJournal(t *testing.T) {
	st := inspect(t, armed(0, modeMultiWrite, words(3, 5), []byte("ab"), words(10, 11), []byte("c")))
	want := "MultiWrite of 35 bytes, whole: true, writes [{3 5} {10 11}]"
	if got := describe(st); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := fmt.Sprint(
		st.Fields[6:9],
	); got != "[{72 8 start block 0, from offset 3 of the payload} {80 8 end to offset 5} {88 2 data 2 bytes}]" {
		t.Errorf("fields %s", got)
	}
	if got, want := describe(
		inspect(t, armed(headerSize+3, modeMultiAtrunc, []byte("x"))),
	), "unknown (0xfffffffffffffff9) of 1 bytes, whole: false, writes []"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func describe(st *stack.State) string {
	j := st.Journal
	return fmt.Sprintf("%s of %d bytes, whole: %t, writes %v", j.Mode, j.Staged, j.Whole, j.Writes)
}

func TestInspectOldAndUnfinished(t *testing.T) {
	st := inspect(t, append([]byte("BSTK\x00\x01\x0f\x00\x05\x00\x00\x00\x00\x00\x00\x00"), "hello, too long"...))
	if st.Version != "0.1" || st.HeaderSize != 16 || st.Payload != 5 || st.Behind != 10 || st.AtRest() {
		t.Errorf("%+v", st)
	}
	for _, content := range [][]byte{nil, make([]byte, 32), resting(nil)[:7]} {
		if st := inspect(t, content); !st.Unfinished || st.AtRest() || st.Recovered != 0 {
			t.Errorf("%d bytes: %+v", len(content), st)
		}
	}
}

func TestInspectRefuses(t *testing.T) {
	disk := file.NewMemory()
	opts := &stack.Options{FS: disk}
	if _, err := stack.Inspect(name, opts); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	put(t, disk, []byte("Just some text, no stack at all."))
	corrupt := new(stack.CorruptError)
	if _, err := stack.Inspect(name, opts); !errors.As(err, &corrupt) {
		t.Errorf("text: %v", err)
	}
	put(t, disk, append([]byte("BSTK\x00\x05"), make([]byte, 40)...))
	version := new(stack.VersionError)
	if _, err := stack.Inspect(name, opts); !errors.As(err, &version) {
		t.Errorf("another generation: %v", err)
	}
	put(t, disk, resting(old))
	s, err := stack.Open(name, opts)
	check(t, err)
	if _, err := stack.Inspect(name, opts); !errors.Is(err, stack.ErrLocked) {
		t.Errorf("in use: %v", err)
	}
	check(t, s.Close())
	if _, err := stack.Inspect(name, opts); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestInspectLongWrites demands one range for what recovery writes in several pieces.
func TestInspectLongWrites(t *testing.T) {
	const size = 3 << 20
	st := inspect(t, image(size, headerSize, modeRepeat, text(size, 0), words(size), []byte{0}))
	if got, want := describe(st), fmt.Sprintf("Repeat of 9 bytes, whole: true, writes [{0 %d}]", size); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
