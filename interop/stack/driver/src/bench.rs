// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//! Measures an allocator of bstack.
//!
//!     driver bench --generation 0.4 --allocator ghosttree --measure operations --mix 45,20,35 --sizes uniform \
//!         --max 1024 --threads 1 --live 256 --free 0 --ops 10000 --seed 48 --sync yes --path FILE
//!
//! The mix is percents of alloc, realloc and free. The sizes are `uniform` from 0 to max, `fixed` at max, `gamma` with
//! shape 2 and scale max/4, or `bimodal`: 16, and max one time in ten. The new file begins with so many live regions,
//! and so many free blocks, each with a small live region behind it. Then all threads start at once, each with its
//! share of the live regions and of the operations. What they are to do is drawn before. `--measure opening` closes the
//! file instead and measures how long it takes to open it.
//!
//! It prints `{"ops": N, "ns": N, "length": N, "live": N}`: the operations of all threads, the time of the slowest
//! thread, the length of the payload in the end, and the bytes of live regions.
//!
//! nosync.so has to be in LD_PRELOAD: the file is filled without syncs, and measured with them if `--sync yes` says so.

use std::ffi::{c_char, c_int, c_void};
use std::io;
use std::sync::Barrier;
use std::time::Instant;

use crate::args::{bad, Region};
use crate::{v02, v04};

pub fn run(args: impl Iterator<Item = String>) -> io::Result<()> {
    let options = Options::new(args)?;
    let syncs = Syncs::find()?;
    let measured = options.open()?;
    let plans = options.plans();
    let shares = options.fill(measured.as_ref())?;
    if options.sync {
        syncs.turn_on();
    }
    let (ops, ns, live, measured) = if options.opening {
        drop(measured);
        let begun = Instant::now();
        let again = options.open()?;
        (1, begun.elapsed().as_nanos(), 0, again)
    } else {
        let (ns, live) = race(measured.as_ref(), plans, shares)?;
        let fixed = options.free as u64 * KEEPER;
        (
            options.ops / options.threads * options.threads,
            ns,
            live + fixed,
            measured,
        )
    };
    println!(
        r#"{{"ops": {ops}, "ns": {ns}, "length": {}, "live": {live}}}"#,
        measured.length()?
    );
    Ok(())
}

/// What is measured of an allocator of any generation.
trait Measured: Sync {
    fn allocate(&self, len: u64) -> io::Result<Region>;
    fn reallocate(&self, r: Region, len: u64) -> io::Result<Region>;
    fn release(&self, r: Region) -> io::Result<()>;
    fn length(&self) -> io::Result<u64>;
}

macro_rules! measured {
    ($generation:ident) => {
        impl Measured for Box<dyn $generation::Regions> {
            fn allocate(&self, len: u64) -> io::Result<Region> {
                self.as_ref().allocate(len)
            }
            fn reallocate(&self, r: Region, len: u64) -> io::Result<Region> {
                self.as_ref().reallocate(r, len)
            }
            fn release(&self, r: Region) -> io::Result<()> {
                self.as_ref().release(r)
            }
            fn length(&self) -> io::Result<u64> {
                self.payload().len()
            }
        }
    };
}

measured!(v02);
measured!(v04);

/// The switch of nosync.so.
struct Syncs(*mut c_int);

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

impl Syncs {
    fn find() -> io::Result<Syncs> {
        // Safety: a null handle stands for everything that is loaded, and the name ends with a zero.
        let at = unsafe { dlsym(std::ptr::null_mut(), c"nosync_syncs".as_ptr()) };
        if at.is_null() {
            return Err(bad("nosync.so is not in LD_PRELOAD"));
        }
        Ok(Syncs(at.cast()))
    }

    fn turn_on(&self) {
        // Safety: it is an int, which nobody else writes to.
        unsafe { *self.0 = 1 }
    }
}

struct Options {
    allocator: String,
    mix: [usize; 3],
    sizes: String,
    max: u64,
    threads: usize,
    live: usize,
    free: usize,
    ops: usize,
    seed: u64,
    sync: bool,
    opening: bool,
    generation: String,
    path: String,
}

impl Options {
    fn new(mut args: impl Iterator<Item = String>) -> io::Result<Options> {
        let mut o = Options {
            allocator: String::from("ghosttree"),
            mix: [45, 20, 35],
            sizes: String::from("uniform"),
            max: 1024,
            threads: 1,
            live: 256,
            free: 0,
            ops: 10_000,
            seed: 48,
            sync: true,
            opening: false,
            generation: String::from("0.4"),
            path: String::new(),
        };
        while let Some(name) = args.next() {
            let value = args.next().ok_or_else(|| bad(&name))?;
            match name.as_str() {
                "--allocator" => o.allocator = value,
                "--mix" => {
                    let mix: Vec<usize> =
                        value.split(',').map(number).collect::<io::Result<_>>()?;
                    o.mix = mix.try_into().map_err(|_| bad(&value))?;
                }
                "--sizes" => o.sizes = value,
                "--max" => o.max = number(&value)? as u64,
                "--threads" => o.threads = number(&value)?.max(1),
                "--live" => o.live = number(&value)?,
                "--free" => o.free = number(&value)?,
                "--ops" => o.ops = number(&value)?,
                "--seed" => o.seed = number(&value)? as u64,
                "--sync" => o.sync = value != "no",
                "--measure" => o.opening = value == "opening",
                "--generation" => o.generation = value,
                "--path" => o.path = value,
                _ => return Err(bad(&name)),
            }
        }
        match o.sizes.as_str() {
            "uniform" | "fixed" | "gamma" | "bimodal" if o.mix.iter().sum::<usize>() == 100 => {
                Ok(o)
            }
            _ => Err(bad("sizes or mix")),
        }
    }

