//! The history of a conversation, for clients.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::mem;

use crate::json::Json;

use super::{Event, Message};

/// The messages of a conversation, for its next request.
///
/// Pass it every event of a stream. The messages that the server asks to append are stored byte for
/// byte, in order, and the text of the turn follows them.
///
/// ```
/// use copilot_wire::meilisearch::{Append, ToolCall, Event, History, Message};
///
/// let mut history = History::new();
/// history.push(Message::user("Which films are about robots?"));
/// let call = ToolCall::new("call_1", "_meiliSearchInIndex", r#"{"index_uid":"movies","q":"robot"}"#);
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
/// The model's provider refuses a call without its result, and a result without its call: if a
/// stream ended between the two, the incomplete pair is omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    messages: Vec<Message>,
    /// The messages that the server asked to append in the current turn, in order.
    appended: Vec<Message>,
    /// The text of the current turn.
    text: String,
    refusal: String,
    /// Set if a new round started since the last text.
    round_broke: bool,
    /// Set once the stream of the current turn has ended.
    ended: bool,
}

impl History {
    /// Creates an empty history.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message of the client, such as the user's, and ends the previous turn.
    pub fn push(&mut self, message: Message) {
        self.end_turn();
        self.messages.push(message);
    }

    /// Records an event of the stream. Returns the text that the event adds to the answer, which
    /// includes the separator between two rounds: the rounds become paragraphs.
    pub fn apply(&mut self, event: &Event) -> &str {
        if self.ended {
            self.end_turn();
        }
        match event {
            Event::Text(text) | Event::Refusal(text) => {
                let is_refusal = matches!(event, Event::Refusal(_));
                let text = self.separate(text);
                let answer = match is_refusal {
                    true => &mut self.refusal,
                    false => &mut self.text,
                };
                let start = answer.len();
                answer.push_str(&text);
                return answer.get(start..).unwrap_or_default();
            }
            Event::Append(append) => self.appended.push(append.message.clone()),
            Event::RoundBreak => self.round_broke = true,
            // The turn is only marked as ended, because `forget_turn` can still remove it.
            Event::Done => self.ended = true,
            _ => {}
        }
        ""
    }

    /// Returns a piece of text with the separator of two rounds: exactly one empty line, even if the previous round
    /// ends with line breaks or the piece starts with some.
    fn separate<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let before = match &*self.refusal {
            "" => &*self.text,
            refusal => refusal,
        };
        if !mem::take(&mut self.round_broke) || before.is_empty() {
            return Cow::Borrowed(text);
        }
        let text = text.trim_start_matches('\n');
        if text.is_empty() {
            // The piece has only line breaks; the next piece may start with more of them.
            self.round_broke = true;
            return Cow::Borrowed("");
        }
        let separator = match before.len() - before.trim_end_matches('\n').len() {
            0 => "\n\n",
            1 => "\n",
            _ => "",
        };
        Cow::Owned(format!("{separator}{text}"))
    }

    /// Adds the messages of the turn to the history, which is then ready for the next one. Call it after every turn,
    /// also after an interrupted stream.
    pub fn end_turn(&mut self) {
        let appended = mem::take(&mut self.appended);
        self.messages.extend(paired(appended));
        self.messages
            .extend(assistant_message(&self.text, &self.refusal));
        self.forget_turn();
    }

    /// Removes the messages of the current turn, to request it again; also possible after the end
    /// of its stream, until the next message or event.
    pub fn forget_turn(&mut self) {
        self.appended.clear();
        self.text.clear();
        self.refusal.clear();
        self.round_broke = false;
        self.ended = false;
    }

    /// Returns the messages of the next request.
    pub fn messages(&self) -> Vec<Message> {
        let mut all = self.messages.clone();
        all.extend(paired(self.appended.clone()));
        all.extend(assistant_message(&self.text, &self.refusal));
        all
    }

    /// Converts into the messages of the next request.
    #[must_use]
    pub fn into_messages(mut self) -> Vec<Message> {
        self.end_turn();
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

/// Creates the assistant message with all text of the turn, or the refusal instead. By the
/// Meilisearch reference on conversation history it follows the appended messages; the server never
/// asks to append it.
fn assistant_message(text: &str, refusal: &str) -> Option<Message> {
    let text = if text.is_empty() { refusal } else { text };
    (!text.is_empty()).then(|| Message::assistant(text))
}

/// Moves every result right after the message with its call, as OpenAI's API requires, and removes
/// calls without results and results without calls.
///
/// A complete stream is not changed, because the server sends one call and its result at a time. An
/// id can occur twice: with some providers the server runs a search twice.
fn paired(appended: Vec<Message>) -> Vec<Message> {
    let mut out = Vec::with_capacity(appended.len());
    let mut results: HashMap<String, VecDeque<Message>> = HashMap::new();
    let mut speakers = Vec::new();
    for message in appended {
        // Results are matched by id, not by position: the server runs several searches of a round in any order.
        if message.role() != "tool" {
            speakers.push(message);
        } else if let Some(id) = message.tool_call_id() {
            results.entry(id).or_default().push_back(message);
        }
    }
    for message in speakers {
        let mut answers = Vec::new();
        let mut retained: Vec<Json> = Vec::new();
        let mut calls = 0;
        for (call, json) in message.call_elements() {
            calls += 1;
            // Each id has a queue of results: with Mistral the server runs one search twice, with the same id.
            let result = results.get_mut(&call.id).and_then(VecDeque::pop_front);
            if let Some(answer) = result {
                answers.push(answer);
                retained.push(json);
            }
        }
        if retained.len() == calls {
            out.push(message);
        } else {
            out.extend(message.with_calls(&retained));
        }
        out.extend(answers);
    }
    out
}
