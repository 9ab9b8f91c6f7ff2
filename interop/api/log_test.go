// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"bytes"
	"fmt"
	"log"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/holtdb/holt/kv"
	bolt "go.etcd.io/bbolt"
)

// leveled is what both DefaultLogger types can do.
type leveled interface {
	EnableDebug()
	EnableTimestamps()
	Flags() int
	kv.Logger
}

func TestDefaultLogger(t *testing.T) {
	ours := transcript(func(l *log.Logger) leveled { return &kv.DefaultLogger{Logger: l} })
	theirs := transcript(func(l *log.Logger) leveled { return &bolt.DefaultLogger{Logger: l} })
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("upstream (-) and ours (+) differ:\n%s", diff)
	}
}

// transcript calls every method but Fatal, which exits.
func transcript(wrap func(*log.Logger) leveled) string {
	var out bytes.Buffer
	l := wrap(log.New(&out, "", log.Lmsgprefix))
	say := func() {
		l.Debug("a", 1)
		l.Debugf("%d%%", 2)
		l.Info("a", 1, 2)
		l.Infof("%d%%", 3)
		l.Warning("a", "b")
		l.Warningf("%d%%", 4)
		l.Error("a", nil)
		l.Errorf("%d%%", 5)
	}
	say()
	l.EnableDebug()
	say()
	for _, panics := range []func(){func() { l.Panic("a", 1, 2) }, func() { l.Panicf("%d%%", 6) }} {
		func() {
			defer func() { fmt.Fprintf(&out, "recovered %#v\n", recover()) }()
			panics()
		}()
	}
	before := l.Flags()
	l.EnableTimestamps()
	fmt.Fprintf(&out, "flags %b, then %b\n", before, l.Flags())
	return out.String()
}

// transaction and bucket are the methods of both engines that the session below uses.
type transaction[B any] interface {
	CreateBucket(name []byte) (B, error)
	DeleteBucket(name []byte) error
}

type bucket[B any] interface {
	CreateBucket(name []byte) (B, error)
	CreateBucketIfNotExists(name []byte) (B, error)
	DeleteBucket(name []byte) error
	MoveBucket(name []byte, to B) error
	Put(key, value []byte) error
	Delete(key []byte) error
}

// session does everything that is logged, right and wrong. Its errors are part of the log.
func session[B bucket[B], T transaction[B]](tx T) error {
	one, err := tx.CreateBucket([]byte("one"))
	if err != nil {
		return err
	}
	two, err := tx.CreateBucket([]byte("two"))
	if err != nil {
		return err
	}
	_ = one.Put([]byte("key"), []byte("value"))
	_ = one.Put(nil, []byte("value"))
	_ = one.Put(bytes.Repeat([]byte("k"), kv.MaxKeySize+1), nil)
	_, _ = one.CreateBucket([]byte("sub"))
	_, _ = one.CreateBucket([]byte("sub"))
	_, _ = one.CreateBucket([]byte("key"))
	_, _ = one.CreateBucket(nil)
	_, _ = one.CreateBucketIfNotExists([]byte("sub"))
	_, _ = one.CreateBucketIfNotExists([]byte("key"))
	_ = one.Put([]byte("sub"), []byte("value"))
	_ = one.Delete([]byte("key"))
	_ = one.Delete([]byte("absent"))
	_ = one.Delete([]byte("sub"))
	_ = one.MoveBucket([]byte("sub"), two)
	_ = one.MoveBucket([]byte("sub"), two)
	_ = two.DeleteBucket([]byte("sub"))
	_ = two.DeleteBucket([]byte("sub"))
	_ = tx.DeleteBucket([]byte("absent"))
	return nil
}

// TestLog holds the lines logged during a session against upstream's.
func TestLog(t *testing.T) {
	var ours, theirs strings.Builder
	ourPath, theirPath := filepath.Join(t.TempDir(), "db"), filepath.Join(t.TempDir(), "db")

	ourLogger := &kv.DefaultLogger{Logger: log.New(&ours, "", 0)}
	ourLogger.EnableDebug()
	ourDB, err := kv.Open(ourPath, 0o600, &kv.Options{Logger: ourLogger})
	if err != nil {
		t.Fatal(err)
	}
	theirLogger := &bolt.DefaultLogger{Logger: log.New(&theirs, "", 0)}
	theirLogger.EnableDebug()
	theirDB, err := bolt.Open(theirPath, 0o600, &bolt.Options{Logger: theirLogger})
	if err != nil {
		t.Fatal(err)
	}

	if err := ourDB.Update(func(tx *kv.Tx) error { return session[*kv.Bucket](tx) }); err != nil {
		t.Fatal(err)
	}
	if err := theirDB.Update(func(tx *bolt.Tx) error { return session[*bolt.Bucket](tx) }); err != nil {
		t.Fatal(err)
	}
	for _, db := range []interface {
		Sync() error
		Close() error
	}{ourDB, theirDB} {
		if err := db.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = ourDB.Begin(false)
	_, _ = theirDB.Begin(false)

	if diff := cmp.Diff(lines(theirs.String(), theirPath), lines(ours.String(), ourPath)); diff != "" {
		t.Errorf("upstream (-) and ours (+) differ:\n%s", diff)
	}
}

var address = regexp.MustCompile(`Logger: 0x[0-9a-f]+`)

// lines splits a log, without what differs between two runs of the same engine.
func lines(text, path string) []string {
	text = strings.ReplaceAll(text, path, "PATH")
	return strings.Split(address.ReplaceAllString(text, "Logger: ADDRESS"), "\n")
}
