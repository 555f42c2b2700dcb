//! What the next request must carry, because the server keeps nothing.

use std::collections::{HashMap, VecDeque};
use std::mem;

use crate::json::Json;

use super::{Event, Message};

/// The messages of a conversation, kept for its next request.
///
/// Feed it every event of a stream: the messages that the server asks to append stay byte for byte,
/// in the order in which they came, and the text of the turn follows them.
///
/// ```
/// use copilot_wire::meilisearch::{Append, Call, Event, History, Message};
///
/// let mut history = History::new();
/// history.push(Message::user("Which films are about robots?"));
/// let call = Call::new("call_1", "_meiliSearchInIndex", r#"{"index_uid":"movies","q":"robot"}"#);
/// for event in [
///     Event::Append(Append::new(Message::calls([&call]))),
///     Event::Append(Append::new(Message::tool("call_1", "Metropolis (1927)"))),
///     Event::Text("Metropolis.".into()),
///     Event::Done,
/// ] {
///     history.apply(&event);
/// }
/// history.push(Message::user("Is it old?"));
/// let roles: Vec<_> = history.messages().iter().map(|m| m.role().to_owned()).collect();
/// assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
/// ```
///
/// A call without its result, or a result without its call, would make the model's provider refuse
/// the next request: where a stream broke off between the two, what came of the pair is left out.
#[derive(Clone, Debug, Default)]
pub struct History {
    messages: Vec<Message>,
    /// What the current turn was asked to append, in order of arrival.
    appended: Vec<Message>,
    /// What the current turn said.
    text: String,
    refusal: String,
    /// Whether the model began anew since the last text.
    round_broke: bool,
    /// Whether the stream of the current turn has ended.
    ended: bool,
}

impl History {
    /// No messages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message of our own, such as the user's; the turn before is over.
    pub fn push(&mut self, message: Message) {
        self.settle();
        self.messages.push(message);
    }

    /// Takes in what happened in the stream. The rounds of an answer become paragraphs.
    pub fn apply(&mut self, event: &Event) {
        if self.ended {
            self.settle();
        }
        match event {
            Event::Text(text) => {
                let is_glued = !self.text.is_empty() && !self.text.ends_with('\n');
                if mem::take(&mut self.round_broke) && is_glued {
                    self.text.push_str("\n\n");
                }
                self.text.push_str(text);
            }
            Event::Refusal(text) => self.refusal.push_str(text),
            Event::Append(append) => self.appended.push(append.message.clone()),
            Event::RoundBreak => self.round_broke = true,
            // The turn can still be forgotten.
            Event::Done => self.ended = true,
            _ => {}
        }
    }

    /// Ends the turn, also one whose stream broke off.
    pub fn settle(&mut self) {
        let appended = mem::take(&mut self.appended);
        self.messages.extend(paired(appended));
        self.messages.extend(spoken(&self.text, &self.refusal));
        self.forget_turn();
    }

    /// Forgets what the current turn brought, for one that is to be asked again; also after the end of
    /// its stream, until the next message or event.
    pub fn forget_turn(&mut self) {
        self.appended.clear();
        self.text.clear();
        self.refusal.clear();
        self.round_broke = false;
        self.ended = false;
    }

    /// The messages of the next request.
    #[must_use]
    pub fn messages(&self) -> Vec<Message> {
        let mut all = self.messages.clone();
        all.extend(paired(self.appended.clone()));
        all.extend(spoken(&self.text, &self.refusal));
        all
    }

    /// The messages of the next request, for one who keeps no history.
    #[must_use]
    pub fn into_messages(mut self) -> Vec<Message> {
        self.settle();
        self.messages
    }
}

impl From<Vec<Message>> for History {
    fn from(messages: Vec<Message>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }
}

impl Extend<Message> for History {
    fn extend<I: IntoIterator<Item = Message>>(&mut self, messages: I) {
        messages.into_iter().for_each(|message| self.push(message));
    }
}

/// Meilisearch reference, conversation history: all text of the turn is one assistant message after
/// the appended ones. The server never asks to append it. A refusal is what the user read instead.
fn spoken(text: &str, refusal: &str) -> Option<Message> {
    let said = if text.is_empty() { refusal } else { text };
    (!said.is_empty()).then(|| Message::assistant(said))
}

/// Puts every result right behind the message that made the call, as OpenAI's rules demand, and
/// leaves out calls and results that lack the other half.
///
/// The server sends one call and its result at a time, so this changes nothing of a whole stream.
/// An id may come twice: some providers make the server run one search two times.
fn paired(appended: Vec<Message>) -> Vec<Message> {
    let mut out = Vec::with_capacity(appended.len());
    let mut results: HashMap<String, VecDeque<Message>> = HashMap::new();
    let mut speakers = Vec::new();
    for message in appended {
        if message.role() != "tool" {
            speakers.push(message);
        } else if let Some(id) = message.tool_call_id() {
            results.entry(id).or_default().push_back(message);
        }
    }
    for message in speakers {
        let mut answers = Vec::new();
        let mut keep: Vec<Json> = Vec::new();
        let mut calls = 0;
        for (call, json) in message.call_elements() {
            calls += 1;
            let result = results.get_mut(&call.id).and_then(VecDeque::pop_front);
            if let Some(answer) = result {
                answers.push(answer);
                keep.push(json);
            }
        }
        if keep.len() == calls {
            out.push(message);
        } else {
            out.extend(message.with_calls(&keep));
        }
        out.extend(answers);
    }
    out
}
