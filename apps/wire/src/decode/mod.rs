//! `wire decode`: the typed events of a stream and its faults.

mod blocks;
mod report;
mod wrong;

use clap::Args;
use copilot_wire::protocol::Frames;
use copilot_wire::sse::Frame;
use copilot_wire_kit::{Kit, check};

use crate::cli::{self, LIMIT};
use crate::input::Input;
use crate::screen::Screen;
use crate::verdict::{self, Failure, Verdict};
pub(crate) use blocks::Blocks;
use report::Report;
use wrong::Wrong;

/// The options of `wire decode`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The protocol of the stream
    #[arg(long, short, value_parser = cli::any)]
    protocol: Kit,
    /// Show also what each event adds to the answer, but not in JSON
    #[arg(long)]
    deltas: bool,
    #[command(flatten)]
    input: Input,
}

/// The maximum size in bytes of a stream that is also checked as a whole.
const KEPT: usize = 16 * 1024 * 1024;

/// Shows every event as it arrives, and then the findings of the conformance kit about the complete stream.
pub(crate) fn run(options: &Options, screen: &mut Screen) -> Result<Verdict, Failure> {
    let kit = options.protocol;
    let mut reader = (kit.reader)();
    let mut report = Report::new(screen, options.deltas);
    let mut frames = Frames::new(kit.framing).limit(LIMIT);
    let mut blocks = Blocks::new(kit.framing);
    let mut pieces = options.input.pieces(None)?;
    let mut body = Vec::new();
    while let Some(mut bytes) = pieces.next(report.screen)? {
        // One byte more than the limit shows that it was exceeded.
        let room = (KEPT + 1).saturating_sub(body.len());
        body.extend(bytes.iter().take(room));
        loop {
            // The decoder only advances its input, so the difference is the bytes of this event.
            let before = bytes;
            let next = frames.next(&mut bytes);
            let consumed = before.split_at_checked(before.len() - bytes.len());
            blocks.pass(consumed.map_or(before, |(consumed, _)| consumed));
            match next {
                Ok(Some(Frame::Event(event))) => {
                    let place = blocks.start()..blocks.offset();
                    report.event(&event, place, reader.read(&event))?;
                }
                // Comments are not shown.
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => {
                    report.begin(blocks.start());
                    report.wrong(Wrong::of(&error.to_string()))?;
                    return report.end();
                }
            }
        }
    }
    if let Some(event) = frames.end() {
        let place = blocks.start()..blocks.offset();
        report.event(&event, place, reader.read(&event))?;
    }
    if blocks.is_cut() {
        report.begin(blocks.start());
        let what = "the stream ends inside an event";
        report.wrong(Wrong::of(what).rule("sse/unfinished"))?;
    }
    if body.len() > KEPT {
        verdict::tell("a stream of more than 16 MiB: its events were judged one by one");
    } else {
        let judged = check::recorded(kit, &body);
        report.findings(&judged, kit.tolerated, blocks.offset())?;
    }
    // Unless a broken rule has reported the end.
    if let (Err(error), false) = (reader.end(), report.is_end_wrong()) {
        // At the offset after the last byte: a missing end has no other position.
        report.begin(blocks.offset());
        report.wrong(Wrong::of(&error.to_string()))?;
    }
    if let Some(why) = pieces.no_event() {
        report.unless_event(why);
    }
    report.end()
}
