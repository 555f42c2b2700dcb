//! The events of a reply, for writing and reading.

use super::chunk::Chunk;
use super::confirmation::Confirmation;
use super::copilot_error::CopilotError;
use super::reference::Reference;
use crate::json::{Json, List, Wire};
use crate::protocol::EventError;
use crate::sse::{self, EventName};

/// An event of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// An event that does not end the turn.
    Output(Output),
    /// A confirmation, which ends the turn.
    Confirmation(Confirmation),
    /// The chunk that marks the answer as complete: the first half of the SDK's done event.
    Finish,
    /// The end of the stream, `[DONE]`: the second half of the SDK's done event. Readers must stop
    /// here: an agent that copies a model's stream sends both halves twice, as the SDK's own
    /// example does.
    Done,
}

/// An event that does not end the turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// A piece of the answer's text, in Markdown. An empty one is the acknowledgement.
    Text(String),
    /// The sources of the answer, or data that the agent wants to get back in later turns. Several
    /// events are allowed, but the debug command line accepts only one `copilot_*` event per reply.
    References(List<Reference>),
    /// Errors to display to the user.
    Errors(List<CopilotError>),
    /// A default event with more than a piece of text.
    Chunk(Chunk),
    /// An event with another name.
    Raw(UnknownEvent),
}

/// An event whose name this crate does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownEvent {
    /// The name.
    pub name: EventName,
    /// The data of the event, as text. To be sent it must be a single line: known clients treat each `data` line as an
    /// event of its own (VS Code and `gh debug-cli`).
    pub data: String,
}

impl UnknownEvent {
    /// Creates an event with any name. Known clients reject or ignore it.
    pub fn new(name: EventName, data: impl Into<String>) -> Self {
        Self {
            name,
            data: data.into(),
        }
    }
}

impl Event {
    /// Reads an event of an agent, of an LLM endpoint, or relayed by the platform.
    pub(super) fn decode(event: &sse::Event<'_>) -> Result<Self, EventError> {
        let data = event.data();
        let json = || Json::parse(data.to_owned());
        match event.name() {
            name @ ("copilot_confirmation" | "copilot_references" | "copilot_errors") => {
                let wrong = match name {
                    "copilot_confirmation" => "a confirmation must be an object",
                    "copilot_references" => "references must be an array",
                    _ => "errors must be an array",
                };
                Self::named(name, &json()?).ok_or(EventError::Invalid(wrong))
            }
            "message" if data.trim() == "[DONE]" => Ok(Self::Done),
            "message" => Chunk::new(json()?).map(Self::of_chunk),
            name => match EventName::try_from(name) {
                Ok(name) => Ok(Output::Raw(UnknownEvent::new(name, data)).into()),
                // A decoded name has no line end, so this cannot fail.
                Err(_) => Err(EventError::Invalid("an event name")),
            },
        }
    }

    /// Returns the simplest event that represents the chunk without loss.
    fn of_chunk(chunk: Chunk) -> Self {
        if let Some(event) = short(chunk.json()) {
            return event;
        }
        // Relayed events, as VS Code reads them: one `copilot_` member, and all others `null`.
        let mut members = chunk
            .json()
            .members()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, _)| key);
        let relayed = match (members.next(), members.next()) {
            (Some(name), None) => chunk.get(&name).and_then(|data| Self::named(&name, &data)),
            _ => None,
        };
        drop(members);
        relayed.unwrap_or(Self::Output(Output::Chunk(chunk)))
    }

    /// Returns an event of the platform; `None` if its data is not what its name requires.
    fn named(name: &str, data: &Json) -> Option<Self> {
        Some(match name {
            "copilot_confirmation" => Self::Confirmation(Wire::from_raw(data)?),
            "copilot_references" => Output::References(Wire::from_raw(data)?).into(),
            "copilot_errors" => Output::Errors(Wire::from_raw(data)?).into(),
            _ => return None,
        })
    }
}

/// Returns the event of a chunk that is exactly as GitHub's SDK writes it, with its members in any
/// order: `{"choices":[{"index":0,"delta":{"content":TEXT,"role":"assistant"}}]}` or
/// `{"choices":[{"index":0,"finish_reason":"stop","delta":{"content":null}}]}`.
fn short(chunk: &Json) -> Option<Event> {
    let [choices] = members(chunk, ["choices"])?;
    let mut entries = choices.elements();
    // Only what the SDK writes becomes a short event: it is written again without its chunk, so
    // anything more would be lost.
    let (choice, None) = (entries.next()?, entries.next()) else {
        return None;
    };
    if let Some([index, delta]) = members(&choice, ["index", "delta"]) {
        let [content, role] = members(&delta, ["content", "role"])?;
        let exact = index.text() == "0" && role.string()? == "assistant";
        return exact.then_some(Output::Text(content.string()?.into_owned()).into());
    }
    let [index, reason, delta] = members(&choice, ["index", "finish_reason", "delta"])?;
    let [content] = members(&delta, ["content"])?;
    let exact = index.text() == "0" && reason.string()? == "stop" && content.is_null();
    exact.then_some(Event::Finish)
}

/// Returns the members of an object that has exactly these members.
fn members<const N: usize>(object: &Json, names: [&str; N]) -> Option<[Json; N]> {
    let mut found = names.map(|_| None);
    for (key, value) in object.members() {
        let at = names.iter().position(|name| *name == key)?;
        let slot = found.get_mut(at)?;
        // A repeated member cannot be written again, so the chunk is not of the short form.
        if slot.replace(value).is_some() {
            return None;
        }
    }
    let found: Vec<Json> = found.into_iter().collect::<Option<_>>()?;
    found.try_into().ok()
}

from! {
    Output => Event: Self::Output,
    Confirmation => Event: Self::Confirmation,
    Chunk => Output: Self::Chunk,
    Vec<Reference> => Output: |list| Self::References(List::from(list)),
    Reference => Output: |one| Self::References(vec![one].into()),
    Vec<CopilotError> => Output: |list| Self::Errors(List::from(list)),
    CopilotError => Output: |one| Self::Errors(vec![one].into()),
}
