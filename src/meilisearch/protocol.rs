//! The protocol as the rest of the crate sees it.

use std::borrow::Cow;

use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;

use crate::protocol::{Env, EventError, Protocol, Refusal, SendError, TextFrame, Word, markdown};
use crate::sse;

use super::session::write_text;
use super::{ApiError, ChatRequest, Decoder, Event, Failure, FinishReason, Session};

/// Meilisearch chat.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Meilisearch;

impl Protocol for Meilisearch {
    type Request = ChatRequest;
    type Say = super::Say;
    type Ending = super::Ending;
    type Event = Event;
    type Session = Session;

    const NAME: &'static str = "meilisearch";

    fn read(_: &Parts, body: Bytes) -> Result<ChatRequest, Refusal> {
        Ok(ChatRequest::read(&body)?)
    }

    /// The protocol has none: the request carries the whole conversation.
    fn conversation_id<'a>(_: &'a ChatRequest, _: &'a HeaderMap) -> Option<Cow<'a, str>> {
        None
    }

    fn session(request: &ChatRequest, env: &Env) -> Session {
        Session::new(request, env)
    }

    fn open(session: &mut Session, out: &mut Vec<u8>) {
        session.open(out);
    }

    fn text_frame(session: &Session) -> TextFrame {
        session.frame().clone()
    }

    fn text(frame: &TextFrame, text: &str, out: &mut Vec<u8>) {
        write_text(frame, text, out);
    }

    fn word(session: &mut Session, word: Word<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        match word {
            Word::Cite(citation) => session.cite(citation),
            Word::Table(table) => session.text(&markdown::table(table), out),
            Word::Chart(chart) => session.text(&markdown::table(&chart.to_table()), out),
            // As text: the readers that most clients are built on, OpenAI's, abort on every error frame.
            Word::Error(notice) => session.text(&markdown::notice(notice), out),
            Word::Confirm(confirmation) => {
                // The question must be the last thing that is said.
                session.sources_text(out);
                session.text(&markdown::question(confirmation), out);
            }
            Word::Call(_) => return Err(SendError::Unsupported("calls")),
            // A notification is about a search; a step of another kind would be a false one.
            Word::Status(_) => {}
        }
        Ok(())
    }

    fn encode(session: &mut Session, event: &Event, out: &mut Vec<u8>) -> Result<(), SendError> {
        match event {
            Event::Text(text) => session.text(text, out),
            Event::Refusal(text) => session.refusal(text, out),
            Event::Progress(progress) => session.progress(progress, out),
            Event::Append(append) => session.append(append, out),
            Event::Sources(sources) => session.sources(sources, out),
            Event::Error(failure) => session.error(failure, out),
            Event::RoundBreak => session.round_break(out),
            Event::Finish(reason) => session.finish(reason, out),
            Event::Done => session.done(out),
            Event::Unknown(_) => return Err(SendError::Unsupported("events that are not known")),
        }
        Ok(())
    }

    fn ends(event: &Event) -> bool {
        match event {
            Event::Finish(_) | Event::Done => true,
            Event::Error(failure) => failure.is_terminal(),
            _ => false,
        }
    }

    fn finish(session: &mut Session, out: &mut Vec<u8>) {
        session.finish(&FinishReason::Stop, out);
        session.done(out);
    }

    fn fail(session: &mut Session, message: &str, out: &mut Vec<u8>) {
        session.error(&Failure::new("server_error", message), out);
        session.done(out);
    }

    /// One frame is mostly one event. One that is several, which only other servers send, comes
    /// back as [`Unknown::Frame`](super::Unknown::Frame): [`Decoder`] reads whole streams, and those too.
    fn decode(event: &sse::Event<'_>) -> Result<Event, EventError> {
        Decoder::frame(event.data())
    }

    fn refuse(refusal: &Refusal) -> Vec<u8> {
        ApiError::from_refusal(refusal).to_json()
    }
}
