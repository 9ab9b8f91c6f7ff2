// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// simPath is the database of tests on simulated file systems.
const simPath = "dir/test.db"

// long says whether tests may take minutes: HOLT_LONG=1.
func long() bool { return os.Getenv("HOLT_LONG") == "1" }

// brief says whether tests are to take seconds: with -short, and under the race detector, which makes all of them slow.
func brief() bool { return testing.Short() || raceEnabled }

// times is how often to repeat something: the second number in long runs.
func times(short, many int) int {
	if long() {
		return many
	}
	return short
}

// openSim opens simPath. It never waits for a lock: nobody will give it back.
func openSim(disk file.FS, o kv.Options) (*kv.DB, error) {
	o.Timeout = time.Millisecond
	return kv.OpenFS(disk, simPath, 0o600, &o)
}

// mustOpenSim is openSim that cannot fail.
func mustOpenSim(t testing.TB, disk file.FS, o kv.Options) *kv.DB {
	t.Helper()
	db, err := openSim(disk, o)
	if err != nil {
		t.Fatal("open:", err)
	}
	return db
}

// readSim returns the bytes of a simulated file.
func readSim(t testing.TB, disk file.FS, name string) []byte {
	t.Helper()
	f, err := disk.OpenFile(name, os.O_RDONLY, 0)
	must(t, err)
	size, err := f.Size()
	must(t, err)
	b := make([]byte, size)
	_, err = f.ReadAt(b, 0)
	must(t, err)
	must(t, f.Close())
	return b
}

// memoryWith returns a file system whose simPath has these bytes.
func memoryWith(t testing.TB, b []byte) *file.Crash {
	t.Helper()
	disk := file.NewMemory()
	f, err := disk.OpenFile(simPath, os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	_, err = f.WriteAt(b, 0)
	must(t, err)
	must(t, f.Close())
	return disk
}

// bucketModel is what a bucket is to hold.
type bucketModel struct {
	seq     uint64
	values  map[string]string
	buckets map[string]*bucketModel
}

func newBucketModel() *bucketModel {
	return &bucketModel{values: map[string]string{}, buckets: map[string]*bucketModel{}}
}

func (m *bucketModel) clone() *bucketModel {
	c := &bucketModel{seq: m.seq, values: maps.Clone(m.values), buckets: make(map[string]*bucketModel, len(m.buckets))}
	for name, sub := range m.buckets {
		c.buckets[name] = sub.clone()
	}
	return c
}

// keys are the names of everything in the bucket, in order.
func (m *bucketModel) keys() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for k := range m.values {
			if !yield(k) {
				return
			}
		}
		for k := range m.buckets {
			if !yield(k) {
				return
			}
		}
	})
}

// text describes the bucket, in the same words as contentOf.
func (m *bucketModel) text() string {
	var b strings.Builder
	m.write(&b, "")
	return b.String()
}

func (m *bucketModel) write(b *strings.Builder, indent string) {
	for _, k := range m.keys() {
		if sub, ok := m.buckets[k]; ok {
			writeName(b, indent, k, sub.seq)
			sub.write(b, indent+" ")
			continue
		}
		writePair(b, indent, k, m.values[k])
	}
}

func writeName(b *strings.Builder, indent, name string, seq uint64) {
	fmt.Fprintf(b, "%s%q seq %d\n", indent, name, seq)
}

// writePair tells values that differ apart without writing large ones out. Tests spend much of their time here.
func writePair[T string | []byte](b *strings.Builder, indent string, key, value T) {
	var line [128]byte
	p := append(line[:0], indent...)
	p = strconv.AppendQuote(p, string(key))
	p = append(p, '=')
	if len(value) > 40 {
		p = strconv.AppendInt(p, int64(len(value)), 10)
		p = append(p, " bytes "...)
		p = strconv.AppendUint(p, fnv1a(value), 16)
	} else {
		p = strconv.AppendQuote(p, string(value))
	}
	b.Write(append(p, '\n'))
}

