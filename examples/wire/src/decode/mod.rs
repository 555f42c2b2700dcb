//! `wire decode`: the typed events of a stream, and what is wrong with it.

mod blocks;
mod meilisearch;
mod reader;
mod report;
mod wrong;

use clap::Args;
use copilot_wire::sse::{Decoder, Frame};

use crate::cli::{Front, LIMIT};
use crate::input::Input;
use crate::screen::Screen;
use crate::verdict::{Failure, Verdict};
use blocks::Blocks;
use report::Report;
use wrong::Wrong;

/// The options of `wire decode`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The protocol of the stream
    #[arg(value_name = "PROTOCOL")]
    front: Front,
    #[command(flatten)]
    input: Input,
}

/// Shows every event as it comes.
pub(crate) fn run(options: &Options, screen: &mut Screen) -> Result<Verdict, Failure> {
    let mut reader = reader::of(options.front);
    let mut report = Report::new(screen);
    let mut frames = Decoder::with_budget(LIMIT);
    let mut blocks = Blocks::default();
    let mut pieces = options.input.pieces(None)?;
    while let Some(mut bytes) = pieces.next(report.screen)? {
        loop {
            let before = bytes;
            let next = frames.next(&mut bytes);
            let consumed = before.split_at_checked(before.len() - bytes.len());
            blocks.pass(consumed.map_or(before, |(consumed, _)| consumed));
            match next {
                Ok(Some(Frame::Event(event))) => {
                    report.event(&event, blocks.start(), reader.read(&event))?;
                }
                // Comments are not asked for.
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
    if blocks.is_open() {
        report.begin(blocks.start());
        report.wrong(Wrong::of("the stream ends inside an event"))?;
    }
    if let Some(what) = reader.end() {
        report.begin(blocks.offset());
        report.wrong(Wrong::of(what))?;
    }
    if let Some(why) = pieces.no_event() {
        report.unless_event(why);
    }
    report.end()
}
