// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// misuses are calls that fail, by an error or a panic. Each gets a database
// with a bucket "b" that holds "k" and a sub-bucket "sub", and notes what
// comes back.
var misuses = map[string]func(m *misuse){
	"commit twice": func(m *misuse) {
		tx := m.begin(true)
		m.err(tx.Commit())
		m.err(tx.Commit())
		m.err(tx.Rollback())
	},
	"roll back twice": func(m *misuse) {
		tx := m.begin(true)
		m.err(tx.Rollback())
		m.err(tx.Rollback())
		m.err(tx.Commit())
	},
	"commit a reader": func(m *misuse) {
		tx := m.begin(false)
		m.err(tx.Commit())
		m.err(tx.Rollback())
		m.err(tx.Rollback())
	},
	"finished transaction": func(m *misuse) {
		for _, writable := range []bool{true, false} {
			tx := m.begin(writable)
			m.err(tx.Rollback())
			m.note(tx.ID(), tx.Writable())
			_, err := tx.Page(0)
			m.err(err)
			m.call("size", func() { tx.Size() })
			m.call("bucket", func() { tx.Bucket([]byte("b")) })
			m.call("cursor", func() { tx.Cursor().First() })
			m.call("create", func() { _, err := tx.CreateBucket([]byte("c")); m.err(err) })
			m.call("create if not exists", func() { _, err := tx.CreateBucketIfNotExists([]byte("c")); m.err(err) })
			m.call("delete", func() { m.err(tx.DeleteBucket([]byte("b"))) })
			m.call("move", func() { m.err(tx.MoveBucket([]byte("b"), nil, nil)) })
			m.call("for each", func() { m.err(tx.ForEach(func([]byte, bucket) error { return nil })) })
		}
	},
	"bucket of a finished transaction": func(m *misuse) {
		for _, writable := range []bool{true, false} {
			tx := m.begin(writable)
			b := tx.Bucket([]byte("b"))
			m.err(tx.Rollback())
			m.call("put", func() { m.err(b.Put([]byte("k"), nil)) })
			m.call("put without a key", func() { m.err(b.Put(nil, nil)) })
			m.call("delete", func() { m.err(b.Delete([]byte("k"))) })
			m.call("create", func() { _, err := b.CreateBucket([]byte("c")); m.err(err) })
			m.call("create if not exists", func() { _, err := b.CreateBucketIfNotExists(nil); m.err(err) })
			m.call("delete bucket", func() { m.err(b.DeleteBucket([]byte("sub"))) })
			m.call("move bucket", func() { m.err(b.MoveBucket([]byte("sub"), b)) })
			m.call("set sequence", func() { m.err(b.SetSequence(1)) })
			m.call("next sequence", func() { _, err := b.NextSequence(); m.err(err) })
			m.call("for each", func() { m.err(b.ForEach(func(_, _ []byte) error { return nil })) })
			m.call("for each bucket", func() { m.err(b.ForEachBucket(func([]byte) error { return nil })) })
		}
	},
	"cursor of a finished transaction": func(m *misuse) {
		for _, writable := range []bool{true, false} {
			tx := m.begin(writable)
			c := tx.Bucket([]byte("b")).Cursor()
			c.First()
			m.err(tx.Rollback())
			m.callText("first", func() { c.First() })
			m.callText("last", func() { c.Last() })
			m.callText("next", func() { c.Next() })
			m.callText("prev", func() { c.Prev() })
			m.callText("seek", func() { c.Seek([]byte("k")) })
			m.call("delete", func() { m.err(c.Delete()) })
		}
	},
	"write in a read transaction": func(m *misuse) {
		tx := m.begin(false)
		b := tx.Bucket([]byte("b"))
		m.err(b.Put([]byte("k"), nil))
		m.err(b.Put(nil, nil))
		m.err(b.Delete([]byte("k")))
		m.err(b.DeleteBucket(nil))
		_, err := b.CreateBucket(nil)
		m.err(err)
		_, err = tx.CreateBucketIfNotExists([]byte("b"))
		m.err(err)
		m.err(b.MoveBucket([]byte("sub"), b))
		m.err(b.SetSequence(7))
		_, err = b.NextSequence()
		m.err(err)
		c := b.Cursor()
		c.First()
		m.err(c.Delete())
		m.err(tx.Rollback())
	},
	"commit or roll back a managed transaction": func(m *misuse) {
		for _, run := range []func(func(transaction) error) error{m.db.Update, m.db.View, m.db.Batch} {
			m.callText("commit", func() { m.err(run(func(tx transaction) error { return tx.Commit() })) })
			m.callText("roll back", func() { m.err(run(func(tx transaction) error { return tx.Rollback() })) })
		}
	},
	"nil function": func(m *misuse) {
		m.call("update", func() { m.err(m.db.Update(nil)) })
		m.call("view", func() { m.err(m.db.View(nil)) })
	},
	"goroutine that ends inside": func(m *misuse) {
		for _, run := range []func(func(transaction) error) error{m.db.Update, m.db.View} {
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = run(func(transaction) error {
					runtime.Goexit()
					return nil
				}) // never returns
			}()
			<-done
		}
	},
	"closed database": func(m *misuse) {
		m.err(m.db.Close())
		m.err(m.db.Close())
		_, err := m.db.Begin(true)
		m.err(err)
		_, err = m.db.Begin(false)
		m.err(err)
		none := func(transaction) error { return nil }
		m.err(m.db.Update(none))
		m.err(m.db.View(none))
		m.err(m.db.Batch(none))
		m.note("sync fails", m.db.Sync() != nil)
		m.reopen()
	},
	"wrong kinds": func(m *misuse) {
		tx := m.begin(true)
		b := tx.Bucket([]byte("b"))
		m.err(b.Put([]byte("sub"), nil))
		m.err(b.Delete([]byte("sub")))
		m.err(b.DeleteBucket([]byte("k")))
		m.err(b.DeleteBucket([]byte("none")))
		_, err := b.CreateBucket([]byte("k"))
		m.err(err)
		_, err = b.CreateBucketIfNotExists([]byte("k"))
		m.err(err)
		m.note(b.Bucket([]byte("k")) == nil, b.Bucket(nil) == nil, b.Get([]byte("sub")) == nil)
		m.err(b.MoveBucket([]byte("k"), tx.Root()))
		m.err(b.MoveBucket([]byte("sub"), b))
		m.err(tx.MoveBucket([]byte("b"), nil, nil))
		m.err(b.Put(bytes.Repeat([]byte("k"), 32769), nil))
		c := b.Cursor()
		c.Seek([]byte("sub"))
		m.err(c.Delete())
		c.Seek([]byte("z"))
		m.err(c.Delete())
		m.err(tx.Rollback())
	},
	"move to another transaction": func(m *misuse) {
		tx := m.begin(true)
		reader := m.begin(false)
		m.err(tx.Bucket([]byte("b")).MoveBucket([]byte("sub"), reader.Bucket([]byte("b"))))
		m.err(reader.Bucket([]byte("b")).MoveBucket([]byte("sub"), tx.Bucket([]byte("b"))))
		m.err(reader.Rollback())
		m.err(tx.Rollback())
	},
	"move to another database": func(m *misuse) {
		other, err := m.engine.open(filepath.Join(m.dir, "other"), options{})
		m.err(err)
		tx, err := other.Begin(true)
		m.err(err)
		dst, err := tx.CreateBucket([]byte("dst"))
		m.err(err)
		src := m.begin(true)
		m.err(src.Bucket([]byte("b")).MoveBucket([]byte("sub"), dst))
		m.err(src.MoveBucket([]byte("b"), nil, dst))
		m.err(src.Rollback())
		m.err(tx.Rollback())
		m.err(other.Close())
	},
	"pages out of range": func(m *misuse) {
		tx := m.begin(false)
		info, err := tx.Page(1 << 30)
		m.err(err)
		m.note(info == nil)
		m.err(tx.Rollback())
	},
	"nested delete fails": func(m *misuse) {
		tx := m.begin(true)
		m.err(tx.DeleteBucket([]byte("none")))
		m.err(tx.DeleteBucket([]byte("b")))
		m.err(tx.DeleteBucket([]byte("b")))
		m.err(tx.Commit())
	},
	"key mutated after Put": func(m *misuse) {
		m.err(m.db.Update(func(tx transaction) error {
			key := []byte("first")
			b := tx.Bucket([]byte("b"))
			m.err(b.Put(key, []byte("v")))
			copy(key, "zzzzz")
			return nil
		}))
		m.err(m.db.View(func(tx transaction) error {
			m.note(show(tx.Bucket([]byte("b")).Get([]byte("first"))))
			return nil
		}))
	},
}

