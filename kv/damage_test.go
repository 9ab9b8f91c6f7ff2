// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holtdb/holt/internal/file"
	"github.com/holtdb/holt/kv"
	"github.com/holtdb/holt/kv/internal/page"
)

const damagedPageSize = 1024

// damageable are sound files to be damaged. Each has a bucket called keep, which no test changes, and one called tree,
// with a branch, a value of several pages, and buckets inside; some pages are free.
func damageable(t testing.TB) map[string][]byte {
	files := map[string][]byte{}
	for name, o := range map[string]kv.Options{
		"default":     {PageSize: damagedPageSize},
		"no freelist": {PageSize: damagedPageSize, BoltPlacement: true, NoFreelistSync: true},
	} {
		disk := file.NewMemory()
		db := mustOpenSim(t, disk, o)
		for round := range 2 {
			must(t, db.Update(func(tx *kv.Tx) error { return fillDamageable(tx, round) }))
		}
		checkClean(t, db)
		must(t, db.Close())
		b := readSim(t, disk, simPath)
		files[name] = b[:len(bytes.TrimRight(b, "\x00"))/damagedPageSize*damagedPageSize+damagedPageSize]
	}
	return files
}

func fillDamageable(tx *kv.Tx, round int) error {
	var errs []error
	bucket := func(in *kv.Bucket, name string, n, size int) *kv.Bucket {
		b, err := in.CreateBucketIfNotExists([]byte(name))
		errs = append(errs, err)
		for i := range n {
			errs = append(errs, b.Put(numbered(i), filler(i+round, size)))
		}
		return b
	}
	root := tx.Cursor().Bucket()
	bucket(root, "inline", 2, 3)
	keep := bucket(root, "keep", 14, 90)
	errs = append(errs, keep.Put([]byte("large"), filler(round, damagedPageSize)))
	tree := bucket(root, "tree", 22, 60)
	bucket(tree, "inline", 3, 5)
	bucket(tree, "inside", 12, 90)
	errs = append(errs, tree.Put([]byte("large"), filler(round, 2*damagedPageSize)))
	return errors.Join(errs...)
}

// patient is a damaged file in treatment.
type patient struct {
	*testing.T
	what string // what the damage is
	file []byte
	disk *file.Crash
	db   *kv.DB
	says *oracle
	no   error // why no write transaction begins, nil if it does
}

// endure demands that a damaged file is read as what its bytes say or with an error, and that writing to it does not
// make things worse. Nothing may panic or hang.
func endure(t *testing.T, what string, damaged []byte) {
	t.Helper()
	p := newPatient(t, what, damaged)
	defer p.guard()()
	p.inspect()
	if p.open() {
		p.read()
		p.treat()
	}
}

// glance is endure for damage of which there is a lot: it reads the file in one way, and makes one change.
func glance(t *testing.T, what string, damaged []byte) {
	t.Helper()
	p := newPatient(t, what, damaged)
	defer p.guard()()
	if !p.open() {
		return
	}
	p.content()
	before := p.keep()
	p.update("put", writings["2 put more"])
	p.expectKept(before)
	must(t, p.db.Close())
}

// sampled is endure for one in n of the files, by what they are called, and glance for the others.
func sampled(n uint64) func(t *testing.T, what string, damaged []byte) {
	return func(t *testing.T, what string, damaged []byte) {
		t.Helper()
		if long() || fnv1a(what)%n == 0 {
			endure(t, what, damaged)
		} else {
			glance(t, what, damaged)
		}
	}
}

func newPatient(t *testing.T, what string, damaged []byte) *patient {
	return &patient{T: t, what: what, file: damaged, says: consult(damaged, damagedPageSize)}
}

// open opens the file for writing. If it has no free list it gets none: to store one would be to commit something.
func (p *patient) open() bool {
	p.disk = memoryWith(p, p.file)
	var err error
	o := kv.Options{PageSize: damagedPageSize, NoFreelistSync: p.says.freelist == page.NoFreelist}
	if p.db, err = openSim(p.disk, o); err != nil {
		p.expectOpenError(err)
		return false
	}
	p.loads(o)
	return true
}

