//! The Responses protocol of OpenAI: used by Codex, and optionally by Copilot's command line, VS Code's custom
//! endpoints and the AI SDK. Servers answer at `POST /v1/responses`.
//!
//! * Server: [`Router::mount`](crate::Router::mount) mounts an agent as a [`Model`]. It answers at `POST
//!   /v1/responses`, with or without a stream, and is listed at `GET /v1/models`.
//! * Client: [`ResponsesRequest`] is written, and an [`EventDecoder`](crate::protocol::EventDecoder) reads the answer
//!   as [`Event`]s, which a [`Completion`](crate::protocol::Completion) assembles.
//! * Proxy: a [`Relay`] sends the answer of another server in a reply of any protocol, a
//!   [`Passthrough`](crate::models::Passthrough) as it came.
//!
//! ```
//! use copilot_wire::json::Wire as _;
//! use copilot_wire::protocol::{Completion, EventDecoder};
//! use copilot_wire::responses::{Responses, ResponsesRequest};
//!
//! let request = ResponsesRequest::new("gpt-5", "Hello").stream(true);
//! let body = request.to_json(); // to be posted to …/responses
//! # drop(body);
//!
//! let mut decoder = EventDecoder::<Responses>::new();
//! let mut answer = Completion::new();
//! for mut bytes in [
//!     &b"data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"Hi\"}\n\nda"[..],
//!     b"ta: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"status\":\"completed\"}}\n\n",
//! ] {
//!     while let Some(event) = decoder.next(&mut bytes)? {
//!         answer.push_event::<Responses>(event)?;
//!     }
//! }
//! decoder.end()?;
//! assert_eq!(answer.text(), "Hi");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How words are said
//!
//! | word | here |
//! |---|---|
//! | `text` | text of a message item, which remains open until another kind of item |
//! | `reasoning` | a reasoning item with the text as its summary, which remains open until another kind of item |
//! | `status`, `tool_run` | a reasoning item of its own, with the message and the details as its summary |
//! | `cite` | a `url_citation` if there is a web address, and a Markdown list of links at the end of the answer, because coding clients do not display annotations |
//! | `table`, `chart` | a Markdown table |
//! | `error` | a paragraph of text; the turn goes on |
//! | `confirm` | a question in text, which the next user message answers with its code |
//! | `usage` | the usage of the response |
//! | `call`, `calls` | `function_call` items, if the request offered the functions |
//! | `cut` | `response.incomplete` with the reason `max_output_tokens` or `content_filter`, else a paragraph |
//!
//! The answer is matched to its question by the id in the question's last line, which the client can change: use ids
//! that are hard to guess where a yes can do harm, and do not let a model repeat them.
//!
//! Besides these parts, an agent for this protocol sends a [`StreamEvent`] and ends with an [`Ending`].
//!
//! # What is written
//!
//! These rules satisfy all known readers: Codex, Copilot's command line, VS Code, both official
//! clients and the AI SDK. `copilot-wire-kit` has them as rules for other servers.
//!
//! 1. The name of an event equals the member `type` of its data; there are no `id` lines.
//! 2. `sequence_number` counts all events from 0 without gaps.
//! 3. `response.created` and `response.in_progress` come first, `response.completed` and `[DONE]` last. Codex repeats a
//!    turn whose stream ends without `response.completed`.
//! 4. Items are not interleaved. A message is one item until a call or reasoning interrupts it, because
//!    VS Code puts an empty line between the texts of two items, and Codex prints each apart.
//! 5. What was streamed is repeated by the `done` events and by the last event: Codex takes its text from the item, the
//!    official clients from the response. So the output is retained, up to 8 MiB; a larger reply fails.
//! 6. A response object has every member that the schema requires, and at its end the usage, with zeros if it is not
//!    known, because version 2 of the AI SDK's provider rejects an end whose usage has no numbers.
//! 7. Before the first output a failure has a status: the head [waits](crate::Router::first_output_timeout) for that.
//!    Later it is `response.failed`, with the code `invalid_prompt`, after which no client runs the
//!    turn again, or `server_error` if the agent said that it may be run again. A failed response of the background
//!    that is asked for as an object has its output so far, and the code `server_error`, which is what the schema
//!    calls a failure of the server: no client runs a turn again because of an object.
//! 8. While the agent is silent, `response.in_progress` is repeated: comments do not reset the idle timer of Codex.
//!
//! # Stored responses
//!
//! With [conversations](crate::Router::conversations) a response is stored unless the request says `store: false`, and
//! so are its items: a request may continue it by `previous_response_id`, and replace each stored item by an
//! `item_reference`, from any number of responses. `GET /v1/responses/{id}` returns it, `DELETE` deletes it, and `GET
//! /v1/responses/{id}/input_items` lists the new items of its request. As at the official service neither
//! `instructions` nor `tools` carry over to the next request. A request with `conversation` continues a conversation
//! with an id of its own, and is added to it. Conversations are created and changed with the routes below
//! `/v1/conversations`; the [guide](crate::guide::responses#conversations-by-id) describes branches.
//!
//! Without a store, and where a response is unknown, has expired or is another user's, a request that continues it is
//! refused with status 400 and the code `previous_response_not_found`, after which VS Code sends the turn again with
//! the whole history. On a router with [resumable replies](crate::Router) a response of the `background` is found at
//! `GET /v1/responses/{id}` while it runs, and for some minutes. Tools that are not functions, and items of unknown
//! kinds, are retained and ignored.
//!
//! # Checked with the clients
//!
//! `tests/interop/responses/run` lets `openai` 7.57.0 for Node and 3.54.0 for Python, and `ai` 7.0.173 with
//! `@ai-sdk/openai` 4.0.118, read replies of this crate, with the retries that they have by default:
//!
//! | situation | Node | Python | AI SDK |
//! |---|---|---|---|
//! | text, with everything that text can hold: events, helper, whole | yes | yes | yes |
//! | reasoning, sources, usage | yes | yes | yes |
//! | keep-alive events | yes | yes | yes |
//! | a tool call, several calls; there and back | yes | yes | yes |
//! | three turns by id with a tool, at the defaults of the client; stored responses | yes | yes | yes, by references |
//! | an incomplete answer; a sentence for one that says nothing | yes | yes | yes |
//! | a wanted schema, with `parse` | yes | yes | yes |
//! | failure on the way, at once, and without `stream`: the agent runs once | yes | yes | yes |
//! | failure that may be run again: without `stream` three runs | yes | yes | yes, streams as well |
//! | a relayed stream, whole and cut | yes | yes | yes |
//! | a question and its answer | yes | yes | yes |
//! | the list of models; an unknown model, a stored response | yes | yes | yes, but it reads no list |
//! | a client that leaves | yes | yes | yes |
//!
//! Codex 0.169.0 and Copilot's command line 1.0.102 were run against the same server on 2026-11-22: both show
//! text and failures, run a failing agent once, and run a call and send its result; Codex shows reasoning,
//! and stays with an idle clock of 70 ms through pauses of 100 ms that are broken every 20 ms.

