// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package blob reads the binaries that a content store keeps outside of its segments, in a directory with the layout of
// Apache Jackrabbit Oak's FileDataStore.
//
// A binary is named by an id, which the content store has in its place: the digest of the binary and its length, or the
// binary itself if it is short. The file of a digest abcdef… is ab/cd/ef/abcdef… below the directory.
//
// A [FileStore] may be used by several goroutines at a time. Files are never changed once they are there.
package blob
