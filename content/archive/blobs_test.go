// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
)

// TestBlobIDsLost demands an error if nobody knows any more which binaries are in use: who deletes the others would delete
// too many.
func TestBlobIDsLost(t *testing.T) {
	a, b, c := sampleWith(t, "a"), sampleWith(t, "b"), sampleWith(t, "c")
	for what, tc := range map[string]struct {
		damage        func(b []byte) []byte
		older, newest string // ids that are found; none if there is an error
	}{
		"no index":        {func(b []byte) []byte { return b[:len(b)-1024] }, "abc", "abc"},
		"trailer":         {func(b []byte) []byte { return b[:2048+100] }, "", "abc"},
		"between":         {func(b []byte) []byte { return b[:1024] }, "", "ac"},
		"stopped":         {func(b []byte) []byte { return b[:1024+600] }, "", "ac"},
		"stopped earlier": {func(b []byte) []byte { return b[:1024+100] }, "", "ac"},
		"segment":         {func(b []byte) []byte { b[560] ^= 1; return b[:len(b)-1024] }, "", ""},
		"zeros":           {func(b []byte) []byte { clear(b[:1024]); return b[:len(b)-1024] }, "", ""},
		"header":          {func(b []byte) []byte { clear(b[40:46]); return b[:len(b)-1024] }, "", ""},
	} {
		for i, want := range []string{tc.older, tc.newest} {
			name, other := archiveName(i), archiveName(1-i)
			d := open(t, disk(t, map[string][]byte{
				name: tc.damage(writeArchive(t, name, a, b)), other: writeArchive(t, other, c),
				"journal.log": []byte(head(c.ID())), "manifest": manifest2,
			}), archive.Options{ReadOnly: true})
			var ids []string
			var failed error
			for id, err := range archive.BlobIDs(d.Archives()) {
				if failed = err; err == nil {
					ids = append(ids, id)
				}
			}
			slices.Sort(ids)
			got := strings.Join(ids, "")
			must(t, d.Close())
			switch {
			case want == "" && failed == nil:
				t.Errorf("%s, archive %d: %q and no error", what, i, got)
			case want == "":
				wantDamage(t, failed)
			case failed != nil || got != want:
				t.Errorf("%s, archive %d: %q, %v, want %q", what, i, got, failed, want)
			}
		}
	}
}

func sampleWith(t *testing.T, blob string) *segment.Segment {
	t.Helper()
	return storetest.Sample{Blobs: []string{blob}}.Segment(t)
}

func archiveName(number int) string { return archive.Name{Number: int32(number), Letter: 'a'}.String() }