// loads demands that the first write transaction says of the free list what Open says that loads it.
func (p *patient) loads(o kv.Options) {
	o.PreLoadFreelist = true
	db, err := openSim(memoryWith(p, p.file), o)
	if err == nil {
		must(p, db.Close())
	} else {
		p.expectOpenError(err)
	}
	tx, no := p.db.Begin(true)
	if no == nil {
		must(p, tx.Rollback())
	}
	if fmt.Sprint(no) != fmt.Sprint(err) {
		p.complain("Begin says %v, and Open %v", no, err)
	}
	p.no = no
}

// treat writes to the file.
func (p *patient) treat() {
	before := p.keep()
	p.write()
	p.expectKept(before)
	must(p, p.db.Close())
	if p.no != nil && !bytes.Equal(readSim(p, p.disk, simPath), p.file) {
		p.complain("no write transaction began (%v), but the file has changed", p.no)
	}
	p.reopen(before)
}

// expectKept demands that the bucket that no test writes to is as it was before.
func (p *patient) expectKept(before string) {
	if after := p.keep(); before != after && before != isDamaged && p.keepIsApart() {
		p.complain("writing elsewhere changed the bucket keep: %s", firstDifference(after, before))
	}
}

func (p *patient) complain(format string, args ...any) {
	p.Helper()
	p.Errorf("%s: %s", p.what, fmt.Sprintf(format, args...))
}

// guard reports panics and hangs until the result is called.
func (p *patient) guard() func() {
	hang := time.AfterFunc(time.Minute, func() {
		debug.SetTraceback("all")
		panic("hangs: " + p.what)
	})
	return func() {
		hang.Stop()
		if r := recover(); r != nil {
			p.complain("panic: %v\n%s", r, debug.Stack())
		}
	}
}

// expectOpenError demands that Open's error is one that says something about the file.
func (p *patient) expectOpenError(err error) {
	var corrupt *kv.CorruptError
	switch {
	case errors.As(err, &corrupt):
		p.sensible(corrupt)
	case errors.Is(err, kv.ErrInvalid), errors.Is(err, kv.ErrChecksum), errors.Is(err, kv.ErrVersionMismatch),
		strings.Contains(err.Error(), "file size too small"):
	default:
		p.complain("open: %v", err)
	}
	if p.says.sound() {
		p.complain("open of a sound file: %v", err)
	}
}

// sensible demands that an error says where the damage is.
func (p *patient) sensible(err *kv.CorruptError) {
	p.Helper()
	if err.Path != simPath || err.Reason == "" || err.Off != int64(err.Page)*damagedPageSize || toMeta(err) {
		p.complain("error %#v", err)
	}
}

// toMeta says whether an error is about a meta page, but not because something refers to it or calls it free, nor found
// by Check.
func toMeta(err *kv.CorruptError) bool {
	for _, reason := range []string{"type: meta", "multiple references", "freelist", "meta page"} {
		if strings.Contains(err.Reason, reason) {
			return false
		}
	}
	return err.Page < 2
}

// corrupt demands that err is nil or a *CorruptError, and says which.
func (p *patient) corrupt(doing string, err error) bool {
	p.Helper()
	if corrupt, ok := errors.AsType[*kv.CorruptError](err); ok {
		p.sensible(corrupt)
		return true
	}
	if err != nil {
		p.complain("%s: %v", doing, err)
	}
	return false
}

// inspect opens the file read-only and reads it.
func (p *patient) inspect() {
	var err error
	if p.db, err = openSim(memoryWith(p, p.file), kv.Options{PageSize: damagedPageSize, ReadOnly: true}); err != nil {
		p.expectOpenError(err)
		return
	}
	p.read()
	must(p, p.db.Close())
}

// read compares all ways of reading with what the file says.
func (p *patient) read() {
	p.content()
	p.gets()
	p.check()
	for name, read := range readings {
		err := p.db.View(func(tx *kv.Tx) error { return read(tx) })
		if damage := p.corrupt(name, err); damage && p.says.sound() {
			p.complain("%s: %v, but the file is sound", name, err)
		}
	}
}

