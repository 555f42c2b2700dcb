//! Replies that pass on the events of another server.

use std::task::{Context, Poll};

use super::Channel;
use super::state::{Passthrough, State, Turn};
use crate::protocol::{FrameKind, Protocol, SendError, Session};

#[allow(dead_code, reason = "only dialects of models pass answers on")]
impl<P: Protocol> State<P> {
    /// Returns the kind of a frame of another server, after the session has followed its event. The frame of an unknown
    /// event is output.
    fn follow(
        &mut self,
        event: Option<&P::Event>,
        follow: fn(&mut Session<P::Blocks>, &P::Event) -> FrameKind,
    ) -> FrameKind {
        (self.is_opened, self.passthrough) = (true, Passthrough::Running);
        event.map_or(FrameKind::Output, |event| follow(&mut self.session, event))
    }
}

#[allow(dead_code, reason = "only dialects of models pass answers on")]
impl<P: Protocol> Channel<P> {
    /// Records that the answer of another server is going to be the reply. Returns `false` if anything was written.
    pub(in crate::agent) fn begin_passthrough(&self) -> bool {
        let mut state = self.lock();
        let is_new = state.is_open() && !state.is_opened && state.progress.events == 0;
        if is_new {
            state.passthrough = Passthrough::Begun;
        }
        is_new
    }

    /// Writes a number of frames of another server, and returns their kind.
    pub(in crate::agent) fn poll_pass(
        &self,
        cx: &Context<'_>,
        (frame, frames): (&[u8], u64),
        event: Option<&P::Event>,
        follow: fn(&mut Session<P::Blocks>, &P::Event) -> FrameKind,
    ) -> Poll<Result<FrameKind, SendError>> {
        let mut state = match self.poll_space(self.lock(), cx, frame.len()) {
            Poll::Ready(state) => state?,
            Poll::Pending => return Poll::Pending,
        };
        let kind = state.follow(event, follow);
        if kind == FrameKind::Dropped {
            return Poll::Ready(Ok(kind));
        }
        // The write counts as one.
        state.progress.events += frames - 1;
        if kind == FrameKind::Preamble {
            // The head waits for the first output, with the frames before it.
            state.opening += frame.len();
        }
        let written = self.append(state, Turn::Open, kind == FrameKind::Output, |_, out| {
            out.extend_from_slice(frame);
            Ok(())
        });
        Poll::Ready(written.map(|()| kind))
    }

    /// Writes the last frame of another server, and the end of the stream. One write for both, so that both are sent
    /// and stored together.
    pub(in crate::agent) fn end_pass(
        &self,
        frame: &[u8],
        event: Option<&P::Event>,
        follow: fn(&mut Session<P::Blocks>, &P::Event) -> FrameKind,
    ) -> Result<(), SendError> {
        let mut state = self.lock();
        if !state.is_open() {
            return Err(SendError::Closed);
        }
        let kind = state.follow(event, follow);
        state.passthrough = Passthrough::Ended;
        self.append(state, Turn::Ended, true, |session, out| {
            if kind != FrameKind::Dropped {
                out.extend_from_slice(frame);
            }
            session.finish(out);
            Ok(())
        })
    }

    /// Writes the document of another server, and ends the turn.
    pub(in crate::agent) fn pass_document(&self, document: &[u8]) -> Result<(), SendError> {
        let mut state = self.lock();
        if !state.is_open() {
            return Err(SendError::Closed);
        }
        (state.is_opened, state.passthrough) = (true, Passthrough::Ended);
        self.append(state, Turn::Ended, true, |_, out| {
            out.extend_from_slice(document);
            Ok(())
        })
    }
}
