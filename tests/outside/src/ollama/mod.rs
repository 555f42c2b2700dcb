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
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{
    CallDelta, Capabilities, Delta, Env, Extras, Failure, FrameDecoder, Framing, Native,
    NativeForm, Part, Protocol, Refusal, Session, Usage,
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

    fn deltas(event: &Event, to: &mut dyn FnMut(Delta<'_>)) {
        if let Some(error) = &event.error {
            return to(Delta::Failed(Failure::new(error)));
        }
        let message = &event.message;
        to(Delta::Model(&event.model));
        to(Delta::Part(Part::Reasoning(&message.thinking)));
        to(Delta::Text(&message.content));
        for (key, call) in (0..).zip(&message.tool_calls) {
            let id = call.id.as_deref().unwrap_or_default();
            let arguments = call.function.arguments.as_ref();
            let arguments = arguments.map_or("{}", |arguments| arguments.text());
            let call = CallDelta::new(key, id, &call.function.name, arguments);
            to(Delta::Call(call));
        }
        if event.done == Some(true) {
            if let Some(output) = event.eval_count {
                let input = event.prompt_eval_count.unwrap_or_default();
                to(Delta::Part(Part::Usage(&Usage::new(input, output))));
            }
            // All lines have these members; those of the last one are of the whole answer.
            let line = || event.to_raw();
            let members = Native::of_answer(NativeForm::Latest, &line);
            to(Delta::Native(members));
            to(Delta::Finished { needs_end: false });
            to(Delta::End);
        }
    }

    fn refuse(refusal: &Refusal) -> Response<Bytes> {
        let kind = HeaderValue::from_static("application/json");
        refusal.to_response(kind, Event::failed(refusal.to_string()).to_json())
    }
}
