//! The user's answers to confirmations.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use crate::json::{Json, JsonError, Members, Wire, present};

/// The user's answer to a confirmation: an element of `copilot_confirmations` in GitHub's
/// documentation.
///
/// The client can change all of it: it is the user's data, and proves nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(escape = Json)]
#[must_use]
pub struct ConfirmationDecision {
    /// The answer: `accepted` or `dismissed`. Any other value counts as a refusal.
    pub state: String,
    /// The data that the agent sent with the confirmation, unchanged. `None` if it was `null`, on
    /// which GitHub's own SDK throws.
    #[wire(read = present)]
    pub confirmation: Option<Json>,
    /// Members that have no field here.
    pub unknown: Members,
}

impl ConfirmationDecision {
    /// Creates an answer that accepts a confirmation with this data.
    pub fn accepted(confirmation: Json) -> Self {
        Self::new("accepted", confirmation)
    }

    /// Creates an answer that dismisses a confirmation with this data.
    pub fn dismissed(confirmation: Json) -> Self {
        Self::new("dismissed", confirmation)
    }

    fn new(state: &str, confirmation: Json) -> Self {
        Self {
            state: state.to_owned(),
            confirmation: Some(confirmation),
            ..Self::default()
        }
    }

    /// Returns `true` if the user agreed: the state is exactly `accepted`.
    pub fn is_accepted(&self) -> bool {
        self.state == "accepted"
    }

    /// Returns the id of the confirmation. The id is a convention: one official sample sends none.
    pub fn id(&self) -> Option<Cow<'_, str>> {
        // A reader instead of `Json::get`: the text must outlive the member.
        let mut id = None;
        let mut reader = self.confirmation.as_ref()?.reader();
        let read = reader.object(|reader, key| {
            if key == "id" {
                id = reader.string()?;
            }
            Ok(())
        });
        read.ok().and(id)
    }

    /// Returns the data without the id, which GitHub's SDK calls `metadata`.
    pub fn metadata(&self) -> Members {
        let members = self.confirmation.iter().flat_map(Json::members);
        members
            // The SDK's `getUserConfirmation` takes the id out of the data in the same way.
            .filter(|(key, _)| key != "id")
            .map(|(key, value)| (key.into_owned(), value))
            .collect()
    }

    /// Deserializes the data, id included.
    ///
    /// # Errors
    ///
    /// If the data does not match the type, or there is none.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, JsonError> {
        match &self.confirmation {
            Some(confirmation) => confirmation.decode(),
            None => Json::default().decode(),
        }
    }
}
