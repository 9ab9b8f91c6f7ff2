// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
)

// TestModel drives a database and a model of it through the same random actions.
func TestModel(t *testing.T) {
	n := times(4, 200)
	if brief() {
		n = 1
	}
	for i := range n {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, modelProperty)
		})
	}
}

func FuzzModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(modelProperty)) }

func modelProperty(t *rapid.T) {
	m := &modelMachine{disk: file.NewCrash(), committed: newBucketModel()}
	m.pageSize = rapid.SampledFrom([]int{1024, 1024, 1024, 4096, 16384}).Draw(t, "page size")
	m.open(t)
	defer func() { m.end(t) }()
	t.Repeat(map[string]func(*rapid.T){
		"":                 m.compare,
		"put":              m.put,
		"put many":         m.putMany,
		"delete":           m.delete,
		"delete many":      m.deleteMany,
		"delete by cursor": m.deleteByCursor,
		"create bucket":    m.createBucket,
		"delete bucket":    m.deleteBucket,
		"move bucket":      m.moveBucket,
		"sequence":         m.sequence,
		"walk":             m.walk,
		"change and walk":  m.changeAndWalk,
		"commit":           m.commit,
		"roll back":        m.rollBack,
		"open reader":      m.openReader,
		"close reader":     m.closeReader,
		"reopen":           m.reopen,
		"crash":            m.crash,
		"compact":          m.compact,
		"shrink":           m.shrink,
	})
}

// modelMachine is a database and what it has to hold. Its write transaction begins with the first action that needs one
// and ends with commit, rollback, reopen or crash.
type modelMachine struct {
	disk     *file.Crash
	pageSize int
	db       *kv.DB
	tx       *kv.Tx // the open write transaction, or nil

	committed *bucketModel
	changed   *bucketModel // what tx has made of it
	readers   []modelReader
}

type modelReader struct {
	tx   *kv.Tx
	text string
}

func (m *modelMachine) open(t *rapid.T) {
	o := kv.Options{
		PageSize:       m.pageSize,
		BoltPlacement:  rapid.Bool().Draw(t, "bolt placement"),
		NoFreelistSync: rapid.Bool().Draw(t, "no freelist sync"),
		NoGrowSync:     rapid.Bool().Draw(t, "no grow sync"),
		SyncFreelist:   rapid.Bool().Draw(t, "freelist with each commit"),
		SingleSync:     rapid.Bool().Draw(t, "single sync"),
	}
	if rapid.Bool().Draw(t, "write early") {
		o = kv.WriteEarly(o, 5*m.pageSize)
	}
	db, err := openSim(m.disk, o)
	if err != nil {
		t.Fatal("open:", err)
	}
	db.AllocSize = 64 << 10 // so that files outgrow their mappings in both ways
	m.db = db
}

// end lets everything go.
func (m *modelMachine) end(t *rapid.T) { noError(t, m.letGo(t)) }

func (m *modelMachine) letGo(t *rapid.T) error {
	m.rollBack(t)
	for _, r := range m.readers {
		noError(t, r.tx.Rollback())
	}
	m.readers = nil
	return m.db.Close()
}