// content walks over everything.
func (p *patient) content() {
	var text string
	err := p.db.View(func(tx *kv.Tx) error {
		text = contentOf(tx)
		return nil
	})
	damage := p.corrupt("walk", err)
	switch {
	case damage && p.says.sound():
		p.complain("walk: %v, but the file is sound", err)
	case strings.Contains(text, " is lost\n") && len(p.says.flaws) != 0:
	case !damage && len(p.says.astray) > 0 && len(p.says.muddle) == 0 && !p.says.circular:
		p.complain("walk: no error, but there are %q", p.says.flaws)
	case !damage && p.says.err != nil && len(p.says.muddle) == 0:
		p.complain("walk: no error, want one like %v", p.says.err)
	case !damage && text != p.says.text && !p.says.circular && len(p.says.muddle) == 0:
		p.complain("walk: %s", firstDifference(text, p.says.text))
	}
	if !p.says.sound() {
		return
	}
	must(p, p.db.View(func(tx *kv.Tx) error { return agreeing(tx.Cursor().Bucket()) }))
}

// gets looks keys up: what is there must be found, and what is not must not, unless there is an error.
func (p *patient) gets() {
	for _, name := range []string{"inline", "keep", "tree"} {
		for i := range 24 {
			key := numbered(i)
			var value []byte
			err := p.db.View(func(tx *kv.Tx) error {
				if b := tx.Bucket([]byte(name)); b != nil {
					value = bytes.Clone(b.Get(key))
				}
				return nil
			})
			want, found, ok := p.says.get(name, string(key))
			switch damage := p.corrupt("get", err); {
			case damage && p.says.sound():
				p.complain("get: %v, but the file is sound", err)
			case !damage && !ok && len(p.says.astray) > 0 && len(p.says.muddle) == 0 && p.says.err == nil:
				p.complain("get of %q in %q finds %.20q, want an error; there are %q", key, name, value, p.says.flaws)
			case !damage && ok && len(p.says.muddle) == 0 && (found != (value != nil) || !bytes.Equal(value, want)):
				p.complain("get of %q in %q finds %.20q, want %.20q, %t", key, name, value, want, found)
			}
		}
	}
}

// check demands that Check finds something where there is something.
func (p *patient) check() {
	err := p.db.View(checked)
	p.corrupt("check", err)
	if sick := !p.says.sound(); sick != (err != nil) {
		p.complain("check finds %v, want something like %v, %v", err, p.says.err, p.says.flaws)
	}
}

// agreeing demands that the ways of reading a sound bucket agree.
func agreeing(b *kv.Bucket) error {
	if b == nil {
		return errors.New("a bucket is lost")
	}
	var keys, back [][]byte
	for k, v := range b.All() {
		keys = append(keys, k)
		if got := b.Get(k); !bytes.Equal(got, v) || (got == nil) != (v == nil) {
			return fmt.Errorf("get of %q finds %d bytes, want %d", k, len(got), len(v))
		}
		if v == nil {
			if err := agreeing(b.Bucket(k)); err != nil {
				return err
			}
		}
	}
	for k := range b.Backward() {
		back = append(back, k)
	}
	slices.Reverse(back)
	if !slices.EqualFunc(keys, back, bytes.Equal) {
		return fmt.Errorf("%d keys forward, %d backward, or others", len(keys), len(back))
	}
	return nil
}

