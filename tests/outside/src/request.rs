//! The request of the Pager.

use copilot_wire::protocol::{Conversation, HistoryItem, Message, Role};
use serde::{Deserialize, Serialize};

/// A request: all lines so far.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PagerRequest {
    /// The lines, oldest first.
    pub lines: Vec<Line>,
    /// `true` if the answer is a stream.
    #[serde(default = "yes")]
    pub stream: bool,
}

/// A message of one side.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Line {
    /// `user` or `agent`.
    pub by: String,
    /// The text.
    pub text: String,
}

impl Line {
    /// Creates a line.
    #[must_use]
    pub fn new(by: &str, text: impl Into<String>) -> Self {
        let (by, text) = (by.to_owned(), text.into());
        Self { by, text }
    }
}

fn yes() -> bool {
    true
}

impl Conversation for PagerRequest {
    fn raw_history(&self) -> impl Iterator<Item = HistoryItem<'_>> + Send {
        self.lines.iter().map(|line| {
            let role = match &*line.by {
                "agent" => Role::Assistant,
                _ => Role::User,
            };
            HistoryItem::Message(Message::new(role, &*line.text))
        })
    }
}