func noError(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin returns the write transaction.
func (m *modelMachine) begin(t *rapid.T) *kv.Tx {
	if m.tx == nil {
		tx, err := m.db.Begin(true)
		noError(t, err)
		m.tx, m.changed = tx, m.committed.clone()
	}
	return m.tx
}

// compare is the invariant: every transaction sees what it has to.
func (m *modelMachine) compare(t *rapid.T) {
	m.see(t, "the last commit", m.committed.text(), m.db.View)
	if m.tx != nil {
		if text := contentOf(m.tx); text != m.changed.text() {
			t.Fatal("the write transaction sees something else:", firstDifference(text, m.changed.text()))
		}
		noError(t, agreeing(m.tx.Cursor().Bucket()))
	}
	for _, r := range m.readers {
		m.see(t, "a reader", r.text, func(read func(tx *kv.Tx) error) error { return read(r.tx) })
	}
}

func (m *modelMachine) see(t *rapid.T, who, want string, with func(func(tx *kv.Tx) error) error) {
	noError(t, with(func(tx *kv.Tx) error {
		if text := contentOf(tx); text != want {
			return fmt.Errorf("%s sees something else: %s", who, firstDifference(text, want))
		}
		return errors.Join(checked(tx), agreeing(tx.Cursor().Bucket()))
	}))
}

// Names, keys and values. The alphabet is small, so that actions meet each other.

var (
	smallKey  = rapid.StringMatching(`[abc]{1,3}`)
	someValue = rapid.Custom(func(t *rapid.T) []byte {
		n := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 400), rapid.SampledFrom([]int{2047, 2048, 5000, 20000})).Draw(t, "length")
		return filler(rapid.IntRange(0, 25).Draw(t, "letter"), n)
	})
	someKey = rapid.Custom(func(t *rapid.T) string {
		key := smallKey.Draw(t, "key")
		if rapid.IntRange(0, 19).Draw(t, "long") == 0 {
			key += strings.Repeat("x", rapid.SampledFrom([]int{300, 1100, kv.MaxKeySize - 3}).Draw(t, "length"))
		}
		return key
	})
)

// path picks a bucket by the names that lead to it from the root.
func (m *modelMachine) path(t *rapid.T) (path []string) {
	m.begin(t)
	for is := m.changed; len(is.buckets) > 0 && rapid.IntRange(0, 3).Draw(t, "deeper") > 0; is = is.buckets[path[len(path)-1]] {
		path = append(path, rapid.SampledFrom(slices.Sorted(maps.Keys(is.buckets))).Draw(t, "bucket"))
	}
	return path
}

// at returns the bucket at the end of a path.
func (m *modelMachine) at(t *rapid.T, path []string) (*kv.Bucket, *bucketModel) {
	b, is := m.tx.Cursor().Bucket(), m.changed
	for _, name := range path {
		is = is.buckets[name]
		if b = b.Bucket([]byte(name)); b == nil {
			t.Fatalf("bucket %q is not there", path)
		}
	}
	return b, is
}

// bucket picks a bucket to change.
func (m *modelMachine) bucket(t *rapid.T) (*kv.Bucket, *bucketModel) { return m.at(t, m.path(t)) }

// kind says what error an operation on a name makes that needs a bucket of that name.
func (m *bucketModel) kind(name string) error {
	if _, ok := m.buckets[name]; ok {
		return nil
	}
	if _, ok := m.values[name]; ok {
		return kv.ErrIncompatibleValue
	}
	return kv.ErrBucketNotFound
}

