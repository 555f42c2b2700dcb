#![doc = include_str!("../README.md")]

mod connection;
mod editor;
mod event;
#[cfg(feature = "kit")]
mod kit;
mod lines;
mod prompt;
mod record;
mod reply;
mod server;
mod session;
mod sessions;
mod testing;
mod workspace;

pub use agent_client_protocol as sdk;
pub use editor::{Editor, EditorError};
pub use event::{Event, Question};
#[cfg(feature = "kit")]
pub use kit::{OnePrompt, Program};
pub use prompt::Prompt;
pub use reply::Updates;
pub use server::{Server, serve};
pub use testing::{EmulatedEditor, EmulatedTurn};
pub use workspace::Workspace;

use std::borrow::Cow;

use bytes::Bytes;
use copilot_wire::protocol::{
    Capabilities, Env, Extras, FrameDecoder, Framing, Protocol, Refusal, Session,
};
use http::HeaderMap;
use http::request::Parts;

/// The Agent Client Protocol, version 1.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Acp;

impl Protocol for Acp {
    type Request = Prompt;
    type Settings = ();
    type Event = Event;
    type Blocks = Updates;
    type Decoder = FrameDecoder<Event>;

    const NAME: &'static str = "acp";
    const CAPABILITIES: Capabilities = Capabilities::REASONING
        .with(Capabilities::STEPS)
        .with(Capabilities::QUESTIONS);
    const FRAMING: Framing = Framing::Lines;
    const EXTRAS: Extras<Self> = Extras {
        answered: |prompt| Some(prompt.answered()),
        ..Extras::NONE
    };

    /// Reads the message `session/prompt` as the first one of its session, whose editor cannot be asked anything. A
    /// [`Server`] knows the session and the editor.
    fn read(_: &Parts, body: Bytes) -> Result<Prompt, Refusal> {
        Prompt::read(&body)
    }

    fn conversation_id<'a>(prompt: &'a Prompt, _: &'a HeaderMap) -> Option<Cow<'a, str>> {
        Some(Cow::Borrowed(&prompt.session_id.0))
    }

    fn session(prompt: &Prompt, (): &(), env: &Env) -> Session<Updates> {
        reply::session(prompt, env)
    }
}
