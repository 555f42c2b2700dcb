//! A message to keep for the next request.

use super::Message;

/// `_meiliAppendConversationMessage`: a message to keep for the next request, because the server
/// keeps nothing.
///
/// For every search there are two: the assistant's call and the tool's result. They hold what the
/// model saw, which may be attributes of documents that are not meant to be displayed: keep them,
/// do not show them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Append {
    /// The id of the notification itself. One is made for an empty one.
    pub id: String,
    /// The message.
    pub message: Message,
}

impl Append {
    /// Asks the client to keep a message.
    #[must_use]
    pub fn new(message: Message) -> Self {
        Self {
            id: String::new(),
            message,
        }
    }
}
