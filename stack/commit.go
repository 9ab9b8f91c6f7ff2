// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"fmt"
	"slices"
)

// journal is a change that is staged behind the payload before it is made: what is staged, the record that arms it, and
// how the bytes are brought to their places. Once the record is durable the change is.
type journal struct {
	grown  []block  // new bytes behind the committed payload, written as they are
	staged [][]byte // behind the payload, whichever of the two lengths is greater
	armed  record
	length int64        // of the payload when it is done
	blocks []block      // what to do: write these,
	apply  func() error // or, if there is something here, this; either may be done any number of times
}

// scratch is memory that one commit leaves to the next.
type scratch struct {
	record [recordSize]byte
	old    [atomicBlock]byte
	one    [1]block
	heads  []byte
	staged [][]byte
	iov    [][]byte
}

// commit makes the changes of a unit durable and visible. The file may still have an armed journal afterwards, which
// finish takes away.
func (s *Stack) commit(u *Unit) error {
	inPlace, grown := u.split()
	switch {
	case len(inPlace) == 0 && u.length < u.base:
		return s.commitShrink(u.length)
	case len(inPlace) == 0:
		return s.commitGrowth(grown, u.length)
	case len(inPlace) == 1 && u.length == u.base && inOneBlock(inPlace[0].off, int64(len(inPlace[0].data))):
		return s.commitBlock(inPlace[0])
	case u.length < u.base:
		return s.commitSplice(u, inPlace)
	}
	j := journal{grown: grown, armed: record{length: uint64(u.length)}, length: u.length, blocks: inPlace}
	room := s.leftover(inPlace, u.length)
	if len(inPlace) == 1 && room == 0 {
		j.armed.target, j.armed.mode = uint64(headerSize+inPlace[0].off), modeSet
		j.staged = append(s.scratch.staged[:0], inPlace[0].data)
	} else {
		j.armed.mode = modeMultiWrite
		j.staged = s.scratch.stage(inPlace, room)
	}
	return s.commitJournal(j)
}

// Bounds of what is left of journals, in bytes.
const (
	maxLeftover = 4 << 10 // behind a new journal: see leftover
	maxBehind   = 1 << 20 // behind the payload when a journal is taken away
)

// leftover is how many bytes of earlier journals lie behind where one of several blocks will end. A file whose size
// does not change is synced in half the time or less, so they are kept, and the journal is filled up, unless they are
// many.
func (s *Stack) leftover(blocks []block, length int64) int64 {
	room := s.stored - s.length - sum(blocks) - int64(len(blocks))*blockHead
	if length != s.length || room > maxLeftover {
		return 0
	}
	return max(room, 0)
}

// stage is what the journal holds of several blocks: each with its range. It is filled up by room bytes or a few more.
func (c *scratch) stage(blocks []block, room int64) [][]byte {
	c.staged = c.staged[:0]
	c.heads = slices.Grow(c.heads[:0], blockHead*(len(blocks)+2)+int(room)) // stays where it is
	for _, b := range blocks {
		c.add(b)
	}
	if odd := room % blockHead; odd != 0 {
		b := part(blocks, odd) // once more, which changes nothing
		c.add(b)
		room -= blockHead + int64(len(b.data))
	}
	for ; room > 0; room -= blockHead {
		c.add(block{})
	}
	return c.staged
}

func (c *scratch) add(b block) {
	at := len(c.heads)
	c.heads = b.appendHead(c.heads)
	c.staged = append(c.staged, c.heads[at:], b.data)
}

// part is the first n bytes of a block, or nothing if none is so long.
func part(blocks []block, n int64) block {
	for _, b := range blocks {
		if int64(len(b.data)) >= n {
			return block{b.off, b.data[:n]}
		}
	}
	return block{}
}

// commitBlock writes inside one atomic block: one write, one sync. Readers are shown the old bytes until it is durable,
// or for ever if it fails and cannot be undone.
func (s *Stack) commitBlock(b block) error {
	old := block{b.off, s.scratch.old[:len(b.data)]}
	if err := s.readFile(old.data, old.off); err != nil {
		return err
	}
	s.veil(old)
	err := s.writeSync(b)
	if err != nil {
		if undo := s.writeSync(old); undo != nil {
			return s.failed(err, undo)
		}
	}
	s.veil(block{})
	return err
}

