//! Rules for complete chunks without event names, which most clients require.

use serde_json::Value;

use super::chunk::{Chunks, is_error};
use crate::check::members::{all_say, holds, text};
use crate::check::{Judge, Lines, Stream, rules};

rules! {
    NAMED = Error "chunk/event-name",
        "there are no `event` lines",
        "`gh models` fails on them; both OpenAI clients return the data as a chunk",
        "omit `event`";
    COMPLETE = Error "chunk/complete",
        "every chunk has `id`, `created` and `model`, and `object` is `chat.completion.chunk`",
        "the helper of the OpenAI client for Python skips chunks without `object`, and typed clients refuse chunks without the others",
        "send all four with every chunk";
}

/// Checks that the chunks are complete.
pub(crate) fn judge(judge: &mut Judge, stream: &Stream<'_>, chunks: &Chunks<'_>) {
    let at = &*stream.exchange.name;
    for block in &stream.blocks {
        judge.expect(&NAMED, !block.has_field("event"), at, block.raw);
    }
    for (chunk, block) in chunks.chunks.iter().filter(|(chunk, _)| !is_error(chunk)) {
        let complete = all_say(chunk, &["/id", "/model"])
            && text(chunk, "/object") == "chat.completion.chunk"
            && holds(chunk, "/created", Value::is_u64);
        judge.expect(&COMPLETE, complete, at, block.raw);
    }
}

/// Returns an iterator over the `delta`s of all choices, each with its block.
pub(crate) fn deltas<'a>(
    chunks: &'a Chunks<'a>,
) -> impl Iterator<Item = (&'a Value, &'a Lines<'a>)> {
    chunks.chunks.iter().flat_map(|(chunk, block)| {
        let choices = chunk.get("choices").and_then(Value::as_array);
        let choices = choices.into_iter().flatten();
        choices.filter_map(|choice| Some((choice.get("delta")?, *block)))
    })
}
