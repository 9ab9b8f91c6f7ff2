// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package kv

import (
	"errors"

	"github.com/holtdb/holt/kv/internal/page"
)

// Returned by [Open] for a file that is not a database. The error is that of the first meta page when both are bad;
// one good meta page is enough to open a file.
var (
	// ErrInvalid says that neither meta page has the magic number of the format, or that none can be read.
	ErrInvalid = page.ErrMagic

	// ErrVersionMismatch says that the file has a version of the format that this package does not know.
	ErrVersionMismatch = page.ErrVersion

	// ErrChecksum says that the contents of both meta pages are damaged.
	ErrChecksum = page.ErrChecksum
)

// Returned when a database is opened or a transaction begins.
var (
	// ErrTimeout is returned by [Open] when the lock of the file was not free within Options.Timeout.
	ErrTimeout = errors.New("timeout")

	// ErrDatabaseNotOpen is returned by [DB.Begin], and by all that begins a transaction, after [DB.Close].
	ErrDatabaseNotOpen = errors.New("database not open")

	// ErrDatabaseReadOnly is returned when a write transaction is to begin on a database opened read-only.
	ErrDatabaseReadOnly = errors.New("database is in read-only mode")

	// ErrInvalidMapping is returned by nothing here: a mapping that cannot be enlarged stays as it is. For programs
	// that name it.
	ErrInvalidMapping = errors.New("database isn't correctly mapped")

	// ErrDatabaseOpen is returned by nothing. It stays for programs written for early versions of the API.
	ErrDatabaseOpen = errors.New("database already open")
)

// Returned by transactions.
var (
	// ErrTxNotWritable is returned by what changes data in a read transaction, and by [Tx.Commit] on one.
	ErrTxNotWritable = errors.New("tx not writable")

	// ErrTxClosed is returned by [Tx.Commit] and [Tx.Rollback] on a transaction that has ended, and by what changes
	// or visits one of its buckets.
	ErrTxClosed = errors.New("tx closed")

	// ErrFreePagesNotLoaded is returned by [Tx.Page] on a database opened read-only without
	// Options.PreLoadFreelist, where nothing is known about free pages.
	ErrFreePagesNotLoaded = errors.New("free pages are not pre-loaded")

	// ErrMaxSizeReached is returned by [Tx.Commit], and by [DB.Shrink], which commits too, when the file would have to grow beyond
	// DB.MaxSize. The transaction is rolled back; a smaller one, or one that frees space, may still succeed.
	ErrMaxSizeReached = errors.New("database reached maximum size")
)

// Returned by operations on buckets and keys.
var (
	// ErrBucketNotFound is returned when a bucket to be deleted or moved does not exist.
	ErrBucketNotFound = errors.New("bucket not found")

	// ErrBucketExists is returned when a bucket is created, or moved to, where there is one of that name.
	ErrBucketExists = errors.New("bucket already exists")

	// ErrBucketNameRequired is returned when a bucket is created with an empty name.
	ErrBucketNameRequired = errors.New("bucket name required")

	// ErrKeyRequired is returned by [Bucket.Put] for an empty key.
	ErrKeyRequired = errors.New("key required")

	// ErrKeyTooLarge is returned by [Bucket.Put] for a key longer than [MaxKeySize].
	ErrKeyTooLarge = errors.New("key too large")

	// ErrValueTooLarge is returned by [Bucket.Put] for a value longer than [MaxValueSize].
	ErrValueTooLarge = errors.New("value too large")

	// ErrIncompatibleValue is returned when a bucket is treated as a key with a plain value, or the reverse.
	ErrIncompatibleValue = errors.New("incompatible value")

	// ErrSameBuckets is returned when a bucket is to be moved to where it is.
	ErrSameBuckets = errors.New("the source and target are the same bucket")

	// ErrDifferentDB is returned when a bucket is to be moved to a bucket of another database or transaction.
	ErrDifferentDB = errors.New("the source and target buckets are in different database files")
)
