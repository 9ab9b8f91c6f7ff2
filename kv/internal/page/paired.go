// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"errors"
	"hash/crc32"
	"io"
)

// A paired meta page went down together with the pages of its commit, and lists their checksums: it is worth something
// only if all of them have arrived. The mark that says so is a field of the record which others ignore, but may copy when
// they write the next one. It differs from transaction to transaction, so that a copy means nothing.
const (
	pairedMark = 0x746C6F48 // "Holt"
	sumsStart  = HeaderSize + MetaSize
	sumsTable  = sumsStart + 8
	sumSize    = 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the CRC-32C of b behind that of what came before, 0 for nothing.
func Sum(before uint32, b []byte) uint32 { return crc32.Update(before, castagnoli, b) }

// RunSum is a number of pages side by side, and the checksum of their bytes.
type RunSum struct {
	ID    uint64
	Pages uint32
	Sum   uint32
}

func markOf(txid uint64) uint32 { return uint32(txid) ^ pairedMark }

// MaxSums is the number of runs that the meta page of a transaction has room for.
func MaxSums(pageSize int, txid uint64) int {
	if markOf(txid) == 0 { // as good as no mark
		return -1
	}
	return (pageSize - sumsTable) / sumSize
}

// Paired says whether the record is of a meta page with checksums.
func (m *MetaView) Paired() bool { return m.Flags() != 0 && m.Flags() == markOf(m.TxID()) }

// PutPaired writes a whole meta page with checksums, of which there are MaxSums at most.
func PutPaired(p Page, r MetaRecord, sums []RunSum) {
	PutMeta(p, r)
	m := MetaOf(p)
	m.SetFlags(markOf(r.TxID))
	m.Seal()
	ne.PutUint32(p[sumsStart+4:], uint32(len(sums)))
	at := sumsTable
	for _, s := range sums {
		ne.PutUint64(p[at:], s.ID)
		ne.PutUint32(p[at+8:], s.Pages)
		ne.PutUint32(p[at+12:], s.Sum)
		at += sumSize
	}
	ne.PutUint32(p[sumsStart:], sumOfSums(p, at))
}

// sumOfSums covers the record too, so that none goes with the list of another.
func sumOfSums(p Page, end int) uint32 {
	return Sum(Sum(0, p[HeaderSize:sumsStart]), p[sumsStart+4:end])
}

// PairedSums lists the checksums in a paired meta page; ok is false if the list did not arrive as it was written.
func (p Page) PairedSums() (sums []RunSum, ok bool) {
	if len(p) < sumsTable {
		return nil, false
	}
	n := uint64(ne.Uint32(p[sumsStart+4:]))
	if n > uint64(len(p)-sumsTable)/sumSize {
		return nil, false
	}
	end := sumsTable + sumSize*int(n)
	if ne.Uint32(p[sumsStart:]) != sumOfSums(p, end) {
		return nil, false
	}
	for at := sumsTable; at < end; at += sumSize {
		sums = append(sums, RunSum{ne.Uint64(p[at:]), ne.Uint32(p[at+8:]), ne.Uint32(p[at+12:])})
	}
	return sums, true
}

// ErrIncomplete is what is wrong with a paired meta page whose pages are not all on the disk.
var ErrIncomplete = errors.New("its commit did not arrive as a whole")

// Newest says which of the two meta pages of a file is its state, and what is wrong with each. That of a paired one can
// only be told of the newest: pages of an older commit may have been overwritten. If neither is valid, errs[state] says
// why. The error of the file is the last.
func Newest(metas [2]Page, file io.ReaderAt, size int64) (state int, errs [2]error, err error) {
	m := [2]*MetaView{MetaOf(metas[0]), MetaOf(metas[1])}
	for i := range m {
		errs[i] = m[i].ValidateFor(len(metas[i]))
	}
	if errs[1] == nil && (errs[0] != nil || m[1].TxID() > m[0].TxID()) {
		state = 1
	}
	if errs[state] != nil || !m[state].Paired() {
		return state, errs, nil
	}
	err = metas[state].arrived(file, size)
	if err == ErrIncomplete { //nolint:errorlint // no other error is it
		errs[state] = err
		return 1 - state, errs, nil
	}
	return state, errs, err
}

// arrived compares the pages that went down together with a paired meta page with what that says. It reads no page twice.
func (p Page) arrived(file io.ReaderAt, size int64) error {
	sums, ok := p.PairedSums()
	if !ok {
		return ErrIncomplete
	}
	pages := uint64(size) / uint64(len(p))
	next := uint64(2)
	for _, s := range sums {
		if s.ID < next || s.ID >= pages || uint64(s.Pages) > pages-s.ID {
			return ErrIncomplete
		}
		next = s.ID + uint64(s.Pages)
		sum := crc32.New(castagnoli)
		if _, err := io.Copy(sum, io.NewSectionReader(file, int64(s.ID)*int64(len(p)), int64(s.Pages)*int64(len(p)))); err != nil {
			return err
		}
		if sum.Sum32() != s.Sum {
			return ErrIncomplete
		}
	}
	return nil
}

// MakePlain has a paired meta page say no more than a plain one.
func (p Page) MakePlain() {
	m := MetaOf(p)
	m.SetFlags(0)
	m.Seal()
	clear(p[sumsStart:])
}