// want demands an error, or none.
func want(t *rapid.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func (m *modelMachine) put(t *rapid.T) {
	b, is := m.bucket(t)
	putBoth(t, b, is, someKey.Draw(t, "key"), someValue.Draw(t, "value"))
}

// putBoth stores a pair in a bucket and in its model.
func putBoth(t *rapid.T, b *kv.Bucket, is *bucketModel, key string, value []byte) {
	err := b.Put([]byte(key), value)
	if is.kind(key) == nil {
		want(t, err, kv.ErrIncompatibleValue)
		return
	}
	want(t, err, nil)
	is.values[key] = string(value)
}

func (m *modelMachine) putMany(t *rapid.T) {
	b, is := m.bucket(t)
	from, n := rapid.IntRange(0, 300).Draw(t, "from"), rapid.IntRange(1, 150).Draw(t, "n")
	by := rapid.SampledFrom([]int{1, -1, 2, 7}).Draw(t, "by")
	size := rapid.IntRange(0, 120).Draw(t, "size")
	b.FillPercent = rapid.SampledFrom([]float64{0.1, 0.5, 0.5, 0.9, 1}).Draw(t, "fill")
	for i := range n {
		putBoth(t, b, is, string(numbered(2000+from+i*by)), filler(i, size))
	}
}

func (m *modelMachine) delete(t *rapid.T) {
	b, is := m.bucket(t)
	deleteBoth(t, b, is, someKey.Draw(t, "key"))
}

// deleteBoth deletes a key from a bucket and from its model.
func deleteBoth(t *rapid.T, b *kv.Bucket, is *bucketModel, key string) {
	err := b.Delete([]byte(key))
	if is.kind(key) == nil {
		want(t, err, kv.ErrIncompatibleValue)
		return
	}
	want(t, err, nil)
	delete(is.values, key)
}

// deleteMany deletes a range of what is there.
func (m *modelMachine) deleteMany(t *rapid.T) {
	b, is := m.bucket(t)
	keys := is.keys()
	from := rapid.IntRange(0, len(keys)).Draw(t, "from")
	to := rapid.IntRange(from, len(keys)).Draw(t, "to")
	for _, key := range keys[from:to] {
		deleteBoth(t, b, is, key)
	}
}

// deleteByCursor walks over a bucket and deletes some of what it meets, which must be everything, once each.
func (m *modelMachine) deleteByCursor(t *rapid.T) {
	b, is := m.bucket(t)
	c := b.Cursor()
	first, next, keys := c.First, c.Next, is.keys()
	if rapid.Bool().Draw(t, "backward") {
		first, next = c.Last, c.Prev
		slices.Reverse(keys)
	}
	fate := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	odds := rapid.IntRange(0, 4).Draw(t, "odds")
	k, _ := first()
	for i, key := range keys {
		if string(k) != key {
			t.Fatalf("the cursor meets %.40q as number %d, want %.40q", k, i, key)
		}
		if fate.IntN(4) < odds {
			err := c.Delete()
			if is.kind(key) == nil {
				want(t, err, kv.ErrIncompatibleValue)
			} else {
				want(t, err, nil)
				delete(is.values, key)
			}
		}
		k, _ = next()
	}
	if k != nil {
		t.Fatalf("the cursor meets %.40q at the end", k)
	}
}

func (m *modelMachine) createBucket(t *rapid.T) {
	b, is := m.bucket(t)
	name := someKey.Draw(t, "name")
	create, exists := b.CreateBucket, kv.ErrBucketExists
	if rapid.Bool().Draw(t, "if not exists") {
		create, exists = b.CreateBucketIfNotExists, nil
	}
	_, err := create([]byte(name))
	switch kind := is.kind(name); {
	case kind == nil:
		want(t, err, exists)
	case errors.Is(kind, kv.ErrIncompatibleValue):
		want(t, err, kind)
	default:
		want(t, err, nil)
		is.buckets[name] = newBucketModel()
	}
}

// name picks the name of a bucket, or sometimes of something else.
func (m *bucketModel) name(t *rapid.T) string {
	if len(m.buckets) == 0 || rapid.IntRange(0, 9).Draw(t, "other") == 0 {
		return someKey.Draw(t, "name")
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(m.buckets))).Draw(t, "name")
}

func (m *modelMachine) deleteBucket(t *rapid.T) {
	b, is := m.bucket(t)
	name := is.name(t)
	want(t, b.DeleteBucket([]byte(name)), is.kind(name))
	delete(is.buckets, name)
}

func (m *modelMachine) moveBucket(t *rapid.T) {
	fromPath, toPath := m.path(t), m.path(t)
	from, is := m.at(t, fromPath)
	to, dst := m.at(t, toPath)
	name := is.name(t)
	expected := is.kind(name)
	child := append(slices.Clone(fromPath), name)
	switch {
	case expected != nil:
	case slices.Equal(fromPath, toPath), len(toPath) >= len(child) && slices.Equal(toPath[:len(child)], child):
		expected = kv.ErrSameBuckets
	case dst.kind(name) == nil:
		expected = kv.ErrBucketExists
	case errors.Is(dst.kind(name), kv.ErrIncompatibleValue):
		expected = kv.ErrIncompatibleValue
	}
	want(t, from.MoveBucket([]byte(name), to), expected)
	if expected == nil {
		dst.buckets[name] = is.buckets[name]
		delete(is.buckets, name)
	}
}

