// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//! Does to a stack file what its standard input says, one command a line, and answers each with a line.
//!
//! `driver 0.4` and `driver 0.2` select the version of bstack. Bytes are written in hexadecimal, none at all as `-`.
//! An answer is `ok`, with a result behind it if there is one, or `err` and what is wrong.

use std::io::{self, BufRead, Write};

mod args;
use args::{bad, hex, Args};

mod v04 {
    use bstack::BStack;

    include!("commands.rs");

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
}

mod v02 {
    use bstack_old::BStack;

    include!("commands.rs");

    fn extra(_: &BStack, name: &str, _: &mut Args) -> Answer {
        Err(bad(name))
    }

    fn migrate(_: &str) -> io::Result<()> {
        Err(bad("migrate"))
    }
}

fn main() -> io::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("0.4") => serve(v04::Session::default(), v04::Session::run),
        Some("0.2") => serve(v02::Session::default(), v02::Session::run),
        _ => Err(bad("the version of bstack: 0.4 or 0.2")),
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
