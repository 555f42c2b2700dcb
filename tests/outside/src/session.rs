//! One reply as it is written.

use std::convert::Infallible;

use copilot_wire::protocol::{Block, Blocks, End, FrameEvent as _, Part, SendError, Writer};

use crate::{Event, Output};

/// The blocks of one reply.
#[derive(Debug, Default)]
pub struct Reply {
    /// The number of the newest block.
    block: u64,
}

type To<'a> = Writer<'a, Reply>;

impl Blocks for Reply {
    type Output = Output;
    type Ending = Infallible;
    type Event = Event;

    fn write(&self, event: &Event, out: &mut Vec<u8>) {
        event.write(out);
    }

    fn open(&mut self, _: Block, to: &mut To<'_>) {
        self.block += 1;
        to.event(self, Event::Start(self.block));
    }

    fn piece(&self, _: Block, text: String) -> Option<Event> {
        let block = self.block;
        Some(Event::Delta { block, text })
    }

    fn close(&mut self, _: Block, to: &mut To<'_>) {
        to.event(self, Event::End(self.block));
    }

    fn output(&mut self, output: &Output, to: &mut To<'_>) -> Result<(), SendError> {
        to.close(self);
        to.event(self, output.clone());
        Ok(())
    }

    fn ending(&mut self, never: &Infallible, _: &mut To<'_>) -> Result<(), SendError> {
        match *never {}
    }

    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        match part {
            // The Pager has no place for reasoning.
            Part::Reasoning(_) => {}
            Part::Status(status) => {
                to.close(self);
                to.event(self, Event::Note(status.message.clone()));
            }
            part => return to.part(self, part),
        }
        Ok(())
    }

    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        to.close(self);
        let last = match end {
            End::Failed(failure) => Event::Failed(failure.message.to_owned()),
            _ => Event::Done,
        };
        to.event(self, last);
        Ok(())
    }

    fn keep_alive(&mut self, to: &mut To<'_>) -> bool {
        Event::Beat.write(to.stream());
        true
    }
}
