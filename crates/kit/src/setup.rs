//! The setup of an emulated front end.

use bytes::Bytes;

use copilot_wire::protocol::{Protocol, Refusal};

use super::front_end::Answer;

/// A function that returns the answer to a call, which it looks up under several names of the call.
pub type Find<'a> = dyn Fn(&[&str]) -> Option<Answer> + 'a;

/// The setup of an emulated front end of any protocol, which ignores settings that it has no use for.
#[derive(Default)]
#[non_exhaustive]
pub struct Setup<'a> {
    /// A recorded request whose conversation is continued.
    pub request: Option<Bytes>,
    /// The model to ask for.
    pub model: Option<String>,
    /// The Meilisearch workspace to chat in.
    pub workspace: Option<String>,
    /// The id of the conversation, if the recorded request has none.
    pub conversation_id: Option<String>,
    /// Finds data for the widgets of the front end, by any of their names.
    pub data: Option<&'a Find<'a>>,
}

impl Setup<'_> {
    /// Reads the recorded request, if there is one.
    ///
    /// # Errors
    ///
    /// The [`Refusal`] of the protocol.
    pub fn read<P: Protocol>(&self) -> Result<Option<P::Request>, Refusal> {
        let (parts, ()) = http::Request::post("/")
            .body(())
            .unwrap_or_default()
            .into_parts();
        let read = |body: &Bytes| P::read(&parts, body.clone());
        self.request.as_ref().map(read).transpose()
    }

    /// Returns the model to ask for: the one that is set, else the recorded one unless it is empty, else the default.
    #[must_use]
    pub fn model(&self, recorded: String, default: &str) -> String {
        match &self.model {
            Some(model) => model.clone(),
            None if recorded.is_empty() => default.to_owned(),
            None => recorded,
        }
    }
}

impl std::fmt::Debug for Setup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup")
            .field("request", &self.request.is_some())
            .field("model", &self.model)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}
