//! Decoding of frames to events, for clients.
//!
//! The decoder is not a [`FrameDecoder`](crate::protocol::FrameDecoder): a frame can have several events, and some
//! events span several frames.

use crate::protocol::{Decode, EventError, Events, TextMember};
use crate::sse;

use super::calls::Calls;
use super::chunk::{Frame, Piece};
use super::round::Round;
use super::{Event, Provider, StreamError, StreamOutcome, Unknown};
use crate::openai::FinishReason;

/// A decoder of the server's stream, for an [`EventDecoder`](crate::protocol::EventDecoder).
///
/// Notifications are returned as soon as they are complete. Besides the form that servers send, the
/// fragments and the member names of the documentation are accepted.
///
/// ```
/// use copilot_wire::meilisearch::{Event, Meilisearch, StreamOutcome};
/// use copilot_wire::openai::FinishReason;
/// use copilot_wire::protocol::EventDecoder;
///
/// let mut decoder = EventDecoder::<Meilisearch>::new();
/// let mut text = String::new();
/// for mut chunk in [
///     &b"retry: 10000\n\ndata: {\"id\":\"1\",\"choices\":[{\"delta\":{\"content\":\"Hel"[..],
///     b"lo\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
/// ] {
///     while let Some(event) = decoder.next(&mut chunk)? {
///         if let Event::Text(piece) = event {
///             text.push_str(piece);
///         }
///     }
/// }
/// assert_eq!(text, "Hello");
/// assert_eq!(decoder.decoder().outcome(), StreamOutcome::Answered(FinishReason::Stop));
/// # Ok::<(), copilot_wire::protocol::EventError>(())
/// ```
pub struct Decoder {
    limit: usize,
    calls: Calls,
    round: Round,
    /// The last statements of the provider.
    provider: Provider,
    finish: Option<FinishReason>,
    /// Set after the finish reason `tool_calls`, which the server forwards by mistake at the end of
    /// a round. The next frame shows if it ended a round or the answer.
    undecided: bool,
    failure: Option<StreamError>,
    done: bool,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            limit: Self::LIMIT,
            calls: Calls::default(),
            round: Round::default(),
            provider: Provider::default(),
            finish: None,
            undecided: false,
            failure: None,
            done: false,
        }
    }
}

impl Decode for Decoder {
    type Event = Event;

    /// The default limit, 16 MiB: the documents of a search are in one event.
    const LIMIT: usize = 16 * 1024 * 1024;

    fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Event>,
    ) -> Result<(), EventError> {
        let data = frame.data();
        // Frames with empty data are skipped, as in OpenAI's clients: servers first send a frame with only `retry`.
        if self.done || data.is_empty() {
            return Ok(());
        }
        if data.starts_with("[DONE]") {
            self.calls.flush(events);
            self.decide(events);
            self.done = true;
            events.push(Event::Done);
            return Ok(());
        }
        match Frame::read(data)? {
            Frame::Other(json) => events.push(Event::Unknown(Unknown::Frame(json))),
            Frame::Error(failure) => {
                // The first terminal error is the cause; later ones are its consequences.
                if failure.is_terminal() && self.failure.is_none() {
                    self.failure = Some(failure.clone());
                }
                self.round.has_search |= !failure.is_terminal();
                events.push(Event::Error(failure));
            }
            Frame::Chunk(mut chunk) => {
                if self.round.add(&mut chunk) {
                    self.break_round(events);
                }
                if self.provider != chunk.provider {
                    self.provider = chunk.provider;
                    events.push(Event::Provider(self.provider.clone()));
                }
                for piece in chunk.pieces {
                    self.take(piece, events)?;
                }
            }
        }
        Ok(())
    }

    fn text(event: &mut Event) -> Option<TextMember<'_>> {
        let Event::Text(text) = event else {
            return None;
        };
        Some(TextMember::new(text, &["choices", "delta", "content"]))
    }

    fn end(&mut self, events: &mut Events<Event>) -> Result<(), EventError> {
        self.decide(events);
        if self.done {
            Ok(())
        } else {
            Err(EventError::Truncated("the stream ended without [DONE]"))
        }
    }
}

impl Decoder {
    /// Returns the outcome of the stream, after its body has ended.
    pub fn outcome(&self) -> StreamOutcome {
        match (&self.failure, self.done, &self.finish) {
            // A failure takes precedence: `[DONE]` follows errors too, and an error can even follow the finish reason.
            (Some(failure), ..) => StreamOutcome::Failed(failure.clone()),
            (None, false, _) => StreamOutcome::Truncated,
            (None, true, Some(reason)) => StreamOutcome::Answered(reason.clone()),
            (None, true, None) => StreamOutcome::Incomplete,
        }
    }

    /// Returns `true` if the stream ended regularly; everything after that is ignored.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Returns the id of the round of the last event: all chunks of a round have the same id.
    pub fn round(&self) -> Option<&str> {
        self.round.id()
    }

    /// Ends the previous round, and starts the next one.
    fn break_round(&mut self, events: &mut Events<Event>) {
        // The previous round is over: its calls get no more fragments, and its finish reason was not
        // that of the answer.
        self.calls.flush(events);
        self.finish = None;
        self.undecided = false;
        events.push(Event::RoundBreak);
    }

    fn take(&mut self, piece: Piece, events: &mut Events<Event>) -> Result<(), EventError> {
        match piece {
            Piece::Text(text) => events.push(Event::Text(text)),
            Piece::Refusal(text) => events.push(Event::Refusal(text)),
            Piece::Logprobs(logprobs) => events.push(Event::Logprobs(logprobs)),
            Piece::Call(call) => {
                if self.calls.push(call, self.limit, events).is_err() {
                    return Err(EventError::Invalid("a call must not exceed the limit"));
                }
            }
            Piece::Finish(reason) => {
                self.calls.flush(events);
                // After `tool_calls` the server usually starts another round.
                self.undecided = reason == FinishReason::ToolCalls;
                self.finish = Some(reason.clone());
                if !self.undecided {
                    events.push(Event::Finish(reason));
                }
            }
        }
        Ok(())
    }

    /// Treats the undecided finish reason as the end of the answer.
    fn decide(&mut self, events: &mut Events<Event>) {
        if std::mem::take(&mut self.undecided) {
            events.extend(self.finish.clone().map(Event::Finish));
        }
    }
}

opaque_debug!(Decoder);
