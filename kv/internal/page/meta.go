// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page

import "errors"

// Numbers every meta record begins with.
const (
	Magic   = 0xED0CDAED
	Version = 2
)

// Why a meta record is not valid, in the order in which it is examined.
var (
	ErrMagic    = errors.New("invalid database")
	ErrVersion  = errors.New("version mismatch")
	ErrChecksum = errors.New("checksum error")
)

// MetaView is a meta record viewed in place.
type MetaView [MetaSize]byte

// MetaOf views the meta record of a meta page of at least HeaderSize + MetaSize bytes.
func MetaOf(p []byte) *MetaView { return (*MetaView)(p[HeaderSize : HeaderSize+MetaSize]) }

// Magic is what every record begins with.
func (m *MetaView) Magic() uint32 { return ne.Uint32(m[0:4]) }

// Version is that of the file format.
func (m *MetaView) Version() uint32 { return ne.Uint32(m[4:8]) }

// PageSize is in bytes.
func (m *MetaView) PageSize() uint32 { return ne.Uint32(m[8:12]) }

// Flags is 0, or the mark of a paired meta page.
func (m *MetaView) Flags() uint32 { return ne.Uint32(m[12:16]) }

// Root is the root page of the root bucket.
func (m *MetaView) Root() uint64 { return ne.Uint64(m[16:24]) }

// Sequence is that of the root bucket.
func (m *MetaView) Sequence() uint64 { return ne.Uint64(m[24:32]) }

// Freelist is the page with the free list, or NoFreelist.
func (m *MetaView) Freelist() uint64 { return ne.Uint64(m[32:40]) }

// HWM is the first page never allocated.
func (m *MetaView) HWM() uint64 { return ne.Uint64(m[40:48]) }

// TxID is the transaction that wrote the record.
func (m *MetaView) TxID() uint64 { return ne.Uint64(m[48:56]) }

// Checksum is the stored one; Sum computes it.
func (m *MetaView) Checksum() uint64 { return ne.Uint64(m[56:64]) }

// SetMagic sets the field; call Seal when all are set.
func (m *MetaView) SetMagic(v uint32) { ne.PutUint32(m[0:4], v) }

// SetVersion sets the field; call Seal when all are set.
func (m *MetaView) SetVersion(v uint32) { ne.PutUint32(m[4:8], v) }

// SetPageSize sets the field; call Seal when all are set.
func (m *MetaView) SetPageSize(v uint32) { ne.PutUint32(m[8:12], v) }

// SetFlags sets the field; call Seal when all are set.
func (m *MetaView) SetFlags(v uint32) { ne.PutUint32(m[12:16], v) }

// SetRoot sets the field; call Seal when all are set.
func (m *MetaView) SetRoot(v uint64) { ne.PutUint64(m[16:24], v) }

// SetFreelist sets the field; call Seal when all are set.
func (m *MetaView) SetFreelist(v uint64) { ne.PutUint64(m[32:40], v) }

// SetHWM sets the field; call Seal when all are set.
func (m *MetaView) SetHWM(v uint64) { ne.PutUint64(m[40:48], v) }

// SetTxID sets the field; call Seal when all are set.
func (m *MetaView) SetTxID(v uint64) { ne.PutUint64(m[48:56], v) }

// Sum computes the checksum: FNV-1a, 64 bit, over everything before it.
func (m *MetaView) Sum() uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, b := range m[:56] {
		h = (h ^ uint64(b)) * 0x100000001b3
	}
	return h
}

// Seal stores the checksum of the fields as they are.
func (m *MetaView) Seal() { ne.PutUint64(m[56:64], m.Sum()) }

// Validate examines magic, version and checksum.
func (m *MetaView) Validate() error {
	switch {
	case m.Magic() != Magic:
		return ErrMagic
	case m.Version() != Version:
		return ErrVersion
	case m.Checksum() != m.Sum():
		return ErrChecksum
	}
	return nil
}

// ValidateFor is Validate, of a meta page that must agree with the others on the page size: the next commit repeats it.
func (m *MetaView) ValidateFor(pageSize int) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if int64(m.PageSize()) != int64(pageSize) {
		return ErrMagic
	}
	return nil
}

// MetaRecord holds the fields of a meta record that vary.
type MetaRecord struct {
	PageSize uint32
	Root     uint64 // root page of the root bucket
	Sequence uint64 // of the root bucket
	Freelist uint64 // page, or NoFreelist
	HWM      uint64 // first page never allocated
	TxID     uint64 // of the transaction that wrote it
}

// Record copies the fields out.
func (m *MetaView) Record() MetaRecord {
	return MetaRecord{
		PageSize: m.PageSize(), Root: m.Root(), Sequence: m.Sequence(),
		Freelist: m.Freelist(), HWM: m.HWM(), TxID: m.TxID(),
	}
}

// PutMeta writes a whole meta page: header, record with its checksum, zeros. The page's id is the lowest bit of the
// transaction's.
func PutMeta(p Page, r MetaRecord) {
	clear(p)
	p.PutHeader(r.TxID%2, Meta, 0, 0)
	m := MetaOf(p)
	m.SetMagic(Magic)
	m.SetVersion(Version)
	m.SetPageSize(r.PageSize)
	m.SetRoot(r.Root)
	ne.PutUint64(m[24:32], r.Sequence)
	m.SetFreelist(r.Freelist)
	m.SetHWM(r.HWM)
	m.SetTxID(r.TxID)
	m.Seal()
}

// Initial writes the four pages of a new file into buf: two metas, an empty free list, an empty root leaf.
func Initial(buf []byte, pageSize int) {
	clear(buf)
	r := MetaRecord{PageSize: uint32(pageSize), Root: 3, Freelist: 2, HWM: 4}
	PutMeta(buf[:pageSize], r)
	r.TxID = 1
	PutMeta(buf[pageSize:2*pageSize], r)
	Page(buf[2*pageSize:]).PutHeader(2, Freelist, 0, 0)
	Page(buf[3*pageSize:]).PutHeader(3, Leaf, 0, 0)
}
