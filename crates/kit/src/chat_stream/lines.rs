//! Rules for clients that read a stream line by line: VS Code, `gh models`, `gh debug-cli`.

use crate::check::{Judge, Stream, rules};

rules! {
    ONE_DATA_LINE = Error "sse/data-lines",
        "an event has one line of data",
        "VS Code, `gh models` and `gh debug-cli` read every line as a JSON value",
        "write JSON on one line";
    NO_ID = Error "sse/id",
        "there are no `id` lines",
        "`gh models` and `gh debug-cli` fail; the OpenAI client for Python fails at the next comment",
        "omit `id`: these streams are not resumable";
    NO_RETRY = Error "sse/retry",
        "there are no `retry` lines",
        "`gh models` and `gh debug-cli` fail; the OpenAI client for Python fails on an event with only `retry`",
        "omit `retry`: clients do not reconnect to these streams";
    LINE_ENDS = Error "sse/line-ends",
        "lines end with LF, or CR LF",
        "VS Code and `gh models` split at LF: they read one endless line",
        "end lines with LF";
}

/// Checks the lines of a stream.
pub(crate) fn judge(judge: &mut Judge, stream: &Stream<'_>) {
    let at = &*stream.exchange.name;
    for block in &stream.blocks {
        let one = block.field("data").count() <= 1;
        judge.expect(&ONE_DATA_LINE, one, at, block.raw);
        judge.expect(&NO_ID, !block.has_field("id"), at, block.raw);
        judge.expect(&NO_RETRY, !block.has_field("retry"), at, block.raw);
        let mut ends = block.raw.iter().enumerate();
        let bare = ends.any(|(at, byte)| *byte == b'\r' && block.raw.get(at + 1) != Some(&b'\n'));
        judge.expect(&LINE_ENDS, !bare, at, block.raw);
    }
}
