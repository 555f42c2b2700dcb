//! Framing rules for server-sent events.

use super::blocks::{Lines, blocks};
use super::exchange::{End, Exchange, last};
use super::expect_utf8;
use super::judge::Judge;
use crate::rules;

rules! {
    UTF8 = Error "sse/utf8",
        "a stream is UTF-8",
        "readers put U+FFFD where the bytes make no character; a character cut in two is lost",
        "encode text as a whole before it is cut into pieces";
    BOM = Error "sse/bom",
        "a stream begins without a byte order mark",
        "the Workspace takes it for a part of the first field's name: the first event is lost",
        "write UTF-8 without a mark";
    UNFINISHED = Error "sse/unfinished",
        "the last event is followed by a blank line",
        "the standard says that it is dropped, and the Workspace and the clients of models drop it",
        "end every event, also the last one, with two line ends";
    FIELD = Error "sse/field",
        "every line is `event`, `data`, `id`, `retry` or a comment",
        "the line is ignored: JSON over several lines loses all but its first; VS Code and `gh models` try to read it",
        "write JSON on one line, or put `data: ` before each";
}

/// Judges the framing, and splits the body into blocks.
pub(super) fn read<'a>(judge: &mut Judge, exchange: &'a Exchange) -> Vec<Lines<'a>> {
    let at = &*exchange.name;
    let body = &*exchange.body;
    let whole = matches!(exchange.end, End::Clean);
    expect_utf8(judge, &UTF8, exchange);
    let marked = body.starts_with(b"\xef\xbb\xbf");
    judge.expect(&BOM, !marked, at, body);
    let (blocks, rest) = blocks(body);
    if whole {
        judge.expect(&UNFINISHED, rest.is_empty(), at, last(rest));
    }
    for line in blocks.iter().flat_map(|block| &block.lines) {
        // The byte order mark is already a finding. It is removed, so that the first line is not also reported as an
        // unknown field.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        // A comment is a field without a name.
        let known = matches!(name, b"event" | b"data" | b"id" | b"retry" | b"");
        judge.expect(&FIELD, known, at, line);
    }
    blocks
}
