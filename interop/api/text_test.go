// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"os"
	"testing"
	"time"

	"github.com/holtdb/holt/kv"
	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

func TestErrorTexts(t *testing.T) {
	for _, pair := range [][2]error{
		{kv.ErrDatabaseNotOpen, bolterrors.ErrDatabaseNotOpen},
		{kv.ErrInvalid, bolterrors.ErrInvalid},
		{kv.ErrInvalidMapping, bolterrors.ErrInvalidMapping},
		{kv.ErrVersionMismatch, bolterrors.ErrVersionMismatch},
		{kv.ErrChecksum, bolterrors.ErrChecksum},
		{kv.ErrTimeout, bolterrors.ErrTimeout},
		{kv.ErrTxNotWritable, bolterrors.ErrTxNotWritable},
		{kv.ErrTxClosed, bolterrors.ErrTxClosed},
		{kv.ErrDatabaseReadOnly, bolterrors.ErrDatabaseReadOnly},
		{kv.ErrFreePagesNotLoaded, bolterrors.ErrFreePagesNotLoaded},
		{kv.ErrBucketNotFound, bolterrors.ErrBucketNotFound},
		{kv.ErrBucketExists, bolterrors.ErrBucketExists},
		{kv.ErrBucketNameRequired, bolterrors.ErrBucketNameRequired},
		{kv.ErrKeyRequired, bolterrors.ErrKeyRequired},
		{kv.ErrKeyTooLarge, bolterrors.ErrKeyTooLarge},
		{kv.ErrValueTooLarge, bolterrors.ErrValueTooLarge},
		{kv.ErrIncompatibleValue, bolterrors.ErrIncompatibleValue},
		{kv.ErrMaxSizeReached, bolterrors.ErrMaxSizeReached},
		{kv.ErrSameBuckets, bolterrors.ErrSameBuckets},
		{kv.ErrDifferentDB, bolterrors.ErrDifferentDB},
	} {
		if pair[0].Error() != pair[1].Error() {
			t.Errorf("%q, upstream %q", pair[0], pair[1])
		}
	}
}

func TestOptionsString(t *testing.T) {
	for _, pair := range []struct {
		ours   *kv.Options
		theirs *bolt.Options
	}{
		{nil, nil},
		{&kv.Options{}, &bolt.Options{}},
		{kv.DefaultOptions, bolt.DefaultOptions},
		{
			&kv.Options{
				Timeout: 1500 * time.Millisecond, NoGrowSync: true, NoFreelistSync: true, PreLoadFreelist: true,
				FreelistType: kv.FreelistMapType, ReadOnly: true, MmapFlags: 1, InitialMmapSize: 2, PageSize: 4096, MaxSize: 3,
				NoSync: true, OpenFile: os.OpenFile, Mlock: true, NoStatistics: true,
			},
			&bolt.Options{
				Timeout: 1500 * time.Millisecond, NoGrowSync: true, NoFreelistSync: true, PreLoadFreelist: true,
				FreelistType: bolt.FreelistMapType, ReadOnly: true, MmapFlags: 1, InitialMmapSize: 2, PageSize: 4096, MaxSize: 3,
				NoSync: true, OpenFile: os.OpenFile, Mlock: true, NoStatistics: true,
			},
		},
	} {
		if got, want := pair.ours.String(), pair.theirs.String(); got != want {
			t.Errorf("ours     %s\nupstream %s", got, want)
		}
	}
}
