//! AG-UI, the protocol of CopilotKit and other apps with `@ag-ui/client`.
//!
//! * Server: [`Router::mount`](crate::Router::mount) with a [`Mount`] serves an agent at `POST /agui`. An app calls it
//!   from its own server, or from the browser, in which case [`Cors`](crate::router::Cors) must allow its origin.
//! * Client: serialize a [`RunAgentInput`], and read the reply as [`Event`]s with an
//!   [`EventDecoder`](crate::protocol::EventDecoder).
//!
//! ```
//! use copilot_wire::ag_ui::{AgUi, Event, Message, RunAgentInput};
//! use copilot_wire::json::Wire as _;
//! use copilot_wire::protocol::EventDecoder;
//!
//! let input = RunAgentInput::new("thread-1", "run-1", [Message::user("u1", "Hello")]);
//! let body = input.to_json(); // to be posted to /agui
//! # drop(body);
//!
//! let mut decoder = EventDecoder::<AgUi>::new();
//! let mut text = String::new();
//! let mut input = &b"data: {\"type\":\"RUN_STARTED\",\"threadId\":\"thread-1\",\"runId\":\"run-1\"}\n\n\
//!     data: {\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m1\"}\n\n\
//!     data: {\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m1\",\"delta\":\"Hi\"}\n\n\
//!     data: {\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m1\"}\n\n\
//!     data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"thread-1\",\"runId\":\"run-1\"}\n\n"[..];
//! while let Some(event) = decoder.next(&mut input)? {
//!     match event {
//!         Event::TextMessageContent(piece) => text.push_str(&piece.delta),
//!         Event::RunError(error) => panic!("{}", error.message),
//!         _ => {}
//!     }
//! }
//! decoder.end()?;
//! assert_eq!(text, "Hi");
//! # Ok::<(), copilot_wire::protocol::EventError>(())
//! ```
//!
//! # How parts are sent
//!
//! | part | here |
//! |---|---|
//! | `text` | one message: `TEXT_MESSAGE_START`, `_CONTENT`, `_END` |
//! | `reasoning` | `REASONING_START`, `REASONING_MESSAGE_START`, `_CONTENT`, `_END`, `REASONING_END` |
//! | `status` | a step with this name, until the next status; level and details are its `metadata` |
//! | `tool_run` | `TOOL_CALL_START`, `_ARGS`, `_END` and `_RESULT`; the `metadata` of a failure is `{"failed":true}` |
//! | `cite` | at the end of the answer: a `CUSTOM` event named `citations`, and a Markdown list |
//! | `table` | `ACTIVITY_SNAPSHOT` of the type `table`, `{name, description, rows}`, and a Markdown table |
//! | `chart` | `ACTIVITY_SNAPSHOT` of the type `chart`, a table with `kind` and the names of its members, and a Markdown table |
//! | `usage` | `usage` of `RUN_FINISHED` |
//! | `error` | a paragraph of text; the run continues |
//! | `confirm` | a question in text, or with [`Mount::interrupts`] an interrupt |
//! | `calls` | calls of tools that the request offers |
//! | `cut` | a paragraph of text |
//!
//! A question in text is recognized by the id in its last line, which has passed through the client: if a yes can do
//! harm, use ids that are hard to guess, and let no model repeat them.
//!
//! Beyond parts, an agent for this protocol can read the [`state`](RunAgentInput::state) that it shares with the app
//! and send any [`Output`]: a [`StateSnapshot`] or [`StateDelta`], activities, [`Custom`] events, or the calls of tools
//! that it runs itself, in pieces. It can end with an [`Ending`]: calls, an [`Interrupt`], a result, or a [`RunError`].
//!
//! # Rules of the stream
//!
//! Every version of the client reads the same bytes. The session of a reply ensures these rules, whatever
//! an agent sends:
//!
//! 1. `RUN_STARTED` comes first, with the ids of the request.
//! 2. A piece belongs to an open message or call; messages are opened by their first piece.
//!    Everything open is closed before the run ends.
//! 3. Nothing follows `RUN_FINISHED` or `RUN_ERROR`.
//! 4. A failure is `RUN_ERROR`: clients accept a truncated stream as complete.
//! 5. No member is `null`, no piece is empty, lines end with LF, and no event is larger than 10 million
//!    bytes: clients reject all of these.
//! 6. Only events and members of version 0.0.59 are sent: it rejects unknown events, and `pendingToolCallIds` and
//!    `cancelled` in an outcome. Members that this crate does not know are omitted.
//!
//! `tests/interop/ag-ui/run` lets `@ag-ui/client` 0.0.59 and 1.0.0 read the same bytes.

mod check;
mod content;
mod conversation;
mod deltas;
mod event;
mod mount;
mod outcome;

mod payload;
mod request;
mod session;

pub use content::{Content, InputContent, Source};
pub use event::{Ending, Event, Output};
pub use mount::{Mount, Settings};
pub use outcome::{Interrupt, RunOutcome, TokenUsage};
pub use payload::{
    ActivityDelta, ActivitySnapshot, Custom, MessagesSnapshot, Raw, ReasoningEncryptedValue,
    ReasoningEnd, ReasoningMessageChunk, ReasoningMessageContent, ReasoningMessageEnd,
    ReasoningMessageStart, ReasoningStart, RunError, RunFinished, RunStarted, StateDelta,
    StateSnapshot, StepFinished, StepStarted, SubagentError, SubagentFinished, SubagentStarted,
    TextMessageChunk, TextMessageContent, TextMessageEnd, TextMessageStart, ToolCallArgs,
    ToolCallChunk, ToolCallEnd, ToolCallResult, ToolCallStart,
};
pub use request::{
    Context, FunctionCall, Message, ResumeEntry, ResumeStatus, RunAgentInput, Tool, ToolCall,
};
pub use session::Reply;

use std::borrow::Cow;

use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;

use crate::protocol::{
    AgentError, Capabilities, Delta, Env, Extras, FrameDecoder, FrameEvent as _, Protocol, Refusal,
    Session,
};

/// AG-UI over HTTP and server-sent events.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AgUi;

impl Protocol for AgUi {
    type Request = RunAgentInput;
    type Event = Event;
    type Settings = Settings;
    type Blocks = Reply;
    type Decoder = FrameDecoder<Event>;

    const NAME: &'static str = "ag-ui";
    const CAPABILITIES: Capabilities = Capabilities::STEPS
        .with(Capabilities::CALLS)
        .with(Capabilities::REASONING)
        .with(Capabilities::TOOL_RUNS);
    const EXTRAS: Extras<Self> = Extras {
        lost: |_, _, out| Event::from(RunError::new(AgentError::LOST)).write(out),
        ..Extras::NONE
    };

    fn read(_: &Parts, body: Bytes) -> Result<RunAgentInput, Refusal> {
        RunAgentInput::read(&body)
    }

    fn conversation_id<'a>(input: &'a RunAgentInput, _: &'a HeaderMap) -> Option<Cow<'a, str>> {
        let id = Some(&*input.thread_id).filter(|id| !id.is_empty());
        id.map(Cow::Borrowed)
    }

    fn deltas(event: &Self::Event, to: &mut dyn FnMut(Delta<'_>)) {
        deltas::deltas(event, to);
    }

    fn session(input: &RunAgentInput, settings: &Settings, env: &Env) -> Session<Reply> {
        session::session(input, *settings, env)
    }
}

/// The script that emulates the front end on the playground.
#[cfg(feature = "playground")]
pub(crate) const PLAYGROUND: &str = include_str!("playground.js");
