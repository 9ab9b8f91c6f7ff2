// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/storetest"
)

// TestReplacedSegments has segments that were written anew, one behind the other, and not in the order of before.
func TestReplacedSegments(t *testing.T) {
	a, b, c := storetest.Bulk(t, 100_000), storetest.Bulk(t, 100_000), storetest.Bulk(t, 150_000)
	d := storetest.Sample{}.Segment(t)
	whole := writeArchive(t, "data00000a.tar", a, a, b, c, c, d, a, b)
	r, err := openBytes(t, whole)
	must(t, err)
	defer closing(t, r)
	must(t, check(r))

	for what, at := range map[string]int{"first": 0, "second": 512 + 100_352, "third": 2 * (512 + 100_352)} {
		damaged := bytes.Clone(whole)
		clear(damaged[at : at+512])
		r, err := openBytes(t, damaged)
		must(t, err)
		if err := check(r); err == nil {
			t.Errorf("the %s header is gone, and nothing is found", what)
		}
		must(t, r.Close())
	}
}

// TestUnclosed demands that it is seen if an archive that is not the newest has lost its index, and what else is lost.
func TestUnclosed(t *testing.T) {
	a, b := storetest.Sample{}.Segment(t), storetest.Sample{}.Segment(t)
	files := map[string][]byte{
		"data00000a.tar": writeArchive(t, "data00000a.tar", a, b), "data00001a.tar": writeArchive(t, "data00001a.tar", a, b),
		"journal.log": []byte(head(a.ID())), "manifest": manifest2,
	}
	for what, tc := range map[string]struct {
		damage func(b []byte) []byte
		want   []string
	}{
		"cut":   {func(b []byte) []byte { return b[:1024+600] }, []string{"no index", "cut off"}},
		"zeros": {func(b []byte) []byte { clear(b); return b }, []string{"no index"}},
		"index": {func(b []byte) []byte { b[len(b)-1024-40] ^= 1; return b }, []string{"index: the checksum"}},
		"both": {
			func(b []byte) []byte { b[len(b)-1024-1] ^= 1; b[600] ^= 1; return b },
			[]string{"no index", "the checksum is wrong"},
		},
	} {
		for i, name := range []string{"data00000a.tar", "data00001a.tar"} {
			fsys := disk(t, files)
			writeFile(t, fsys, "store/"+name, tc.damage(bytes.Clone(files[name])))
			d := open(t, fsys, archive.Options{ReadOnly: true})
			var found []string
			for _, a := range d.Archives() {
				for err := range a.(*archive.Reader).Check() {
					wantDamage(t, err)
					found = append(found, err.Error())
				}
			}
			must(t, d.Close())
			if i == 1 { // it may be one that is being written
				if len(found) > 0 {
					t.Errorf("%s, newest: %q", what, found)
				}
				continue
			}
			for _, want := range tc.want {
				if !strings.Contains(strings.Join(found, "\n"), want) || !strings.Contains(found[0], name) {
					t.Errorf("%s: %q, want %q", what, found, want)
				}
			}
		}
	}
}
