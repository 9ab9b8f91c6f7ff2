// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//! Measures an allocator of bstack 0.4.
//!
//!     driver bench --allocator ghosttree --mix 45,20,35 --sizes uniform --max 1024 --threads 1 \
//!         --live 256 --free 0 --ops 10000 --seed 48 --sync yes --path FILE
//!
//! The mix is percents of alloc, realloc and free. The sizes are `uniform` from 0 to max, `fixed` at max, `gamma` with
//! shape 2 and scale max/4, or `bimodal`: 16, and max one time in ten. The new file begins with so many live regions,
//! and so many free ones between them. Then all threads start at once, each with its share of the live regions and of
//! the operations. What they are to do is drawn before, by the rules below, which another program can follow.
//!
//! It prints `{"ops": N, "ns": N, "length": N}`: the operations of all threads, the time of the slowest thread, and the
//! length of the payload in the end.
//!
//! Nothing in bstack leaves out the syncs. With `--sync no` somebody else has to: start with nosync.so in LD_PRELOAD.

use std::io;
use std::sync::Barrier;
use std::time::Instant;

use crate::args::{bad, Region};
use crate::v04::{self, Regions};

pub fn run(args: impl Iterator<Item = String>) -> io::Result<()> {
    let options = Options::new(args)?;
    if !options.sync && !std::env::var("LD_PRELOAD").is_ok_and(|v| v.contains("nosync")) {
        return Err(bad("--sync no without nosync.so in LD_PRELOAD"));
    }
    let regions = v04::open(&options.allocator, options.max, &options.path)?;
    let plans = options.plans();
    let shares = options.fill(regions.as_ref())?;
    let ns = race(regions.as_ref(), plans, shares)?;
    println!(
        r#"{{"ops": {}, "ns": {ns}, "length": {}}}"#,
        options.ops / options.threads * options.threads,
        regions.payload().len()?
    );
    Ok(())
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

    /// Makes the live regions and the free ones, with sizes drawn with the seed.
    fn fill(&self, regions: &dyn Regions) -> io::Result<Vec<Vec<Region>>> {
        let mut random = Random(self.seed);
        let (mut live, mut free) = (Vec::new(), Vec::new());
        while live.len() < self.live || free.len() < self.free {
            if live.len() < self.live {
                live.push(regions.allocate(self.size(&mut random))?);
            }
            if free.len() < self.free {
                free.push(regions.allocate(self.size(&mut random))?);
            }
        }
        for r in free {
            regions.release(r)?;
        }
        Ok((0..self.threads)
            .map(|i| live[self.share(i)].to_vec())
            .collect())
    }
}

fn number(word: &str) -> io::Result<usize> {
    word.parse().map_err(|_| bad(word))
}

/// An operation. Regions are named by their place in a list from which one is taken by putting the last in its place.
enum Op {
    Alloc(u64),
    Realloc(usize, u64),
    Free(usize),
}

/// Lets all threads carry out their plans, and returns how long the slowest took.
fn race(regions: &dyn Regions, plans: Vec<Vec<Op>>, shares: Vec<Vec<Region>>) -> io::Result<u128> {
    let start = &Barrier::new(plans.len());
    std::thread::scope(|scope| {
        let threads: Vec<_> = plans
            .into_iter()
            .zip(shares)
            .map(|(plan, share)| {
                scope.spawn(move || {
                    start.wait();
                    let begun = Instant::now();
                    carry_out(regions, plan, share).map(|()| begun.elapsed().as_nanos())
                })
            })
            .collect();
        let times: io::Result<Vec<u128>> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        Ok(times?.into_iter().max().unwrap_or(0))
    })
}

fn carry_out(regions: &dyn Regions, plan: Vec<Op>, mut live: Vec<Region>) -> io::Result<()> {
    live.reserve(plan.len());
    for op in plan {
        match op {
            Op::Alloc(len) => live.push(regions.allocate(len)?),
            Op::Realloc(i, len) => live[i] = regions.reallocate(live[i], len)?,
            Op::Free(i) => regions.release(live.swap_remove(i))?,
        }
    }
    Ok(())
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
