// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package linear

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"

	"github.com/holtdb/holt/kv"
)

// A store keeps the registers in a database. Each value is followed by
// padding that depends on it, of up to several pages, so that a reader that
// sees bytes of another transaction notices.
type store struct {
	db *kv.DB
}

var bucketName = []byte("registers")

var errOnPurpose = errors.New("fails on purpose")

// run runs a transaction and returns what it read, from its last attempt.
func (s store) run(in input) (out output, err error) {
	body := func(tx *kv.Tx) error {
		b := tx.Bucket(bucketName)
		var err error
		if out.a, err = load(b, in.a); err != nil {
			return err
		}
		runtime.Gosched() // lets others in between the reads
		if out.b, err = load(b, in.b); err != nil {
			return err
		}
		if !tx.Writable() {
			return nil
		}
		return s.write(b, in, out)
	}
	switch in.kind {
	case read:
		err = s.db.View(body)
	case batch:
		err = s.db.Batch(body)
	case panik:
		err = s.panicking(body)
	default:
		err = s.db.Update(body)
	}
	if errors.Is(err, errOnPurpose) {
		err = nil
	}
	return out, err
}

// write stores what the transaction adds, also if it is going to fail.
func (s store) write(b *kv.Bucket, in input, out output) error {
	if in.kind == cas && !in.effective(out) {
		return nil
	}
	values := map[int]uint64{in.a: out.a, in.b: out.b}
	values[in.a] += in.addA
	values[in.b] += in.addB
	for i, v := range values {
		if err := b.Put(key(i), pad(v)); err != nil {
			return err
		}
	}
	if in.kind == fail {
		return errOnPurpose
	}
	return nil
}

// panicking panics out of an Update and catches it outside.
func (s store) panicking(body func(*kv.Tx) error) (err error) {
	defer func() {
		if r := recover(); r != nil && r != any(errOnPurpose) {
			panic(r)
		}
	}()
	return s.db.Update(func(tx *kv.Tx) error {
		if err := body(tx); err != nil {
			return err
		}
		panic(errOnPurpose)
	})
}

func key(i int) []byte { return fmt.Appendf(nil, "register%d", i) }

// pad is the stored form of a value.
func pad(v uint64) []byte {
	b := binary.BigEndian.AppendUint64(nil, v)
	for range v * 7919 % 20_000 {
		b = append(b, byte(v))
	}
	return b
}

// load reads a value and verifies its padding.
func load(b *kv.Bucket, i int) (uint64, error) {
	stored := b.Get(key(i))
	if stored == nil {
		return 0, nil
	}
	v := binary.BigEndian.Uint64(stored)
	if string(stored) != string(pad(v)) {
		return 0, fmt.Errorf("register %d holds %d with the padding of another value", i, v)
	}
	return v, nil
}
