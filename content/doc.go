// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Package content reads a content store: a versioned tree of nodes with properties, in the directories of Apache
// Jackrabbit Oak's segment-tar.
//
// A [Store] has revisions, of which the newest is the head. A revision is a whole tree; its topmost node, the
// super-root, has the child "root", the content, and the child "checkpoints", older contents that are kept. Paths
// begin at the super-root: the content's node a is /root/a.
//
// Nodes, properties and values are those of package segment: small values, which are read where they lie. [Store.Walk]
// visits all nodes below one, by several goroutines if asked to; [Store.Dump], [Store.Fingerprint] and [Store.Check]
// are walks that print, condense and verify.
//
// A Store may be used by several goroutines at a time. What it returns is valid until [Store.Close].
//
// Damage is an error that names the archive, the segment and the record: an [archive.CorruptError] around a
// [segment.CorruptError], or a [segment.NotFoundError]. No walk is deeper than [MaxDepth], so that a node that is
// among its own descendants ends in an error.
//
// [RecoverJournal] is the one function that changes a store: it writes the journal anew when that was lost.
//
// content/FORMAT.md specifies the bytes.
package content
