// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package bucket_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holtdb/holt/cmd/holt/internal/bucket"
	"github.com/holtdb/holt/kv"
)

// create makes a database.
func create(t *testing.T, fill func(*kv.Tx) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	db, err := kv.Open(path, 0o600, &kv.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(fill), db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// view looks at one. It returns what fn did.
func view(t *testing.T, path string, fn func(*kv.Tx) error) error {
	t.Helper()
	db, err := kv.Open(path, 0, &kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	return db.View(fn)
}

func path(names ...string) bucket.Path {
	var p bucket.Path
	for _, name := range names {
		p = p.Child([]byte(name))
	}
	return p
}

func TestFindAndCreate(t *testing.T) {
	file := create(t, func(tx *kv.Tx) error {
		b, err := path("a", "b", "\xff").Create(tx)
		if err != nil {
			return err
		}
		if err := b.Put([]byte("k"), []byte("v")); err != nil {
			return err
		}
		if _, err := path("a", "b", "\xff", "k").Create(tx); !errors.Is(err, kv.ErrIncompatibleValue) ||
			!strings.Contains(err.Error(), `"a" "b" ff "k"`) {
			t.Errorf("a bucket in place of a key: %v", err)
		}
		again, err := path("a", "b", "\xff").Create(tx)
		if err != nil || again.Get([]byte("k")) == nil {
			t.Errorf("created again: %v", err)
		}
		return nil
	})
	err := view(t, file, func(tx *kv.Tx) error {
		b, err := path("a", "b", "\xff").Find(tx)
		if err != nil || string(b.Get([]byte("k"))) != "v" {
			t.Errorf("found %v, %v", b, err)
		}
		if _, err := path("a", "x", "y").Find(tx); !errors.Is(err, kv.ErrBucketNotFound) || !strings.Contains(err.Error(), `"a" "x"`) {
			t.Errorf("error %v", err)
		}
		if b, err := path().Find(tx); err != nil || b.Bucket([]byte("a")) == nil {
			t.Errorf("the empty path is not the root: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestChildrenShareNothing(t *testing.T) {
	p := path("a", "b", "c")
	one, two := p.Child([]byte("1")), p.Child([]byte("2"))
	if one.String() != `"a" "b" "c" "1"` || two.String() != `"a" "b" "c" "2"` {
		t.Errorf("%s and %s", one, two)
	}
}

func TestWalk(t *testing.T) {
	file := create(t, func(tx *kv.Tx) error {
		for _, p := range []bucket.Path{path("a", "sub", "deep"), path("b"), path("c")} {
			b, err := p.Create(tx)
			if err != nil {
				return err
			}
			if err := b.Put([]byte("key"), []byte{}); err != nil {
				return err
			}
		}
		return nil
	})
	var seen []string
	err := view(t, file, func(tx *kv.Tx) error {
		return bucket.Walk(t.Context(), bucket.Root(tx), nil, func(p bucket.Path, key, value []byte) error {
			seen = append(seen, fmt.Sprintf("%s|%s|%t", p, key, value == nil))
			return nil
		})
	})
	want := []string{
		`|a|true`, `"a"|sub|true`, `"a" "sub"|deep|true`, `"a" "sub" "deep"|key|false`,
		`|b|true`, `"b"|key|false`, `|c|true`, `"c"|key|false`,
	}
	if err != nil || !slices.Equal(seen, want) {
		t.Errorf("saw %q (%v)", seen, err)
	}
}

func TestWalkEnds(t *testing.T) {
	file := create(t, func(tx *kv.Tx) error {
		_, err := path("a", "b", "c").Create(tx)
		return err
	})
	enough := errors.New("enough")
	n := 0
	err := view(t, file, func(tx *kv.Tx) error {
		return bucket.Walk(t.Context(), bucket.Root(tx), nil, func(bucket.Path, []byte, []byte) error {
			n++
			return enough
		})
	})
	if !errors.Is(err, enough) || n != 1 {
		t.Errorf("%d visits, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = view(t, file, func(tx *kv.Tx) error {
		return bucket.Walk(ctx, bucket.Root(tx), nil, func(bucket.Path, []byte, []byte) error {
			t.Error("visited after all was cancelled")
			return nil
		})
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestSharedPages damages a file so that two buckets have the same pages.
func TestSharedPages(t *testing.T) {
	roots := map[string]uint64{}
	file := create(t, func(tx *kv.Tx) error {
		for _, name := range []string{"first", "second"} {
			b, err := path(name).Create(tx)
			if err != nil {
				return err
			}
			for i := range 100 { // too much for an inline bucket
				if err := b.Put(fmt.Append(nil, i), bytes.Repeat([]byte(name), 20)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	err := view(t, file, func(tx *kv.Tx) error {
		for _, name := range []string{"first", "second"} {
			roots[name] = uint64(tx.Bucket([]byte(name)).Root())
		}
		return nil
	})
	if err != nil || roots["first"] == 0 || roots["second"] == 0 {
		t.Fatalf("roots %v, %v", roots, err)
	}
	patch(t, file, "second", roots["second"], roots["first"])
	err = view(t, file, func(tx *kv.Tx) error {
		return bucket.Walk(t.Context(), bucket.Root(tx), nil, func(bucket.Path, []byte, []byte) error { return nil })
	})
	if err == nil || !strings.Contains(err.Error(), `is the root of "second" and of another`) {
		t.Errorf("error %v", err)
	}
}

// patch changes the root page of a bucket, whose value follows its name.
func patch(t *testing.T, file, name string, from, to uint64) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before := binary.NativeEndian.AppendUint64([]byte(name), from)
	after := binary.NativeEndian.AppendUint64([]byte(name), to)
	if bytes.Count(content, before) == 0 {
		t.Fatal("the bucket is not in the file")
	}
	if err := os.WriteFile(file, bytes.ReplaceAll(content, before, after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestKeysOutOfOrder damages a file so that keys come twice.
func TestKeysOutOfOrder(t *testing.T) {
	file := create(t, func(tx *kv.Tx) error {
		b, err := path("b").Create(tx)
		if err != nil {
			return err
		}
		return errors.Join(b.Put([]byte("key-one"), []byte("1")), b.Put([]byte("key-two"), []byte("2")))
	})
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content = bytes.ReplaceAll(content, []byte("key-two"), []byte("key-one"))
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	err = view(t, file, func(tx *kv.Tx) error {
		return bucket.Each(t.Context(), tx.Bucket([]byte("b")), func([]byte, []byte) error { return nil })
	})
	if err == nil || !strings.Contains(err.Error(), `key "key-one" comes after key "key-one"`) {
		t.Errorf("error %v", err)
	}
}

func TestWalkerLimitsDepth(t *testing.T) {
	file := create(t, func(tx *kv.Tx) error {
		_, err := path("b").Create(tx) // inline: no page of its own to be recognised by
		return err
	})
	err := view(t, file, func(tx *kv.Tx) error {
		w := bucket.NewWalker()
		for range 20_000 {
			if _, err := w.Enter(bucket.Root(tx), []byte("b")); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "more than 10000 deep") {
		t.Errorf("error %v", err)
	}
	err = view(t, file, func(tx *kv.Tx) error {
		_, err := bucket.NewWalker().Enter(bucket.Root(tx), []byte("nothing"))
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "cannot be found where it is listed") {
		t.Errorf("error %v", err)
	}
}
