//! The events of a body, each with the bytes that it was made of.

use crate::sse::{Decoder, Event, Frame};

/// A block: what stands before a blank line, and the blank line.
pub(super) struct Block<'a> {
    pub(super) raw: &'a [u8],
    /// The lines without their ends, and without the blank one.
    pub(super) lines: Vec<&'a [u8]>,
    /// What the block is to a reader that follows the standard. `None`: a comment, say.
    pub(super) event: Option<Event<'static>>,
}

impl<'a> Block<'a> {
    /// The lines of a field.
    pub(super) fn field(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.lines.iter().copied().filter(move |line| {
            line.strip_prefix(name.as_bytes())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(b":"))
        })
    }
}

/// Takes a body apart: its blocks, and what is left behind the last blank line.
pub(super) fn blocks(body: &[u8]) -> (Vec<Block<'_>>, &[u8]) {
    let mut decoder = Decoder::with_budget(usize::MAX);
    let mut blocks = Vec::new();
    let mut rest = body;
    let mut lines = Vec::new();
    let mut ahead = rest;
    while let Some((line, after)) = line(ahead) {
        ahead = after;
        if !line.is_empty() {
            lines.push(line);
            continue;
        }
        let (raw, behind) = rest.split_at(rest.len() - ahead.len());
        rest = behind;
        if lines.is_empty() {
            continue;
        }
        let mut input = raw;
        // A budget without limit does not run out.
        let event = match decoder.next(&mut input) {
            Ok(Some(Frame::Event(event))) => Some(event.into_owned()),
            _ => None,
        };
        blocks.push(Block {
            raw,
            lines: std::mem::take(&mut lines),
            event,
        });
    }
    (blocks, rest)
}

/// The first line without its end, and what follows.
fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes
        .iter()
        .position(|byte| matches!(byte, b'\r' | b'\n'))?;
    let (line, end) = bytes.split_at(at);
    let rest = end
        .strip_prefix(b"\r\n")
        .or_else(|| end.split_first().map(|(_, rest)| rest))?;
    Some((line, rest))
}
