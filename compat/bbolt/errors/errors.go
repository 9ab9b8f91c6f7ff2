// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package errors holds every error value of the store, each the very value package kv returns.
package errors

import "github.com/holtdb/holt/kv"

// Errors of opening a file and of starting a transaction.
var (
	ErrDatabaseNotOpen = kv.ErrDatabaseNotOpen
	ErrInvalid         = kv.ErrInvalid
	ErrInvalidMapping  = kv.ErrInvalidMapping
	ErrVersionMismatch = kv.ErrVersionMismatch
	ErrChecksum        = kv.ErrChecksum
	ErrTimeout         = kv.ErrTimeout
)

// Errors of transactions.
var (
	ErrTxNotWritable      = kv.ErrTxNotWritable
	ErrTxClosed           = kv.ErrTxClosed
	ErrDatabaseReadOnly   = kv.ErrDatabaseReadOnly
	ErrFreePagesNotLoaded = kv.ErrFreePagesNotLoaded
)

// Errors of reading and changing buckets.
var (
	ErrBucketNotFound     = kv.ErrBucketNotFound
	ErrBucketExists       = kv.ErrBucketExists
	ErrBucketNameRequired = kv.ErrBucketNameRequired
	ErrKeyRequired        = kv.ErrKeyRequired
	ErrKeyTooLarge        = kv.ErrKeyTooLarge
	ErrValueTooLarge      = kv.ErrValueTooLarge
	ErrIncompatibleValue  = kv.ErrIncompatibleValue
	ErrMaxSizeReached     = kv.ErrMaxSizeReached
	ErrSameBuckets        = kv.ErrSameBuckets
	ErrDifferentDB        = kv.ErrDifferentDB
)
