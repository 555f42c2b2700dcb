//! The request of one turn.

use std::borrow::Cow;

use bytes::Bytes;

use super::answer::Answer;
use super::chunk_form::ChunkForm;
use super::context::Context;
use super::message::Message;
use super::session_info::SessionInfo;
use crate::json::model::{Field as _, model, object, present};
use crate::json::{Escape, Json, Kind, List, Members, ValueWriter};

/// The request of one turn: the whole conversation, newest message last.
///
/// It is read tolerantly: every member may be missing, `null` or of another type, and what has no
/// field is kept. [`to_json`](Self::to_json) writes every member back, so a client or a proxy
/// loses nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatRequest {
    /// `copilot_thread_id`: the same over the turns of one conversation. The debug command line
    /// makes a new one for each request.
    pub thread_id: Option<String>,
    /// The messages, oldest first. On github.com the last three are the client's context message,
    /// an empty one that carries what is attached, and the prompt.
    pub messages: List<Message>,
    /// The slug of the App that is called.
    pub agent: Option<String>,
    /// Members that have no field here, and those of the fields above that came as `null` or empty:
    /// sampling parameters ([`sampling`](Self::sampling)), `tools`, `model` and so on.
    pub unknown: Members,
    /// The form of the text chunks in the reply. No part of the wire: the mount sets it.
    pub chunks: ChunkForm,
}

/// The sampling parameters that were set.
///
/// The platform's sender writes `0` for what is not set, so zero is `None` here: forwarding it
/// would ask a model for no tokens at all (recorded).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Sampling {
    /// `temperature`
    pub temperature: Option<f64>,
    /// `top_p`
    pub top_p: Option<f64>,
    /// `presence_penalty`
    pub presence_penalty: Option<f64>,
    /// `frequency_penalty`
    pub frequency_penalty: Option<f64>,
    /// `max_tokens`
    pub max_tokens: Option<u64>,
    /// `stop`: a string or several.
    pub stop: Vec<String>,
}

model!(ChatRequest, escape: Json {
    thread_id: "copilot_thread_id" => present,
    messages: "messages",
    agent: "agent" => present,
});

impl ChatRequest {
    /// A request of these messages: the client's role.
    #[must_use]
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            messages: messages.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The messages as an OpenAI endpoint takes them: `{"messages":[...]}` without GitHub's
    /// members, with tool calls and their ids.
    #[must_use]
    pub fn to_openai(&self) -> Bytes {
        let mut out = Vec::new();
        let messages: List<_> = self.messages.iter().map(Message::for_model).collect();
        object(ValueWriter::new(&mut out, Escape::Json), |body| {
            messages.write_to(body.member("messages"));
        });
        out.into()
    }

    /// The text of the last message: what GitHub's SDK calls the user message, except that this
    /// does not throw where there is none. Empty for an answer to a confirmation.
    ///
    /// [`prompt`](crate::protocol::Conversation::prompt) is what the user says.
    #[must_use]
    pub fn user_message(&self) -> Option<Cow<'_, str>> {
        self.messages.last().map(Message::text)
    }

    /// The user's answers to confirmations, all of them: those on the last message, because an
    /// answer in an earlier message must not trigger anything again.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        let last = self.messages.last();
        last.into_iter().flat_map(|message| &message.confirmations)
    }

    /// What context came with the current turn, what was withheld, and why.
    #[must_use]
    pub fn context(&self) -> Context<'_> {
        Context::of(&self.messages)
    }

    /// What the newest context message of github.com says; `None` for other clients.
    #[must_use]
    pub fn session_info(&self) -> Option<SessionInfo<'_>> {
        let session = self
            .messages
            .iter()
            .rev()
            .find(|message| message.is_session())?;
        match &session.content {
            Some(super::message::Content::Text(text)) => Some(SessionInfo::parse(text)),
            _ => Some(SessionInfo::default()),
        }
    }

    /// The references that this agent sent in earlier turns, newest last: what it remembers.
    ///
    /// They crossed the client: the user's data, never a proof of anything.
    pub fn memory(&self) -> impl Iterator<Item = &super::Reference> {
        self.messages
            .iter()
            .filter(|message| message.role == "assistant")
            .flat_map(|message| &message.references)
            .filter(|reference| reference.kind != "github.agent")
    }

    /// The skills of the platform that the client asked for, such as `bing-search`.
    pub fn skills(&self) -> impl Iterator<Item = String> {
        let skills = self.unknown.get("copilot_skills");
        skills
            .into_iter()
            .flat_map(Json::elements)
            .filter_map(|skill| skill.string().map(Cow::into_owned))
    }

    /// The sampling parameters that were set.
    #[must_use]
    pub fn sampling(&self) -> Sampling {
        let number = |key| {
            let value = self.unknown.get(key)?.as_f64()?;
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