mod block;
mod compact;
mod content;
mod conversation;
mod conversations;
mod decoder;
mod documents;
mod error;
mod event;
mod from_conversation;
mod item;
mod lost;
mod mount;
mod profile;
mod relay;
mod request;
mod response;
mod retrieve;
mod routes;
mod session;
mod socket;
#[cfg(feature = "resumable")]
mod stored;
mod stored_turn;
mod tool;

pub use content::{Annotation, Content, ContentPart};
pub use decoder::Decoder;
pub use error::ErrorObject;
pub use event::{Ending, Event, EventKind, StreamEvent};
pub use item::Item;
pub use mount::Model;
pub use relay::Relay;
pub use request::{Input, ResponsesRequest};
pub use response::{IncompleteDetails, InputTokensDetails, OutputTokensDetails, Response, Usage};
pub use session::Reply;
pub use stored_turn::Storage;
pub use tool::Tool;

use std::borrow::Cow;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};

use crate::conversations::UserConversations;
use crate::protocol::{Capabilities, Delta, Env, Extras, Protocol, Refusal, Resumption, Session};

/// The Responses protocol of OpenAI.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Responses;

impl Protocol for Responses {
    type Request = ResponsesRequest;
    type Event = Event;
    type Settings = Storage;
    type Blocks = Reply;
    type Decoder = Decoder;

    const NAME: &'static str = "responses";
    const CAPABILITIES: Capabilities = Capabilities::STEPS
        .with(Capabilities::CALLS)
        .with(Capabilities::REASONING)
        .with(Capabilities::TOOL_RUNS);
    const EXTRAS: Extras<Self> = Extras {
        awaits_output: true,
        is_stream: ResponsesRequest::is_stream,
        // A background request is answered with the response that has begun, and the client asks for the rest by its
        // id.
        resumption: |request| match request.is_background() {
            true => Resumption::Required,
            false => Resumption::Never,
        },
        lost: lost::lost,
        ..Extras::NONE
    };

    fn read(parts: &Parts, body: Bytes) -> Result<ResponsesRequest, Refusal> {
        let has_store = parts.extensions.get::<UserConversations>().is_some();
        ResponsesRequest::read(&body, has_store)
    }

    fn conversation_id<'a>(
        request: &'a ResponsesRequest,
        _: &'a HeaderMap,
    ) -> Option<Cow<'a, str>> {
        request.conversation_id()
    }

    fn deltas(event: &Self::Event, to: &mut dyn FnMut(Delta<'_>)) {
        relay::deltas(event, to);
    }

    fn session(request: &ResponsesRequest, storage: &Storage, env: &Env) -> Session<Reply> {
        session::session(request, storage, env)
    }

    fn refuse(refusal: &Refusal) -> http::Response<Bytes> {
        refusal.to_response(
            HeaderValue::from_static("application/json"),
            ErrorObject::refusal(refusal).to_body(),
        )
    }
}

/// The script that emulates the front end on the playground.
#[cfg(feature = "playground")]
pub(crate) const PLAYGROUND: &str = include_str!("playground.js");
