//! How a front end begins its conversation.

use bytes::Bytes;

use super::front_end::Answer;

/// Finds an answer by any of its names.
pub type Find<'a> = dyn Fn(&[&str]) -> Option<Answer> + 'a;

/// What a front end of any protocol is set up with: what it does not need, it ignores.
#[derive(Default)]
#[non_exhaustive]
pub struct Setup<'a> {
    /// A recorded request to go on from: its messages count as said.
    pub request: Option<Bytes>,
    /// The model to ask for.
    pub model: Option<String>,
    /// The workspace to talk in.
    pub workspace: Option<String>,
    /// The id of the conversation, where the recorded request has none.
    pub conversation_id: Option<String>,
    /// Finds data for what the front end shows beside the chat, by any of its names.
    pub data: Option<&'a Find<'a>>,
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
