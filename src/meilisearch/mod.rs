//! The protocol of Meilisearch chat: conversational search over the indexes of a workspace.
//!
//! The client sends a chat completion request, the server searches, and streams OpenAI chunks.
//! Three notifications, in the form of tool calls that have no result, report the searches; the
//! request switches them on ([`Tools`]). All rules are those of a Meilisearch 1.50 server, from
//! which its documentation differs in many places; decoding accepts both forms.
//!
//! **As a client**: an [`Instance`] creates the requests, which any HTTP client can send, an
//! [`EventDecoder`](crate::protocol::EventDecoder) reads the answer as typed [`Event`]s, and [`History`] stores the
//! messages for the next request, because the server stores none. A workspace is set up with plain HTTP requests, which
//! are in the [guide](crate::guide::meilisearch).
//!
//! ```
//! use copilot_wire::meilisearch::{ChatRequest, Event, History, Meilisearch, Message, Tools};
//! use copilot_wire::protocol::EventDecoder;
//!
//! # fn send(_: &[u8]) -> Vec<Vec<u8>> {
//! #     vec![b"data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Her.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n".to_vec()]
//! # }
//! let mut history = History::new();
//! history.push(Message::user("Which films are about robots?"));
//! let request = ChatRequest::new("gpt-4o-mini", history.messages()).tools(Tools::ALL);
//! let mut decoder = EventDecoder::<Meilisearch>::new();
//! for chunk in send(&request.to_json()) {
//!     let mut input = &*chunk;
//!     while let Some(event) = decoder.next(&mut input)? {
//!         history.apply(event);
//!         match event {
//!             Event::Text(text) => println!("{text}"),
//!             Event::Progress(progress) => println!("searching: {:?}", progress.search()),
//!             Event::Sources(sources) => println!("found {}", sources.iter().count()),
//!             _ => {}
//!         }
//!     }
//! }
//! assert!(decoder.decoder().outcome().is_answered());
//! # Ok::<(), copilot_wire::protocol::EventError>(())
//! ```
//!
//! **As a server**: a [`Mount`] mounts an agent. The parts of a reply become:
//!
//! | part | output |
//! |---|---|
//! | `text` | a chunk with content |
//! | `status`, `tool_run` | nothing: a progress notification must name a search |
//! | `reasoning`, `usage` | nothing: the server drops both |
//! | `cite` | a list of Markdown links at the end of the answer: a sources notification needs the id of a search |
//! | `table`, `chart` | a Markdown table |
//! | `error` | a paragraph of text: OpenAI's clients abort on every error frame |
//! | `confirm` | a question in text, which the next user message answers with its code |
//! | `call`, `calls` | not supported: the protocol has no functions of the client |
//! | `cut` | the finish reason `length` or `content_filter`, else a paragraph |
//!
//! All events of the protocol can be sent with [`Reply::send`](crate::Reply::send) and
//! [`Reply::end`](crate::Reply::end): [`Output`] and [`Ending`]. The bytes are those of the server,
//! except for the needs of OpenAI's clients: there is no frame with only `retry` (their Python
//! client fails on it), the opening chunk is sent immediately, comments are sent while the agent is
//! silent, and a finish reason is also sent where the server omits it. Notifications have the
//! server's member names; for clients that follow the documentation push `function_parameters` or
//! `documents` to the notification's `unknown` members.
//!
//! Appended messages contain the model's input, which can have attributes of documents that must
//! not be displayed.

mod api_error;
mod api_key;
mod append;
mod calls;
mod chunk;
mod decoder;
mod deltas;
mod event;
mod failure;
mod history;
mod instance;
mod instance_error;
mod message;
mod mount;
mod outcome;
mod progress;
mod protocol;
mod provider;
mod request;
mod round;
mod session;
mod sources;
mod tools;

pub use api_error::ApiError;
pub use api_key::ApiKey;
pub use append::Append;
pub use decoder::Decoder;
pub use event::{Ending, Event, Output, Unknown};
pub use failure::{SearchFailure, StreamError};
pub use history::History;
pub use instance::Instance;
pub use instance_error::InstanceError;
pub use message::{Message, ToolCall};
pub use mount::Mount;
pub use outcome::StreamOutcome;
pub use progress::{Search, SearchProgress};
pub use protocol::Meilisearch;
pub use provider::Provider;
pub use request::ChatRequest;
pub use session::Reply;
pub use sources::Sources;
pub use tools::Tools;

/// The playground's script for this front end.
#[cfg(feature = "playground")]
pub(crate) const PLAYGROUND: &str = include_str!("playground.js");
