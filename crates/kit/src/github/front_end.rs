//! An emulated GitHub Copilot platform with an editor.

use std::mem;

use bytes::Bytes;

use crate::heard::effects;
use crate::{CONVERSATION, Effect, FrontEnd, Next, ToolOutcome, post};
use copilot_wire::github::{
    ChatRequest, Confirmation, ConfirmationDecision as Decision, Event, GitHub, Message, Output,
    Reference,
};
use copilot_wire::json::{Json, List, Wire as _};
use copilot_wire::protocol::{self, EventDecoder, EventError};

/// An emulated GitHub Copilot platform with an editor.
#[derive(Debug)]
pub struct CopilotChat {
    request: ChatRequest,
    references: List<Reference>,
    text: String,
    references_sent: List<Reference>,
    confirmation: Option<Confirmation>,
    /// The confirmation of the previous turn, until it has an answer.
    open: Option<Confirmation>,
    done: bool,
    decoder: EventDecoder<GitHub>,
}

impl CopilotChat {
    /// Creates a conversation with the agent of this slug.
    pub fn new(agent: impl Into<String>) -> Self {
        let mut request = ChatRequest::default();
        request.thread_id = Some(CONVERSATION.into());
        request.agent = Some(agent.into());
        // The platform sends zeros for parameters that are not set.
        let zeros = ["top_p", "temperature", "max_tokens"].map(|name| (name, "0"));
        let nulls = ["stop", "copilot_skills"].map(|name| (name, "null"));
        for (name, value) in zeros.into_iter().chain(nulls) {
            let value = Json::parse(value);
            request.unknown.push(name, value.unwrap_or_default());
        }
        Self::continuing(request)
    }

    /// Creates a conversation with the agent, the thread and the other members of a request, such
    /// as its skills; its messages become the history.
    pub fn continuing(request: ChatRequest) -> Self {
        Self {
            request,
            references: List::new(),
            text: String::new(),
            references_sent: List::new(),
            confirmation: None,
            open: None,
            done: false,
            decoder: EventDecoder::new(),
        }
    }

    /// Attaches a reference to all later messages.
    #[must_use]
    pub fn reference(mut self, reference: Reference) -> Self {
        self.references.push(reference);
        self
    }

    /// Sets the id of the thread, for an agent with several conversations, or one that outlives the test. The default
    /// id is constant.
    #[must_use]
    pub fn conversation_id(mut self, id: impl Into<String>) -> Self {
        self.request.thread_id = Some(id.into());
        self
    }
}

impl FrontEnd for CopilotChat {
    type Protocol = GitHub;

    const PATH: &'static str = "/github";

    fn prompt(&mut self, text: &str) {
        // A typed message is not an answer to the confirmation.
        self.open = None;
        let mut message = Message::new("user", text);
        // As in VS Code, the context is attached to the message with the prompt.
        message.references.clone_from(&self.references);
        self.request.messages.push(message);
    }

    fn request(&self) -> http::Request<Bytes> {
        post(Self::PATH, self.request.to_json())
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        Ok(self.decoder.next(input)?.cloned())
    }

    fn receive(&mut self, event: &Event) -> Vec<Effect> {
        // Everything after the end is ignored.
        if self.done {
            return Vec::new();
        }
        let mut effects = effects::<GitHub>(event);
        match event {
            Event::Output(Output::References(references)) => {
                self.references_sent.extend(references.iter().cloned());
            }
            Event::Output(Output::Raw(raw)) => {
                let data = Json::encode(&raw.data).unwrap_or_default();
                effects.push(Effect::other(raw.name.as_str(), data));
            }
            Event::Confirmation(confirmation) => self.confirmation = Some(confirmation.clone()),
            Event::Done => self.done = true,
            _ => {}
        }
        effects
            .iter()
            .filter_map(Effect::text)
            .for_each(|text| self.text.push_str(text));
        effects
    }

    fn next(&mut self) -> Next {
        let mut message = Message::new("assistant", mem::take(&mut self.text));
        message.references = mem::take(&mut self.references_sent);
        self.request.messages.push(message);
        self.decoder = EventDecoder::new();
        self.open = self.confirmation.take();
        if !mem::take(&mut self.done) {
            self.open = None;
            return Next::Broken("the stream ended without [DONE]");
        }
        let Some(confirmation) = &self.open else {
            return Next::Nothing;
        };
        let id = confirmation.confirmation.get("id").unwrap_or_default();
        let id = id.string().unwrap_or_default();
        let question = protocol::Confirmation::new(id, &confirmation.title, &confirmation.message);
        Next::Question(question.data(confirmation.confirmation.clone()))
    }

    /// Does nothing: the platform runs no tools.
    fn answer(&mut self, _: Vec<ToolOutcome>) {}

    /// Adds the answer as a separate message without text.
    fn decide(&mut self, _: &protocol::Confirmation, accepted: bool) {
        let Some(confirmation) = self.open.take() else {
            return;
        };
        let mut message = Message::new("user", "");
        let data = confirmation.confirmation;
        message.confirmations.push(match accepted {
            true => Decision::accepted(data),
            false => Decision::dismissed(data),
        });
        self.request.messages.push(message);
    }
}
