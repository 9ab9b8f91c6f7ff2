// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package segment reads and writes the segments of a content store: immutable units of at most 256 KiB, in the format of
// Apache Jackrabbit Oak's segment-tar. It knows nothing of files.
//
// A [Segment] is a view over bytes that somebody else holds, a mapped archive mostly. A data segment has a table of
// records, which name each other by number, within the segment and across segments; a bulk segment has blocks of
// binaries and nothing else. A [Record] is a position in a segment. What is there depends on how one got to it:
// [Record.Node] takes it for a node, [Record.Value] for a string or binary. A [Node] has a [Template], which nodes of
// the same shape share, properties, and children by name, in a [Map] if there are several. A [List] is a sequence of
// record ids, a [Value] the bytes of a string or binary.
//
// All of these are small values without memory of their own. Reading allocates nothing: tables, lists, maps and
// templates are searched where they lie, and the segments that a segment refers to are remembered in it after the first
// use. What allocates is reading what does not lie in one piece (names of 16,512 bytes and more, as text), text that is
// not UTF-8, and errors.
//
// Segments and all values may be used by several goroutines at a time; a cursor ([Properties], [Entries]) by one.
//
// Returned slices are views, unless said otherwise. They live as long as the bytes given to [Parse], and must not be
// written to.
//
// Any bytes can be given to this package: it answers with a [CorruptError] and never panics, but for an index out of
// range. Of a record it checks that it lies within its segment, and that what it refers to is there. Nodes that are among
// their own descendants, and parts of lists and maps that are shared so that few bytes make many entries, are not looked
// for: who walks a tree bounds its depth, and who walks one that nobody vouches for the number of nodes too.
//
// A [Writer] makes segments of records: values first, then what refers to them. [Writer.String] and its like write
// values, [Writer.Children] and [Writer.UpdateChildren] what a node has below it, [Writer.Node] the node of a [Draft].
// [Writer.Copy] brings nodes into a later generation, as compaction does. What a writer has written can be read at once
// through [Writer.Segment]. One goroutine at a time uses a writer; a [Pool] has writers for several.
//
// content/FORMAT.md specifies the bytes.
package segment
