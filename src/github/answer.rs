//! The user's answer to a confirmation.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use crate::json::model::{model, present};
use crate::json::{Json, JsonError, Members};

/// The user's answer to a confirmation: `copilot_confirmations` of GitHub's documentation.
///
/// What comes back crossed the client: it is the user's data, never a proof of anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// `accepted` or `dismissed`. Everything that is not `accepted` is a no.
    pub state: String,
    /// What the agent sent along with the question, unchanged. `None` when it came as `null`, on
    /// which GitHub's own SDK throws.
    pub confirmation: Option<Json>,
    /// Members that have no field here.
    pub unknown: Members,
}

model!(Answer, escape: Json {
    state: "state",
    confirmation: "confirmation" => present,
});

impl Answer {
    /// A yes to a confirmation that was sent with this data.
    #[must_use]
    pub fn accepted(confirmation: Json) -> Self {
        Self::new("accepted", confirmation)
    }

    /// A no.
    #[must_use]
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

    /// Whether the user agreed: the state is exactly `accepted`.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.state == "accepted"
    }

    /// The id of the question. Conventional, not required: one official sample sends none.
    #[must_use]
    pub fn id(&self) -> Option<Cow<'_, str>> {
        // A reader, because the text must outlive the member.
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

    /// The data without the id: what GitHub's SDK calls `metadata`.
    #[must_use]
    pub fn metadata(&self) -> Members {
        let members = self.confirmation.iter().flat_map(Json::members);
        members
            .filter(|(key, _)| key != "id")
            .map(|(key, value)| (key.into_owned(), value))
            .collect()
    }

    /// The data, id included, as a type of its own.
    ///
    /// # Errors
    ///
    /// When the data does not have the shape of the type, or there is none.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, JsonError> {
        match &self.confirmation {
            Some(confirmation) => confirmation.decode(),
            None => Json::default().decode(),
        }
    }
}