// readings are ways of reading a file whose results are not compared.
var readings = map[string]func(tx *kv.Tx) error{
	"backward": func(tx *kv.Tx) error { return backward(tx.Cursor().Bucket(), 0) },
	"seek": func(tx *kv.Tx) error {
		for _, name := range []string{"inline", "keep", "tree"} {
			b := tx.Bucket([]byte(name))
			for i := 0; b != nil && i < 30; i++ {
				c := b.Cursor()
				c.SeekForPrev(numbered(i))
				c.Next()
				c.Next()
				c.Prev()
			}
		}
		return nil
	},
	"stats": func(tx *kv.Tx) error {
		tx.Cursor().Bucket().Stats()
		return nil
	},
	"inspect": func(tx *kv.Tx) error {
		tx.Inspect()
		return nil
	},
	"page": func(tx *kv.Tx) error {
		for id := range 100 {
			if _, err := tx.Page(id); err != nil && !errors.Is(err, kv.ErrFreePagesNotLoaded) {
				return err
			}
		}
		return nil
	},
	"backup": func(tx *kv.Tx) error {
		_, err := tx.WriteTo(io.Discard)
		return err
	},
	"compact": func(tx *kv.Tx) error {
		dst, err := openSim(file.NewMemory(), kv.Options{NoSync: true, PageSize: damagedPageSize})
		if err != nil {
			return err
		}
		return errors.Join(kv.Compact(dst, tx.DB(), 0), dst.Close())
	},
}

