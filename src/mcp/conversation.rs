//! A call as a conversation.

use super::CallRequest;
use crate::json::Wire;
use crate::protocol::{Conversation, HistoryItem, Message, RawMessage, Role};

impl Conversation for CallRequest {
    /// Returns the turns of the conversation that the call continues, and then its question.
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        let message = |role, text| HistoryItem::Message(Message::new(role, text));
        let turns = self.found.turns.iter();
        let before = turns.flat_map(move |(question, answer)| {
            [
                message(Role::User, question.as_str()),
                message(Role::Assistant, answer.as_str()),
            ]
        });
        let question = self.question().unwrap_or_default();
        let now = HistoryItem::Message(Message::new(Role::User, question));
        before.chain([now])
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        let turns = self.found.turns.iter().flat_map(|(question, answer)| {
            [
                RawMessage::new(Role::User, question),
                RawMessage::new(Role::Assistant, answer),
            ]
        });
        turns.chain([RawMessage::new(Role::User, self)])
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        for (question, answer) in &self.found.turns {
            each(question);
            each(answer);
        }
        Wire::each_string(self, each);
    }

    /// Returns the answer that the user gave in a dialog of the client.
    fn proven_answer(&self) -> Option<(&str, bool)> {
        self.response()
    }
}
