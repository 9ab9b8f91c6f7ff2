// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/segment"
)

func TestNewIDs(t *testing.T) {
	for range 100 {
		data, bulk := segment.NewDataID(), segment.NewBulkID()
		if !data.IsData() || data.IsBulk() || bulk.IsData() || !bulk.IsBulk() {
			t.Errorf("data %s, bulk %s", data, bulk)
		}
		for id, kind := range map[segment.ID]byte{data: 'a', bulk: 'b'} {
			if s := id.String(); s[14] != '4' || s[19] != kind {
				t.Errorf("%s is no UUID of version 4 with digit %c", s, kind)
			}
			back, err := segment.ParseID(id.String())
			if err != nil || back != id {
				t.Errorf("%s read as %s: %v", id, back, err)
			}
			var b [segment.IDSize]byte
			id.Put(b[:])
			if segment.GetID(b[:]) != id {
				t.Errorf("%s stored as %x", id, b)
			}
		}
	}
	if (segment.ID{}).IsData() || (segment.ID{}).IsBulk() {
		t.Error("the zero id is one of a segment")
	}
}

// TestCompareIDs has the order of archives' indexes, in which ids are signed.
func TestCompareIDs(t *testing.T) {
	want := []string{
		"80000000-0000-4000-a000-000000000000",
		"d0b2a37e-54db-4246-af4b-1035142fd65e",
		"ffffffff-ffff-4fff-afff-ffffffffffff",
		"00000000-0000-4000-a000-000000000000",
		"00000000-0000-4000-b000-000000000000",
		"1f5f0022-09bc-4938-ae1e-e92d8b333d80",
		"7fffffff-ffff-4fff-afff-ffffffffffff",
	}
	var ids []segment.ID
	for _, s := range slices.Sorted(slices.Values(want)) {
		id, err := segment.ParseID(s)
		must(t, err)
		ids = append(ids, id)
	}
	slices.SortFunc(ids, segment.ID.Compare)
	for i, id := range ids {
		if id.String() != want[i] {
			t.Errorf("%d: %s, want %s", i, id, want[i])
		}
	}
}

const anID = "1f5f0022-09bc-4938-ae1e-e92d8b333d80"

func TestParseIDRefuses(t *testing.T) {
	for _, s := range []string{
		"", "1", anID[:35], anID + "0", strings.ToUpper(anID), "{" + anID + "}", strings.ReplaceAll(anID, "-", ""),
		"1f5f0022-09bc-4938-ae1e-e92d8b333d8g", "1f5f0022x09bc-4938-ae1e-e92d8b333d80",
		"1f5f002-209bc-4938-ae1e-e92d8b333d80",
	} {
		if id, err := segment.ParseID(s); !errors.Is(err, segment.ErrID) {
			t.Errorf("%q read as %s: %v", s, id, err)
		}
	}
}

func TestParseRecordID(t *testing.T) {
	for s, number := range map[string]uint32{
		anID + ":0":          0,
		anID + ":662":        662,
		anID + ":4294967295": 1<<32 - 1,
		anID + ".00000296":   662,
		anID + ".ffffffff":   1<<32 - 1,
	} {
		r, err := segment.ParseRecordID(s)
		if err != nil || r.Segment.String() != anID || r.Number != number {
			t.Errorf("%q read as %s: %v", s, r, err)
		}
		if s != r.String() && s != r.Hex() {
			t.Errorf("%q printed as %s and %s", s, r, r.Hex())
		}
	}
	for _, s := range []string{
		"", anID, anID + ":", anID + ".", anID + ":01", anID + ":-1", anID + ":+1", anID + ":4294967296", anID + ":1 ",
		anID + ".296", anID + ".0000029G", anID + ".000000FF", anID + "-1", anID + ".+0000296",
		strings.ToUpper(anID) + ":1",
	} {
		if r, err := segment.ParseRecordID(s); !errors.Is(err, segment.ErrID) {
			t.Errorf("%q read as %s: %v", s, r, err)
		}
	}
}
