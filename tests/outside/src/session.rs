//! One reply as it is written.

use std::convert::Infallible;

use copilot_wire::protocol::{
    Block, BlockSession, Blocks, Failure, FrameEvent as _, Framing, SendError, Status, ToolCall,
    Writer,
};

use crate::{Event, Output};

/// One reply.
pub type Session = BlockSession<Reply>;

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
    type Document = Infallible;

    const NOT_OFFERED: &'static str = "the Pager runs no tools";

    fn write(&self, event: &Event, out: &mut Vec<u8>) {
        event.write(out);
    }

    fn open(&mut self, _: Block, to: &mut To<'_>) {
        self.block += 1;
        to.event(self, Event::Start(self.block));
    }

    fn piece(&self, _: Block, text: String) -> Event {
        let block = self.block;
        Event::Delta { block, text }
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

    /// Writes nothing: the Pager has no place for reasoning.
    fn reasoning(&mut self, _: &str, _: &mut To<'_>) {}

    fn status(&mut self, status: &Status, to: &mut To<'_>) {
        to.close(self);
        to.event(self, Event::Note(status.message.clone()));
    }

    fn calls(&mut self, _: &[ToolCall], _: &mut To<'_>) -> Result<(), SendError> {
        Err(SendError::Unsupported(Self::NOT_OFFERED))
    }

    fn end(&mut self, to: &mut To<'_>) -> Result<(), SendError> {
        to.close(self);
        to.event(self, Event::Done);
        Ok(())
    }

    fn fail(&mut self, failure: &Failure<'_>, to: &mut To<'_>) {
        to.close(self);
        to.event(self, Event::Failed(failure.message.to_owned()));
    }

    fn keep_alive(&self, _: Framing, _: bool, out: &mut Vec<u8>) {
        Event::Beat.write(out);
    }
}
