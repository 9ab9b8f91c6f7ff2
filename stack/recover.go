// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

// recovery brings a file to rest after a crash: it completes the change of an armed journal, or drops what was staged.
// Every step can be done again, so that a crash during recovery needs nothing special.
type recovery struct {
	s    *Stack
	size int64 // of the file
	r    record
}

// recover returns the length of the payload.
func (s *Stack) recover(r record, size int64) (int64, error) {
	v := &recovery{s: s, size: size, r: r}
	if r.armed() {
		s.log("recovering an interrupted change", "mode", int64(r.mode), "target", r.target)
		return v.dispatch()
	}
	stored := size - headerSize
	switch {
	case r.length > maxLength || int64(r.length) > stored:
		s.log("the payload was cut", "from", r.length, "to", stored)
		return stored, s.rest(stored, false)
	case int64(r.length) < stored:
		s.log("dropping bytes that were not committed", "bytes", stored-int64(r.length))
		return int64(r.length), s.rest(int64(r.length), false)
	}
	return stored, nil
}

// rest writes a record without a journal and cuts the file to it.
func (s *Stack) rest(length int64, journal bool) error {
	if !journal { // nothing to protect: one sync
		if err := s.file.Truncate(headerSize + length); err != nil {
			return err
		}
		if err := s.writeRecord(record{length: uint64(length)}); err != nil {
			return err
		}
		return s.sync()
	}
	if err := s.writeRecord(record{length: uint64(length)}); err != nil {
		return err
	}
	if err := s.sync(); err != nil {
		return err
	}
	if err := s.file.Truncate(headerSize + length); err != nil {
		return err
	}
	return s.sync()
}

// dispatch completes the journal, if it is whole.
func (v *recovery) dispatch() (int64, error) {
	length := int64(v.r.length)
	if v.r.length > maxLength || length > v.size-headerSize {
		// Not even the payload is there: as without a journal, what is left counts.
		length = v.size - headerSize
		return length, v.s.rest(length, true)
	}
	replayed := length
	var err error
	switch v.r.mode {
	case modeMultiWrite:
		if v.r.target == 0 {
			err = v.multiWrite(length)
		}
	case modeSet:
		err = v.set(length)
	case modeRepeat:
		err = v.repeat(length)
	case modeCopy:
		err = v.copy(length)
	case modeSpliceGrow, modeSpliceShrink:
		replayed, err = v.splice(length)
	}
	if err != nil {
		return 0, err
	}
	if err := v.s.sync(); err != nil {
		return 0, err
	}
	return replayed, v.s.rest(replayed, true)
}

// target is where in the payload the journal aims, and tail how many bytes are staged behind length bytes of it.
func (v *recovery) target() int64 { return int64(v.r.target - headerSize) }

func (v *recovery) tail(length int64) int64 { return v.size - headerSize - length }

// aimed says whether n bytes at the target lie inside the payload.
func (v *recovery) aimed(n, length int64) bool {
	return v.r.target >= headerSize && v.r.target <= maxLength && n > 0 && n <= length && v.target() <= length-n
}

func (v *recovery) set(length int64) error {
	n := v.tail(length)
	if !v.aimed(n, length) {
		return nil
	}
	return v.s.move(length, v.target(), n)
}

func (v *recovery) repeat(length int64) error {
	n := v.tail(length) - 8
	if n <= 0 || n > length {
		return nil
	}
	var head [8]byte
	if err := v.s.readFile(head[:], length); err != nil {
		return err
	}
	count := le.Uint64(head[:])
	if count == 0 || count > uint64(length/n) || !v.aimed(int64(count)*n, length) {
		return nil
	}
	if n <= copyChunk {
		pattern := make([]byte, n)
		if err := v.s.readFile(pattern, length+8); err != nil {
			return err
		}
		return v.s.fill(v.target(), pattern, int64(count))
	}
	for i := range int64(count) {
		if err := v.s.move(length+8, v.target()+i*n, n); err != nil {
			return err
		}
	}
	return nil
}

func (v *recovery) copy(length int64) error {
	if v.tail(length) < 16 {
		return nil
	}
	var p [16]byte
	if err := v.s.readFile(p[:], length); err != nil {
		return err
	}
	from, n := le.Uint64(p[0:8]), le.Uint64(p[8:16])
	if n == 0 || n > uint64(length) || from > uint64(length)-n || !v.aimed(int64(n), length) {
		return nil
	}
	to := v.target()
	if int64(from) < to+int64(n) && to < int64(from)+int64(n) {
		return nil
	}
	return v.s.move(int64(from), to, int64(n))
}

// splice derives the new length from that of the file, and copies what is staged to the target.
func (v *recovery) splice(length int64) (int64, error) {
	if v.r.target < headerSize || v.r.target > maxLength {
		return length, nil
	}
	at, end := v.target(), v.size-headerSize
	grow := v.r.mode == modeSpliceGrow
	result := end + at - length
	if grow {
		if (end+at)%2 != 0 {
			return length, nil
		}
		result = (end + at) / 2
	}
	if at > length || result < at || result == length || (result > length) != grow {
		return length, nil
	}
	return result, v.s.move(max(length, result), at, result-at) // which is up to end, as result was derived from that
}

// multiWrite makes sure that all blocks are whole before it writes the first.
func (v *recovery) multiWrite(length int64) error {
	whole := true
	err := v.eachBlock(length, func(_, _, n int64) error {
		whole = n >= 0
		return nil
	})
	if err != nil || !whole {
		return err
	}
	return v.eachBlock(length, v.s.move)
}

// eachBlock calls fn for each staged block: where it is, where it goes, and how long it is. It ends at one that is not
// whole, whose length it gives as -1.
func (v *recovery) eachBlock(length int64, fn func(from, to, n int64) error) error {
	end := v.size - headerSize
	for at := length; at < end; {
		if end-at < blockHead {
			return fn(at, 0, -1)
		}
		var head [blockHead]byte
		if err := v.s.readFile(head[:], at); err != nil {
			return err
		}
		at += blockHead
		from, to := le.Uint64(head[0:8]), le.Uint64(head[8:16])
		if from > to || to > uint64(length) || int64(to-from) > end-at {
			return fn(at, 0, -1)
		}
		n := int64(to - from)
		if err := fn(at, int64(from), n); err != nil {
			return err
		}
		at += n
	}
	return nil
}
