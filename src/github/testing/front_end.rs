//! The GitHub Copilot platform, with an editor in front of it.

use std::mem;

use bytes::Bytes;

use crate::github::{
    Answer as Decision, ChatRequest, Confirmation, Event, GitHub, Message, Reference, Say,
};
use crate::json::{Json, List};
use crate::protocol::{self, Citation, EventDecoder, EventError, Notice};
use crate::testing::{Answer, CONVERSATION, FrontEnd, Heard, Next, post};

/// The GitHub Copilot platform, with an editor in front of it.
#[derive(Debug)]
pub struct CopilotChat {
    request: ChatRequest,
    references: List<Reference>,
    said: String,
    shown: List<Reference>,
    asked: Option<Confirmation>,
    /// The question of the turn before, while it has no answer.
    open: Option<Confirmation>,
    done: bool,
    decoder: EventDecoder<GitHub>,
}

impl CopilotChat {
    /// A conversation with the agent of this slug.
    #[must_use]
    pub fn new(agent: impl Into<String>) -> Self {
        let mut request = ChatRequest {
            thread_id: Some(CONVERSATION.into()),
            agent: Some(agent.into()),
            ..ChatRequest::default()
        };
        // What the platform writes for what is not set.
        let zeros = ["top_p", "temperature", "max_tokens"];
        let zeros = zeros.into_iter().map(|name| (name, "0"));
        let nulls = ["stop", "copilot_skills"].map(|name| (name, "null"));
        for (name, value) in zeros.chain(nulls) {
            let value = Json::parse(value).unwrap_or_default();
            request.unknown.push(name, value);
        }
        Self::continuing(request)
    }

    /// A conversation with the agent, the thread and the rest of a request, such as its skills; its
    /// messages count as said.
    #[must_use]
    pub fn continuing(request: ChatRequest) -> Self {
        Self {
            request,
            references: List::new(),
            said: String::new(),
            shown: List::new(),
            asked: None,
            open: None,
            done: false,
            decoder: EventDecoder::new(),
        }
    }

    /// Attaches a reference to everything that is said from here on.
    #[must_use]
    pub fn reference(mut self, reference: Reference) -> Self {
        self.references.push(reference);
        self
    }

    /// Sets the id of the thread, which is otherwise always the same: for an agent that has several
    /// conversations, or outlives the test.
    #[must_use]
    pub fn conversation_id(mut self, id: impl Into<String>) -> Self {
        self.request.thread_id = Some(id.into());
        self
    }

    /// The JSON that the platform would send, and sign.
    fn body(&self) -> Bytes {
        self.request.to_json()
    }
}

impl FrontEnd for CopilotChat {
    type Protocol = GitHub;

    const PATH: &'static str = "/github";

    fn say(&mut self, text: &str) {
        // Who types on has not answered.
        self.open = None;
        let mut message = Message::new("user", text);
        message.references.clone_from(&self.references);
        self.request.messages.push(message);
    }

    fn request(&self) -> http::Request<Bytes> {
        post(Self::PATH, self.body())
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        self.decoder.next(input)
    }

    fn hear(&mut self, event: &Event) -> Vec<Heard> {
        // What follows the end is not read.
        if self.done {
            return Vec::new();
        }
        let heard = match event {
            Event::Say(Say::References(references)) => {
                self.shown.extend(references.iter().cloned());
                references.iter().map(citation).collect()
            }
            Event::Say(Say::Errors(errors)) => {
                let notices = errors.iter().map(|error| {
                    let notice = Notice::new(&error.message).code(error.code.clone());
                    Heard::Error(notice.identifier(&error.identifier))
                });
                notices.collect()
            }
            Event::Say(Say::Chunk(chunk)) if chunk.error().is_some() => {
                vec![Heard::Error(Notice::new(chunk.error().unwrap_or_default()))]
            }
            Event::Say(Say::Raw(raw)) => {
                let data = Json::encode(&raw.data).unwrap_or_default();
                vec![Heard::other(raw.name.as_str(), data)]
            }
            Event::Confirmation(confirmation) => {
                self.asked = Some(confirmation.clone());
                Vec::new()
            }
            Event::Done => {
                self.done = true;
                Vec::new()
            }
            Event::Say(Say::Text(_) | Say::Chunk(_)) | Event::Finish => Vec::new(),
        };
        let text = event.text().filter(|text| !text.is_empty());
        let Some(text) = text else {
            return heard;
        };
        self.said.push_str(&text);
        vec![Heard::Text(text.into_owned())]
    }

    fn next(&mut self) -> Next {
        let mut message = Message::new("assistant", mem::take(&mut self.said));
        message.references = mem::take(&mut self.shown);
        self.request.messages.push(message);
        self.decoder = EventDecoder::new();
        self.open = self.asked.take();
        if !mem::take(&mut self.done) {
            self.open = None;
            return Next::Broken("the stream ended without [DONE]");
        }
        let Some(asked) = &self.open else {
            return Next::Nothing;
        };
        let id = asked.confirmation.get("id").unwrap_or_default();
        let id = id.string().unwrap_or_default();
        let question = protocol::Confirmation::new(id, &asked.title, &asked.message);
        Next::Question(question.data(asked.confirmation.clone()))
    }

    /// The platform runs no tools.
    fn answer(&mut self, _: Vec<Answer>) {}

    /// The answer is a message of its own, without text.
    fn decide(&mut self, accepted: bool) {
        let Some(asked) = self.open.take() else {
            return;
        };
        let mut message = Message::new("user", "");
        message.confirmations.push(if accepted {
            Decision::accepted(asked.confirmation)
        } else {
            Decision::dismissed(asked.confirmation)
        });
        self.request.messages.push(message);
    }
}

fn citation(reference: &Reference) -> Heard {
    let metadata = reference.metadata.as_ref();
    let name = metadata.and_then(|metadata| metadata.display_name.as_ref());
    let mut citation = Citation::new(name.unwrap_or(&reference.id));
    citation.url = metadata.and_then(|metadata| metadata.display_url.clone());
    citation.document = Some(reference.id.clone());
    Heard::Citation(citation)
}