func (m *modelMachine) sequence(t *rapid.T) {
	path := m.path(t)
	if len(path) == 0 {
		return // the sequence of the root is not kept
	}
	b, is := m.at(t, path)
	if rapid.Bool().Draw(t, "next") {
		is.seq++
		got, err := b.NextSequence()
		noError(t, err)
		if got != is.seq {
			t.Fatalf("sequence %d, want %d", got, is.seq)
		}
		return
	}
	is.seq = rapid.Uint64().Draw(t, "sequence")
	noError(t, b.SetSequence(is.seq))
}

// walk moves a cursor about in a bucket of the write transaction.
func (m *modelMachine) walk(t *rapid.T) {
	b, is := m.bucket(t)
	w := &walker{c: b.Cursor(), keys: is.keys(), at: -1}
	for _, move := range rapid.SliceOfN(rapid.IntRange(0, 8), 1, 20).Draw(t, "moves") {
		key, want := w.move(t, move)
		if string(key) != want || (key == nil) != (want == "") {
			t.Fatalf("after move %d the cursor is at %.40q, want %.40q, number %d of %d", move, key, want, w.at, len(w.keys))
		}
	}
}

// walker is a cursor and where it has to be: on a key, behind the last one, or nowhere, which is -1.
type walker struct {
	c    *kv.Cursor
	keys []string
	at   int
}

// move moves and returns the key where the cursor is and that where it has to be, if they are any.
func (w *walker) move(t *rapid.T, kind int) (key []byte, want string) {
	n := len(w.keys)
	switch kind {
	case 0:
		key, _ = w.c.First()
		w.at = 0
	case 1:
		key, _ = w.c.Last()
		w.at = max(n-1, 0)
	case 2, 3:
		seek := someKey.Draw(t, "seek")
		w.at, _ = slices.BinarySearch(w.keys, seek)
		if kind == 2 {
			key, _ = w.c.Seek([]byte(seek))
			break
		}
		key, _ = w.c.SeekForPrev([]byte(seek))
		if w.at == n || w.keys[w.at] != seek {
			if w.at == 0 {
				return key, ""
			}
			w.at--
		}
	case 4, 5, 6:
		key, _ = w.c.Next()
		if w.at == -1 || w.at >= n-1 {
			return key, ""
		}
		w.at++
	default:
		key, _ = w.c.Prev()
		if w.at <= 0 {
			return key, ""
		}
		w.at--
	}
	if w.at < n {
		return key, w.keys[w.at]
	}
	return key, ""
}

// changeAndWalk changes a bucket while a cursor walks over it. The cursor must meet in order, and once, every key that
// is there all the time; whether it meets the others is left open.
func (m *modelMachine) changeAndWalk(t *rapid.T) {
	b, is := m.bucket(t)
	c := b.Cursor()
	first, next, sign := c.First, c.Next, 1
	if rapid.Bool().Draw(t, "backward") {
		first, next, sign = c.Last, c.Prev, -1
	}
	fate := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	stays := map[string]bool{}
	for _, key := range is.keys() {
		stays[key] = true
	}
	var met []string
	for k, _ := first(); k != nil && len(met) < 1000; k, _ = next() {
		if n := len(met); n > 0 && strings.Compare(string(k), met[n-1]) != sign {
			t.Fatalf("the cursor meets %.40q after %.40q", k, met[n-1])
		}
		met = append(met, string(k))
		for range fate.IntN(3) {
			key := string(numbered(2000 + fate.IntN(400)))
			if keys := is.keys(); len(keys) > 0 && fate.IntN(2) == 0 {
				key = keys[fate.IntN(len(keys))]
			}
			if fate.IntN(2) == 0 && is.kind(key) != nil {
				deleteBoth(t, b, is, key)
				delete(stays, key)
			} else {
				putBoth(t, b, is, key, filler(fate.IntN(26), fate.IntN(200)))
			}
		}
	}
	for _, key := range met {
		delete(stays, key)
	}
	if len(stays) > 0 && len(met) < 1000 {
		t.Fatalf("the cursor has not met %.200q", slices.Sorted(maps.Keys(stays)))
	}
}

