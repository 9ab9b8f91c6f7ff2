// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import "fmt"

// Mutations at the end of the payload. They return the length before, where they say so.

// Push appends data and returns where it is.
func (s *Stack) Push(data []byte) (off int64, err error) {
	if len(data) == 0 {
		return s.end()
	}
	err = s.run(false, func(u *Unit) (err error) {
		off, err = u.push(data)
		return err
	})
	return off, err
}

// Extend appends n zero bytes and returns where they are.
func (s *Stack) Extend(n int64) (off int64, err error) {
	if n == 0 {
		return s.end()
	}
	err = s.run(false, func(u *Unit) (err error) {
		off, err = u.Extend(n)
		return err
	})
	return off, err
}

// end is the length, for mutations that change nothing.
func (s *Stack) end() (int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.length, s.readable()
}

// Pop removes the last n bytes and returns them.
func (s *Stack) Pop(n int64) ([]byte, error) {
	if end, err := s.end(); err != nil || n < 0 || n > end { // no unit makes it longer before its turn for sure
		if err == nil {
			err = fmt.Errorf("%w: taking %d of %d bytes", ErrRange, n, end)
		}
		return nil, err
	}
	p := make([]byte, n)
	if err := s.PopInto(p); err != nil {
		return nil, err
	}
	return p, nil
}

// PopInto removes the last len(p) bytes and puts them into p.
func (s *Stack) PopInto(p []byte) error {
	return s.run(false, func(u *Unit) error { return u.Pop(p) })
}

// Discard removes the last n bytes.
func (s *Stack) Discard(n int64) error {
	return s.run(false, func(u *Unit) error { return u.discard(n) })
}

func (u *Unit) discard(n int64) error {
	if n < 0 || n > u.length {
		return fmt.Errorf("%w: discarding %d of %d bytes", ErrRange, n, u.length)
	}
	return u.Truncate(u.length - n)
}

// Piece is some bytes and where they go, counted from the beginning of what they are a piece of.
type Piece struct {
	Off  int64
	Data []byte
}

// ExtendSparse appends length bytes that begin with data; the rest is zero.
func (s *Stack) ExtendSparse(data []byte, length int64) (off int64, err error) {
	return s.ExtendPieces([]Piece{{0, data}}, length)
}

// ExtendPieces appends length bytes that hold the pieces, at offsets from where they begin; the rest is zero. The
// pieces must fit, and must not overlap: [ErrRange], [ErrOverlap].
func (s *Stack) ExtendPieces(pieces []Piece, length int64) (off int64, err error) {
	blocks, err := arrange(pieces, length)
	if err != nil {
		return 0, err
	}
	err = s.run(false, func(u *Unit) (err error) {
		off, err = u.extendBlocks(blocks, length)
		return err
	})
	return off, err
}

func (u *Unit) extendBlocks(blocks []block, length int64) (off int64, err error) {
	off, err = u.Extend(length)
	if err != nil {
		return 0, err
	}
	for _, b := range blocks {
		u.write(off+b.off, b.data)
	}
	return off, nil
}

// Resize makes the payload n bytes long and returns its length before; new bytes are zero.
func (s *Stack) Resize(n int64) (was int64, err error) {
	err = s.run(false, func(u *Unit) error {
		was = u.length
		if n < u.length {
			return u.Truncate(n)
		}
		_, err := u.Extend(n - u.length)
		return err
	})
	return was, err
}

// Ensure makes the payload at least n bytes long and returns its length before; new bytes are zero.
func (s *Stack) Ensure(n int64) (was int64, err error) {
	err = s.run(false, func(u *Unit) error {
		was = u.length
		_, err := u.Extend(max(n-u.length, 0))
		return err
	})
	return was, err
}

// EnsureFunc is Ensure with new bytes that fn fills, which gets them zeroed.
func (s *Stack) EnsureFunc(n int64, fn func(p []byte) error) (was int64, err error) {
	err = s.run(true, func(u *Unit) error {
		was = u.length
		if n <= was {
			return nil
		}
		if n > maxLength {
			return fmt.Errorf("%w: %d bytes", ErrRange, n)
		}
		p := make([]byte, n-was)
		if err := fn(p); err != nil {
			return err
		}
		_, err := u.push(p)
		return err
	})
	return was, err
}

// TryExtend is Push if the payload is length bytes long, and says whether it was.
func (s *Stack) TryExtend(length int64, data []byte) (ok bool, err error) {
	err = s.run(false, func(u *Unit) error {
		if ok = u.length == length; !ok {
			return nil
		}
		_, err := u.push(data)
		return err
	})
	return ok, err
}

// TryExtendZeros is Extend if the payload is length bytes long, and says whether it was.
func (s *Stack) TryExtendZeros(length, n int64) (ok bool, err error) {
	err = s.run(false, func(u *Unit) error {
		if ok = u.length == length; !ok {
			return nil
		}
		_, err := u.Extend(n)
		return err
	})
	return ok, err
}

// TryExtendPieces is ExtendPieces if the payload is length bytes long, and says whether it was.
func (s *Stack) TryExtendPieces(length int64, pieces []Piece, n int64) (ok bool, err error) {
	blocks, err := arrange(pieces, n)
	if err != nil {
		return false, err
	}
	err = s.run(false, func(u *Unit) error {
		if ok = u.length == length; !ok {
			return nil
		}
		_, err := u.extendBlocks(blocks, n)
		return err
	})
	return ok, err
}

// TryDiscard is Discard if the payload is length bytes long, and says whether it was.
func (s *Stack) TryDiscard(length, n int64) (ok bool, err error) {
	if n == 0 {
		end, err := s.end()
		return end == length, err
	}
	err = s.run(false, func(u *Unit) error {
		if ok = u.length == length; !ok {
			return nil
		}
		return u.discard(n)
	})
	return ok, err
}

// Atrunc cuts n bytes from the end and appends data, at once.
func (s *Stack) Atrunc(n int64, data []byte) error {
	return s.run(false, func(u *Unit) error { return u.atrunc(n, data) })
}

func (u *Unit) atrunc(n int64, data []byte) error {
	if err := u.discard(n); err != nil {
		return err
	}
	_, err := u.push(data)
	return err
}

// Splice is Atrunc and returns what it cut.
func (s *Stack) Splice(n int64, data []byte) (cut []byte, err error) {
	err = s.run(false, func(u *Unit) error {
		if n < 0 || n > u.length {
			return fmt.Errorf("%w: cutting %d of %d bytes", ErrRange, n, u.length)
		}
		cut = make([]byte, n)
		if err := u.read(cut, u.length-n); err != nil {
			return err
		}
		return u.atrunc(n, data)
	})
	return cut, err
}

// SpliceInto is Splice with as many bytes cut as fit into p, which gets them.
func (s *Stack) SpliceInto(p, data []byte) error {
	return s.run(false, func(u *Unit) error {
		if err := u.Pop(p); err != nil {
			return err
		}
		_, err := u.push(data)
		return err
	})
}

// Replace cuts n bytes from the end and appends what fn makes of them.
func (s *Stack) Replace(n int64, fn func(cut []byte) ([]byte, error)) error {
	return s.run(true, func(u *Unit) error {
		if n < 0 || n > u.length {
			return fmt.Errorf("%w: cutting %d of %d bytes", ErrRange, n, u.length)
		}
		cut := make([]byte, n)
		if err := u.Pop(cut); err != nil {
			return err
		}
		data, err := fn(cut)
		if err != nil {
			return err
		}
		_, err = u.push(data)
		return err
	})
}
