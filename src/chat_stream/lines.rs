//! Framing for readers that take a stream line by line: VS Code, `gh models`, `gh debug-cli`.

use crate::testing::check::{Judge, Stream, rules};

rules! {
    ONE_DATA_LINE = Error "sse/data-lines",
        "an event has one line of data",
        "VS Code, `gh models` and `gh debug-cli` read every line as JSON of its own",
        "write JSON on one line";
    NO_ID = Error "sse/id",
        "there are no `id` lines",
        "`gh models` and `gh debug-cli` fail; the OpenAI client for Python fails at the next comment",
        "leave `id` out: nobody resumes these streams";
    NO_RETRY = Error "sse/retry",
        "there are no `retry` lines",
        "`gh models` and `gh debug-cli` fail; the OpenAI client for Python fails when it stands alone",
        "leave `retry` out: nobody reconnects to these streams";
    LINE_ENDS = Error "sse/line-ends",
        "lines end with LF, or CR LF",
        "VS Code and `gh models` look for LF: they see one endless line",
        "end lines with LF";
}

/// Judges the lines.
pub(crate) fn judge(judge: &mut Judge, stream: &Stream<'_>) {
    let at = &*stream.exchange.name;
    for block in &stream.blocks {
        let one = block.field("data").count() <= 1;
        judge.expect(&ONE_DATA_LINE, one, at, block.raw);
        let none = block.field("id").next().is_none();
        judge.expect(&NO_ID, none, at, block.raw);
        let none = block.field("retry").next().is_none();
        judge.expect(&NO_RETRY, none, at, block.raw);
        let mut ends = block.raw.iter().enumerate();
        let bare = ends.any(|(at, byte)| *byte == b'\r' && block.raw.get(at + 1) != Some(&b'\n'));
        judge.expect(&LINE_ENDS, !bare, at, block.raw);
    }
}
