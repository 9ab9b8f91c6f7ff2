// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/holtdb/holt/kv"
)

// differs says why methods answer in another way than upstream's.
var differs = map[string]string{
	"zero DB.Sync":                      "upstream's error is that of a file which is none",
	"bucket of an ended reader.Get":     "what upstream returns may be of a page that was written anew, or not mapped any more",
	"bucket of an ended writer.Get":     "the same",
	"bucket of an ended reader.Bucket":  "the same",
	"bucket of an ended writer.Bucket":  "the same",
	"bucket of an ended reader.Inspect": "the same",
	"bucket of an ended writer.Inspect": "the same",
}

// TestZeroAndEnded calls every method that upstream has of zero values, and of transactions that have ended, their buckets
// and cursors. What returns there returns the same here. What panics there may do what it likes, but wait.
func TestZeroAndEnded(t *testing.T) {
	genuine, err := bbolt.Open(filepath.Join(t.TempDir(), "genuine.db"), 0o600, nil)
	must(t, err)
	ours, err := kv.Open(filepath.Join(t.TempDir(), "ours.db"), 0o600, nil)
	must(t, err)
	replacements := receivers(t, ours)
	for name, receiver := range receivers(t, genuine) {
		methods := reflect.TypeOf(receiver())
		for i := range methods.NumMethod() {
			method := methods.Method(i).Name
			if method == "Check" {
				continue // upstream's panics in a goroutine of its own
			}
			want, returns := outcome(receiver(), method)
			got, _ := outcome(replacements[name](), method)
			call := name + "." + method
			switch reason := differs[call]; {
			case got == waits:
				t.Errorf("%s waits", call)
			case reason == "" && returns && got != want:
				t.Errorf("%s: %s, want %s", call, got, want)
			case reason != "" && got == want:
				t.Errorf("%s: %s, although an exception (%s)", call, got, reason)
			}
		}
	}
	must(t, genuine.Close())
	must(t, ours.Close())
}

// What both packages have.
type (
	anyDB[T any] interface {
		Begin(writable bool) (T, error)
	}
	anyTx[B any] interface {
		Bucket(name []byte) B
		CreateBucket(name []byte) (B, error)
		Commit() error
		Rollback() error
	}
	anyBucket[C any] interface {
		Put(key, value []byte) error
		Cursor() C
	}
	anyCursor interface{ First() (key, value []byte) }
)

// receivers are makers of the values whose methods are called.
func receivers[D anyDB[T], T anyTx[B], B anyBucket[C], C anyCursor](t *testing.T, db D) map[string]func() any {
	t.Helper()
	tx, err := db.Begin(true)
	must(t, err)
	b, err := tx.CreateBucket([]byte("b"))
	must(t, err)
	must(t, b.Put([]byte("k"), []byte("v")))
	must(t, tx.Commit())
	all := map[string]func() any{
		"zero DB":     zero[D],
		"zero Tx":     zero[T],
		"zero Bucket": zero[B],
		"zero Cursor": zero[C],
	}
	for name, writable := range map[string]bool{"ended reader": false, "ended writer": true} {
		ended := func() (T, B, C) {
			tx, err := db.Begin(writable)
			must(t, err)
			b := tx.Bucket([]byte("b"))
			c := b.Cursor()
			c.First()
			must(t, tx.Rollback())
			return tx, b, c
		}
		all[name] = func() any { tx, _, _ := ended(); return tx }
		all["bucket of an "+name] = func() any { _, b, _ := ended(); return b }
		all["cursor of an "+name] = func() any { _, _, c := ended(); return c }
	}
	return all
}

// zero makes a zero value that P is a pointer to.
func zero[P any]() any { return reflect.New(reflect.TypeFor[P]().Elem()).Interface() }

// waits is the outcome of a call that does not return.
const waits = "waits"

// outcome calls a method with arguments that mean little, and describes what it returned or panicked with.
func outcome(receiver any, method string) (text string, returned bool) {
	type result struct {
		text     string
		returned bool
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- result{fmt.Sprintf("panic: %v", r), false}
			}
		}()
		m := reflect.ValueOf(receiver).MethodByName(method)
		done <- result{describeAll(m.Call(arguments(m.Type()))), true}
	}()
	select {
	case r := <-done:
		return r.text, r.returned
	case <-time.After(10 * time.Second):
		return waits, false
	}
}

func arguments(method reflect.Type) (args []reflect.Value) {
	for i := range method.NumIn() {
		switch in := method.In(i); {
		case method.IsVariadic() && i == method.NumIn()-1:
		case in.Kind() == reflect.Func:
			args = append(args, reflect.MakeFunc(in, func([]reflect.Value) (zeros []reflect.Value) {
				for j := range in.NumOut() {
					zeros = append(zeros, reflect.Zero(in.Out(j)))
				}
				return zeros
			}))
		case in == reflect.TypeFor[[]byte]():
			args = append(args, reflect.ValueOf([]byte("k")))
		default:
			args = append(args, reflect.Zero(in))
		}
	}
	return args
}

// describeAll prints values, and of those that are of a package's own types whether they are nil.
func describeAll(values []reflect.Value) string {
	texts := make([]string, len(values))
	for i, v := range values {
		_, isError := v.Interface().(error)
		switch {
		case isError || v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface:
			texts[i] = fmt.Sprint(v.Interface())
		case v.IsNil():
			texts[i] = "nil"
		default:
			texts[i] = "not nil"
		}
	}
	return strings.Join(texts, ", ")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
