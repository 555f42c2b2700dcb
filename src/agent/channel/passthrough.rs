//! Replies that pass on the events of another server.

use std::future::poll_fn;
use std::task::Poll;

use super::Channel;
use super::state::{Passthrough, Turn};
use crate::protocol::{FrameKind, Protocol, SendError, Session};

#[allow(dead_code, reason = "only dialects of models pass answers on")]
impl<P: Protocol> Channel<P> {
    /// Records that the answer of another server of this dialect is going to be the reply. Returns `false` if anything
    /// was written.
    pub(crate) fn begin_passthrough(&self) -> bool {
        let mut state = self.lock();
        let is_new = state.is_open() && !state.is_opened && state.progress.events == 0;
        if is_new {
            state.passthrough = Passthrough::Begun;
        }
        is_new
    }

    /// Writes a number of frames of another server as they came, which the session follows, and returns their kind.
    pub(crate) async fn pass(
        &self,
        (bytes, frames): (&[u8], u64),
        follow: impl Fn(&mut Session<P::Blocks>) -> FrameKind,
    ) -> Result<FrameKind, SendError> {
        poll_fn(|cx| {
            let mut state = match self.poll_space(self.lock(), cx, bytes.len()) {
                Poll::Ready(state) => state?,
                Poll::Pending => return Poll::Pending,
            };
            (state.is_opened, state.passthrough) = (true, Passthrough::Running);
            let kind = follow(&mut state.session);
            if kind == FrameKind::Dropped {
                return Poll::Ready(Ok(kind));
            }
            // The write counts as one.
            state.progress.events += frames - 1;
            if kind == FrameKind::Preamble {
                // The head waits for the first output, with the frames before it.
                state.opening += bytes.len();
            }
            let written = self.append(state, Turn::Open, kind == FrameKind::Output, |_, out| {
                out.extend_from_slice(bytes);
                Ok(())
            });
            Poll::Ready(written.map(|()| kind))
        })
        .await
    }

    /// Writes the last frame of another server, and the end of the stream. One write for both, so that both are sent
    /// and stored together.
    pub(crate) fn end_pass(
        &self,
        frame: &[u8],
        follow: impl Fn(&mut Session<P::Blocks>) -> FrameKind,
    ) -> Result<(), SendError> {
        self.end(true, |session, out| {
            if follow(session) != FrameKind::Dropped {
                out.extend_from_slice(frame);
            }
            session.finish(out);
            Ok(())
        })
    }

    /// Writes the document of another server as it came, and ends the turn.
    pub(crate) fn pass_document(&self, document: &[u8]) -> Result<(), SendError> {
        self.end(true, |_, out| {
            out.extend_from_slice(document);
            Ok(())
        })
    }
}