func fnv1a[T string | []byte](b T) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(b) {
		h = (h ^ uint64(b[i])) * 0x100000001b3
	}
	return h
}

// maxSimDepth and maxSimText end walks over buckets that damage has put into themselves.
const (
	maxSimDepth = 100
	maxSimText  = 1 << 20
)

// contentOf describes everything in the database, in the same words as bucketModel.text.
func contentOf(tx *kv.Tx) string {
	return bucketText(tx.Cursor().Bucket())
}

func bucketText(bucket *kv.Bucket) string {
	var b strings.Builder
	writeBucket(&b, "", bucket)
	return b.String()
}

func writeBucket(b *strings.Builder, indent string, bucket *kv.Bucket) {
	if len(indent) > maxSimDepth || b.Len() > maxSimText {
		return
	}
	c := bucket.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if v != nil {
			writePair(b, indent, k, v)
			continue
		}
		sub := bucket.Bucket(k)
		if sub == nil {
			fmt.Fprintf(b, "%s%q is lost\n", indent, k)
			continue
		}
		writeName(b, indent, string(k), sub.Sequence())
		writeBucket(b, indent+" ", sub)
	}
}

// checked runs Tx.Check and joins what it finds.
func checked(tx *kv.Tx) error {
	var all []error
	for err := range tx.Check() {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// soundContent returns what an open database holds, after Check found nothing.
func soundContent(db *kv.DB) (text string, err error) {
	err = db.View(func(tx *kv.Tx) error {
		if err := checked(tx); err != nil {
			return fmt.Errorf("check: %w", err)
		}
		text = contentOf(tx)
		return nil
	})
	return text, err
}

// firstDifference shows where two descriptions part.
func firstDifference(have, want string) string {
	h, w := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range max(len(h), len(w)) {
		if i >= len(h) || i >= len(w) || h[i] != w[i] {
			return fmt.Sprintf("line %d: have %.200s, want %.200s (%d and %d lines)",
				i+1, strings.Join(h[min(i, len(h)):min(i+1, len(h))], ""), strings.Join(w[min(i, len(w)):min(i+1, len(w))], ""),
				len(h), len(w))
		}
	}
	return "no difference"
}

// filler returns n bytes that depend on seed.
func filler(seed, n int) []byte {
	b := bytes.Repeat([]byte{byte('a' + seed%26)}, n)
	copy(b, fmt.Sprintf("%d:", seed))
	return b
}

// observed is a file system that calls before ahead of every call that changes something or makes it durable.
type observed struct {
	file.FS
	before func()
}

func (o observed) OpenFile(name string, flag int, perm fs.FileMode) (file.File, error) {
	if flag&os.O_CREATE != 0 {
		o.before()
	}
	f, err := o.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return observedFile{f, o.before}, nil
}

func (o observed) SyncDir(dir string) error {
	o.before()
	return o.FS.SyncDir(dir)
}

// observedFile is a file of an observed file system.
type observedFile struct {
	file.File
	before func()
}

func (f observedFile) WriteAt(b []byte, off int64) (int, error) {
	f.before()
	return f.File.WriteAt(b, off)
}

func (f observedFile) WriteVecAt(bufs [][]byte, off int64) (int, error) {
	f.before()
	return f.File.WriteVecAt(bufs, off)
}

func (f observedFile) WriteThrough(b []byte, off int64) (int, error) {
	f.before()
	return f.File.WriteThrough(b, off)
}

func (f observedFile) Truncate(size int64) error {
	f.before()
	return f.File.Truncate(size)
}

func (f observedFile) PunchHole(off, length int64) error {
	f.before()
	return f.File.PunchHole(off, length)
}

func (f observedFile) SyncData() error {
	f.before()
	return f.File.SyncData()
}

func (f observedFile) Sync() error {
	f.before()
	return f.File.Sync()
}
