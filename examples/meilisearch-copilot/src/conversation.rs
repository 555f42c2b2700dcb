//! The conversation that the front end shows, with what it does not show put back in.

use copilot_wire::meilisearch::Message;
use copilot_wire::protocol::{Conversation, Role};

/// One turn: what the user said, and all that came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Turn {
    /// The message of the user.
    pub prompt: String,
    /// The messages after it: searches, their results, the answer.
    pub messages: Vec<Message>,
}

impl Turn {
    /// Creates a turn, as a store of your own reads it back.
    pub fn new(prompt: impl Into<String>, messages: Vec<Message>) -> Self {
        Self {
            prompt: prompt.into(),
            messages,
        }
    }
}

/// The conversation as the workspace shall see it.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    /// Instructions of the front end.
    system: Vec<Message>,
    /// The turns; the last one has only its prompt.
    turns: Vec<Turn>,
}

impl Thread {
    /// Reads the visible conversation and puts in what was kept of each turn.
    ///
    /// A turn is known again by what the user said in it: from the first one that is another, or
    /// that the store does not have, the visible answers count. So an edited message or a lost
    /// store costs the searches behind the answers, and never the answers.
    pub(crate) fn new(conversation: &impl Conversation, kept: Vec<Turn>) -> Self {
        let mut thread = Self::default();
        for message in conversation.messages() {
            match (message.role, thread.turns.last_mut()) {
                (Role::System, _) => thread.system.push(Message::system(&message.text)),
                (Role::User, _) => thread
                    .turns
                    .push(Turn::new(message.text.into_owned(), Vec::new())),
                // A turn that failed left nothing; strict providers refuse an empty message.
                (Role::Assistant, _) if message.text.is_empty() => {}
                (Role::Assistant, Some(turn)) => {
                    turn.messages.push(Message::assistant(&message.text));
                }
                // What a client says itself, such as the summary of what was said before.
                (Role::Other, Some(turn)) => turn.messages.push(Message::user(&message.text)),
                (Role::Other, None) => thread.system.push(Message::user(&message.text)),
                // A greeting before the first question.
                _ => {}
            }
        }
        let last = thread.turns.len().saturating_sub(1);
        for (turn, kept) in thread.turns.iter_mut().take(last).zip(kept) {
            if turn.prompt != kept.prompt {
                break;
            }
            *turn = kept;
        }
        thread
    }

    /// Returns the messages that are sent to the workspace.
    pub(crate) fn messages(&self) -> Vec<Message> {
        let mut messages = self.system.clone();
        for turn in &self.turns {
            messages.push(Message::user(&turn.prompt));
            messages.extend(turn.messages.iter().cloned());
        }
        messages
    }

    /// Returns the turns, including the last one, for the store.
    pub(crate) fn answered(mut self, messages: Vec<Message>) -> Vec<Turn> {
        if let Some(turn) = self.turns.last_mut() {
            turn.messages = messages;
        }
        self.turns
    }
}
