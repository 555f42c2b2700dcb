//! The question that ends a turn.

use serde::Serialize;

use crate::json::model::model;
use crate::json::{Json, Kind, Members};
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

model!(Confirmation, escape: Json {
    kind: "type" always,
    title: "title" always,
    message: "message" always,
    confirmation: "confirmation",
});

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
