// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//! Does what lines on standard input say, and answers each with a line of JSON: `check DIR`, without binaries, and
//! `digest DIR`.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Instant;

use froe::store::Repository;
use froe::tooling::check::{BinaryCheck, check_consistency};
use froe::tooling::digest::digest_repository;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (command, dir) = line.split_once(' ').ok_or("no directory")?;
        let start = Instant::now();
        let nodes = match command {
            "check" => check(Path::new(dir))?,
            "digest" => digest(Path::new(dir))?,
            _ => return Err(format!("no such command: {command}").into()),
        };
        println!("{{\"ns\":{},\"nodes\":{nodes}}}", start.elapsed().as_nanos());
        io::stdout().flush()?;
    }
    Ok(())
}

/// Does not say how many nodes there are.
fn check(dir: &Path) -> Result<u64, Box<dyn std::error::Error>> {
    let report = check_consistency(dir, &["/".to_string()], BinaryCheck::RecordsOnly, 1)?;
    if report.overall_revision.is_none() {
        return Err(format!("{report:?}").into());
    }
    Ok(0)
}

fn digest(dir: &Path) -> Result<u64, Box<dyn std::error::Error>> {
    let repository = Repository::open(dir)?;
    let summary = digest_repository(&repository, &mut io::sink())?;
    if !summary.is_clean() {
        return Err(format!("{summary:?}").into());
    }
    Ok(summary.nodes)
}
