//! The request of a turn.

use std::borrow::Cow;

use bytes::Bytes;

use super::context::Context;
use super::decision::ConfirmationDecision;
use super::message::Message;
use super::session_info::SessionInfo;
use crate::json::wire::object;
use crate::json::{Escape, Json, Kind, List, Members, ValueWriter, Wire, present};

/// The request of a turn: the complete conversation, oldest message first.
///
/// Every member may be absent, `null` or of a wrong type, and unknown members are retained.
/// [`to_json`](Self::to_json) writes all members, so a client or a proxy loses nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(escape = Json, new = "Creates a request with these messages, for clients.")]
pub struct ChatRequest {
    /// `copilot_thread_id`: the id of the conversation, the same in all its turns. The debug
    /// command line creates a new one for each request.
    #[wire(name = "copilot_thread_id", read = present)]
    pub thread_id: Option<String>,
    /// The messages, oldest first. On github.com the last three are the client's context message,
    /// an empty one with the attachments, and the prompt.
    #[wire(new)]
    pub messages: List<Message>,
    /// The slug of the App.
    #[wire(read = present)]
    pub agent: Option<String>,
    /// Members that have no field here, and the fields above that were sent as `null` or empty:
    /// sampling parameters ([`sampling`](Self::sampling)), `tools`, `model` and so on.
    pub unknown: Members,
}

/// The sampling parameters that are set.
///
/// The platform sends `0` for a parameter that is not set, so zero is `None` here: forwarding it
/// would request no tokens at all (recorded).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Sampling {
    /// The temperature.
    pub temperature: Option<f64>,
    /// The member `top_p`.
    pub top_p: Option<f64>,
    /// The presence penalty.
    pub presence_penalty: Option<f64>,
    /// The frequency penalty.
    pub frequency_penalty: Option<f64>,
    /// The maximum number of tokens.
    pub max_tokens: Option<u64>,
    /// The stop sequences; on the wire one string or several.
    pub stop: Vec<String>,
}

impl ChatRequest {
    /// Serializes the messages for an OpenAI endpoint: `{"messages":[...]}` without GitHub's
    /// members, with tool calls and their ids.
    pub fn to_openai(&self) -> Bytes {
        let mut out = Vec::new();
        let messages: List<_> = self.messages.iter().map(Message::for_model).collect();
        object(ValueWriter::new(&mut out, Escape::Json), |body| {
            messages.write_to(body.member("messages"));
        });
        out.into()
    }

    /// Returns the text of the last message, which GitHub's SDK calls the user message. `None` if
    /// there is none, on which the SDK throws. Empty for an answer to a confirmation.
    ///
    /// [`prompt`](crate::protocol::Conversation::prompt) returns the user's text only.
    pub fn user_message(&self) -> Option<Cow<'_, str>> {
        self.messages.last().map(Message::text)
    }

    /// Returns an iterator over the user's answers to confirmations on the last message. Answers on
    /// earlier messages must not trigger an action again.
    pub fn decisions(&self) -> impl Iterator<Item = &ConfirmationDecision> {
        let last = self.messages.last();
        last.into_iter().flat_map(|message| &message.confirmations)
    }

    /// Returns the context of the current turn, with the withheld parts and the reasons.
    pub fn context(&self) -> Context<'_> {
        Context::of(&self.messages)
    }

    /// Returns the content of github.com's latest context message; `None` for other clients.
    pub fn session_info(&self) -> Option<SessionInfo<'_>> {
        let session = self
            .messages
            .iter()
            .rev()
            .find(|message| message.is_session())?;
        match &session.content {
            super::message::Content::Text(text) => Some(SessionInfo::parse(text)),
            _ => Some(SessionInfo::default()),
        }
    }

    /// Returns an iterator over the references that this agent sent in earlier turns, oldest first.
    ///
    /// The client can change them: they are the user's data, and prove nothing.
    pub fn memory(&self) -> impl Iterator<Item = &super::Reference> {
        self.messages
            .iter()
            .filter(|message| message.role == "assistant")
            .flat_map(|message| &message.references)
            // The platform adds the agent's own profile, which is not what the agent remembered.
            .filter(|reference| reference.kind != "github.agent")
    }

    /// Returns an iterator over the skills of the platform that the client requested, such as
    /// `bing-search`.
    pub fn skills(&self) -> impl Iterator<Item = String> {
        let skills = self.unknown.get("copilot_skills");
        skills
            .into_iter()
            .flat_map(Json::elements)
            .filter_map(|skill| skill.string().map(Cow::into_owned))
    }

    /// Returns the sampling parameters that are set.
    pub fn sampling(&self) -> Sampling {
        let number = |key| {
            let value = self.unknown.get(key)?.as_f64()?;
            // Zero is the platform's value for "not set", also where zero would be a legal value.
            (value != 0.0).then_some(value)
        };
        let string = |json: &Json| json.string().map(Cow::into_owned);
        let stop = self.unknown.get("stop");
        Sampling {
            temperature: number("temperature"),
            top_p: number("top_p"),
            presence_penalty: number("presence_penalty"),
            frequency_penalty: number("frequency_penalty"),
            max_tokens: number("max_tokens").and_then(super::data::whole),
            stop: match stop.map(|stop| (stop, stop.kind())) {
                Some((stop, Kind::Array)) => stop.elements().filter_map(|it| string(&it)).collect(),
                Some((stop, _)) => string(stop).into_iter().collect(),
                None => Vec::new(),
            },
        }
    }
}
