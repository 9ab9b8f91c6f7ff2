// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"errors"
	"slices"

	"github.com/holtdb/holt/stack"
)

// A model is a payload in memory. As in both engines, a change of no bytes does not look at its offset.
type model struct{ b []byte }

var errRefused = errors.New("refused")

func (m *model) clone() *model { return &model{bytes.Clone(m.b)} }

func (m *model) Len() int64 { return int64(len(m.b)) }

// at are n bytes at off, in place.
func (m *model) at(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > m.Len() || n > m.Len()-off {
		return nil, errRefused
	}
	return m.b[off : off+n : off+n], nil
}

// resize takes any length.
func (m *model) resize(n int64) (was int64, err error) {
	was = m.Len()
	if n < 0 {
		return 0, errRefused
	}
	if n <= was {
		m.b = slices.Clip(m.b[:n])
	} else {
		m.b = append(m.b, make([]byte, n-was)...)
	}
	return was, nil
}

func (m *model) Get(start, end int64) ([]byte, error) {
	b, err := m.at(start, end-start)
	return bytes.Clone(b), err
}

func (m *model) Push(data []byte) (int64, error) {
	at := m.Len()
	m.b = append(m.b, data...)
	return at, nil
}

func (m *model) Extend(n int64) (int64, error) { return m.resize(m.Len() + n) }

func (m *model) ExtendPieces(pieces []stack.Piece, length int64) (int64, error) {
	more := model{make([]byte, length)}
	if err := more.SetBatched(pieces); err != nil {
		return 0, err
	}
	return m.Push(more.b)
}

func (m *model) Resize(n int64) (int64, error) { return m.resize(n) }

func (m *model) Ensure(n int64) (int64, error) { return m.resize(max(n, m.Len())) }

func (m *model) Pop(n int64) ([]byte, error) { return m.Splice(n, nil) }

func (m *model) Discard(n int64) error { return m.Atrunc(n, nil) }

func (m *model) TryExtend(length int64, data []byte) (bool, error) {
	if m.Len() != length {
		return false, nil
	}
	_, err := m.Push(data)
	return true, err
}

func (m *model) TryDiscard(length, n int64) (bool, error) {
	if m.Len() != length {
		return false, nil
	}
	err := m.Discard(n)
	return err == nil, err
}

func (m *model) Atrunc(n int64, data []byte) error {
	_, err := m.Splice(n, data)
	return err
}

func (m *model) Splice(n int64, data []byte) ([]byte, error) {
	cut, err := m.at(m.Len()-n, n)
	if err != nil {
		return nil, err
	}
	cut = bytes.Clone(cut)
	m.b = append(slices.Clip(m.b[:m.Len()-n]), data...)
	return cut, nil
}

func (m *model) Set(off int64, data []byte) error {
	_, err := m.Swap(off, data)
	return err
}

func (m *model) Zero(off, n int64) error { return m.Repeat(off, []byte{0}, n) }

func (m *model) Repeat(off int64, pattern []byte, count int64) error {
	if _, err := m.at(off, int64(len(pattern))*count); err != nil && count > 0 {
		return err
	}
	return m.Set(off, bytes.Repeat(pattern, int(count)))
}

func (m *model) Copy(from, to, n int64) error {
	if n == 0 {
		return nil
	}
	data, err := m.Get(from, from+n)
	if err != nil {
		return err
	}
	return m.Set(to, data)
}

func (m *model) Swap(off int64, data []byte) ([]byte, error) {
	if len(data) == 0 {
		return nil, nil
	}
	b, err := m.at(off, int64(len(data)))
	if err != nil {
		return nil, err
	}
	old := bytes.Clone(b)
	copy(b, data)
	return old, nil
}

func (m *model) CompareAndSwap(off int64, old, data []byte) (bool, error) {
	if len(old) != len(data) || len(old) == 0 {
		return len(old) == len(data), nil
	}
	b, err := m.at(off, int64(len(old)))
	if err != nil || !bytes.Equal(b, old) {
		return false, err
	}
	copy(b, data)
	return true, nil
}

func (m *model) CrossExchange(a, b, n int64) error {
	switch {
	case n == 0:
		return nil
	case a < b+n && b < a+n:
		return errRefused
	}
	if _, err := m.at(b, n); err != nil {
		return err
	}
	at, err := m.at(a, n)
	if err != nil {
		return err
	}
	old, err := m.Swap(b, at)
	copy(at, old)
	return err
}

func (m *model) SetBatched(pieces []stack.Piece) error {
	seen := make([]bool, len(m.b))
	for _, p := range pieces {
		if _, err := m.at(p.Off, int64(len(p.Data))); err != nil {
			return err
		}
		for i := range p.Data {
			if seen[p.Off+int64(i)] {
				return errRefused
			}
			seen[p.Off+int64(i)] = true
		}
	}
	for _, p := range pieces {
		if err := m.Set(p.Off, p.Data); err != nil {
			return err
		}
	}
	return nil
}
