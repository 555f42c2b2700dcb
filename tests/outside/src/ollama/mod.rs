//! The chat of Ollama, `POST /api/chat`: a protocol whose streams are lines of JSON.
//!
//! | part | becomes |
//! |---|---|
//! | text | a line with `message.content` |
//! | reasoning | a line with `message.thinking`, unless the request has `think: false` |
//! | calls | a line with `message.tool_calls` |
//! | usage | `prompt_eval_count` and `eval_count` of the last line |
//! | sources, tables, charts, errors that the turn survives, questions | text |
//! | steps and tool runs | nothing |
//! | the end | a line with `done`, `done_reason` and `total_duration` |
//! | a failure | a status with `{"error": "…"}`, or after the first output a line of the same form |
//!
//! Without a stream the answer is one line, with all pieces.

mod event;
mod front_end;
mod mount;
mod request;
mod session;

pub use event::{DoneReason, Event};
pub use front_end::OllamaClient;
pub use mount::Model;
pub use request::{ChatMessage, ChatRequest, Function, OfferedTool, ToolUse};
pub use session::Lines;

use bytes::Bytes;
use copilot_wire::protocol::{
    Capabilities, Env, Extras, FrameDecoder, Framing, Protocol, Refusal, Session,
};
use http::request::Parts;
use http::{HeaderValue, Response};

/// Plays Ollama's clients on the playground.
pub const OLLAMA_PLAYGROUND: &str = include_str!("playground.js");

/// The protocol of Ollama.
#[derive(Debug)]
pub struct Ollama;

impl Protocol for Ollama {
    type Request = ChatRequest;
    type Settings = ();
    type Event = Event;
    type Blocks = Lines;
    type Decoder = FrameDecoder<Event>;

    const NAME: &'static str = "ollama";
    const CAPABILITIES: Capabilities = Capabilities::REASONING.with(Capabilities::CALLS);
    const FRAMING: Framing = Framing::Lines;
    const EXTRAS: Extras<Self> = Extras {
        awaits_output: true,
        is_stream: |request| request.stream != Some(false),
        ..Extras::NONE
    };

    fn read(_: &Parts, body: Bytes) -> Result<ChatRequest, Refusal> {
        let mut request = ChatRequest::from_json(body)?;
        if let Some(name) = request.model.strip_suffix(":latest") {
            request.model = name.to_owned();
        }
        Ok(request)
    }

    fn session(request: &ChatRequest, (): &(), env: &Env) -> Session<Lines> {
        session::session(request, env)
    }

    fn refuse(refusal: &Refusal) -> Response<Bytes> {
        let kind = HeaderValue::from_static("application/json");
        refusal.to_response(kind, Event::failed(refusal.to_string()).to_json())
    }
}
