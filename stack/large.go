// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import "bytes"

// Changes that are not staged byte by byte, because the format has a shorter way to say what they do.

const (
	largeChange = 64 << 10 // bytes, from which they are worth a unit of their own
	copyChunk   = 1 << 20  // bytes of memory
)

// repeat fills a range with a pattern.
func (s *Stack) repeat(off int64, pattern []byte, count int64) error {
	n := int64(len(pattern)) * count
	if err := s.checkChange(off, n, s.length); err != nil {
		return err
	}
	var head [8]byte
	le.PutUint64(head[:], uint64(count))
	return s.commitJournal(journal{
		staged: [][]byte{head[:], pattern},
		armed:  record{uint64(s.length), uint64(headerSize + off), modeRepeat},
		length: s.length,
		apply:  func() error { return s.fill(off, pattern, count) },
	})
}

// fill writes pattern count times.
func (s *Stack) fill(off int64, pattern []byte, count int64) error {
	most := min(count, max(copyChunk/int64(len(pattern)), 1))
	chunk := bytes.Repeat(pattern, int(most))
	for count > 0 {
		n := min(count, most)
		p := chunk[:n*int64(len(pattern))]
		if _, err := s.file.WriteAt(p, headerSize+off); err != nil {
			return err
		}
		off += int64(len(p))
		count -= n
	}
	return nil
}

// copy copies a range to one that does not overlap with it.
func (s *Stack) copy(from, to, n int64) error {
	if err := s.checkRange(from, n, s.length); err != nil {
		return err
	}
	if err := s.checkChange(to, n, s.length); err != nil {
		return err
	}
	var args [16]byte
	le.PutUint64(args[0:8], uint64(from))
	le.PutUint64(args[8:16], uint64(n))
	return s.commitJournal(journal{
		staged: [][]byte{args[:]},
		armed:  record{uint64(s.length), uint64(headerSize + to), modeCopy},
		length: s.length,
		apply:  func() error { return s.move(from, to, n) },
	})
}

// move copies bytes chunk by chunk.
func (s *Stack) move(from, to, n int64) error {
	p := make([]byte, min(n, copyChunk))
	for n > 0 {
		p = p[:min(n, int64(len(p)))]
		if err := s.readFile(p, from); err != nil {
			return err
		}
		if _, err := s.file.WriteAt(p, headerSize+to); err != nil {
			return err
		}
		from, to, n = from+int64(len(p)), to+int64(len(p)), n-int64(len(p))
	}
	return nil
}