func (m *modelMachine) commit(t *rapid.T) {
	noError(t, m.begin(t).Commit())
	m.committed, m.changed, m.tx = m.changed, nil, nil
}

func (m *modelMachine) rollBack(t *rapid.T) {
	if m.tx != nil {
		noError(t, m.tx.Rollback())
		m.changed, m.tx = nil, nil
	}
}

func (m *modelMachine) openReader(t *rapid.T) {
	if len(m.readers) > 4 {
		return // enough of them; not t.Skip: fuzzing may choose nothing else for ever
	}
	tx, err := m.db.Begin(false)
	noError(t, err)
	m.readers = append(m.readers, modelReader{tx, m.committed.text()})
}

func (m *modelMachine) closeReader(t *rapid.T) {
	if len(m.readers) == 0 {
		return // there is none; not t.Skip: fuzzing may choose nothing else for ever
	}
	i := rapid.IntRange(0, len(m.readers)-1).Draw(t, "reader")
	noError(t, m.readers[i].tx.Rollback())
	m.readers = slices.Delete(m.readers, i, i+1)
}

func (m *modelMachine) reopen(t *rapid.T) {
	m.end(t)
	m.open(t)
}

// crash cuts the power, maybe in the middle of a commit.
func (m *modelMachine) crash(t *rapid.T) {
	// All draws come first: a fuzzer's bytes may end with any of them, and then end is next.
	call := rapid.IntRange(0, 12).Draw(t, "call of a commit")
	sector, seed := rapid.SampledFrom([]int{512, 1, 0}).Draw(t, "sector"), rapid.Uint64().Draw(t, "seed")
	may := []*bucketModel{m.committed}
	if m.tx != nil && call > 0 {
		m.disk.CutAt(call)
		may = append(may, m.changed)
		if m.tx.Commit() == nil {
			may = may[1:]
		}
		m.tx = nil
	}
	m.disk.SetSector(sector)
	left := m.disk.AfterCut(seed)
	m.disk.CutAt(0)
	// On the old disk, which is no more.
	if err := m.letGo(t); err != nil && !errors.Is(err, file.ErrPowerCut) {
		t.Fatal(err)
	}
	m.disk = left
	m.open(t)
	text, err := soundContent(m.db)
	noError(t, err)
	for _, is := range may {
		if text == is.text() {
			m.committed = is
			return
		}
	}
	t.Fatal("after a crash:", firstDifference(text, m.committed.text()))
}

// shrink makes the file shorter, under readers too.
func (m *modelMachine) shrink(t *rapid.T) {
	m.rollBack(t)
	r, err := m.db.Shrink(context.Background(), kv.ShrinkOptions{
		StepBytes:  rapid.SampledFrom([]int{1, 8 << 10, 64 << 10, 0}).Draw(t, "bytes in a step"),
		ReaderWait: 1,
		PunchHoles: rapid.Bool().Draw(t, "holes"),
	})
	noError(t, err)
	if len(m.readers) == 0 && r.After > r.Before+2*int64(m.pageSize) { // a free list may have come to it
		t.Fatalf("the file has become longer: %d bytes, it had %d", r.After, r.Before)
	}
}

// compact copies what is committed.
func (m *modelMachine) compact(t *rapid.T) {
	dst, err := openSim(file.NewMemory(), kv.Options{PageSize: m.pageSize})
	noError(t, err)
	noError(t, kv.Compact(dst, m.db, rapid.Int64Range(0, 5000).Draw(t, "size of transactions")))
	m.see(t, "the copy", m.committed.text(), dst.View)
	noError(t, dst.Close())
}