func backward(b *kv.Bucket, depth int) error {
	n := 0
	for k, v := range b.Backward() {
		if n++; n > 1000 || depth > 10 {
			return nil
		}
		if v != nil {
			continue
		}
		if sub := b.Bucket(k); sub != nil {
			if err := backward(sub, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// isDamaged is what keep returns of a bucket that cannot be read.
const isDamaged = "damaged"

// keep reads the bucket that no test writes to.
func (p *patient) keep() (text string) {
	err := p.db.View(func(tx *kv.Tx) error {
		if b := tx.Bucket([]byte("keep")); b != nil {
			text = bucketText(b)
		}
		return nil
	})
	if p.corrupt("keep", err) {
		return isDamaged
	}
	return text
}

// keepIsApart says whether the file says clearly enough where the bucket keep is, and which pages belong to it alone, for
// nobody to write to them.
func (p *patient) keepIsApart() bool {
	for id, owners := range p.says.owners {
		if slices.Contains(owners, "") && (p.says.muddle[id] || p.says.astray[id] || p.says.free[id]) {
			return false
		}
		if slices.Contains(owners, "keep") && len(owners) > 1 {
			return false
		}
	}
	for id, owners := range p.says.covers {
		if slices.Contains(owners, "keep") && p.says.free[id] {
			return false
		}
	}
	return true
}

// write tries to change everything but the bucket keep, by many transactions.
func (p *patient) write() {
	for i, name := range slices.Sorted(maps.Keys(writings)) {
		if i%2 == 0 {
			p.update(name, writings[name])
		} else {
			p.manual(name, writings[name])
		}
	}
}

// update demands that a transaction succeeds or returns the damage.
func (p *patient) update(name string, fn func(tx *kv.Tx) error) {
	err := p.db.Update(fn)
	if p.no != nil {
		p.refuses(name, err)
		return
	}
	if err == nil || expected(err) {
		return
	}
	if p.corrupt(name, err) && p.says.sound() {
		p.complain("%s: %v, but the file is sound", name, err)
	}
}

// refuses demands that err is again that of the first write transaction, which did not begin.
func (p *patient) refuses(name string, err error) {
	if fmt.Sprint(err) != p.no.Error() {
		p.complain("%s: %v, after %v", name, err, p.no)
	}
}

// expected says whether an error may come of names that are damaged.
func expected(err error) bool {
	return errors.Is(err, kv.ErrBucketNotFound) || errors.Is(err, kv.ErrBucketExists) || errors.Is(err, kv.ErrIncompatibleValue)
}

// manual does the same in a transaction that is not managed: it panics with the damage, and then cannot commit.
func (p *patient) manual(name string, fn func(tx *kv.Tx) error) {
	tx, err := p.db.Begin(true)
	if p.no != nil {
		p.refuses(name, err)
		return
	}
	must(p, err)
	damage := p.recovered(func() { err = fn(tx) })
	if damage == nil && err != nil {
		if !expected(err) {
			p.corrupt(name, err)
		}
		must(p, tx.Rollback())
		return
	}
	if damage != nil && !errors.Is(tx.Err(), error(damage)) {
		p.complain("%s: panic with %v, but Err is %v", name, damage, tx.Err())
	}
	switch err := tx.Commit(); {
	case err == nil && damage != nil:
		p.complain("%s: commit after %v", name, damage)
	case err != nil:
		p.corrupt(name, err)
	}
	if err := tx.Rollback(); !errors.Is(err, kv.ErrTxClosed) {
		p.complain("%s: rollback after the end: %v", name, err)
	}
}

// recovered runs fn and returns the damage that it panics with.
func (p *patient) recovered(fn func()) (damage *kv.CorruptError) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		var ok bool
		if damage, ok = r.(*kv.CorruptError); !ok {
			panic(r)
		}
	}()
	fn()
	return nil
}

// writings are changes, in the order of their names.
var writings = map[string]func(tx *kv.Tx) error{
	"1 put": inTree(func(b *kv.Bucket) error {
		return errors.Join(b.Put(numbered(7), []byte("seven")), b.Put(numbered(20), filler(1, 90)), b.Put([]byte("new"), nil))
	}),
	"2 put more": inTree(func(b *kv.Bucket) error {
		for i := range 30 {
			if err := b.Put(numbered(100+i), filler(i, 50)); err != nil {
				return err
			}
		}
		return b.Put([]byte("large"), filler(1, 3000))
	}),
	"3 delete": inTree(func(b *kv.Bucket) error {
		return errors.Join(b.Delete(numbered(2)), b.Delete(numbered(49)), b.Delete([]byte("large")))
	}),
	"4 nested": inTree(func(b *kv.Bucket) error {
		inside, err := b.CreateBucketIfNotExists([]byte("inside"))
		if err != nil {
			return err
		}
		inline, err := b.CreateBucketIfNotExists([]byte("inline"))
		if err != nil {
			return err
		}
		return errors.Join(inside.Put(numbered(3), []byte("three")), inside.Delete(numbered(9)),
			inline.Put(numbered(1), filler(1, 400)), inline.SetSequence(7), b.Put(numbered(8), nil))
	}),
	"5 delete many": inTree(func(b *kv.Bucket) error {
		c := b.Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			if v == nil {
				continue
			}
			if err := c.Delete(); err != nil {
				return err
			}
		}
		return nil
	}),
	"6 move": inTree(func(b *kv.Bucket) error {
		root := b.Tx().Cursor().Bucket()
		if err := b.MoveBucket([]byte("inside"), root); err != nil {
			return err
		}
		return b.MoveBucket([]byte("inline"), root.Bucket([]byte("inside")))
	}),
	"7 other": func(tx *kv.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("inline"))
		if err != nil {
			return err
		}
		return errors.Join(b.Put([]byte("x"), filler(1, 600)), b.Delete(numbered(0)))
	},
	"8 delete bucket": func(tx *kv.Tx) error {
		for _, name := range []string{"tree", "inside"} {
			if err := tx.DeleteBucket([]byte(name)); err != nil {
				return err
			}
		}
		return nil
	},
	"9 empty": func(*kv.Tx) error { return nil },
}

// inTree changes the bucket tree, if it can be found.
func inTree(fn func(b *kv.Bucket) error) func(tx *kv.Tx) error {
	return func(tx *kv.Tx) error {
		b := tx.Bucket([]byte("tree"))
		if b == nil {
			return kv.ErrBucketNotFound
		}
		return fn(b)
	}
}

// reopen demands that the file is no worse than it was after all those changes.
func (p *patient) reopen(before string) {
	var err error
	o := kv.Options{PageSize: damagedPageSize, PreLoadFreelist: p.no == nil}
	if p.db, err = openSim(p.disk, o); err != nil {
		if p.corrupt("open after the changes", err); p.keepIsApart() {
			p.complain("the file can no longer be opened: %v", err)
		}
		return
	}
	p.expectKept(before)
	sound := p.says.sound()
	if err := p.db.View(checked); p.corrupt("check after the changes", err) && sound {
		p.complain("check after the changes to a sound file: %v", err)
	}
	must(p, p.db.Close())
}
