// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package alloc

import (
	"errors"
	"fmt"

	"github.com/holtdb/holt/stack"
)

// CheckedSlab is a [Slab] whose blocks begin with a mark of 8 bytes: of the first block of a region how many it has,
// of a free block zero. Freeing what is not allocated is refused, unless it lies inside of a region whose bytes look
// like a mark; and free blocks that are on no list are found when the file is opened.
type CheckedSlab struct {
	core
	slab *slab
}

// OpenCheckedSlab opens the allocator of a stack, or creates one in an empty stack, whose blocks have that many bytes
// for data, at least 8. Of a file that exists the size counts that it has, and dataSize must be that or 0.
// [ErrFormat] if the payload is not that of a CheckedSlab.
//
// All marks are read, and the free list. A sound file is not written to. Free blocks that are on no list are put on
// it, and a list that is damaged is made anew from the marks, see Repaired. If some marks make no sense nothing of
// that is done, as what looks like a free block may be a region's data: then the list counts, Check says where the
// marks are, and Reclaim sets right what can be. *stack.CorruptError if the list is damaged as well.
func OpenCheckedSlab(s *stack.Stack, dataSize int64) (*CheckedSlab, error) {
	p := &slab{kind: checkedSlab, path: s.Path(), size: dataSize + checkedSlab.mark}
	if err := p.open(s); err != nil {
		return nil, err
	}
	a := &CheckedSlab{newCore(s, p), p}
	return a, a.recover(s)
}

// DataSize is how many bytes of a block are for data.
func (a *CheckedSlab) DataSize() int64 { return a.slab.size - a.slab.kind.mark }

// recover loads the free list and repairs it.
func (a *CheckedSlab) recover(s *stack.Stack) error {
	var v slabSurvey
	err := s.View(func(u *stack.Unit) (err error) {
		v, err = a.slab.survey(u, nil)
		return err
	})
	switch {
	case err != nil:
		return err
	case v.listErr != nil && v.damaged:
		return v.listErr
	case v.damaged:
		v.lost = nil // which may be a region's data
	}
	if v.listErr == nil {
		a.slab.adopt(v.head, v.listed)
		if len(v.lost) == 0 {
			return nil
		}
	}
	r := slabRepair{slabSurvey: &v, p: a.slab}
	if err := s.Do(&r); err != nil {
		return err
	}
	a.repaired = append(a.repaired, r.String())
	return nil
}

// slabRepair puts free blocks on the free list, or makes one of them if it is damaged.
type slabRepair struct {
	*slabSurvey
	p     *slab
	begun int
}

func (r *slabRepair) String() string {
	var n int64
	for _, b := range r.lost {
		n += b.n
	}
	if damage, ok := errors.AsType[*stack.CorruptError](r.listErr); ok {
		return fmt.Sprintf("made a new free list of %d blocks, because %s (at offset %d)", n, damage.Reason, damage.Off)
	}
	return fmt.Sprintf("put %d free blocks on the free list", n)
}

func (r *slabRepair) Apply(u *stack.Unit) error {
	r.begun = r.p.mark(u, false)
	if r.listErr != nil {
		if err := r.p.dropList(u); err != nil {
			return err
		}
	}
	if len(r.lost) == 0 {
		return nil
	}
	return r.p.push(u, r.lost)
}

func (r *slabRepair) Undo() { r.p.rewind(r.begun) }
