// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/archive"
	"github.com/holtdb/holt/content/segment"
	"github.com/holtdb/holt/internal/file"
)

// TestFlippedBytes changes every byte of the smallest store, in each of its files.
func TestFlippedBytes(t *testing.T) {
	fsys := tinyDisk(t)
	j := newJudge(t, fsys)
	flips := []byte{0x01}
	if long() {
		flips = []byte{0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF}
	}
	for _, name := range []string{"data00000a.tar", "journal.log", "manifest"} {
		original := readFile(t, fsys, name)
		for off := range original {
			for _, flip := range flips {
				b := bytes.Clone(original)
				b[off] ^= flip
				writeFile(t, fsys, name, b)
				j.judge(fsys, fmt.Sprintf("byte %d of %s ^ %#x", off, name, flip))
			}
		}
		writeFile(t, fsys, name, original)
	}
	j.want(verdicts{refused: 20, found: 1000, same: 100})
}

// TestFlippedLarge changes bytes of a store of several archives and revisions.
func TestFlippedLarge(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	rounds := 150
	if long() {
		rounds = 5_000
	}
	sound, _ := planting(t, plantSeed)
	j := newJudge(t, sound)
	for i := range rounds {
		fsys := sound.Clone()
		flipBytes(t, fsys, r, 1+i%3)
		j.judgeTwice(fsys, fmt.Sprintf("round %d", i))
	}
	j.want(verdicts{found: rounds / 2})
}

// plantSeed is that of a store with a bit of everything.
const plantSeed = 20

// TestCutArchives cuts archives off at every block, and in the middle of it.
func TestCutArchives(t *testing.T) {
	sound, _ := planting(t, plantSeed)
	for _, fsys := range []*file.Crash{tinyDisk(t), sound} {
		j := newJudge(t, fsys)
		for _, name := range archiveNames(t, fsys) {
			original := readFile(t, fsys, name)
			for n := 0; n < len(original); n += 512 {
				writeFile(t, fsys, name, original[:n])
				j.judge(fsys, fmt.Sprintf("%s cut to %d bytes", name, n))
				writeFile(t, fsys, name, original[:n+100])
				j.judgeTwice(fsys, fmt.Sprintf("%s cut to %d bytes", name, n+100))
			}
			writeFile(t, fsys, name, original)
		}
	}
}

// TestReplaced puts something else in the place of files, and of the parts of archives: nothing, garbage, that of
// another store.
func TestReplaced(t *testing.T) {
	fsys, _ := planting(t, plantSeed)
	other, _ := planting(t, plantSeed)
	j := newJudge(t, fsys)
	names, err := fsys.ReadDir("store")
	must(t, err)
	for _, name := range names {
		original, foreign := readFile(t, fsys, name), readFile(t, other, name)
		for what, b := range map[string][]byte{
			"empty": nil, "garbage": garbage(len(original)), "zeros": make([]byte, len(original)), "foreign": foreign,
			"no": original[:0:0],
		} {
			writeFile(t, fsys, name, b)
			if what == "no" {
				must(t, fsys.Remove("store/"+name))
			}
			j.judgeTwice(fsys, what+" "+name)
			writeFile(t, fsys, name, original)
		}
		if strings.HasSuffix(name, ".tar") {
			j.replaceParts(fsys, name, original, foreign)
			writeFile(t, fsys, name, original)
		}
	}
	j.want(verdicts{refused: 3, found: 20, same: 3})
}

// replaceParts does so with the entries of an archive: segments, binary references, graph, index.
func (j *judge) replaceParts(fsys *file.Crash, name string, original, foreign []byte) {
	t := j.t
	others := map[string]part{}
	for _, p := range partsOf(t, foreign) {
		others[p.kind()] = p
	}
	for _, p := range partsOf(t, original) {
		whole := original[p.from:p.end]
		for what, b := range map[string][]byte{
			"no": nil, "garbage as": garbage(len(whole)), "zeros as": make([]byte, len(whole)),
			"foreign": foreign[others[p.kind()].from:others[p.kind()].end], "twice": bytes.Repeat(whole, 2),
		} {
			changed := bytes.Join([][]byte{original[:p.from], b, original[p.end:]}, nil)
			writeFile(t, fsys, name, changed)
			j.judge(fsys, fmt.Sprintf("%s %s in %s", what, p.name, name))
		}
	}
}

// TestSegmentVersions has segments of versions that there are not, and headers that cannot be.
func TestSegmentVersions(t *testing.T) {
	fsys := tinyDisk(t)
	j := newJudge(t, fsys)
	original := readFile(t, fsys, "data00000a.tar")
	p := partsOf(t, original)[1]
	for reason, damage := range map[string]func(segment []byte){
		"version 11: known are 12 and 13":  func(b []byte) { b[3] = 11 },
		"version 14: known are 12 and 13":  func(b []byte) { b[3] = 14 },
		"version 0: known are 12 and 13":   func(b []byte) { b[3] = 0 },
		`no segment: magic "0aL"`:          func(b []byte) { b[2] = 'L' },
		"references and 9 records":         func(b []byte) { binary.BigEndian.PutUint32(b[14:], 1<<31-1) },
		"references and -1 records":        func(b []byte) { binary.BigEndian.PutUint32(b[18:], 1<<32-1) },
		"record numbers do not ascend":     func(b []byte) { b[32+16+3+9*2] = 0 },
		"has the unknown type 77":          func(b []byte) { b[32+16+4] = 77 },
		"lies at offset 0x3fff01, outside": func(b []byte) { binary.BigEndian.PutUint32(b[32+16+5:], 0x3fff01) },
	} {
		b := bytes.Clone(original)
		damage(b[p.from+512 : p.end])
		writeFile(t, fsys, "data00000a.tar", b)
		findings := j.judge(fsys, reason)
		text := fmt.Sprint(errors.Join(findings...))
		if !strings.Contains(text, reason) || !strings.Contains(text, "store/data00000a.tar") ||
			!strings.Contains(text, p.id()) {
			t.Errorf("%s: findings %v", reason, findings)
		}
	}
}

// TestManyBadValues is about a property of which nothing can be read: it is reported, but not a million times.
func TestManyBadValues(t *testing.T) {
	const values = 100_000
	a := newScribe(t, file.NewMemory())
	v, err := a.w.String("no number")
	must(t, err)
	field := segment.Field{Name: "numbers", Type: -segment.TypeLong, Values: slices.Repeat([]segment.RecordID{v}, values)}
	root := a.write([]segment.Field{field}, nil)
	head := a.node("root", root)
	must(t, a.w.Flush())
	must(t, a.store.SetHead(segment.RecordID{}, archive.Revision{ID: head}))
	s := content.New(a.store, content.Options{})
	defer func() { must(t, s.Close()) }()
	findings, report := check(t, s, content.CheckOptions{Workers: 2})
	if len(findings) < 2 || len(findings) > 20 || report.Whole != 0 {
		t.Fatalf("%d findings, %+v", len(findings), report)
	}
	if last := findings[len(findings)-1]; !strings.Contains(last, "of 100000 cannot be read") {
		t.Errorf("the last finding: %s", last)
	}
}
