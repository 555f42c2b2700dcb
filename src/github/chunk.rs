//! A chunk as an LLM endpoint or the platform sends it.

use std::borrow::Cow;

use super::confirmation::Confirmation;
use super::copilot_error::CopilotError;
use super::reference::Reference;
use crate::json::model::{Field, json_api};
use crate::json::{Escape, Json, JsonError, Kind, List, Reader, ValueWriter};
use crate::protocol::EventError;

/// A default event that is more than a piece of text: a complete chunk with `id` and `model`, a
/// chunk of an LLM endpoint, or what the platform relays to chat clients.
///
/// It keeps the JSON as it came and reads it on demand, so nothing is lost when it is passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk(Json);

json_api!(Chunk);

impl Field for Chunk {
    const ESCAPE: Escape = Escape::Json;

    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if !reader.is(Kind::Object) {
            return Ok(None);
        }
        Ok(Some(Self(reader.value()?)))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.raw(&self.0);
    }
}

impl Chunk {
    /// A chunk of this JSON object.
    ///
    /// # Errors
    ///
    /// [`EventError::Shape`] when it is no object.
    pub fn new(json: Json) -> Result<Self, EventError> {
        match json.kind() {
            Kind::Object => Ok(Self(json)),
            _ => Err(EventError::Shape("a chunk must be an object")),
        }
    }

    /// The JSON as it came.
    #[must_use]
    pub fn json(&self) -> &Json {
        &self.0
    }

    /// A member, `null` counting as missing.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Json> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// The id, the same in all chunks of an answer.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        self.string("id")
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        self.string("model")
    }

    fn string(&self, key: &str) -> Option<String> {
        let text = self.get(key)?.string()?.into_owned();
        (!text.is_empty()).then_some(text)
    }

    /// The text of the first choice; `None` when this chunk brings none, not even an empty one.
    #[must_use]
    pub fn content(&self) -> Option<String> {
        let content = |choice: Json| {
            let text = choice.get("delta")?.get("content")?;
            text.string().map(Cow::into_owned)
        };
        let mut texts = self.first_choice().filter_map(content);
        let first = texts.next()?;
        Some(texts.fold(first, |all, text| all + &text))
    }

    /// Why the first choice ends: `stop`, `length`, `error` and so on. An empty one is none.
    #[must_use]
    pub fn finish_reason(&self) -> Option<String> {
        let reason = |choice: Json| {
            let reason = choice.get("finish_reason")?.string()?.into_owned();
            (!reason.is_empty()).then_some(reason)
        };
        self.first_choice().filter_map(reason).last()
    }

    /// The entries of the choice with the index 0, which is the index of an entry without one.
    fn first_choice(&self) -> impl Iterator<Item = Json> {
        let choices = self.get("choices").unwrap_or_default();
        let choices: Vec<Json> = choices.elements().collect();
        choices.into_iter().filter(|choice| {
            let index = choice.get("index").filter(|index| !index.is_null());
            index.is_none_or(|index| index.as_f64() == Some(0.0))
        })
    }

    /// The question that the platform relays in a chunk, as VS Code's `stream.ts` reads it.
    #[must_use]
    pub fn confirmation(&self) -> Option<Confirmation> {
        let relayed = self.get("copilot_confirmation")?;
        Confirmation::from_raw(&relayed)
    }

    /// The references that the platform relays in a chunk.
    #[must_use]
    pub fn references(&self) -> Option<List<Reference>> {
        List::from_raw(&self.get("copilot_references")?)
    }

    /// The errors that the platform relays in a chunk.
    #[must_use]
    pub fn errors(&self) -> Option<List<CopilotError>> {
        List::from_raw(&self.get("copilot_errors")?)
    }

    /// The message of an error in the stream, as OpenAI's endpoints and Copilot's send it.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        let error = self.get("error")?;
        let message = error.get("message").unwrap_or(error);
        Some(message.string().unwrap_or_default().into_owned())
    }
}
