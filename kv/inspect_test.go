// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/holtdb/holt/kv"
)

func TestInspect(t *testing.T) {
	db := openTemp(t, nil)
	inspect := func(b func(tx *kv.Tx) kv.BucketStructure) (s string) {
		must(t, db.View(func(tx *kv.Tx) error {
			text, err := json.Marshal(b(tx))
			s = string(text)
			return err
		}))
		return s
	}
	if have, want := inspect((*kv.Tx).Inspect), `{"name":"root","keyN":0}`; have != want {
		t.Errorf("empty: have %s, want %s", have, want)
	}
	const all = `{"name":"root","keyN":1,"buckets":[` +
		`{"name":"a","keyN":1,"buckets":[{"name":"aa","keyN":0,"buckets":[{"name":"aaa","keyN":2}]},{"name":"ab","keyN":0}]},` +
		`{"name":"b","keyN":0}]}`
	must(t, db.Update(func(tx *kv.Tx) error {
		a, err1 := tx.CreateBucket([]byte("a"))
		_, err2 := tx.CreateBucket([]byte("b"))
		aa, err3 := a.CreateBucket([]byte("aa"))
		_, err4 := a.CreateBucket([]byte("ab"))
		aaa, err5 := aa.CreateBucket([]byte("aaa"))
		err := errors.Join(err1, err2, err3, err4, err5,
			tx.Cursor().Bucket().Put([]byte("plain"), []byte("key")),
			a.Put([]byte("k"), []byte("v")),
			aaa.Put([]byte("k1"), nil),
			aaa.Put([]byte("k2"), make([]byte, 10_000)))
		text, _ := json.Marshal(tx.Inspect())
		if string(text) != all {
			t.Errorf("before the commit: have %s\nwant %s", text, all)
		}
		return err
	}))
	if have := inspect((*kv.Tx).Inspect); have != all {
		t.Errorf("have %s\nwant %s", have, all)
	}
	have := inspect(func(tx *kv.Tx) kv.BucketStructure { return tx.Bucket([]byte("a")).Bucket([]byte("aa")).Inspect() })
	if want := `{"name":"root","keyN":0,"buckets":[{"name":"aaa","keyN":2}]}`; have != want {
		t.Errorf("of a bucket: have %s, want %s", have, want)
	}
}
