//! The protocol of GitHub Copilot Extensions: agents and skillsets of a GitHub App.
//!
//! **GitHub switched these extensions off on 10 November 2025.** Agents with this protocol can no
//! longer be used on github.com, as VS Code's `@agent` or in any other of GitHub's clients; GitHub
//! recommends MCP servers instead.
//!
//! It is still useful for existing code bases and private front ends, among them `gh debug-cli`,
//! the only public end-to-end client. Its default event is OpenAI's chunk: OpenAI clients can read
//! a reply in full chunks ([`ChunkForm::Full`]) that has only text. For such clients the OpenAI
//! protocol is the better choice.
//!
//! The parts of a reply become these events:
//!
//! | part | event |
//! |---|---|
//! | text | a text event |
//! | status, tool_run | nothing: there is no event for progress |
//! | reasoning, usage | nothing: there is no event for either |
//! | cite | one `copilot_references` event at the end with all citations; Markdown links when another `copilot_*` event ends the turn |
//! | table, chart | a Markdown table |
//! | error | one `copilot_errors` event at the end with all notices; text before a confirmation |
//! | confirm | `copilot_confirmation`, then done |
//! | call, calls | an error: the front end has no tools |
//! | cut | as an error |
//!
//! A reply is one text, and the events for the other parts are chosen at its end.
//!
//! A reply starts with the acknowledgement, immediately, and ends with one done event. Agent
//! developers reported that VS Code displays an "internal agent error" if a reply takes more than
//! 60 seconds in total, even if it streams: keep turns shorter. Events are written byte for byte as
//! GitHub's own SDK writes them.
//!
//! In this module "the SDK" is `@copilot-extensions/preview-sdk` 5.0.1 under Node.js;
//! `gh debug-cli` is copilot-extensions/gh-debug-cli, "VS Code" is microsoft/vscode-copilot-chat
//! (`remoteAgents.ts`, `stream.ts`), and copilot-go is colbylwilliams/copilot-go, all as read in
//! their sources. "Recorded" means a real request of August 2024. `#` and a number is an issue of
//! the named repository.

mod caller;
mod chunk;
mod chunk_form;
mod confirmation;
mod context;
mod conversation;
mod copilot_error;
mod data;
mod decision;
mod deltas;
mod event;
mod message;
mod mount;
mod reference;
mod request;
mod session;
mod session_info;
mod skill;
mod verified;
#[cfg(feature = "verify")]
pub mod verify;

pub use caller::{Token, integration_id};
pub use chunk::Chunk;
pub use chunk_form::ChunkForm;
pub use confirmation::Confirmation;
pub use context::{Context, EditorContext, Withheld, WithheldReason};
pub use copilot_error::{CopilotError, ErrorKind};
pub use data::{
    AgentProfile, ClientFile, ClientSelection, Exclusion, Language, LineRange, Position, RefInfo,
    ReferenceData, Repository, RepositoryFile,
};
pub use decision::ConfirmationDecision;
pub use event::{Event, Output, UnknownEvent};
pub use message::{Content, FunctionCall, Message};
pub use mount::Mount;
pub use reference::{Metadata, Reference};
pub use request::{ChatRequest, Sampling};
pub use session::Reply;
pub use session_info::SessionInfo;
pub use skill::{Skill, SkillCall, SkillReply};
pub use verified::Verified;

use crate::json::{Kind, Wire};
use std::borrow::Cow;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, StatusCode};

use crate::protocol::{
    Capabilities, Decode, Delta, Env, EventError, Events, Extras, Protocol, Refusal, Session,
    TextMember,
};
use crate::sse;

/// The protocol of GitHub Copilot Extensions.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GitHub;

impl Protocol for GitHub {
    type Request = ChatRequest;
    type Event = Event;
    type Settings = ChunkForm;
    type Blocks = Reply;
    type Decoder = Decoder;

    const NAME: &'static str = "github";
    const CAPABILITIES: Capabilities = Capabilities::CITATIONS
        .with(Capabilities::ERRORS)
        .with(Capabilities::QUESTIONS);
    const EXTRAS: Extras<Self> = Extras {
        lost: |_, _, out| session::lost(out),
        ..Extras::NONE
    };

    fn read(_: &Parts, body: Bytes) -> Result<ChatRequest, Refusal> {
        // A JSON parser would only report a syntax error at offset 0.
        if body.is_empty() {
            let message = "the request body is empty";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, message));
        }
        let request = <ChatRequest as Wire>::parse(&body)?;
        if request.messages.is_empty() {
            let refusal = Refusal::required("messages", Kind::Array, &request.unknown);
            return Err(refusal.at_list("messages", &request.messages));
        }
        Ok(request)
    }

    fn conversation_id<'a>(request: &'a ChatRequest, _: &'a HeaderMap) -> Option<Cow<'a, str>> {
        request.thread_id.as_deref().map(Cow::Borrowed)
    }

    fn deltas(event: &Self::Event, to: &mut dyn FnMut(Delta<'_>)) {
        deltas::deltas(event, to);
    }

    fn session(request: &ChatRequest, chunks: &ChunkForm, env: &Env) -> Session<Reply> {
        session::session(request, *chunks, env)
    }
}

/// A decoder of events.
///
/// The decoder is not a [`FrameDecoder`](crate::protocol::FrameDecoder): the name of the frame determines the type of
/// an event, and the data has none.
#[derive(Debug, Default)]
pub struct Decoder {
    done: bool,
}

impl Decode for Decoder {
    type Event = Event;

    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Event>,
    ) -> Result<(), EventError> {
        let event = Event::decode(frame)?;
        // Later events are decoded too: a relayed stream has two endings, and readers stop at the
        // first one.
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

    fn text(event: &mut Event) -> Option<TextMember<'_>> {
        match event {
            Event::Output(Output::Text(text)) => {
                Some(TextMember::new(text, &["choices", "delta", "content"]))
            }
            _ => None,
        }
    }
}

/// The playground's script for this front end.
#[cfg(feature = "playground")]
pub(crate) const PLAYGROUND: &str = include_str!("playground.js");
