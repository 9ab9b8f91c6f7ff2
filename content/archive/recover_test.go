// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/content/storetest"
	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/internal/fixture"
)

func recoverAll(t testing.TB, fsys file.FS, opts archive.RecoverOptions) []archive.Recovery {
	t.Helper()
	opts.FS = fsys
	list, err := archive.Recover(t.Context(), "store", opts)
	must(t, err)
	return list
}

// wantWhole demands that another recovery has nothing to do, and that nothing is wrong with the archives.
func wantWhole(t testing.TB, fsys file.FS, what string) {
	t.Helper()
	for _, r := range recoverAll(t, fsys, archive.RecoverOptions{}) {
		if r.Damage != nil || r.Recovered != "" || len(r.Lost) > 0 {
			t.Errorf("%s: not whole after recovery: %+v", what, r)
		}
	}
	d := open(t, fsys, archive.Options{NoHead: true})
	defer closing(t, d)
	for _, a := range d.Archives() {
		if err := check(a.(*archive.Reader)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestRecoverCuts cuts the smallest store's archive everywhere.
func TestRecoverCuts(t *testing.T) {
	whole := tiny(t)["data00000a.tar"]
	r, err := openBytes(t, whole)
	must(t, err)
	all := entries(r)
	must(t, r.Close())
	for n := 1; n < len(whole); n += 256 {
		for _, n := range []int{n - 1, n, n + 254} {
			files := tiny(t)
			files["data00000a.tar"] = whole[:n]
			fsys := disk(t, files)
			before := names(t, fsys)
			want, lost := 0, 0
			for _, e := range all {
				if int(e.Off)+e.Len <= n {
					want++
				} else if int(e.Off) <= n && lost == 0 { // its header is there
					lost++
				}
			}
			dry := recoverAll(t, fsys, archive.RecoverOptions{DryRun: true})[0]
			if names(t, fsys) != before {
				t.Errorf("%d bytes: a dry run leaves %s", n, names(t, fsys))
			}
			r := recoverAll(t, fsys, archive.RecoverOptions{})[0]
			if r.Segments != want || (r.Damage == nil) || (want > 0) != (r.Recovered == "data00000b.tar") {
				t.Errorf("%d bytes: %+v", n, r)
			}
			named := slices.DeleteFunc(slices.Clone(r.Unfinished), func(l archive.Part) bool { return l.Segment == segment.ID{} })
			if len(r.Lost) > 0 || len(named) != lost || lost > 0 && (named[0].Segment != all[want].ID || named[0].Off != all[want].Off-512) {
				t.Errorf("%d bytes: lost %+v, unfinished %+v", n, r.Lost, r.Unfinished)
			}
			if dry.Recovered != r.Recovered || dry.Segments != r.Segments || !slices.Equal(dry.Unfinished, r.Unfinished) {
				t.Errorf("%d bytes: %+v, as was foretold %+v", n, r, dry)
			}
			if n > 0 && !bytes.Equal(readFile(t, fsys, filepath.Join("store", r.Backups[0])), whole[:n]) {
				t.Errorf("%d bytes: the original is not kept: %+v", n, r)
			}
			if want > 0 {
				wantWhole(t, fsys, "cut")
			}
		}
	}
}

// TestRecoverDamage damages a byte anywhere: no other segment than the one there is lost, and that is named.
func TestRecoverDamage(t *testing.T) {
	segments := some(t)
	whole := writeArchive(t, "data00000a.tar", segments...)
	r, err := openBytes(t, whole)
	must(t, err)
	list := entries(r)
	must(t, r.Close())
	step := 11
	if long() {
		step = 1
	}
	for _, trailer := range []bool{true, false} {
		for off := 0; off < len(whole); off += step {
			b := bytes.Clone(whole)
			b[off] ^= 0x55
			if !trailer {
				b = b[:len(b)-1024]
				if off >= len(b) {
					continue
				}
			}
			fsys := disk(t, map[string][]byte{"data00000a.tar": b, "manifest": manifest2})
			r := recoverAll(t, fsys, archive.RecoverOptions{})[0]
			for i, s := range segments {
				e := list[i]
				hit := off >= int(e.Off)-512 && off < int(e.Off)+e.Len
				lost := slices.IndexFunc(slices.Concat(r.Lost, r.Doubtful), func(l archive.Part) bool {
					return int(l.Off) <= off && off < int(l.Off+l.Len) && l.File == "data00000a.tar"
				})
				d := open(t, fsys, archive.Options{NoHead: true})
				switch got, ok := d.Segment(s.ID()); {
				case ok && !bytes.Equal(got, s.Bytes()):
					t.Errorf("byte %d, trailer %t: other bytes", off, trailer)
				case !ok && (!hit || lost < 0):
					t.Errorf("byte %d, trailer %t: segment %d is not there: %+v", off, trailer, i, r)
				case hit && off >= int(e.Off) && ok:
					t.Errorf("byte %d, trailer %t: segment %d was damaged: %+v", off, trailer, i, r)
				}
				must(t, d.Close())
			}
			if len(r.Doubtful) > 0 && (trailer || off >= len(whole)-1024) {
				t.Errorf("byte %d, trailer %t: doubtful: %+v", off, trailer, r.Doubtful)
			}
			if r.Damage == nil {
				t.Errorf("byte %d, trailer %t: no damage", off, trailer)
			}
			wantWhole(t, fsys, "damage")
		}
	}
}

// TestRecoverGarbage overwrites parts of the trailer.
func TestRecoverGarbage(t *testing.T) {
	segments := some(t)
	whole := writeArchive(t, "data00000a.tar", segments...)
	for what, damage := range map[string]func(b []byte){
		"index":   func(b []byte) { copy(b[len(b)-1024-512:], bytes.Repeat([]byte("garbage "), 64)) },
		"trailer": func(b []byte) { copy(b[len(b)-6*512:], bytes.Repeat([]byte("garbage "), 6*64)) },
		"graph":   func(b []byte) { copy(b[len(b)-1024-2*512-512:], bytes.Repeat([]byte("garbage "), 64)) },
		"end":     func(b []byte) { copy(b[len(b)-1024:], "garbage") },
	} {
		b := bytes.Clone(whole)
		damage(b)
		fsys := disk(t, map[string][]byte{
			"data00000a.tar": b, "manifest": manifest2, "journal.log": []byte(head(segments[1].ID())),
			"data00001a.tar": writeArchive(t, "data00001a.tar", storetest.Sample{}.Segment(t)),
		})
		list := recoverAll(t, fsys, archive.RecoverOptions{Archives: []string{"data00000a.tar"}})
		if len(list) != 1 || list[0].Damage == nil || list[0].Segments != len(segments) || list[0].Recovered != "data00000b.tar" {
			t.Errorf("%s: %+v", what, list)
		}
		want := "data00000a.tar.bak data00000b.tar data00001a.tar journal.log manifest repo.lock"
		if got := names(t, fsys); got != want {
			t.Errorf("%s: files %s, want %s", what, got, want)
		}
		d := open(t, fsys, archive.Options{})
		wantSegments(t, d, segments...)
		must(t, d.Close())
		wantWhole(t, fsys, what)
	}
}

// TestRecoverLetters puts together what is in several letters of a number, one of which has what the other has lost.
func TestRecoverLetters(t *testing.T) {
	segments := some(t)
	a := writeArchive(t, "data00000a.tar", segments...)
	b := writeArchive(t, "data00000b.tar", segments...)
	a, b = a[:len(a)-1024], b[:len(b)-1024]
	a[512], b[len(b)-6*512] = 1, 1
	fsys := disk(t, map[string][]byte{"data00000a.tar": a, "data00000b.tar": b, "manifest": manifest2})
	r := recoverAll(t, fsys, archive.RecoverOptions{Archives: []string{"data00000a.tar", "data00000b.tar"}})
	if len(r) != 1 || r[0].Recovered != "data00000c.tar" || r[0].Segments != len(segments) {
		t.Errorf("%+v", r)
	}
	for _, l := range r[0].Lost {
		if l.Segment != (segment.ID{}) {
			t.Errorf("lost %+v", l)
		}
	}
	wantWhole(t, fsys, "letters")
}

// TestRecoverElsewhere damages a segment that another archive has, whole or not.
func TestRecoverElsewhere(t *testing.T) {
	segments := some(t)
	for _, whole := range []bool{true, false} {
		a, b := writeArchive(t, "data00000a.tar", segments...), writeArchive(t, "data00001a.tar", segments...)
		a[512+3] ^= 1
		want := 0
		if !whole {
			b[512+3] ^= 1
			want = 1
		}
		fsys := disk(t, map[string][]byte{"data00000a.tar": a, "data00001a.tar": b, "manifest": manifest2})
		for _, r := range recoverAll(t, fsys, archive.RecoverOptions{}) {
			if len(r.Lost) != want {
				t.Errorf("whole elsewhere: %t: %+v", whole, r)
			}
		}
	}
}

// TestRecoverOtherLetter has a letter that counts, with an index, in which a segment is damaged that another letter has.
func TestRecoverOtherLetter(t *testing.T) {
	segments := some(t)
	for _, cut := range []int{0, 1024} {
		a := writeArchive(t, "data00000a.tar", segments...)
		b := writeArchive(t, "data00000b.tar", segments...)
		b[512+3] ^= 1
		fsys := disk(t, map[string][]byte{"data00000a.tar": a[:len(a)-cut], "data00000b.tar": b, "manifest": manifest2})
		r := recoverAll(t, fsys, archive.RecoverOptions{})
		if len(r) != 1 || r[0].Recovered != "data00000c.tar" || r[0].Segments != len(segments) || len(r[0].Lost) > 0 {
			t.Errorf("%+v", r)
		}
		d := open(t, fsys, archive.Options{NoHead: true})
		wantSegments(t, d, segments...)
		must(t, d.Close())
		wantLost(t, fsys, "in another letter")
		wantWhole(t, fsys, "in another letter")
	}
}

func TestRecoverRefuses(t *testing.T) {
	whole := writeArchive(t, "data00000z.tar", some(t)...)
	files := map[string][]byte{
		"data00000z.tar": whole[:len(whole)-1024], "data00001a.tar": whole[:len(whole)-1024], "manifest": manifest2,
	}
	fsys := disk(t, files)
	opts := archive.RecoverOptions{FS: fsys}
	list, err := archive.Recover(t.Context(), "store", opts)
	wantErr(t, err, archive.ErrNoLetter)
	if len(list) != 2 || list[1].Recovered != "data00001b.tar" {
		t.Errorf("%+v", list)
	}
	opts.Archives = []string{"data00002a.tar"}
	if _, err := archive.Recover(t.Context(), "store", opts); err == nil || !strings.Contains(err.Error(), "data00002a.tar") {
		t.Errorf("an archive that is not there: %v", err)
	}
	opts.Archives = nil
	d := open(t, fsys, archive.Options{NoHead: true})
	_, err = archive.Recover(t.Context(), "store", opts)
	wantErr(t, err, archive.ErrLocked)
	must(t, d.Close())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = archive.Recover(ctx, "store", opts)
	wantErr(t, err, context.Canceled)

	empty := disk(t, map[string][]byte{"notes.txt": []byte("?")})
	opts.FS = empty
	if _, err := archive.Recover(t.Context(), "store", opts); err == nil || names(t, empty) != "notes.txt" {
		t.Errorf("a directory without archives: %v; files: %s", err, names(t, empty))
	}
}

// TestRecoverZeros demands that entries are reported of which there are zeros only, and not the zeros at the end.
func TestRecoverZeros(t *testing.T) {
	a, b, c := storetest.Sample{}.Segment(t), storetest.Bulk(t, 3000), storetest.Sample{}.Segment(t)
	whole := writeArchive(t, "data00000a.tar", a, b, c)
	clear(whole[1024 : 1024+512+3072])
	clear(whole[1024+512+3072+1024:]) // the trailer
	fsys := disk(t, map[string][]byte{"data00000a.tar": whole, "manifest": manifest2})
	list := recoverAll(t, fsys, archive.RecoverOptions{})
	want := []archive.Part{{File: "data00000a.tar", Off: 1024, Len: 512 + 3072, Reason: "zeros"}}
	if len(list) != 1 || list[0].Segments != 2 || !slices.Equal(list[0].Lost, want) {
		t.Errorf("%+v", list)
	}
}

// setSize writes a size into a header, and the checksum that belongs to it.
func setSize(header []byte, size int) {
	copy(header[124:], fmt.Sprintf("%011o\x00", size))
	copy(header[148:156], "        ")
	sum := 0
	for _, c := range header[:512] {
		sum += int(c)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
}

// TestRecoverSizes demands that a size past the end, in a sound header, costs that entry alone. Only if there is no segment
// behind is it where the writer was stopped.
func TestRecoverSizes(t *testing.T) {
	a, b, c := storetest.Sample{}.Segment(t), storetest.Bulk(t, 3000), storetest.Sample{}.Segment(t)
	whole := writeArchive(t, "data00000a.tar", a, b, c)
	r, err := openBytes(t, whole)
	must(t, err)
	places := entries(r)
	must(t, r.Close())
	end := int(places[2].Off) + 512 // c has one block
	for i, s := range []*segment.Segment{a, b, c} {
		at := int(places[i].Off) - 512
		damaged := bytes.Clone(whole[:end])
		setSize(damaged[at:], 1<<20)
		want := archive.Part{
			File: "data00000a.tar", Off: int64(at), Len: int64(end - at), Segment: s.ID(),
			Reason: fmt.Sprintf("cut off: %d of 1048576 bytes are there", end-at-512),
		}
		if i < 2 {
			want.Len = places[i+1].Off - 512 - int64(at)
			want.Reason = "1048576 bytes by the header, which pass the end of the archive"
		}
		fsys := disk(t, map[string][]byte{"data00000a.tar": damaged, "manifest": manifest2})
		list := recoverAll(t, fsys, archive.RecoverOptions{})
		lost, none := list[0].Lost, list[0].Unfinished
		if i == 2 {
			lost, none = none, lost
		}
		if len(list) != 1 || list[0].Segments != 2 || !slices.Equal(lost, []archive.Part{want}) || len(none) > 0 {
			t.Errorf("segment %d: %+v, want %+v", i, list, want)
		}
	}
	// The trailer is cut off in its first entry: nothing is lost.
	fsys := disk(t, map[string][]byte{"data00000a.tar": whole[:len(whole)-1024-512], "manifest": manifest2})
	if list := recoverAll(t, fsys, archive.RecoverOptions{}); list[0].Segments != 3 || len(list[0].Lost) > 0 ||
		len(list[0].Unfinished) > 0 {
		t.Errorf("a trailer that was cut off: %+v", list)
	}
}

// TestRecoverBlocked demands that nothing is called recovered that could not be written.
func TestRecoverBlocked(t *testing.T) {
	whole, dir := writeArchive(t, "data00000a.tar", some(t)...), t.TempDir()
	damaged := whole[:len(whole)-1024]
	writeFile(t, file.OS, filepath.Join(dir, "data00000a.tar"), damaged)
	writeFile(t, file.OS, filepath.Join(dir, "manifest"), manifest2)
	must(t, os.Mkdir(filepath.Join(dir, "data00000b.tar.tmp"), 0o700))
	list, err := archive.Recover(t.Context(), dir, archive.RecoverOptions{})
	if err == nil || len(list) != 1 || list[0].Recovered != "" || list[0].Segments != 4 {
		t.Errorf("%+v, %v", list, err)
	}
	if got := readFile(t, file.OS, filepath.Join(dir, "data00000a.tar")); !bytes.Equal(got, damaged) {
		t.Errorf("%d bytes are left", len(got))
	}
}

// durable is a file system with files that are on the disk.
func durable(t testing.TB, files map[string][]byte) *file.Crash {
	t.Helper()
	fsys := file.NewCrash()
	for name, b := range files {
		f, err := fsys.OpenFile("store/"+name, os.O_RDWR|os.O_CREATE, 0o600)
		must(t, err)
		_, err = f.WriteAt(b, 0)
		must(t, errors.Join(err, f.Sync(), f.Close()))
	}
	must(t, fsys.SyncDir("store"))
	return fsys
}

// eachCut cuts the power at every call of run that changes something, and looks at what is left if one of the changes that
// were not synced survives, or all but one, or some.
func eachCut(t *testing.T, disk *file.Crash, run func(fsys file.FS) error, least int, verify func(after *file.Crash)) {
	t.Helper()
	for k := 1; ; k++ {
		fsys := disk.Clone()
		fsys.CutAt(k)
		err := run(fsys)
		if err == nil {
			if k < least {
				t.Errorf("%d calls, want %d", k, least)
			}
			return
		}
		wantErr(t, err, file.ErrPowerCut)
		for i := range len(fsys.Unsynced()) {
			verify(fsys.AfterCutKeeping(func(j int) bool { return j == i }))
			verify(fsys.AfterCutKeeping(func(j int) bool { return j != i }))
		}
		for seed := range uint64(3) {
			verify(fsys.AfterCut(seed))
		}
		if t.Failed() {
			t.Fatalf("cut at %d", k)
		}
	}
}

func TestRecoverPowerCut(t *testing.T) {
	segments := some(t)
	damaged := writeArchive(t, "data00000a.tar", segments...)
	damaged[512+3] ^= 1 // the bulk segment
	cut := writeArchive(t, "data00001a.tar", segments...)
	disk := durable(t, map[string][]byte{
		"data00000a.tar": damaged, "data00001a.tar": cut[:len(cut)-1024], "data00001b.tar": cut[:2000],
		"manifest": []byte("store.version=1\n"), "journal.log": []byte(head(segments[1].ID())),
	})
	run := func(fsys file.FS) error {
		_, err := archive.Recover(t.Context(), "store", archive.RecoverOptions{FS: fsys})
		return err
	}
	eachCut(t, disk, run, 25, func(after *file.Crash) {
		d := open(t, after, archive.Options{ReadOnly: true})
		wantSegments(t, d, segments...) // the bulk segment is in the other archive
		must(t, d.Close())
		must(t, run(after))
		wantWhole(t, after, names(t, after))
	})
}

// TestRecoverFaults makes each call fail once: nothing is lost by that.
func TestRecoverFaults(t *testing.T) {
	segments := some(t)
	cut := writeArchive(t, "data00000a.tar", segments...)
	for k := 1; ; k++ {
		disk := disk(t, map[string][]byte{
			"data00000a.tar": cut[:len(cut)-1024], "data00000b.tar": cut[:2000], "manifest": manifest2,
			"journal.log": []byte(head(segments[1].ID())),
		})
		fsys := file.NewFault(disk)
		fsys.FailAt(k)
		_, err := archive.Recover(t.Context(), "store", archive.RecoverOptions{FS: fsys})
		if len(fsys.Injected()) == 0 {
			must(t, err)
			if k < 30 {
				t.Errorf("a recovery of %d calls", k)
			}
			return
		}
		d := open(t, disk.Clone(), archive.Options{ReadOnly: true})
		wantSegments(t, d, segments...)
		must(t, d.Close())
		again := recoverAll(t, disk.Clone(), archive.RecoverOptions{})
		if n := again[0].Segments; n != len(segments) {
			t.Errorf("call %d failed: then %d segments", k, n)
		}
	}
}

// TestRecoverFixtures damages a segment in each of Oak's archives, and takes the trailers of others away.
func TestRecoverFixtures(t *testing.T) {
	dir := filepath.Join(fixture.Untar(t, "oak", "afterGC.tar.xz"), "c2")
	d, err := archive.Open(dir, &archive.Options{ReadOnly: true})
	must(t, err)
	lost := map[segment.ID]bool{}
	count := 0
	for i, a := range d.Archives() {
		path := filepath.Join(dir, a.Name())
		must(t, os.Chmod(path, 0o600))
		list := entries(a)
		count += len(list)
		victim := list[len(list)/2]
		lost[victim.ID] = true
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		must(t, err)
		_, err = f.WriteAt([]byte("damage"), victim.Off+100)
		if err == nil && i%2 == 0 {
			err = f.Truncate(a.Size() - 1024)
		}
		must(t, errors.Join(err, f.Close()))
	}
	must(t, d.Close())
	list, err := archive.Recover(t.Context(), dir, archive.RecoverOptions{})
	must(t, err)
	for _, r := range list {
		if r.Damage == nil || (r.Recovered == "") != (r.Segments == 0) {
			t.Errorf("%+v", r)
		}
		for _, l := range r.Lost {
			if !lost[l.Segment] {
				t.Errorf("%s: lost %+v", r.Files, l)
			}
			delete(lost, l.Segment)
		}
		count -= r.Segments + len(r.Lost)
	}
	if len(lost) > 0 || count != 0 {
		t.Errorf("not reported: %v; %d segments are missing", lost, count)
	}
	list, err = archive.Recover(t.Context(), dir, archive.RecoverOptions{})
	must(t, err)
	for _, r := range list {
		if r.Damage != nil {
			t.Errorf("not whole after recovery: %+v", r)
		}
	}
}
