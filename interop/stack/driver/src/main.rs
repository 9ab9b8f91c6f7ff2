// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//! Does to a stack file what its standard input says, one command a line, and answers each with a line.
//!
//! `driver 0.4` and `driver 0.2` select the version of bstack. Bytes are written in hexadecimal, none at all as `-`,
//! and a region of an allocator as its offset and its length. An answer is `ok`, with a result behind it if there is
//! one, or `err` and what is wrong.
//!
//! `driver bench` measures an allocator, see bench.rs.

use std::io::{self, BufRead, Write};

mod args;
mod bench;
mod v02;
mod v04;

use args::{bad, Args};

fn main() -> io::Result<()> {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("0.4") => serve(v04::Session::default(), v04::Session::run),
        Some("0.2") => serve(v02::Session::default(), v02::Session::run),
        Some("bench") => bench::run(words),
        _ => Err(bad("0.4, 0.2 or bench")),
    }
}

/// Answers line by line until standard input ends.
fn serve<S>(mut session: S, run: fn(&mut S, &mut Args) -> io::Result<String>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        match run(&mut session, &mut Args::new(&line?)) {
            Ok(result) => writeln!(out, "{}", format!("ok {result}").trim_end())?,
            Err(err) => writeln!(out, "err {err}")?,
        }
        out.flush()?;
    }
    Ok(())
}