// veil sets what readers are shown in place of what is in the file.
func (s *Stack) veil(b block) {
	s.mu.Lock()
	s.veiled = b
	s.mu.Unlock()
}

func (s *Stack) writeSync(b block) error {
	s.scratch.one[0] = b
	if err := s.writeBlocks(s.scratch.one[:]); err != nil {
		return err
	}
	return s.sync()
}

// commitShrink cuts the payload: the record is what counts, and what lies behind is cut off at leisure.
func (s *Stack) commitShrink(length int64) error {
	if err := s.commitRecord(record{length: uint64(length)}, length); err != nil {
		return err
	}
	if err := s.truncate(length); err != nil {
		s.refuse(err) // the change is durable all the same
	}
	return nil
}

// commitGrowth appends. Zeros that nobody wrote are there by the length of the file alone, so that they need no sync of
// their own, unless something else was at their place since the last one.
func (s *Stack) commitGrowth(grown []block, length int64) error {
	if err := s.stageAt(grown, nil, length); err != nil {
		return s.unstage(err)
	}
	if len(grown) > 0 || s.cut {
		if err := s.sync(); err != nil {
			return s.unstage(err)
		}
	}
	return s.commitRecord(record{length: uint64(length)}, length)
}

// commitSplice replaces everything from the first changed byte on by something shorter.
func (s *Stack) commitSplice(u *Unit, inPlace []block) error {
	from := inPlace[0].off
	data := make([]byte, u.length-from)
	if err := u.read(data, from); err != nil {
		return err
	}
	return s.commitJournal(journal{
		staged: [][]byte{data},
		armed:  record{uint64(u.base), uint64(headerSize + from), modeSpliceShrink},
		length: u.length,
		blocks: []block{{from, data}},
	})
}

// commitJournal stages a change, arms it and makes it: two syncs. What is left to do is finish's.
func (s *Stack) commitJournal(j journal) error {
	if s.opts.NoSync && s.opts.NoJournal {
		return s.commitDirectly(j)
	}
	if err := s.stageAt(j.grown, j.staged, max(j.length, s.length)); err != nil {
		return s.unstage(err)
	}
	if err := s.sync(); err != nil {
		return s.unstage(err)
	}
	if err := s.writeRecord(j.armed); err != nil {
		return s.failed(err, s.restore())
	}
	if err := s.sync(); err != nil {
		return s.failed(err, s.restore())
	}
	s.armed = true
	s.mu.Lock()
	defer s.mu.Unlock()
	s.length = j.length
	if err := s.apply(j); err != nil {
		// It is durable, and recovery will complete it; but this handle has no whole state to go on from.
		s.torn = true
		s.refuse(err)
	}
	return nil
}

