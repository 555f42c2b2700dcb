//! The events of a body, each with its bytes.

use serde_json::Value;

use copilot_wire::sse::{Decoder, Event, Frame};

/// The lines of one block of a stream, up to and with its blank line. In a stream of JSON lines, a block is one
/// line.
#[derive(Debug)]
#[non_exhaustive]
pub struct Lines<'a> {
    /// All bytes of the block.
    pub raw: &'a [u8],
    /// The lines of the block without line ends, and without the blank line.
    pub lines: Vec<&'a [u8]>,
    /// The event that a reader decodes by the standard. `None` for comments. The event of a JSON line has no name.
    pub event: Option<Event<'static>>,
}

impl<'a> Lines<'a> {
    /// Returns the data of the event as JSON, `null` if it is not JSON.
    pub fn json(&self) -> Value {
        let data = self.event.as_ref().map_or("", |event| event.data());
        serde_json::from_str(data).unwrap_or_default()
    }

    /// Returns `true` if the block has a line of the field with this name.
    pub fn has_field(&self, name: &str) -> bool {
        self.field(name).next().is_some()
    }

    /// Returns the lines of the field with this name, with the name. Empty if there are none.
    pub fn field(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.lines.iter().copied().filter(move |line| {
            line.strip_prefix(name.as_bytes())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(b":"))
        })
    }
}

/// Splits a body into its blocks and the bytes after the last blank line.
pub(super) fn blocks(body: &[u8]) -> (Vec<Lines<'_>>, &[u8]) {
    // The body is already in memory and bounded by its reader, so a limit here would only hide
    // events from the rules.
    let mut decoder = Decoder::new().limit(usize::MAX);
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
        // A blank line after a blank line ends no event, so the decoder need not read it.
        if lines.is_empty() {
            continue;
        }
        // The decoder gets one block at a time, so the event that it returns is the event of these lines.
        let mut input = raw;
        // A budget without limit does not run out.
        let event = match decoder.next(&mut input) {
            Ok(Some(Frame::Event(event))) => Some(event.into_owned()),
            _ => None,
        };
        blocks.push(Lines {
            raw,
            lines: std::mem::take(&mut lines),
            event,
        });
    }
    (blocks, rest)
}

/// Returns the first line that ends, without its end, and the bytes after it.
fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let at = bytes.iter().position(is_end)?;
    let (line, end) = bytes.split_at(at);
    let rest = end
        .strip_prefix(b"\r\n")
        .or_else(|| end.split_first().map(|(_, rest)| rest))?;
    Some((line, rest))
}
