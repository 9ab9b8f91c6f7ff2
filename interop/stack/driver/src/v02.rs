// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//! bstack 0.2.

use std::io;

use bstack_old::{
    BStack, BStackAllocator, BStackBulkAllocator, BStackSlice as Handle,
    CheckedSlabBStackAllocator, FirstFitBStackAllocator, GhostTreeBstackAllocator,
    LinearBStackAllocator, SlabBStackAllocator,
};

use crate::args::{bad, hex, Args, Region};

include!("commands.rs");
include!("regions.rs");

fn extra(_: &BStack, name: &str, _: &mut Args) -> Answer {
    Err(bad(name))
}

fn migrate(_: &str) -> io::Result<()> {
    Err(bad("migrate"))
}

fn allocator(stack: BStack, kind: &str, size: u64) -> io::Result<Box<dyn Regions>> {
    common(stack, kind, size)
}

/// Opens an allocator, to be measured.
pub fn open(kind: &str, size: u64, path: &str) -> io::Result<Box<dyn Regions>> {
    allocator(BStack::open(path)?, kind, size)
}

regions!(LinearBStackAllocator; bulk);
regions!(FirstFitBStackAllocator;);
regions!(GhostTreeBstackAllocator; bulk);
regions!(SlabBStackAllocator;);
regions!(CheckedSlabBStackAllocator; checked_recovery);

fn cause(err: io::Error) -> io::Error {
    err
}

use cause as bulk_cause;
