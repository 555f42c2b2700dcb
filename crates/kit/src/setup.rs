//! The setup of an emulated front end.

use bytes::Bytes;

use copilot_wire::protocol::{Protocol, Refusal};

use super::front_end::ToolOutcome;

/// A function that finds the answer to a call under any of the names of the call. `None` if there is no answer.
pub type Find<'a> = dyn Fn(&[&str]) -> Option<ToolOutcome> + 'a;

/// The setup of an emulated front end of any protocol. A front end ignores settings that it does not support.
#[derive(Default)]
#[non_exhaustive]
pub struct Setup<'a> {
    /// A recorded request whose conversation is continued. `None` starts a new conversation.
    pub request: Option<Bytes>,
    /// The model to request. `None` for the recorded or default one.
    pub model: Option<String>,
    /// The Meilisearch workspace. `None` for `default`.
    pub workspace: Option<String>,
    /// The id of the conversation, in place of the recorded one. `None` for the recorded one, or a constant if there is
    /// none.
    pub conversation_id: Option<String>,
    /// Finds data for the widgets of the front end, by any of their names. `None` if there is no data.
    pub data: Option<&'a Find<'a>>,
}

impl Setup<'_> {
    /// Reads the recorded request. `None` if there is no recorded request.
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

    /// Returns the model to request: the member `model` if it is set, else `recorded`, or `default` if `recorded` is
    /// empty.
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
