//! The protocol of GitHub Copilot Extensions: agents and skillsets of a GitHub App.
//!
//! **GitHub switched these extensions off on 10 November 2025.** No new agent can be put behind
//! github.com, VS Code's `@agent` or any other of GitHub's clients with this protocol, whatever
//! tutorials of later date say; GitHub names MCP servers as the replacement.
//!
//! What it is good for today: code bases and private front ends that speak it, among them
//! `gh debug-cli`, still the only public end-to-end client; and its default event, which is the
//! OpenAI chunk stream and very much alive: a reply in full chunks ([`ChunkForm::Full`]) is read by
//! OpenAI clients as long as it has text only. An agent that is meant for such clients is better
//! mounted under the OpenAI protocol.
//!
//! How the shared vocabulary comes out here:
//!
//! | word | event |
//! |---|---|
//! | text | a text event |
//! | status | nothing: there is no event for progress |
//! | cite | one `copilot_references` event at the end with all citations; Markdown links when another `copilot_*` event ends the turn |
//! | table, chart | a Markdown table |
//! | error | one `copilot_errors` event at the end with all notices; text before a confirmation |
//! | confirm | `copilot_confirmation`, then done |
//! | call | an error: the front end offers no tools |
//!
//! A reply starts with the acknowledgement, at once, and ends with the done event, once. Builders of
//! agents reported that VS Code shows an "internal agent error" when a reply takes more than 60
//! seconds in total, however much is said in the meantime: keep turns shorter than that. The rules
//! of events are those of GitHub's own SDK, to the byte.
//!
//! "The SDK" in these pages is `@copilot-extensions/preview-sdk` 5.0.1, run under Node.js;
//! `gh debug-cli` is copilot-extensions/gh-debug-cli, "VS Code" is microsoft/vscode-copilot-chat
//! (`remoteAgents.ts`, `stream.ts`) and copilot-go is colbylwilliams/copilot-go, all by their source;
//! "recorded" is a genuine request of August 2024. `#` and a number is an issue of the repository
//! that is named.

mod answer;
mod caller;
mod chunk;
mod chunk_form;
mod confirmation;
mod context;
mod conversation;
mod copilot_error;
mod data;
mod event;
mod fields;
mod message;
mod mount;
mod place;
mod reference;
mod relay;
mod request;
mod session;
mod session_info;
mod skill;
#[cfg(feature = "testing")]
pub mod testing;
mod verified;
#[cfg(feature = "verify")]
pub mod verify;

pub use answer::Answer;
pub use caller::{Token, integration_id};
pub use chunk::Chunk;
pub use chunk_form::ChunkForm;
pub use confirmation::Confirmation;
pub use context::{Context, EditorContext, Why, Withheld};
pub use copilot_error::{CopilotError, ErrorKind};
pub use data::{
    AgentProfile, ClientFile, ClientSelection, Data, Exclusion, Position, Repository,
    RepositoryFile,
};
pub use event::{Event, Raw, Say};
pub use message::{Content, FunctionCall, Message};
pub use mount::Mount;
pub use place::{Page, Place};
pub use reference::{Metadata, Reference};
pub use relay::Relay;
pub use request::{ChatRequest, Sampling};
pub use session::Session;
pub use session_info::SessionInfo;
pub use skill::{Skill, SkillCall, SkillReply};
pub use verified::Verified;

use std::borrow::Cow;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, StatusCode};

use crate::json::{Escape, escape};
use crate::protocol::{Env, EventError, Protocol, Refusal, SendError, TextFrame, Word};
use crate::sse;

/// GitHub Copilot Extensions.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GitHub;

impl Protocol for GitHub {
    type Request = ChatRequest;
    type Say = Say;
    type Ending = Confirmation;
    type Event = Event;
    type Session = Session;

    const NAME: &'static str = "github";

    fn read(parts: &Parts, body: Bytes) -> Result<ChatRequest, Refusal> {
        if body.is_empty() {
            let message = "the request body is empty";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, message));
        }
        let mut request = ChatRequest::parse(&body)?;
        if request.messages.is_empty() {
            let refusal = Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "must not be empty");
            return Err(refusal.at("messages"));
        }
        request.chunks = parts
            .extensions
            .get::<ChunkForm>()
            .copied()
            .unwrap_or_default();
        Ok(request)
    }

    fn conversation_id<'a>(request: &'a ChatRequest, _: &'a HeaderMap) -> Option<Cow<'a, str>> {
        request.thread_id.as_deref().map(Cow::Borrowed)
    }

    fn session(request: &ChatRequest, env: &Env) -> Session {
        Session::new(request, env)
    }

    fn open(session: &mut Session, out: &mut Vec<u8>) {
        session.acknowledge(out);
    }

    /// There is no event for this; an empty text event is the only harmless filler
    /// (copilot-extensions/user-feedback#4 asked for one).
    fn keep_alive(session: &Session, out: &mut Vec<u8>) {
        session.keep_alive(out);
    }

    fn text_frame(session: &Session) -> TextFrame {
        session.frame().clone()
    }

    /// The bytes of `JSON.stringify`: U+2028 and U+2029 stay as they are.
    fn text(frame: &TextFrame, text: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(&frame.head);
        escape(text, Escape::Json, out);
        out.extend_from_slice(&frame.tail);
    }

    fn word(session: &mut Session, word: Word<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        session.word(word, out)
    }

    fn encode(session: &mut Session, event: &Event, out: &mut Vec<u8>) -> Result<(), SendError> {
        session.encode(event, out)
    }

    fn ends(event: &Event) -> bool {
        matches!(event, Event::Confirmation(_) | Event::Finish | Event::Done)
    }

    fn finish(session: &mut Session, out: &mut Vec<u8>) {
        session.finish(out);
    }

    fn fail(session: &mut Session, message: &str, out: &mut Vec<u8>) {
        session.fail(message, out);
    }

    fn decode(event: &sse::Event<'_>) -> Result<Event, EventError> {
        Event::decode(event)
    }
}
