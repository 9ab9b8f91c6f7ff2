// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package surgery

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/holtdb/holt/kv/internal/page"
)

// Editor edits the copy that [Edit] made. Its methods check everything before they write anything.
type Editor struct {
	*File
}

// RevertMeta copies the meta page of the last transaction but one over that of the last, which undoes the latter.
func (e *Editor) RevertMeta() error {
	active, metas, err := e.metas()
	switch {
	case err != nil:
		return err
	case metas[active].Err != nil:
		return ErrNoMeta
	case metas[1-active].Err != nil:
		return fmt.Errorf("meta page %d cannot replace meta page %d: %w", 1-active, active, metas[1-active].Err)
	}
	buf, err := e.Raw(uint64(1 - active))
	if err != nil {
		return err
	}
	page.Page(buf).SetID(uint64(active))
	return e.write(buf, uint64(active))
}

// CopyPage copies a page and its overflow pages over those at another id, and puts that id into the header.
func (e *Editor) CopyPage(from, to uint64) error {
	p, err := e.Page(from)
	if err != nil {
		return err
	}
	end := uint64(p.Overflow()) + 1
	switch {
	case from == to:
		return fmt.Errorf("page %d cannot be copied over itself", from)
	case from < to+end && to < from+end:
		return fmt.Errorf("page %d and its %d overflow pages overlap their target %d", from, end-1, to)
	case to < 2 && !p.IsMeta():
		return fmt.Errorf("a %s page cannot take the place of a meta page", p.Type())
	case to >= e.HWM() || to+end > e.HWM():
		return fmt.Errorf("page %d and its %d overflow pages would lie beyond the last page in use (%d)",
			to, end-1, int64(e.HWM())-1)
	}
	for i := range end {
		buf, err := e.Raw(from + i)
		if err != nil {
			return err
		}
		if i == 0 {
			page.Page(buf).SetID(to)
		}
		if err := e.write(buf, to+i); err != nil {
			return err
		}
	}
	return nil
}

// ErrNoMeta is returned by edits that start from a valid meta page.
var ErrNoMeta = errors.New("neither meta page is valid")

// AbandonFreelist makes both meta pages say that no free list is stored. The next process to open the database for
// writing finds the free pages by walking the whole file. A meta page that is not valid stays as it is.
func (e *Editor) AbandonFreelist() error {
	active, metas, err := e.metas()
	switch {
	case err != nil:
		return err
	case metas[active].Err != nil:
		return ErrNoMeta
	}
	for id := range metas {
		if metas[id].Err != nil {
			continue // sealing it again would make a damaged record look sound
		}
		err := e.editMeta(id, func(v *page.MetaView) { v.SetFreelist(NoFreelist) })
		if err != nil {
			return err
		}
	}
	return nil
}

// MetaFields are new values for the fields of a meta record; a nil field stays as it is.
type MetaFields struct {
	PageSize *uint32
	Root     *uint64
	Freelist *uint64
	HWM      *uint64
}

// UpdateMeta changes fields of meta page 0 or 1, and repairs its magic, version, flags and checksum. It says whether
// that changed anything.
func (e *Editor) UpdateMeta(id int, set MetaFields) (changed bool, err error) {
	if id != 0 && id != 1 {
		return false, fmt.Errorf("page %d is no meta page", id)
	}
	before, err := e.Raw(uint64(id))
	if err != nil {
		return false, err
	}
	err = e.editMeta(id, func(v *page.MetaView) {
		v.SetMagic(page.Magic)
		v.SetVersion(page.Version)
		v.SetFlags(page.Meta)
		assign(v.SetPageSize, set.PageSize)
		assign(v.SetRoot, set.Root)
		assign(v.SetFreelist, set.Freelist)
		assign(v.SetHWM, set.HWM)
	})
	if err != nil {
		return false, err
	}
	after, err := e.Raw(uint64(id))
	return !bytes.Equal(before, after), err
}

func assign[T any](set func(T), value *T) {
	if value != nil {
		set(*value)
	}
}

// makePlain has the valid meta pages depend on no checksums of other pages, which edits are to change. The meta page of a
// commit that did not arrive stays one of such.
func (e *Editor) makePlain() error {
	_, metas, err := e.metas()
	if err != nil {
		return err
	}
	for id := range metas {
		buf, err := e.Raw(uint64(id))
		if err != nil {
			return err
		}
		if metas[id].Err != nil || !page.MetaOf(buf).Paired() {
			continue
		}
		page.Page(buf).MakePlain()
		if err := e.write(buf, uint64(id)); err != nil {
			return err
		}
	}
	return nil
}

// editMeta changes a meta record and gives it a fresh checksum.
func (e *Editor) editMeta(id int, edit func(*page.MetaView)) error {
	buf, err := e.Raw(uint64(id))
	if err != nil {
		return err
	}
	v := page.MetaOf(buf)
	edit(v)
	v.Seal()
	return e.write(buf, uint64(id))
}

// write writes buf from the start of page id on.
func (e *Editor) write(buf []byte, id uint64) error {
	n, err := e.f.WriteAt(buf, e.offset(id))
	if err == nil && n < len(buf) {
		err = io.ErrShortWrite
	}
	return err
}
