//! Confirmations: questions that end a turn.

use serde::Serialize;

use crate::json::{Json, Kind, Members, Wire};
use crate::protocol::{self, SendError};

/// A question to the user that ends the turn: `copilot_confirmation` on the wire,
/// `createConfirmationEvent` in the SDK.
///
/// The answer is in the next request's [`decisions`](super::ChatRequest::decisions), with the data of
/// the confirmation.
///
/// ```
/// use copilot_wire::github::Confirmation;
///
/// let question = Confirmation::new("id-123", "Turn it off?", "The flag `copilot` goes off.")
///     .metadata(&std::collections::BTreeMap::from([("flag", "copilot")]))?;
/// assert_eq!(question.confirmation.text(), r#"{"id":"id-123","flag":"copilot"}"#);
/// # Ok::<(), copilot_wire::protocol::SendError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(escape = Json)]
pub struct Confirmation {
    /// The type: always `action`, the only supported one.
    #[wire(name = "type", always)]
    pub kind: String,
    /// The title of the dialog.
    #[wire(always)]
    pub title: String,
    /// The text of the question, below the title.
    #[wire(always)]
    pub message: String,
    /// The data that is returned with the answer. VS Code displays no dialog without it.
    pub confirmation: Json,
    /// Members that have no field here.
    pub unknown: Members,
}

impl Confirmation {
    /// Creates a confirmation. The id identifies its answer; make it unique in the conversation.
    pub fn new(id: &str, title: impl Into<String>, message: impl Into<String>) -> Self {
        let mut confirmation = Members::new();
        // Serializing a string cannot fail.
        confirmation.push("id", Json::encode(id).unwrap_or_default());
        Self {
            kind: "action".to_owned(),
            title: title.into(),
            message: message.into(),
            confirmation: Json::encode(&confirmation).unwrap_or_default(),
            unknown: Members::new(),
        }
    }

    /// Adds the members of an object to the data that is returned with the answer.
    ///
    /// The bytes are those of GitHub's SDK, which spreads the object after the id in JavaScript: a
    /// member `id` replaces the id in its position, and names that are array indices come first, in
    /// ascending order.
    ///
    /// # Errors
    ///
    /// [`SendError::Invalid`] if the value is not an object, [`SendError::Write`] if it cannot be
    /// serialized.
    pub fn metadata<T: Serialize + ?Sized>(mut self, metadata: &T) -> Result<Self, SendError> {
        let metadata = Json::encode(metadata)?;
        if metadata.kind() != Kind::Object {
            return Err(SendError::Invalid("metadata must be an object".into()));
        }
        let mut members: Vec<(String, Json)> = Vec::new();
        for (key, value) in self.confirmation.members().chain(metadata.members()) {
            match members.iter_mut().find(|(name, _)| *name == key) {
                // JavaScript's spread replaces the value and leaves the member in its place.
                Some((_, old)) => *old = value,
                None => members.push((key.into_owned(), value)),
            }
        }
        // The sort is stable, so all other names stay in order.
        // Objects in JavaScript list names that are array indices first, by number.
        members.sort_by_key(|(key, _)| index(key).unwrap_or(u32::MAX));
        self.confirmation = Json::encode(&members.into_iter().collect::<Members>())?;
        Ok(self)
    }

    /// Converts a confirmation of any protocol. Clients require a title and a message, so empty
    /// ones are replaced by defaults.
    pub(super) fn of(question: &protocol::Confirmation) -> Result<Self, SendError> {
        let title = match question.title.as_str() {
            "" => "Please confirm",
            title => title,
        };
        let message = match question.message.as_str() {
            "" => title,
            message => message,
        };
        let confirmation = Self::new(&question.id, title, message);
        let Some(data) = &question.data else {
            return Ok(confirmation);
        };
        // The answer is matched by the id, so a member `id` of the data is removed.
        let data = data.members().filter(|(key, _)| key != "id");
        let data: Members = data.map(|(key, value)| (key.into_owned(), value)).collect();
        confirmation.metadata(&data)
    }
}

/// Returns the number of a name that JavaScript treats as an array index: digits without a leading
/// zero, up to 2³² - 2.
fn index(key: &str) -> Option<u32> {
    let digits = key.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = digits && (key == "0" || !key.starts_with('0'));
    key.parse()
        .ok()
        // 2³² - 1 is a length and no index (ECMAScript, array exotic objects).
        .filter(|&number| canonical && number != u32::MAX)
}
