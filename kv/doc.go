// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package kv is an ordered key/value store kept in one file, in the file format and with the API of bbolt.
//
// A [DB] holds buckets of byte-string pairs in copy-on-write B+trees. A [Tx] reads one snapshot of it, or is the one
// place where it is changed; a [Bucket] of a transaction holds keys in order, and more buckets; a [Cursor] walks over
// them, and so do the iterators of Bucket.
//
// Concurrency: one write transaction and any number of read transactions at a time. Neither kind waits for the other,
// not even when the file grows. A transaction and what it hands out are for one goroutine at a time; a DB is for any
// number. One process may open a file for writing, or several for reading.
//
// Durability: when Commit or Update returns nil the changes are on the disk. A crash at any moment leaves the state
// of the last commit that returned, or of the one that was under way, as a whole. With NoSync none of that holds.
//
// Lifetime: keys and values are slices of the mapped file or of the transaction's memory. They are valid until the
// transaction ends and must not be written to. A value given to Put must not be changed before that either.
//
// Opening: a file that does not name its free pages, as after a crash, opens as quickly as others. The first write
// transaction walks over the whole file to find them, see Options.PreLoadFreelist.
//
// Damage: bytes that no commit can have left are answered with a [*CorruptError], which View and Update return. The
// file must not be truncated by others while it is open: reading a mapped page that is gone is a fault.
//
// FORMAT.md specifies the bytes of the file, format version 2 of bbolt.
package kv
