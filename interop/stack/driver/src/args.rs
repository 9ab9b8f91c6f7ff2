// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

//! The words of a command.

use std::{fmt, io};

/// Where some bytes lie.
#[derive(Clone, Copy)]
pub struct Region {
    pub off: u64,
    pub len: u64,
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.off, self.len)
    }
}

pub struct Args {
    words: std::vec::IntoIter<String>,
}

impl Args {
    pub fn new(line: &str) -> Args {
        let words: Vec<String> = line.split(' ').map(String::from).collect();
        Args {
            words: words.into_iter(),
        }
    }

    pub fn word(&mut self) -> io::Result<String> {
        self.words.next().ok_or_else(|| bad("a missing word"))
    }

    pub fn number(&mut self) -> io::Result<u64> {
        let word = self.word()?;
        word.parse().map_err(|_| bad(&word))
    }

    pub fn signed(&mut self) -> io::Result<i64> {
        let word = self.word()?;
        word.parse().map_err(|_| bad(&word))
    }

    /// All that is left, as numbers.
    pub fn numbers(&mut self) -> io::Result<Vec<u64>> {
        (0..self.words.len()).map(|_| self.number()).collect()
    }

    pub fn region(&mut self) -> io::Result<Region> {
        Ok(Region {
            off: self.number()?,
            len: self.number()?,
        })
    }

    /// All that is left, as regions.
    pub fn regions(&mut self) -> io::Result<Vec<Region>> {
        (0..self.words.len() / 2).map(|_| self.region()).collect()
    }

    pub fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let word = self.word()?;
        if word == "-" {
            return Ok(Vec::new());
        }
        if word.len() % 2 != 0 || !word.is_ascii() {
            return Err(bad(&word));
        }
        (0..word.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&word[i..i + 2], 16).map_err(|_| bad(&word)))
            .collect()
    }

    /// All that is left: offsets, each with bytes.
    pub fn pieces(&mut self) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let mut all = Vec::new();
        while self.words.len() > 0 {
            all.push((self.number()?, self.bytes()?));
        }
        Ok(all)
    }
}

pub fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return String::from("-");
    }
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

pub fn bad(what: &str) -> io::Error {
    io::Error::other(format!("not understood: {what}"))
}
