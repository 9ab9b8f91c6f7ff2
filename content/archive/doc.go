// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package archive keeps the segments of a content store: in archives, which are tar files, beside the logs that say which
// revision is the head. The directory is that of Apache Jackrabbit Oak's segment-tar.
//
// A [Store] is what a content store needs: segments by id, a head that moves by compare-and-swap, the records of past
// garbage collections. [Open] returns one in a directory, a [Dir]; [Memory] is one without files.
//
// A [Reader] reads one archive, a [Writer] writes one. Archives are numbered; the highest number is the newest, and a store
// that was opened for writing never adds to an archive that it found. What an archive records about its segments (an index,
// the references among them, the ids of binaries kept outside) stands at its end and is written when it is closed. If the
// program ends before that the archive has segments only, and is scanned: in memory when opened for reading, and replaced by
// a copy with all of that when opened for writing.
//
// Everything may be used by several goroutines at a time. When [Store.SetHead] returns, the new head and all segments
// appended before are durable; a crash at any moment leaves the last head that was set, or the one that was being set.
// With [Options.FlushEvery] it is so when [Store.Flush] or [Store.Close] returns, and at that interval: a crash leaves the
// head of that time, or a later one.
//
// Segments are views of mapped files: they live until the store is closed, and must not be written to.
//
// Any bytes can be in the files: what is wrong with them is reported by a [CorruptError]. What a damaged file can cost is
// bounded by its length. [Recover] brings back what is there of damaged archives, [Dir.ReplaceJournal] is for who has found
// out what a lost journal had in it.
//
// content/FORMAT.md specifies the bytes.
package archive
