// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/holtdb/holt/stack"
)

// A payload is what commands are run on: a *stack.Stack, or the model of one.
type payload interface {
	Len() int64
	Get(start, end int64) ([]byte, error)
	Push(data []byte) (int64, error)
	Extend(n int64) (int64, error)
	ExtendPieces(pieces []stack.Piece, length int64) (int64, error)
	Resize(n int64) (int64, error)
	Ensure(n int64) (int64, error)
	Pop(n int64) ([]byte, error)
	Discard(n int64) error
	TryExtend(length int64, data []byte) (bool, error)
	TryDiscard(length, n int64) (bool, error)
	Atrunc(n int64, data []byte) error
	Splice(n int64, data []byte) ([]byte, error)
	Set(off int64, data []byte) error
	Zero(off, n int64) error
	Repeat(off int64, pattern []byte, count int64) error
	Copy(from, to, n int64) error
	Swap(off int64, data []byte) ([]byte, error)
	CompareAndSwap(off int64, old, data []byte) (bool, error)
	CrossExchange(a, b, n int64) error
	SetBatched(pieces []stack.Piece) error
}

// run runs a command and answers as the driver does.
func run(p payload, line string) string {
	name, rest, _ := strings.Cut(line, " ")
	w := &words{list: strings.Fields(rest)}
	command, ok := commands[name]
	if !ok {
		return "err no such command"
	}
	result, err := command(p, w)
	return answer(result, errors.Join(w.err, err))
}

// answer words the outcome of a command.
func answer(result any, err error) string {
	if err != nil {
		return "err " + strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	switch v := result.(type) {
	case nil:
		return "ok"
	case []byte:
		return "ok " + bytesWord(v)
	default:
		return fmt.Sprint("ok ", v)
	}
}

var commands = map[string]func(p payload, w *words) (any, error){
	"len":           func(p payload, _ *words) (any, error) { return p.Len(), nil },
	"get":           func(p payload, w *words) (any, error) { return p.Get(w.number(), w.number()) },
	"push":          func(p payload, w *words) (any, error) { return p.Push(w.bytes()) },
	"extend":        func(p payload, w *words) (any, error) { return p.Extend(w.number()) },
	"extend_pieces": func(p payload, w *words) (any, error) { n := w.number(); return p.ExtendPieces(w.pieces(), n) },
	"resize":        func(p payload, w *words) (any, error) { return p.Resize(w.number()) },
	"ensure":        func(p payload, w *words) (any, error) { return p.Ensure(w.number()) },
	"pop":           func(p payload, w *words) (any, error) { return p.Pop(w.number()) },
	"discard":       func(p payload, w *words) (any, error) { return nil, p.Discard(w.number()) },
	"try_extend":    func(p payload, w *words) (any, error) { return p.TryExtend(w.number(), w.bytes()) },
	"try_discard":   func(p payload, w *words) (any, error) { return p.TryDiscard(w.number(), w.number()) },
	"atrunc":        func(p payload, w *words) (any, error) { return nil, p.Atrunc(w.number(), w.bytes()) },
	"splice":        func(p payload, w *words) (any, error) { return p.Splice(w.number(), w.bytes()) },
	"set":           func(p payload, w *words) (any, error) { return nil, p.Set(w.number(), w.bytes()) },
	"zero":          func(p payload, w *words) (any, error) { return nil, p.Zero(w.number(), w.number()) },
	"repeat":        func(p payload, w *words) (any, error) { return nil, p.Repeat(w.number(), w.bytes(), w.number()) },
	"copy":          func(p payload, w *words) (any, error) { return nil, p.Copy(w.number(), w.number(), w.number()) },
	"swap":          func(p payload, w *words) (any, error) { return p.Swap(w.number(), w.bytes()) },
	"cas":           func(p payload, w *words) (any, error) { return p.CompareAndSwap(w.number(), w.bytes(), w.bytes()) },
	"cross_exchange": func(p payload, w *words) (any, error) {
		return nil, p.CrossExchange(w.number(), w.number(), w.number())
	},
	"set_batched": func(p payload, w *words) (any, error) { return nil, p.SetBatched(w.pieces()) },
}

// words are the arguments of a command.
type words struct {
	list []string
	err  error
}

func (w *words) next() string {
	if len(w.list) == 0 {
		w.err = errors.New("a missing word")
		return "0"
	}
	word := w.list[0]
	w.list = w.list[1:]
	return word
}

func (w *words) number() int64 {
	n, err := strconv.ParseInt(w.next(), 10, 64)
	w.err = errors.Join(w.err, err)
	return n
}

func (w *words) bytes() []byte {
	word := w.next()
	if word == "-" {
		return nil
	}
	b, err := hex.DecodeString(word)
	w.err = errors.Join(w.err, err)
	return b
}

// numbers are all that are left.
func (w *words) numbers() (all []int64) {
	for len(w.list) > 0 {
		all = append(all, w.number())
	}
	return all
}

func (w *words) pieces() (all []stack.Piece) {
	for len(w.list) > 0 {
		all = append(all, stack.Piece{Off: w.number(), Data: w.bytes()})
	}
	return all
}

// bytesWord is how bytes are written, in commands and in answers.
func bytesWord(b []byte) string {
	if len(b) == 0 {
		return "-"
	}
	return hex.EncodeToString(b)
}
