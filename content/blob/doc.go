// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package blob keeps binaries outside of the segments of a content store: in a directory with the layout of Apache
// Jackrabbit Oak's FileDataStore, which both may use at a time.
//
// A binary is named by an id, which the content store has in its place: the digest of the binary and its length, or the
// binary itself if it is short. So equal binaries are kept once. The file of a digest abcdef… is ab/cd/ef/abcdef… below
// the directory. FORMAT.md of the content package has the details.
//
// A [Store] is what a place for binaries can do, [FileStore] the one in a directory, [Memory] one for tests. Their
// methods may be called by several goroutines at a time. A binary never changes once it is there. When Write has
// returned, the binary is durable.
//
// [Collect] deletes what no content store refers to any more. What was written, or written again, less than a grace
// time ago is spared: somebody may be about to refer to it. The grace time must be longer than it takes from Write
// until the id is in an archive of the content store. Times are those of the file system, to its precision.
//
// Within one Store, nothing that Write returned is deleted by a Delete or Collect that was told of an earlier time. If
// several processes use a directory, or several FileStores of one process, that holds but for the moment between the
// last look at a file's time and its removal, some microseconds: a binary that nobody referred to, whose grace time is
// over, and that another process writes again in that very moment, can be lost to it. Oak is no different. Who wants to
// be sure collects when nobody writes.
package blob
