// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/holtdb/holt/kv/internal/page"
)

const newestSize = 1024

// states makes a file of eight pages, whose meta page 1, of transaction 7, is paired with these runs.
func states(runs ...page.RunSum) []byte {
	file := make([]byte, 8*newestSize)
	for i := 2 * newestSize; i < len(file); i++ {
		file[i] = byte(i % 251)
	}
	r := page.MetaRecord{PageSize: newestSize, Root: 2, Freelist: page.NoFreelist, HWM: 8, TxID: 6}
	page.PutMeta(file[:newestSize], r)
	r.TxID = 7
	page.PutPaired(file[newestSize:2*newestSize], r, runs)
	return file
}

// run is one with the right checksum, if it lies within the file.
func run(id uint64, pages uint32) page.RunSum {
	file := states()
	r := page.RunSum{ID: id, Pages: pages}
	if id < 8 && uint64(pages) <= 8-id {
		r.Sum = page.Sum(0, file[id*newestSize:(id+uint64(pages))*newestSize])
	}
	return r
}

func newest(file []byte, from io.ReaderAt) (state int, errs [2]error, err error) {
	return page.Newest([2]page.Page{file[:newestSize], file[newestSize : 2*newestSize]}, from, int64(len(file)))
}

func TestNewest(t *testing.T) {
	wrong := run(3, 1)
	wrong.Sum++
	edited := states(run(2, 1))
	edited[newestSize+90] ^= 1
	otherSize := states(run(2, 1))
	m := page.MetaOf(otherSize[newestSize:])
	m.SetPageSize(2 * newestSize)
	m.Seal()
	old := states(wrong)
	page.PutMeta(old[:newestSize], page.MetaRecord{PageSize: newestSize, TxID: 8})
	for _, test := range []struct {
		name  string
		file  []byte
		state int
		errs  [2]error
	}{
		{"no runs", states(), 1, [2]error{}},
		{"runs that are there", states(run(2, 1), run(4, 4)), 1, [2]error{}},
		{"a run that is not there", states(run(2, 1), wrong), 0, [2]error{1: page.ErrIncomplete}},
		{"a list that is not there", edited, 0, [2]error{1: page.ErrIncomplete}},
		{"a run behind the end", states(run(8, 1)), 0, [2]error{1: page.ErrIncomplete}},
		{"a run across the end", states(run(7, 2)), 0, [2]error{1: page.ErrIncomplete}},
		{"a run of huge length", states(run(2, 1<<32-1)), 0, [2]error{1: page.ErrIncomplete}},
		{"a run of meta pages", states(run(0, 1)), 0, [2]error{1: page.ErrIncomplete}},
		{"runs that overlap", states(run(2, 2), run(3, 1)), 0, [2]error{1: page.ErrIncomplete}},
		{"the older one lacks a run", old, 0, [2]error{}},
		{"another page size", otherSize, 0, [2]error{1: page.ErrMagic}},
	} {
		state, errs, err := newest(test.file, bytes.NewReader(test.file))
		if state != test.state || !errors.Is(errs[0], test.errs[0]) || !errors.Is(errs[1], test.errs[1]) || err != nil {
			t.Errorf("%s: state %d, %v, %v", test.name, state, errs, err)
		}
	}
}

// failing gives an error for what is read.
type failing struct{ error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.error }

// TestNewestUnread cannot read the pages: that is not the same as their not being there.
func TestNewestUnread(t *testing.T) {
	bad := errors.New("bad sector")
	if _, _, err := newest(states(run(2, 1)), failing{bad}); !errors.Is(err, bad) {
		t.Errorf("error %v", err)
	}
}

// TestPairedTooSmall has a page that calls itself paired but has no room for a list.
func TestPairedTooSmall(t *testing.T) {
	p := make(page.Page, 80)
	page.PutMeta(p, page.MetaRecord{PageSize: 80, TxID: 7})
	m := page.MetaOf(p)
	m.SetFlags(7 ^ 0x746C6F48)
	m.Seal()
	if sums, ok := p.PairedSums(); !m.Paired() || ok {
		t.Errorf("paired %t, with %v, %t", m.Paired(), sums, ok)
	}
}

func TestMakePlain(t *testing.T) {
	file := states(run(2, 1))
	p := page.Page(file[newestSize : 2*newestSize])
	p.MakePlain()
	want := make(page.Page, newestSize)
	page.PutMeta(want, page.MetaOf(p).Record())
	if !bytes.Equal(p, want) {
		t.Error("it is not what PutMeta writes")
	}
}