    /// What each thread is to do. Thread i draws with seed + i + 1.
    fn plans(&self) -> Vec<Vec<Op>> {
        (0..self.threads)
            .map(|i| {
                let mut live = self.share(i).len();
                let mut random = Random(self.seed + i as u64 + 1);
                (0..self.ops / self.threads)
                    .map(|_| self.draw(&mut random, &mut live))
                    .collect()
            })
            .collect()
    }

    /// Draws what, then which, then a size, each only if it is needed.
    fn draw(&self, random: &mut Random, live: &mut usize) -> Op {
        let what = random.below(100) as usize;
        if what < self.mix[0] || *live == 0 {
            *live += 1;
            return Op::Alloc(self.size(random));
        }
        let which = random.below(*live as u64) as usize;
        if what < self.mix[0] + self.mix[1] {
            return Op::Realloc(which, self.size(random));
        }
        *live -= 1;
        Op::Free(which)
    }

    fn size(&self, random: &mut Random) -> u64 {
        match self.sizes.as_str() {
            "fixed" => self.max,
            "gamma" => {
                let both = -(random.unit().ln() + random.unit().ln());
                ((both * 0.25 * self.max as f64) as u64).min(4 * self.max)
            }
            "bimodal" if random.below(10) == 0 => self.max,
            "bimodal" => 16,
            _ => random.below(self.max + 1),
        }
    }

    /// Which of the first live regions are a thread's.
    fn share(&self, thread: usize) -> std::ops::Range<usize> {
        self.live * thread / self.threads..self.live * (thread + 1) / self.threads
    }

    fn open(&self) -> io::Result<Box<dyn Measured>> {
        Ok(match self.generation.as_str() {
            "0.2" => Box::new(v02::open(&self.allocator, self.max, &self.path)?),
            _ => Box::new(v04::open(&self.allocator, self.max, &self.path)?),
        })
    }

    /// Makes the live regions and the free blocks, with sizes drawn with the seed.
    fn fill(&self, measured: &dyn Measured) -> io::Result<Vec<Vec<Region>>> {
        let mut random = Random(self.seed);
        let mut live = Vec::new();
        for _ in 0..self.live {
            live.push(measured.allocate(self.size(&mut random))?);
        }
        let mut free = Vec::new();
        for _ in 0..self.free {
            free.push(measured.allocate(1 + random.below(self.max))?);
            measured.allocate(KEEPER)?;
        }
        for left in (1..free.len()).rev() {
            free.swap(left, random.below(left as u64 + 1) as usize);
        }
        for r in free {
            measured.release(r)?;
        }
        Ok((0..self.threads)
            .map(|i| live[self.share(i)].to_vec())
            .collect())
    }
}

/// The length of the regions between free blocks, in bytes.
const KEEPER: u64 = 16;

fn number(word: &str) -> io::Result<usize> {
    word.parse().map_err(|_| bad(word))
}

/// An operation. Regions are named by their place in a list from which one is taken by putting the last in its place.
enum Op {
    Alloc(u64),
    Realloc(usize, u64),
    Free(usize),
}

/// Lets all threads carry out their plans, and returns how long the slowest took, and how many bytes are live then.
fn race(
    measured: &dyn Measured,
    plans: Vec<Vec<Op>>,
    shares: Vec<Vec<Region>>,
) -> io::Result<(u128, u64)> {
    let start = &Barrier::new(plans.len());
    std::thread::scope(|scope| {
        let threads: Vec<_> = plans
            .into_iter()
            .zip(shares)
            .map(|(plan, share)| {
                scope.spawn(move || {
                    start.wait();
                    let begun = Instant::now();
                    let live = carry_out(measured, plan, share)?;
                    io::Result::Ok((begun.elapsed().as_nanos(), live))
                })
            })
            .collect();
        let (mut slowest, mut live) = (0, 0);
        for t in threads {
            let (ns, bytes) = t.join().unwrap()?;
            slowest = slowest.max(ns);
            live += bytes;
        }
        Ok((slowest, live))
    })
}

fn carry_out(measured: &dyn Measured, plan: Vec<Op>, mut live: Vec<Region>) -> io::Result<u64> {
    live.reserve(plan.len());
    for op in plan {
        match op {
            Op::Alloc(len) => live.push(measured.allocate(len)?),
            Op::Realloc(i, len) => live[i] = measured.reallocate(live[i], len)?,
            Op::Free(i) => measured.release(live.swap_remove(i))?,
        }
    }
    Ok(live.iter().map(|r| r.len).sum())
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Above 0, up to 1.
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }
}
