//! An emulated chat client.

use std::mem;

use bytes::Bytes;

use crate::heard::effects;
use crate::{Effect, FrontEnd, Next, ToolOutcome, post, question};
use copilot_wire::json::Json;
use copilot_wire::meilisearch::{
    ChatRequest, Event, History, Meilisearch, Message, StreamOutcome, Tools, Unknown,
};
use copilot_wire::protocol::{EventDecoder, EventError};
use copilot_wire::router::escape_segment;

/// The default model of a client.
pub(super) const MODEL: &str = "gpt-4o-mini";

/// Creates the request of a new conversation, with all notifications on.
pub(super) fn default_request() -> ChatRequest {
    ChatRequest::new(MODEL, []).tools(Tools::ALL)
}

/// An emulated chat client, which stores the history as the server asks.
#[derive(Debug)]
pub struct SearchChat {
    workspace: String,
    /// The request without its messages, which are in the history.
    request: ChatRequest,
    history: History,
    text: String,
    decoder: EventDecoder<Meilisearch>,
}

impl SearchChat {
    /// Creates a client of this workspace with all notifications on.
    pub fn new(workspace: impl Into<String>) -> Self {
        Self::continuing(workspace, default_request())
    }

    /// Creates a client with the model, notifications and parameters of a request; its messages
    /// become the history.
    pub fn continuing(workspace: impl Into<String>, mut request: ChatRequest) -> Self {
        let messages = mem::take(&mut request.messages);
        Self {
            workspace: workspace.into(),
            request,
            history: messages.into(),
            text: String::new(),
            decoder: EventDecoder::new(),
        }
    }
}

impl FrontEnd for SearchChat {
    type Protocol = Meilisearch;

    const PATH: &'static str = "/chats/{workspace}/chat/completions";

    fn prompt(&mut self, text: &str) {
        self.history.push(Message::user(text));
    }

    fn request(&self) -> http::Request<Bytes> {
        let path = Self::PATH.replace("{workspace}", &escape_segment(&self.workspace));
        let mut request = self.request.clone();
        request.messages = self.history.messages();
        post(&path, request.to_json())
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        Ok(self.decoder.next(input)?.cloned())
    }

    fn receive(&mut self, event: &Event) -> Vec<Effect> {
        self.history.apply(event);
        let mut effects = effects::<Meilisearch>(event);
        match event {
            Event::Text(text) | Event::Refusal(text) => self.text.push_str(text),
            Event::Unknown(Unknown::Call(call)) => {
                let arguments = Json::encode(&call.arguments).unwrap_or_default();
                effects.push(Effect::other(call.name.clone(), arguments));
            }
            Event::Unknown(Unknown::Frame(frame)) => {
                effects.push(Effect::other("frame", frame.clone()));
            }
            _ => {}
        }
        effects
    }

    fn next(&mut self) -> Next {
        self.history.end_turn();
        let text = mem::take(&mut self.text);
        match mem::take(&mut self.decoder).decoder().outcome() {
            StreamOutcome::Answered(_) => question(&text).map_or(Next::Nothing, Next::Question),
            // The failure was reported by an event.
            StreamOutcome::Failed(_) => Next::Nothing,
            StreamOutcome::Incomplete => Next::Broken("the stream ended without a finish_reason"),
            _ => Next::Broken("the stream ended without [DONE]"),
        }
    }

    /// Does nothing: the client runs no tools.
    fn answer(&mut self, _: Vec<ToolOutcome>) {}
}
