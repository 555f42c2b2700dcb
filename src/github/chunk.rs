//! Chunks of LLM endpoints and of the platform.

use std::borrow::Cow;

use crate::json::{Escape, Json, JsonError, Kind, Reader, ValueWriter, Wire};
use crate::protocol::EventError;

/// A default event with more than a piece of text: a complete chunk with `id` and `model`, a chunk
/// of an LLM endpoint, or an event that the platform relays to chat clients.
///
/// It stores the JSON unchanged and reads members on access, so nothing is lost when it is passed
/// on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk(Json);

impl Wire for Chunk {
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
    /// Creates a chunk from a JSON object.
    ///
    /// # Errors
    ///
    /// [`EventError::Invalid`] if the value is not an object.
    pub fn new(json: Json) -> Result<Self, EventError> {
        match json.kind() {
            Kind::Object => Ok(Self(json)),
            _ => Err(EventError::Invalid("a chunk must be an object")),
        }
    }

    /// Returns the JSON of the chunk, unchanged.
    pub fn json(&self) -> &Json {
        &self.0
    }

    /// Returns a member; `None` if it is absent or `null`.
    pub fn get(&self, key: &str) -> Option<Json> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// Returns the text of the first choice; `None` if the chunk has no text member, `Some` if it
    /// is empty.
    pub fn content(&self) -> Option<String> {
        let content = |choice: Json| {
            let text = choice.get("delta")?.get("content")?;
            text.string().map(Cow::into_owned)
        };
        // A chunk may list a choice more than once; every entry is a part of the same text.
        let mut texts = self.first_choice().filter_map(content);
        let first = texts.next()?;
        Some(texts.fold(first, |all, text| all + &text))
    }

    /// Returns the finish reason of the first choice: `stop`, `length`, `error` and so on; `None`
    /// if it is absent or empty.
    pub fn finish_reason(&self) -> Option<String> {
        let reason = |choice: Json| {
            let reason = choice.get("finish_reason")?.string()?.into_owned();
            (!reason.is_empty()).then_some(reason)
        };
        self.first_choice().filter_map(reason).last()
    }

    /// Returns the entries of choice 0. An entry without an index belongs to it.
    fn first_choice(&self) -> impl Iterator<Item = Json> {
        let choices = self.get("choices").unwrap_or_default();
        let choices: Vec<Json> = choices.elements().collect();
        choices.into_iter().filter(|choice| {
            let index = choice.get("index").filter(|index| !index.is_null());
            // As a number and not as text: senders write `0` and `0.0`.
            index.is_none_or(|index| index.as_f64() == Some(0.0))
        })
    }

    /// Returns the message of an error in the stream, as OpenAI's and Copilot's endpoints send it.
    pub fn error(&self) -> Option<String> {
        let error = self.get("error")?;
        let message = error.get("message").unwrap_or(error);
        Some(message.string().unwrap_or_default().into_owned())
    }
}
