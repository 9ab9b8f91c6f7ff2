// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//! bstack 0.4.

use std::io;

use bstack::{
    BStack, BStackAllocError, BStackAllocator, BStackBulkAllocError, BStackBulkAllocator,
    BStackByteVec, BStackInPlaceResizeAllocator, BStackOwnedSlice as Handle, BStackUninitAllocator,
    CheckedSlabBStackAllocator, FirstFitBStackAllocator, GhostTreeBstackAllocator,
    LinearBStackAllocator, SegregatedBStackAllocator, SlabBStackAllocator,
};

use crate::args::{bad, hex, Args, Region};

include!("commands.rs");
include!("regions.rs");

/// Commands that the older version does not have.
fn extra(stack: &BStack, name: &str, args: &mut Args) -> Answer {
    match name {
        "set_batched" => stack.set_batched(args.pieces()?).map(none),
        _ => Err(bad(name)),
    }
}

fn migrate(path: &str) -> io::Result<()> {
    BStack::migrate(path)
}

/// Opens an allocator of a file.
pub fn open(kind: &str, size: u64, path: &str) -> io::Result<Box<dyn Regions>> {
    allocator(BStack::open(path)?, kind, size)
}

fn allocator(stack: BStack, kind: &str, size: u64) -> io::Result<Box<dyn Regions>> {
    Ok(match kind {
        "segregated" => Box::new(SegregatedBStackAllocator::new(stack)?),
        _ => return common(stack, kind, size),
    })
}

regions!(LinearBStackAllocator; bulk, resize);
regions!(FirstFitBStackAllocator; uninit, resize, vector);
regions!(GhostTreeBstackAllocator; bulk, uninit, resize, vector);
regions!(SlabBStackAllocator; bulk, uninit);
regions!(CheckedSlabBStackAllocator; bulk, uninit, checked_recovery);
regions!(SegregatedBStackAllocator; bulk, uninit, resize, segregated_recovery);

macro_rules! uninit {
    () => {
        fn allocate_uninit(&self, len: u64) -> io::Result<Region> {
            self.alloc_uninit(len).map(place)
        }

        fn reallocate_uninit(&self, r: Region, len: u64) -> io::Result<Region> {
            self.realloc_uninit(handle(self, r), len)
                .map(place)
                .map_err(cause)
        }
    };
}
use uninit;

macro_rules! resize {
    () => {
        fn resize(&self, r: Region, before: i64, after: i64) -> io::Result<Region> {
            self.realloc_inplace(handle(self, r), before, after)
                .map(place)
                .map_err(cause)
        }
    };
}
use resize;

macro_rules! vector {
    () => {
        fn vector(&self, r: Region, what: &str, args: &mut Args) -> io::Result<(Region, Vec<u8>)> {
            let mut v = match r.len {
                0 => BStackByteVec::new(self)?,
                // Safety: who sends commands names regions with vectors in them.
                _ => unsafe { BStackByteVec::from_raw_block(handle(self, r)) },
            };
            match what {
                "append" => v.extend_from_slice(&args.bytes()?)?,
                "insert" => drop(v.insert(args.number()?, args.number()? as u8)?),
                "remove" => drop(v.remove(args.number()?)?),
                "truncate" => v.truncate(args.number()?)?,
                "shrink" => v.shrink_to_fit()?,
                "read" => {}
                _ => return Err(bad(what)),
            }
            let held = v.read_bytes()?;
            Ok((place(v.into_raw_block()), held))
        }
    };
}
use vector;

macro_rules! segregated_recovery {
    () => {
        fn recover(&self) -> io::Result<u64> {
            // Safety: nobody else uses the allocator meanwhile.
            unsafe { SegregatedBStackAllocator::recover(self) }
        }
    };
}
use segregated_recovery;

fn cause<A: BStackAllocator<Error = io::Error>>(err: BStackAllocError<'_, A>) -> io::Error {
    err.source
}

fn bulk_cause<A: BStackAllocator<Error = io::Error>>(
    err: BStackBulkAllocError<'_, A>,
) -> io::Error {
    err.source
}
