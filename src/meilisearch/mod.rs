//! The protocol of Meilisearch chat: conversational search over the indexes of a workspace.
//!
//! A chat completion request goes in, a stream of OpenAI chunks comes out, and the server searches
//! in between. What it does then it tells through three notifications, dressed up as tool calls
//! that nobody answers; the request switches them on ([`Tools`]). Every rule here is that of a
//! Meilisearch 1.50 server, which the documentation differs from in many places; what the
//! documentation describes is read as well.
//!
//! **As a client**: an [`Instance`] makes the requests for any HTTP client to send, an
//! [`EventDecoder`](crate::protocol::EventDecoder) reads the answer as typed [`Event`]s, and [`History`] keeps what the next request must carry,
//! because the server keeps nothing.
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
//!         history.apply(&event);
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
//! **As a server**: a [`Mount`] mounts an agent. The words
//! that all front ends share become:
//!
//! | word | what is sent |
//! |---|---|
//! | `text` | a chunk with content |
//! | `status`, `tool_run` | nothing: a progress notification is about a search, and says which |
//! | `reasoning`, `usage` | nothing: the server drops what its model says of them |
//! | `cite` | a list of Markdown links at the end of the answer: a sources notification holds what a search found, under that search's id |
//! | `table`, `chart` | a Markdown table |
//! | `error` | a paragraph of text: OpenAI's clients abort on every error frame |
//! | `confirm` | a question in text; the answer is read from the next user message |
//! | `call`, `calls` | not supported: the protocol has no calls of the client's functions |
//!
//! All of the protocol goes through [`Reply::send`](crate::Reply::send) and
//! [`Reply::end`](crate::Reply::end): [`Say`] and [`Ending`]. The bytes are those of the server but
//! for what keeps OpenAI's clients working: no frame with `retry` alone (their Python client fails
//! on it), the opening chunk at once, comments while the agent is silent, and a finish reason also
//! where the server would forget it. Notifications have the server's member names; for readers that go by the
//! documentation push `function_parameters` or `documents` to the notification's `unknown` members.
//!
//! What an appended message holds is what the model saw: it can have attributes that are not meant
//! to be displayed.

mod api_error;
mod api_key;
mod append;
mod calls;
mod chunk;
mod decoder;
mod event;
mod failure;
mod history;
mod index;
mod instance;
mod message;
mod mount;
mod outcome;
mod progress;
mod protocol;
mod request;
mod session;
mod setting;
mod sources;
#[cfg(feature = "testing")]
pub mod testing;
mod tools;
mod workspace;

pub use crate::openai::FinishReason;
pub use api_error::ApiError;
pub use api_key::{ApiKey, InvalidKey};
pub use append::Append;
pub use decoder::Decoder;
pub use event::{Ending, Event, Say, Unknown};
pub use failure::{Failure, SearchFailure};
pub use history::History;
pub use index::{IndexChange, IndexSettings};
#[cfg(feature = "testing")]
pub(crate) use instance::escape;
pub use instance::{Instance, InvalidAddress};
pub use message::{Call, Message};
pub use mount::Mount;
pub use outcome::Outcome;
pub use progress::{Progress, Search};
pub use protocol::Meilisearch;
pub use request::ChatRequest;
pub use session::Session;
pub use setting::Setting;
pub use sources::Sources;
pub use tools::Tools;
pub use workspace::{
    Prompts, PromptsChange, Source, WorkspaceChange, WorkspaceEntry, WorkspaceSettings, Workspaces,
};

/// Plays the front end on the playground.
#[cfg(feature = "playground")]
pub(crate) const PLAYGROUND: &str = include_str!("playground.js");
