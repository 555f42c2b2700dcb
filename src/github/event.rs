//! The events of a reply, in either direction.

use std::borrow::Cow;

use super::chunk::Chunk;
use super::confirmation::Confirmation;
use super::copilot_error::CopilotError;
use super::reference::Reference;
use crate::json::model::Field as _;
use crate::json::{Json, List};
use crate::protocol::EventError;
use crate::sse::{self, EventName};

/// An event in either direction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Something said in the course of a turn.
    Say(Say),
    /// A question, which ends the turn.
    Confirmation(Confirmation),
    /// The chunk that says that the answer is complete: the first half of the SDK's done event.
    Finish,
    /// `[DONE]`: nothing follows. The second half of the SDK's done event. A reader stops here: an
    /// agent that copies a model's stream sends both halves twice, as the SDK's own example does.
    Done,
}

/// What may be said in the course of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Say {
    /// A piece of the answer's text, Markdown. An empty one is the acknowledgement.
    Text(String),
    /// What the answer rests on, or what the agent wants to remember. Several events are allowed;
    /// the debug command line takes one `copilot_*` event a reply at most.
    References(List<Reference>),
    /// What went wrong.
    Errors(List<CopilotError>),
    /// A default event that is more than a piece of text.
    Chunk(Chunk),
    /// An event of another name.
    Raw(Raw),
}

/// An event of a name that this crate does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Raw {
    /// The name.
    pub name: EventName,
    /// The data. On the way out it must be a single line: known readers take each `data` line for
    /// itself (VS Code and `gh debug-cli`).
    pub data: String,
}

impl Raw {
    /// An event of any name. The known clients refuse or ignore it.
    #[must_use]
    pub fn new(name: EventName, data: impl Into<String>) -> Self {
        Self {
            name,
            data: data.into(),
        }
    }
}

impl Say {
    /// The acknowledgement: an empty piece of text. Every reply starts with one anyway.
    #[must_use]
    pub fn acknowledge() -> Self {
        Self::Text(String::new())
    }
}

impl Event {
    /// The text that the event brings, in whichever form.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Say(Say::Text(text)) => Some(Cow::Borrowed(text)),
            Self::Say(Say::Chunk(chunk)) => chunk.content().map(Cow::Owned),
            _ => None,
        }
    }

    /// Reads an event: of an agent, of an LLM endpoint, or as the platform relays it.
    pub(super) fn decode(event: &sse::Event<'_>) -> Result<Self, EventError> {
        let data = event.data();
        let json = || Json::parse(data.to_owned());
        match event.name() {
            "copilot_confirmation" => {
                let confirmation = Confirmation::from_raw(&json()?);
                let wrong = EventError::Shape("a confirmation must be an object");
                confirmation.map(Self::Confirmation).ok_or(wrong)
            }
            "copilot_references" => {
                let list = List::from_raw(&json()?);
                let list = list.ok_or(EventError::Shape("references must be an array"))?;
                Ok(Say::References(list).into())
            }
            "copilot_errors" => {
                let list = List::from_raw(&json()?);
                let list = list.ok_or(EventError::Shape("errors must be an array"))?;
                Ok(Say::Errors(list).into())
            }
            "message" if data.trim() == "[DONE]" => Ok(Self::Done),
            "message" => Chunk::new(json()?).map(Self::of_chunk),
            name => match EventName::try_from(name) {
                Ok(name) => Ok(Say::Raw(Raw::new(name, data)).into()),
                // A decoded name holds no line end.
                Err(_) => Err(EventError::Shape("an event name")),
            },
        }
    }

    /// The simplest event that says all that a chunk says.
    fn of_chunk(chunk: Chunk) -> Self {
        if let Some(event) = short(chunk.json()) {
            return event;
        }
        // Relayed events as VS Code reads them: one `copilot_` member, everything else `null`.
        let mut members = chunk
            .json()
            .members()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, _)| key);
        let relayed = match (members.next().as_deref(), members.next()) {
            (Some("copilot_confirmation"), None) => chunk.confirmation().map(Self::Confirmation),
            (Some("copilot_references"), None) => {
                chunk.references().map(|list| Say::References(list).into())
            }
            (Some("copilot_errors"), None) => chunk.errors().map(|list| Say::Errors(list).into()),
            _ => None,
        };
        drop(members);
        relayed.unwrap_or(Self::Say(Say::Chunk(chunk)))
    }
}

/// The event of a chunk that is exactly what GitHub's SDK writes, whatever the order of its members:
/// `{"choices":[{"index":0,"delta":{"content":TEXT,"role":"assistant"}}]}` or
/// `{"choices":[{"index":0,"finish_reason":"stop","delta":{"content":null}}]}`.
fn short(chunk: &Json) -> Option<Event> {
    let [choices] = members(chunk, ["choices"])?;
    let mut entries = choices.elements();
    let (choice, None) = (entries.next()?, entries.next()) else {
        return None;
    };
    if let Some([index, delta]) = members(&choice, ["index", "delta"]) {
        let [content, role] = members(&delta, ["content", "role"])?;
        let exact = index.text() == "0" && role.string()? == "assistant";
        return exact.then_some(Say::Text(content.string()?.into_owned()).into());
    }
    let [index, reason, delta] = members(&choice, ["index", "finish_reason", "delta"])?;
    let [content] = members(&delta, ["content"])?;
    let exact = index.text() == "0" && reason.string()? == "stop" && content.is_null();
    exact.then_some(Event::Finish)
}

/// The members of an object that has exactly these.
fn members<const N: usize>(object: &Json, names: [&str; N]) -> Option<[Json; N]> {
    let mut found = names.map(|_| None);
    for (key, value) in object.members() {
        let at = names.iter().position(|name| *name == key)?;
        let slot = found.get_mut(at)?;
        if slot.replace(value).is_some() {
            return None;
        }
    }
    let found: Vec<Json> = found.into_iter().collect::<Option<_>>()?;
    found.try_into().ok()
}

impl From<Say> for Event {
    fn from(say: Say) -> Self {
        Self::Say(say)
    }
}

impl From<Confirmation> for Event {
    fn from(confirmation: Confirmation) -> Self {
        Self::Confirmation(confirmation)
    }
}

impl From<Vec<Reference>> for Say {
    fn from(references: Vec<Reference>) -> Self {
        Self::References(references.into())
    }
}

impl From<Reference> for Say {
    fn from(reference: Reference) -> Self {
        Self::References(vec![reference].into())
    }
}

impl From<Vec<CopilotError>> for Say {
    fn from(errors: Vec<CopilotError>) -> Self {
        Self::Errors(errors.into())
    }
}

impl From<CopilotError> for Say {
    fn from(error: CopilotError) -> Self {
        Self::Errors(vec![error].into())
    }
}

impl From<Chunk> for Say {
    fn from(chunk: Chunk) -> Self {
        Self::Chunk(chunk)
    }
}
