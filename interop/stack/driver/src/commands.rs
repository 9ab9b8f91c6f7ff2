// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Included by a module for each version of bstack, since their types have nothing in common but their looks.

type Answer = io::Result<String>;

/// At most one open stack, or an allocator that owns it.
#[derive(Default)]
pub struct Session {
    stack: Option<BStack>,
    regions: Option<Box<dyn Regions>>,
}

impl Session {
    pub fn run(&mut self, args: &mut Args) -> Answer {
        let name = args.word()?;
        match name.as_str() {
            "open" => {
                self.close();
                self.stack = Some(BStack::open(args.word()?)?);
                Ok(String::new())
            }
            "open_allocator" => {
                self.close();
                let (kind, size) = (args.word()?, args.number()?);
                let stack = BStack::open(args.word()?)?;
                self.regions = Some(allocator(stack, &kind, size)?);
                Ok(String::new())
            }
            "close" => {
                self.close();
                Ok(String::new())
            }
            "migrate" => migrate(&args.word()?).map(none),
            _ => match (&self.regions, &self.stack) {
                (Some(regions), _) => region_command(regions.as_ref(), &name, args),
                (None, Some(stack)) => command(stack, &name, args),
                (None, None) => Err(bad("nothing open")),
            },
        }
    }

    fn close(&mut self) {
        self.stack = None;
        self.regions = None;
    }
}

fn command(stack: &BStack, name: &str, args: &mut Args) -> Answer {
    match name {
        "len" => stack.len().map(text),
        "get" => stack.get(args.number()?, args.number()?).map(bytes),
        "push" => stack.push(args.bytes()?).map(text),
        "extend" => stack.extend(args.number()?).map(text),
        "extend_pieces" => {
            let length = args.number()?;
            stack
                .extend_sparse_batched(args.pieces()?, length)
                .map(text)
        }
        "resize" => stack.resize(args.number()?).map(text),
        "ensure" => stack.ensure(args.number()?).map(text),
        "pop" => stack.pop(args.number()?).map(bytes),
        "discard" => stack.discard(args.number()?).map(none),
        "try_extend" => stack.try_extend(args.number()?, args.bytes()?).map(text),
        "try_discard" => stack.try_discard(args.number()?, args.number()?).map(text),
        "atrunc" => stack.atrunc(args.number()?, args.bytes()?).map(none),
        "splice" => stack.splice(args.number()?, args.bytes()?).map(bytes),
        "set" => stack.set(args.number()?, args.bytes()?).map(none),
        "zero" => stack.zero(args.number()?, args.number()?).map(none),
        "repeat" => stack
            .repeat(args.number()?, args.bytes()?, args.number()?)
            .map(none),
        "copy" => stack
            .copy(args.number()?, args.number()?, args.number()?)
            .map(none),
        "swap" => stack.swap(args.number()?, args.bytes()?).map(bytes),
        "cas" => stack
            .cas(args.number()?, args.bytes()?, args.bytes()?)
            .map(text),
        "cross_exchange" => stack
            .cross_exchange(args.number()?, args.number()?, args.number()?)
            .map(none),
        _ => extra(stack, name, args),
    }
}

fn none(_: ()) -> String {
    String::new()
}

fn text(value: impl ToString) -> String {
    value.to_string()
}

fn bytes(value: Vec<u8>) -> String {
    hex(&value)
}
