// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/stack"
)

// goldens are what a power cut leaves once the record that arms a journal is durable: the header, and what is staged
// behind the payload, of which no committed byte has changed.
var goldens = []struct {
	name    string
	payload []byte
	run     func(s *stack.Stack) error
	header  string
	grown   []byte // what has been appended to the payload
	staged  string
}{
	{
		"Set", text(300, 0),
		func(s *stack.Stack) error { return s.Set(222, []byte("abcd")) },
		"4253544b00040400 2c01000000000000 fe00000000000000 0000000000000000",
		nil,
		"61626364",
	},
	{
		"MultiWrite", text(300, 0),
		func(s *stack.Stack) error {
			return s.SetBatched([]stack.Piece{{Off: 260, Data: []byte("xyz")}, {Off: 1, Data: []byte("ab")}})
		},
		"4253544b00040400 2c01000000000000 0000000000000000 faffffffffffffff",
		nil,
		"0100000000000000 0300000000000000 6162 0401000000000000 0701000000000000 78797a",
	},
	{
		"Repeat", text(200_000, 0),
		func(s *stack.Stack) error { return s.Repeat(16, []byte("abc"), 0xFFFF) },
		"4253544b00040400 400d030000000000 3000000000000000 fcffffffffffffff",
		nil,
		"ffff000000000000 616263",
	},
	{
		"Repeat of zeros", text(1<<17, 0),
		func(s *stack.Stack) error { return s.Zero(1, 1<<16+1) },
		"4253544b00040400 0000020000000000 2100000000000000 fcffffffffffffff",
		nil,
		"0100010000000000 00",
	},
	{
		"Copy", text(3<<16, 0),
		func(s *stack.Stack) error { return s.Copy(1<<16+2, 1, 1<<16+1) },
		"4253544b00040400 0000030000000000 2100000000000000 fbffffffffffffff",
		nil,
		"0200010000000000 0100010000000000",
	},
	{
		"SpliceShrink", text(20, 0),
		func(s *stack.Stack) error { return s.Atrunc(5, []byte("ab")) },
		"4253544b00040400 1400000000000000 2f00000000000000 fdffffffffffffff",
		nil,
		"6162",
	},
	{
		"Set that grows", text(20, 0),
		func(s *stack.Stack) error { return s.Atrunc(2, []byte("abcde")) },
		"4253544b00040400 1700000000000000 3200000000000000 0000000000000000",
		[]byte("cde"),
		"6162",
	},
	{
		"MultiWrite that grows", text(20, 0),
		func(s *stack.Stack) error {
			return s.Update(func(u *stack.Unit) error {
				_, a := u.WriteAt([]byte("ab"), 0)
				_, b := u.Extend(2)
				_, c := u.Push([]byte("xyz"))
				_, d := u.WriteAt([]byte("cd"), 9)
				return errors.Join(a, b, c, d)
			})
		},
		"4253544b00040400 1900000000000000 0000000000000000 faffffffffffffff",
		[]byte("\x00\x00xyz"),
		"0000000000000000 0200000000000000 6162 0900000000000000 0b00000000000000 6364",
	},
	{
		"MultiWrite of an exchange", text(20, 0),
		func(s *stack.Stack) error { return s.CrossExchange(10, 3, 2) },
		"4253544b00040400 1400000000000000 0000000000000000 faffffffffffffff",
		nil,
		"0300000000000000 0500000000000000 0b0c 0a00000000000000 0c00000000000000 0405",
	},
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

func TestGoldenJournals(t *testing.T) {
	for _, c := range goldens {
		t.Run(c.name, func(t *testing.T) {
			disk := diskWith(t, c.payload)
			fs, gate := gated(disk)
			s := open(t, fs, nil)
			staged := bytes.Join([][]byte{c.payload, c.grown, unhex(c.staged)}, nil)

			done := make(chan error)
			go func() { done <- c.run(s) }()
			gate.Await() // at the sync of what is staged
			gate.Allow(1)
			gate.Await() // at that of the record: not armed yet
			same(t, raw(t, disk.AfterCutKeeping(file.KeepNone)), image(uint64(len(c.payload)), 0, 0, staged))
			gate.Allow(1)
			gate.Await() // at that of the changes: armed, and acknowledged
			check(t, <-done)
			armed := append(unhex(c.header), staged...)
			same(t, raw(t, disk.AfterCutKeeping(file.KeepNone)), armed)
			want, err := s.Peek(0)
			check(t, err)
			gate.Allow(1)
			gate.Await() // at that of the record: changed, and still armed
			changed := over(bytes.Clone(armed), headerSize, want)
			same(t, raw(t, disk.AfterCutKeeping(file.KeepNone)), changed)
			gate.Open()
			check(t, s.Close())
			rests(t, disk, want)

			for _, content := range [][]byte{armed, changed} {
				again := file.NewCrash()
				put(t, again, content)
				s = open(t, again, nil)
				holds(t, s, want)
				check(t, s.Close())
				rests(t, again.AfterCutKeeping(file.KeepNone), want)
			}
		})
	}
}