// TestMisuse makes each mistake on both engines. Afterwards the database must
// still work.
func TestMisuse(t *testing.T) {
	for name, make := range misuses {
		t.Run(name, func(t *testing.T) {
			ours, theirs := runMisuse(t, holt, make), runMisuse(t, bolt, make)
			if ours != theirs {
				t.Errorf("got:\n%s\nwant:\n%s", ours, theirs)
			}
		})
	}
}

func runMisuse(t *testing.T, e *engine, make func(*misuse)) string {
	m := &misuse{t: t, engine: e, dir: t.TempDir()}
	m.reopen()
	if err := m.db.Update(m.fill); err != nil {
		t.Fatal(err)
	}
	make(m)
	m.note("---")
	m.err(m.db.Update(func(tx transaction) error {
		_, err := tx.CreateBucket([]byte("after"))
		return err
	}))
	m.err(m.db.View(func(tx transaction) error {
		m.note(strings.Join(content(tx), "\n"))
		m.note(len(tx.Check()))
		return nil
	}))
	m.err(m.db.Close())
	return m.log.String()
}

// A misuse is one run of a mistake on one engine, with what came back.
type misuse struct {
	t      *testing.T
	engine *engine
	dir    string
	db     database
	log    strings.Builder
}

func (m *misuse) reopen() {
	db, err := m.engine.open(filepath.Join(m.dir, "db"), options{mmapSize: 1 << 20})
	if err != nil {
		m.t.Fatal(err)
	}
	m.db = db
}

func (m *misuse) fill(tx transaction) error {
	b, err := tx.CreateBucket([]byte("b"))
	if err != nil {
		return err
	}
	if _, err := b.CreateBucket([]byte("sub")); err != nil {
		return err
	}
	return b.Put([]byte("k"), []byte("v"))
}

func (m *misuse) begin(writable bool) transaction {
	tx, err := m.db.Begin(writable)
	if err != nil {
		m.t.Fatal(err)
	}
	return tx
}

func (m *misuse) note(args ...any) { fmt.Fprintln(&m.log, args...) }

func (m *misuse) err(err error) { m.note(m.engine.errorName(err)) }

// call notes whether fn panics.
func (m *misuse) call(name string, fn func()) {
	m.note(name, "panics:", panicOf(fn) != nil)
}

// callText notes with what text fn panics, where callers may know it.
func (m *misuse) callText(name string, fn func()) {
	m.note(name, "panics:", panicOf(fn))
}

func panicOf(fn func()) (value any) {
	defer func() { value = recover() }()
	fn()
	return nil
}
