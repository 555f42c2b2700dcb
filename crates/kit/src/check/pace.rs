//! Checks that an answer is streamed.

use super::blocks::Lines;
use super::exchange::Exchange;
use super::judge::Judge;
use super::members::{all_say, elements};
use crate::rules;

rules! {
    LATE_HEAD = Warning "http/late-head",
        "the head of a stream arrives within two seconds",
        "the front end shows nothing, and proxies count the time to the first byte",
        "send the head before the agent's first word";
    BUFFERED = Error "http/buffered",
        "the head arrives before the answer is complete",
        "the user waits, and sees it all at once",
        "send each event as it is said";
    COLLECTED = Warning "http/collected",
        "text that is long in coming does not come all at once",
        "after two seconds without a byte, several pieces of text came within half a second, here and in every answer like it: the agent thinks first, or something collects what it says, and the user sees it all at once",
        "look for what reads the whole body before it passes it on: compression, a cache, a log, a proxy; an agent that thinks first may send a status meanwhile";
}

/// The number of pieces of text below which the timing proves nothing: an agent may write fewer at once.
const SEVERAL: usize = 3;

/// Checks the timing of a stream.
pub(super) fn judge(judge: &mut Judge, exchange: &Exchange, blocks: &[Lines<'_>]) {
    let at = &*exchange.name;
    let events = blocks.iter().filter(|block| block.event.is_some()).count();
    let arrival = &exchange.arrival;
    // A short answer is one piece, so one piece alone proves nothing. A late head followed by several events in one
    // piece shows a body that was collected first.
    let at_once = exchange.late && events > 2 && arrival.pieces == 1;
    judge.expect(&BUFFERED, !at_once, at, &exchange.body);
    // A buffered answer has a late head too: one cause is reported once.
    let late = exchange.late && !at_once;
    judge.expect(&LATE_HEAD, !late, at, "no head after two seconds");
    if at_once || blocks.iter().filter(|block| says(block)).count() < SEVERAL {
        return;
    }
    // A proxy that buffers answers buffers all of them, so one streamed answer refutes the finding for the others.
    if arrival.spread {
        judge.paced = true;
        judge.acquit(&COLLECTED);
    }
    let waited = exchange.late || arrival.waited;
    let collected = waited && !judge.paced;
    judge.expect(&COLLECTED, !collected, at, &exchange.body);
}

/// Returns `true` if an event adds to the text of the answer.
fn says(block: &Lines<'_>) -> bool {
    let data = block.json();
    let mut choices = elements(&data, "/choices");
    all_say(&data, &["/delta"]) || choices.any(|choice| all_say(choice, &["/delta/content"]))
}
