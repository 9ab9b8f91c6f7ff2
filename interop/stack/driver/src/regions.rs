// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Included by a module for each version of bstack, which defines `Handle` and how to get at the cause of an error.

/// What commands ask of an allocator. What one lacks is refused.
#[allow(unused_variables)]
pub trait Regions: Sync {
    fn payload(&self) -> &BStack;
    fn allocate(&self, len: u64) -> io::Result<Region>;
    fn reallocate(&self, r: Region, len: u64) -> io::Result<Region>;
    fn release(&self, r: Region) -> io::Result<()>;
    fn read(&self, r: Region) -> io::Result<Vec<u8>>;
    fn write(&self, r: Region, at: u64, data: Vec<u8>) -> io::Result<()>;

    fn allocate_uninit(&self, len: u64) -> io::Result<Region> {
        Err(lacking())
    }
    fn reallocate_uninit(&self, r: Region, len: u64) -> io::Result<Region> {
        Err(lacking())
    }
    fn allocate_bulk(&self, lens: Vec<u64>) -> io::Result<Vec<Region>> {
        Err(lacking())
    }
    fn release_bulk(&self, rs: Vec<Region>) -> io::Result<()> {
        Err(lacking())
    }
    fn resize(&self, r: Region, before: i64, after: i64) -> io::Result<Region> {
        Err(lacking())
    }
    /// Does something to the byte vector in a region, or to a new one if that is empty, and returns where it is then and
    /// what it holds.
    fn vector(&self, r: Region, what: &str, args: &mut Args) -> io::Result<(Region, Vec<u8>)> {
        Err(lacking())
    }
    /// Repairs, and counts what stays unclear.
    fn recover(&self) -> io::Result<u64> {
        Err(lacking())
    }
}

fn lacking() -> io::Error {
    io::Error::from(io::ErrorKind::Unsupported)
}

/// Implements `Regions` with the macros named behind the type for what not all allocators have.
macro_rules! regions {
    ($allocator:ty; $($more:ident),*) => {
        impl Regions for $allocator {
            fn payload(&self) -> &BStack {
                self.stack()
            }

            fn allocate(&self, len: u64) -> io::Result<Region> {
                self.alloc(len).map(place)
            }

            fn reallocate(&self, r: Region, len: u64) -> io::Result<Region> {
                self.realloc(handle(self, r), len).map(place).map_err(cause)
            }

            fn release(&self, r: Region) -> io::Result<()> {
                self.dealloc(handle(self, r)).map_err(cause)
            }

            fn read(&self, r: Region) -> io::Result<Vec<u8>> {
                handle(self, r).read()
            }

            #[allow(unused_mut)]
            fn write(&self, r: Region, at: u64, data: Vec<u8>) -> io::Result<()> {
                let mut bytes = handle(self, r);
                bytes.write_range(at, data)
            }

            $($more!();)*
        }
    };
}

macro_rules! bulk {
    () => {
        fn allocate_bulk(&self, lens: Vec<u64>) -> io::Result<Vec<Region>> {
            let handles = self.alloc_bulk(lens)?;
            Ok(handles.into_iter().map(place).collect())
        }

        fn release_bulk(&self, rs: Vec<Region>) -> io::Result<()> {
            let handles: Vec<_> = rs.into_iter().map(|r| handle(self, r)).collect();
            self.dealloc_bulk(handles).map_err(bulk_cause)
        }
    };
}

macro_rules! checked_recovery {
    () => {
        fn recover(&self) -> io::Result<u64> {
            CheckedSlabBStackAllocator::recover(self)
        }
    };
}

fn handle<A: BStackAllocator>(allocator: &A, r: Region) -> Handle<'_, A> {
    // Safety: who sends commands names regions that the allocator gave out, or wants to know what happens.
    unsafe { Handle::from_raw_parts(allocator, r.off, r.len) }
}

fn place<A: BStackAllocator>(handle: Handle<'_, A>) -> Region {
    Region {
        off: handle.start(),
        len: handle.len(),
    }
}

/// Opens an allocator that both versions have. A slab is made if there is none.
fn common(stack: BStack, kind: &str, size: u64) -> io::Result<Box<dyn Regions>> {
    Ok(match (kind, stack.is_empty()?) {
        ("linear", _) => Box::new(LinearBStackAllocator::new(stack)),
        ("firstfit", _) => Box::new(FirstFitBStackAllocator::new(stack)?),
        ("ghosttree", _) => Box::new(GhostTreeBstackAllocator::new(stack)?),
        ("slab", true) => Box::new(SlabBStackAllocator::new(stack, size)?),
        ("slab", false) => Box::new(SlabBStackAllocator::open(stack)?),
        ("checkedslab", true) => Box::new(CheckedSlabBStackAllocator::new(stack, size)?),
        ("checkedslab", false) => Box::new(CheckedSlabBStackAllocator::open(stack)?),
        _ => return Err(bad(kind)),
    })
}

/// Runs a command on an allocator, or on its stack.
fn region_command(regions: &dyn Regions, name: &str, args: &mut Args) -> Answer {
    match name {
        "alloc" => regions.allocate(args.number()?).map(text),
        "alloc_uninit" => regions.allocate_uninit(args.number()?).map(text),
        "alloc_bulk" => regions.allocate_bulk(args.numbers()?).map(list),
        "realloc" => regions.reallocate(args.region()?, args.number()?).map(text),
        "realloc_uninit" => regions
            .reallocate_uninit(args.region()?, args.number()?)
            .map(text),
        "resize_region" => regions
            .resize(args.region()?, args.signed()?, args.signed()?)
            .map(text),
        "free" => regions.release(args.region()?).map(none),
        "free_bulk" => regions.release_bulk(args.regions()?).map(none),
        "read" => regions.read(args.region()?).map(bytes),
        "write" => regions
            .write(args.region()?, args.number()?, args.bytes()?)
            .map(none),
        "write_reserved" => regions
            .payload()
            .set(args.number()?, args.bytes()?)
            .map(none),
        "vec" => regions
            .vector(args.region()?, &args.word()?, args)
            .map(|(r, held)| format!("{r} {}", hex(&held))),
        "recover" => regions.recover().map(text),
        _ => command(regions.payload(), name, args),
    }
}

fn list(regions: Vec<Region>) -> String {
    let words: Vec<String> = regions.iter().map(Region::to_string).collect();
    words.join(" ")
}
