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
//! | status, tool_run | nothing: there is no event for progress |
//! | reasoning, usage | nothing: there is no event for either |
//! | cite | one `copilot_references` event at the end with all citations; Markdown links when another `copilot_*` event ends the turn |
//! | table, chart | a Markdown table |
//! | error | one `copilot_errors` event at the end with all notices; text before a confirmation |
//! | confirm | `copilot_confirmation`, then done |
//! | call, calls | an error: the front end offers no tools |
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
    AgentProfile, ClientFile, ClientSelection, Data, Exclusion, Language, LineRange, Position,
    RefInfo, Repository, RepositoryFile,
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

use crate::json::model::Field;
use crate::protocol::{Capabilities, Decode, Env, EventError, Events, Protocol, Refusal};
use crate::sse;

/// GitHub Copilot Extensions.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GitHub;

impl Protocol for GitHub {
    type Request = ChatRequest;
    type Output = Say;
    type Ending = Confirmation;
    type Event = Event;
    type Session = Session;
    type Decoder = Decoder;

    const NAME: &'static str = "github";
    const CAPABILITIES: Capabilities = Capabilities::CITATIONS
        .and(Capabilities::ERRORS)
        .and(Capabilities::QUESTIONS);

    fn read(_: &Parts, body: Bytes) -> Result<ChatRequest, Refusal> {
        if body.is_empty() {
            let message = "the request body is empty";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, message));
        }
        let request = <ChatRequest as Field>::parse(&body)?;
        if request.messages.is_empty() {
            let refusal = Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "must not be empty");
            return Err(refusal.at("messages"));
        }
        Ok(request)
    }

    fn conversation_id<'a>(request: &'a ChatRequest, _: &'a HeaderMap) -> Option<Cow<'a, str>> {
        request.thread_id.as_deref().map(Cow::Borrowed)
    }

    fn session(request: &ChatRequest, env: &Env) -> Session {
        Session::new(request, env)
    }

    fn ends(event: &Event) -> bool {
        matches!(event, Event::Confirmation(_))
    }

    fn text_of(event: &Event) -> Option<&str> {
        match event {
            Event::Say(Say::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// Reads the events of one stream.
#[derive(Debug, Default)]
pub struct Decoder {
    done: bool,
}

impl Decoder {
    /// Returns `true` if the stream has come to its end, `[DONE]`.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done
    }
}

impl Decode for Decoder {
    type Event = Event;

    /// Nothing is retained between frames.
    fn new(_: usize) -> Self {
        Self::default()
    }

    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Event>,
    ) -> Result<(), EventError> {
        let event = Event::decode(frame)?;
        self.done |= event == Event::Done;
        events.push(event);
        Ok(())
    }

    fn end(&mut self, _: &mut Events<Event>) -> Result<(), EventError> {
        if self.done {
            Ok(())
        } else {
            Err(EventError::Truncated("the stream ended without [DONE]"))
        }
    }
}

/// Plays the front end on the playground.
#[cfg(feature = "playground")]
pub(crate) const PLAYGROUND: &str = include_str!("playground.js");
