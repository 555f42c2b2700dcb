//! Notifications with a message for the history.

use super::Message;

/// `_meiliAppendConversationMessage`: a message to add to the history, because the server stores
/// none.
///
/// For every search there are two: the assistant's call and the tool's result. They contain the
/// model's input, which can have attributes of documents that must not be displayed: store them, do
/// not display them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Append {
    /// The id of the notification. An empty one is replaced by a random one.
    pub id: String,
    /// The message.
    pub message: Message,
}

impl Append {
    /// Creates a notification that asks the client to store a message.
    pub fn new(message: Message) -> Self {
        Self {
            id: String::new(),
            message,
        }
    }
}
