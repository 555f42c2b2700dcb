//! Framing rules for streams of JSON lines.

use copilot_wire::sse::Event;
use serde_json::Value;

use super::blocks::Lines;
use super::exchange::{End, Exchange};
use super::expect_utf8;
use super::judge::Judge;
use crate::rules;

rules! {
    UTF8 = Error "lines/utf8",
        "a stream is UTF-8",
        "readers put U+FFFD where the bytes make no character, or give up",
        "encode text as a whole before it is cut into pieces";
    OBJECT = Error "lines/object",
        "every line is a JSON object",
        "clients parse each line alone, and give up at the first one that is something else",
        "write each event on one line, without a byte order mark, comments or line breaks inside";
    BLANK = Error "lines/blank",
        "no line is blank",
        "some clients parse it as JSON, and give up",
        "write one line end behind each event";
}

/// Judges the framing, and splits the body into lines. Bytes after the last line end count as a line, as they do for
/// readers.
pub(super) fn read<'a>(judge: &mut Judge, exchange: &'a Exchange) -> Vec<Lines<'a>> {
    let at = &*exchange.name;
    expect_utf8(judge, &UTF8, exchange);
    let whole = matches!(exchange.end, End::Clean);
    let mut blocks = Vec::new();
    for raw in exchange.body.split_inclusive(|byte| *byte == b'\n') {
        let ended = raw.strip_suffix(b"\n");
        let line = ended.unwrap_or(raw);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let is_blank = line.trim_ascii().is_empty();
        judge.expect(&BLANK, !is_blank, at, raw);
        if is_blank {
            continue;
        }
        let is_object = serde_json::from_slice(line).is_ok_and(|json: Value| json.is_object());
        // An incomplete last line of a truncated body is not the writer's fault.
        let is_cut = ended.is_none() && !whole;
        judge.expect(&OBJECT, is_object || is_cut, at, raw);
        let event = Event::new(String::from_utf8_lossy(line).into_owned());
        blocks.push(Lines {
            raw,
            lines: vec![line],
            event: Some(event),
        });
    }
    blocks
}
