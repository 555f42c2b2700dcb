//! Typed events out of a stream: the client's side.

use std::collections::VecDeque;
use std::fmt;

use crate::json::Json;
use crate::protocol::EventError;
use crate::sse;

use super::calls::{Calls, TooLarge};
use super::chunk::{Frame, Piece};
use super::{Event, Failure, FinishReason, Outcome, Unknown};

/// Reads a stream of the server, however it is cut into chunks.
///
/// Notifications are handed out the moment they arrive. The fragments and the member names that the
/// documentation describes are read as well as what servers send.
///
/// ```
/// use copilot_wire::meilisearch::{Decoder, Event, FinishReason, Outcome};
///
/// let mut decoder = Decoder::new();
/// let mut text = String::new();
/// for mut chunk in [
///     &b"retry: 10000\n\ndata: {\"id\":\"1\",\"choices\":[{\"delta\":{\"content\":\"Hel"[..],
///     b"lo\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
/// ] {
///     while let Some(event) = decoder.next(&mut chunk)? {
///         if let Event::Text(piece) = event {
///             text.push_str(&piece);
///         }
///     }
/// }
/// assert_eq!(text, "Hello");
/// assert_eq!(decoder.outcome(), Outcome::Answered(FinishReason::Stop));
/// # Ok::<(), copilot_wire::protocol::EventError>(())
/// ```
pub struct Decoder {
    frames: sse::Decoder,
    limit: usize,
    turn: Turn,
}

/// What a stream has come to.
#[derive(Default)]
struct Turn {
    /// What is read and not yet handed out.
    ready: VecDeque<Event>,
    calls: Calls,
    /// The id of the chunks of the current round.
    round: Option<String>,
    finish: Option<FinishReason>,
    failure: Option<Failure>,
    done: bool,
}

impl Decoder {
    /// The limit of [`new`](Self::new): 16 MiB. The documents that a search finds come in one
    /// event, whole.
    pub const DEFAULT_LIMIT: usize = 16 * 1024 * 1024;

    /// A decoder for one stream, with the default limit.
    #[must_use]
    pub fn new() -> Self {
        Self::with_budget(Self::DEFAULT_LIMIT)
    }

    /// A decoder for one stream that fails when one event needs more than `limit` bytes.
    #[must_use]
    pub fn with_budget(limit: usize) -> Self {
        Self {
            frames: sse::Decoder::with_budget(limit),
            limit,
            turn: Turn::default(),
        }
    }

    /// Takes the next event out of `input` and advances it. `None`: `input` is used up.
    ///
    /// # Errors
    ///
    /// [`EventError::Stream`] when the stream itself cannot be read on; any other error is about
    /// one frame, which is lost, and the next call goes on behind it.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        loop {
            if let Some(event) = self.turn.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some(frame) = self.frames.next(input)? else {
                return Ok(None);
            };
            if let sse::Frame::Event(event) = frame {
                self.turn.read(event.data(), self.limit)?;
            }
        }
    }

    /// The one event of a frame that stands alone.
    pub(super) fn frame(data: &str) -> Result<Event, EventError> {
        let mut turn = Turn::default();
        turn.read(data, Self::DEFAULT_LIMIT)?;
        let first = turn.ready.pop_front();
        match first {
            Some(event) if turn.ready.is_empty() => Ok(event),
            // A fragment waits for the rest; several events are not one.
            None if !turn.calls.is_waiting() => Ok(Event::Text(String::new())),
            _ => Ok(Event::Unknown(Unknown::Frame(Json::parse(
                data.as_bytes().to_vec(),
            )?))),
        }
    }

    /// What came of the stream, once its body is over.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let turn = &self.turn;
        match (&turn.failure, turn.done, &turn.finish) {
            (Some(failure), ..) => Outcome::Failed(failure.clone()),
            (None, false, _) => Outcome::Truncated,
            (None, true, Some(reason)) => Outcome::Answered(reason.clone()),
            (None, true, None) => Outcome::Incomplete,
        }
    }

    /// Whether the stream has ended as it should; what follows is ignored.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.turn.done
    }

    /// The id of the round that the last event belongs to: chunks of one round share theirs.
    #[must_use]
    pub fn round(&self) -> Option<&str> {
        self.turn.round.as_deref()
    }

    /// The reconnection time that the server sent, in milliseconds. A chat is a POST: there is
    /// nothing to reconnect to.
    #[must_use]
    pub fn retry(&self) -> Option<u64> {
        self.frames.retry()
    }
}

impl Turn {
    fn read(&mut self, data: &str, limit: usize) -> Result<(), EventError> {
        if self.done || data.is_empty() {
            return Ok(());
        }
        if data.starts_with("[DONE]") {
            self.calls.flush(&mut self.ready);
            self.done = true;
            self.ready.push_back(Event::Done);
            return Ok(());
        }
        match Frame::read(data)? {
            Frame::Other(json) => {
                self.ready.push_back(Event::Unknown(Unknown::Frame(json)));
            }
            Frame::Error(failure) => {
                if failure.is_terminal() && self.failure.is_none() {
                    self.failure = Some(failure.clone());
                }
                self.ready.push_back(Event::Error(failure));
            }
            Frame::Chunk(chunk) => {
                if let Some(id) = chunk.id.filter(|id| !id.is_empty()) {
                    self.enter(id);
                }
                for piece in chunk.pieces {
                    self.take(piece, limit)?;
                }
            }
        }
        Ok(())
    }

    /// A change of the chunks' id is all that separates the rounds.
    fn enter(&mut self, id: String) {
        if self.round.as_ref() == Some(&id) {
            return;
        }
        if self.round.replace(id).is_some() {
            self.calls.flush(&mut self.ready);
            // A `tool_calls` that the server forwards by mistake ends a round, not the answer.
            self.finish = None;
            self.ready.push_back(Event::RoundBreak);
        }
    }

    fn take(&mut self, piece: Piece, limit: usize) -> Result<(), EventError> {
        match piece {
            Piece::Text(text) => self.ready.push_back(Event::Text(text)),
            Piece::Refusal(text) => self.ready.push_back(Event::Refusal(text)),
            Piece::Call(call) => {
                if let Err(TooLarge) = self.calls.push(call, limit, &mut self.ready) {
                    return Err(EventError::Shape("a call that is larger than the limit"));
                }
            }
            Piece::Finish(reason) => {
                self.calls.flush(&mut self.ready);
                self.finish = Some(reason.clone());
                self.ready.push_back(Event::Finish(reason));
            }
        }
        Ok(())
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("round", &self.turn.round)
            .field("done", &self.turn.done)
            .finish_non_exhaustive()
    }
}
