//! `wire sse`: a bare event stream.

use clap::Args;
use copilot_wire::sse::{Decoder, Frame};
use serde::Serialize;

use crate::cli::{LIMIT, at_least_one};
use crate::input::Input;
use crate::screen::Screen;
use crate::verdict::{self, Failure, Verdict};

/// The options of `wire sse`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    input: Input,
    /// Feed the decoder at most N bytes at a time
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    chunk: Option<usize>,
    /// The limit in bytes of one event
    #[arg(long, value_name = "BYTES", default_value_t = LIMIT)]
    limit: usize,
}

/// One event.
#[derive(Serialize)]
struct Line<'a> {
    event: &'a str,
    data: &'a str,
    id: &'a str,
}

/// Writes every complete event as it arrives.
pub(crate) fn run(options: &Options, screen: &mut Screen) -> Result<Verdict, Failure> {
    let mut decoder = Decoder::new().limit(options.limit);
    let mut pieces = options.input.pieces(options.chunk)?;
    let mut events = false;
    while let Some(mut bytes) = pieces.next(screen)? {
        loop {
            match decoder.next(&mut bytes) {
                Ok(Some(Frame::Event(event))) => {
                    events = true;
                    screen.json_line(&Line {
                        event: event.name(),
                        data: event.data(),
                        id: event.id(),
                    })?;
                }
                // Comments are not shown.
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => {
                    screen.flush()?;
                    verdict::tell(error);
                    return Ok(Verdict::Wrong);
                }
            }
        }
    }
    Ok(match pieces.no_event().filter(|_| !events) {
        Some(why) => {
            verdict::tell(why);
            Verdict::Wrong
        }
        None => Verdict::Clean,
    })
}
