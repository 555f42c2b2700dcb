//! The request of the Pager.

use copilot_wire::json::{List, Members, Wire};
use copilot_wire::protocol::{Conversation, HistoryItem, Message, RawMessage, Role};

/// A request: all lines so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
pub struct PagerRequest {
    /// The lines, oldest first.
    #[wire(always)]
    pub lines: List<Line>,
    /// Members without a field.
    pub unknown: Members,
}

/// A message of one side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[wire(new = "Creates a line.")]
pub struct Line {
    /// `user` or `agent`.
    #[wire(always, new)]
    pub by: String,
    /// The text.
    #[wire(always, new)]
    pub text: String,
    /// Members without a field.
    pub unknown: Members,
}

impl Line {
    fn role(&self) -> Role {
        match self.by.as_str() {
            "agent" => Role::Assistant,
            _ => Role::User,
        }
    }
}

impl Conversation for PagerRequest {
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        let lines = self.lines.iter();
        lines.map(|line| HistoryItem::Message(Message::new(line.role(), line.text.as_str())))
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        RawMessage::list(&self.lines, Line::role)
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        Wire::each_string(self, each);
    }
}