// commitDirectly makes a change without a journal.
func (s *Stack) commitDirectly(j journal) error {
	if j.length > s.length {
		if err := s.stageAt(j.grown, nil, j.length); err != nil {
			return s.unstage(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.apply(j)
	if err == nil && j.length != s.length {
		err = s.writeRecord(record{length: uint64(j.length)})
	}
	if err == nil && j.length < s.length {
		err = s.truncate(j.length)
	}
	if err != nil {
		s.torn = true
		s.refuse(err)
		return s.failure()
	}
	s.length = j.length
	return nil
}

func (s *Stack) apply(j journal) error {
	if j.apply != nil {
		return j.apply()
	}
	return s.writeBlocks(j.blocks)
}

// commitRecord makes a record durable, and with it a new length.
func (s *Stack) commitRecord(r record, length int64) error {
	err := s.writeRecord(r)
	if err == nil {
		err = s.sync()
	}
	if err != nil {
		return s.failed(err, s.restore())
	}
	s.mu.Lock()
	s.length = length
	s.mu.Unlock()
	return nil
}

// finish takes away a journal whose change has been made. What was staged stays behind the payload, see leftover,
// unless it is much, or much was cut off.
func (s *Stack) finish() {
	if !s.armed || s.failure() != nil {
		return
	}
	err := s.sync()
	if err == nil {
		err = s.writeRecord(record{length: uint64(s.length)})
	}
	if err == nil {
		err = s.sync()
	}
	if err != nil {
		s.refuse(err) // still armed, or not known to be: a stage would overwrite what recovery may need
		return
	}
	s.armed = false
	if s.stored-s.length > maxBehind {
		if err := s.truncate(s.length); err != nil {
			s.refuse(err)
		}
	}
}

// stageAt sets the file's size, writes new bytes behind the payload and the journal at the given offset.
func (s *Stack) stageAt(grown []block, staged [][]byte, at int64) error {
	if at != s.length && s.stored != s.length { // what is left of earlier journals is not to come into the payload
		if err := s.truncate(s.length); err != nil {
			return err
		}
	}
	size := at
	for _, b := range staged {
		size += int64(len(b))
	}
	if covered := s.length + sum(grown); covered != at || size < s.stored {
		s.cut = s.cut || size < s.stored
		if err := s.file.Truncate(headerSize + size); err != nil {
			return err
		}
	}
	s.stored = size
	if err := s.writeBlocks(grown); err != nil {
		return err
	}
	if len(staged) == 0 {
		return nil
	}
	_, err := s.file.WriteVecAt(staged, headerSize+at)
	return err
}

func sum(blocks []block) (n int64) {
	for _, b := range blocks {
		n += int64(len(b.data))
	}
	return n
}

// writeBlocks writes blocks to their places, neighbours at once.
func (s *Stack) writeBlocks(blocks []block) error {
	for len(blocks) > 0 {
		off, end, n := blocks[0].off, blocks[0].off, 0
		s.scratch.iov = s.scratch.iov[:0]
		for n < len(blocks) && blocks[n].off == end {
			s.scratch.iov = append(s.scratch.iov, blocks[n].data)
			end = blocks[n].end()
			n++
		}
		if _, err := s.file.WriteVecAt(s.scratch.iov, headerSize+off); err != nil {
			return err
		}
		blocks = blocks[n:]
	}
	return nil
}

func (s *Stack) writeRecord(r record) error {
	r.put(s.scratch.record[:])
	_, err := s.file.WriteAt(s.scratch.record[:], recordOff)
	return err
}

// sync makes what was written durable.
func (s *Stack) sync() error {
	if s.opts.NoSync {
		return nil
	}
	if err := s.file.SyncData(); err != nil {
		return err
	}
	s.cut = false
	return nil
}

// truncate cuts off what lies behind the payload. It is not synced: recovery would do the same.
func (s *Stack) truncate(length int64) error {
	s.cut = true
	err := s.file.Truncate(headerSize + length)
	if err == nil {
		s.stored = length
	}
	return err
}

// unstage takes back what was written behind the payload before anything was armed.
func (s *Stack) unstage(cause error) error {
	if err := s.truncate(s.length); err != nil {
		return s.failed(cause, err)
	}
	return cause
}

// restore writes the record of the last commit again, after the one of a new commit may or may not have been written.
func (s *Stack) restore() error {
	err := s.writeRecord(record{length: uint64(s.length)})
	if err == nil {
		err = s.sync()
	}
	if err == nil {
		err = s.truncate(s.length)
	}
	return err
}

// failed is the error of a commit that failed. If taking it back failed as well nobody knows what is on the disk.
func (s *Stack) failed(cause, undo error) error {
	if undo == nil {
		return cause
	}
	s.refuse(errors.Join(cause, undo))
	return s.failure()
}

// refuse stops all further mutations.
func (s *Stack) refuse(cause error) {
	err := fmt.Errorf("%w: %w", ErrFailed, cause)
	s.broken.CompareAndSwap(nil, &err)
}

// failure is why mutations are refused, or nil.
func (s *Stack) failure() error {
	if p := s.broken.Load(); p != nil {
		return *p
	}
	return nil
}
