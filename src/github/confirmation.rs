//! The question that ends a turn.

use serde::Serialize;

use super::fields::{rest, string};
use crate::json::{Json, JsonError, Kind, Members, Reader, ValueWriter, WriteError};
use crate::protocol::{self, SendError};

/// A question to the user, `copilot_confirmation` on the wire; it ends the turn (the
/// SDK's `createConfirmationEvent`).
///
/// The answer is among the next request's [`answers`](super::ChatRequest::answers), with the data
/// that was sent along.
///
/// ```
/// use copilot_wire::github::Confirmation;
///
/// let question = Confirmation::new("id-123", "Turn it off?", "The flag `copilot` goes off.")
///     .with_metadata(&std::collections::BTreeMap::from([("flag", "copilot")]))?;
/// assert_eq!(question.confirmation.text(), r#"{"id":"id-123","flag":"copilot"}"#);
/// # Ok::<(), copilot_wire::protocol::SendError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Confirmation {
    /// Always `action`: nothing else is supported.
    pub kind: String,
    /// The title of the dialog.
    pub title: String,
    /// What the user is asked.
    pub message: String,
    /// What comes back with the answer. VS Code shows no dialog without it.
    pub confirmation: Json,
    /// Members that have no field here.
    pub unknown: Members,
}

impl Confirmation {
    /// A question. The id tells its answer from others; make it unique in the conversation.
    #[must_use]
    pub fn new(id: &str, title: impl Into<String>, message: impl Into<String>) -> Self {
        let mut confirmation = Members::new();
        // A string always writes.
        confirmation.push("id", Json::encode(id).unwrap_or_default());
        Self {
            kind: "action".to_owned(),
            title: title.into(),
            message: message.into(),
            confirmation: Json::encode(&confirmation).unwrap_or_default(),
            unknown: Members::new(),
        }
    }

    /// Adds members to what comes back with the answer: an object.
    ///
    /// The bytes are those of GitHub's SDK, which spreads the object behind the id in JavaScript: a
    /// member `id` replaces the id and keeps its place, and names that are array indices come
    /// first, in ascending order.
    ///
    /// # Errors
    ///
    /// [`SendError::Invalid`] when it is no object, [`SendError::Write`] when it does not serialise.
    pub fn with_metadata<T: Serialize + ?Sized>(mut self, metadata: &T) -> Result<Self, SendError> {
        let metadata = Json::encode(metadata)?;
        if metadata.kind() != Kind::Object {
            return Err(SendError::Invalid("metadata must be an object".into()));
        }
        let mut members: Vec<(String, Json)> = Vec::new();
        for (key, value) in self.confirmation.members().chain(metadata.members()) {
            match members.iter_mut().find(|(name, _)| *name == key) {
                Some((_, old)) => *old = value,
                None => members.push((key.into_owned(), value)),
            }
        }
        // The sort is stable: all other names stay where they are.
        members.sort_by_key(|(key, _)| index(key).unwrap_or(u32::MAX));
        self.confirmation = Json::encode(&members.into_iter().collect::<Members>())?;
        Ok(self)
    }

    /// The question of the shared vocabulary. Readers demand a title and a message, so an empty
    /// one is filled in.
    pub(super) fn of(word: &protocol::Confirmation) -> Result<Self, SendError> {
        let title = match word.title.as_str() {
            "" => "Please confirm",
            title => title,
        };
        let message = match word.message.as_str() {
            "" => title,
            message => message,
        };
        let confirmation = Self::new(&word.id, title, message);
        let Some(data) = &word.data else {
            return Ok(confirmation);
        };
        // Its id is what the answer is recognised by, whatever the data says.
        let data = data.members().filter(|(key, _)| key != "id");
        let data: Members = data.map(|(key, value)| (key.into_owned(), value)).collect();
        confirmation.with_metadata(&data)
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut it = Self {
            kind: String::new(),
            title: String::new(),
            message: String::new(),
            confirmation: Json::default(),
            unknown: Members::new(),
        };
        let mut unknown = Members::new();
        reader.object_keeping(&mut unknown, |reader, key| {
            match &*key {
                "type" => it.kind = string(reader)?.unwrap_or_default(),
                "title" => it.title = string(reader)?.unwrap_or_default(),
                "message" => it.message = string(reader)?.unwrap_or_default(),
                "confirmation" if !reader.is(Kind::Null) => it.confirmation = reader.value()?,
                _ => {}
            }
            Ok(())
        })?;
        it.unknown = unknown;
        Ok(it)
    }

    pub(super) fn write(&self, place: ValueWriter<'_>) -> Result<(), WriteError> {
        place.object(|object| {
            for (key, value) in [
                ("type", &self.kind),
                ("title", &self.title),
                ("message", &self.message),
            ] {
                // The SDK writes empty texts as well; without a message VS Code shows no dialog.
                if !value.is_empty() || self.unknown.get(key).is_none() {
                    object.str(key, value);
                }
            }
            if !self.confirmation.is_null() {
                object.raw("confirmation", &self.confirmation);
            }
            rest(object, &self.unknown, |key| match key {
                "type" => !self.kind.is_empty(),
                "title" => !self.title.is_empty(),
                "message" => !self.message.is_empty(),
                "confirmation" => !self.confirmation.is_null(),
                _ => false,
            });
            Ok(())
        })
    }
}

/// The number of a name that JavaScript takes for an array index: digits without a leading zero, up
/// to 2³² - 2.
fn index(key: &str) -> Option<u32> {
    let digits = key.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = digits && (key == "0" || !key.starts_with('0'));
    key.parse()
        .ok()
        .filter(|&number| canonical && number != u32::MAX)
}
