//! Assembly of an answer from the deltas of its stream.

use std::collections::BTreeMap;
use std::fmt;

use super::fragments::{Calls, PartialCall, weight};
use super::items::Items;
use super::room::DEFAULT_LIMIT;
use super::{CompletedItem, Cut, Delta, Part, Room, ToolCall, Usage};
use crate::json::{Json, JsonError};
use crate::sse::TooLarge;

/// A function that reads the deltas of an event.
pub(super) type Deltas<E> = fn(&E, &mut dyn FnMut(Delta<'_>));

/// An answer of any protocol, assembled from the [deltas](super::Protocol::deltas) of its events.
///
/// It has the text, the reasoning and the calls of the answer, and its [items](Self::into_items) with everything that
/// only their protocol has, from which each dialect of models creates its own document.
///
/// ```
/// use copilot_wire::protocol::{Completion, Delta, EventDecoder, Protocol};
///
/// fn read<P: Protocol>(mut stream: &[u8]) -> Result<Completion, Box<dyn std::error::Error>> {
///     let (mut decoder, mut completion) = (EventDecoder::<P>::new(), Completion::new());
///     while let Some(event) = decoder.next(&mut stream)? {
///         completion.push_event::<P>(event)?;
///     }
///     Ok(completion)
/// }
/// ```
#[derive(Clone)]
pub struct Completion {
    model: String,
    text: String,
    /// The start in the text of the item that is not complete.
    item: usize,
    reasoning: String,
    calls: Calls,
    /// The other choices than the first, by their index.
    others: BTreeMap<u32, Self>,
    /// The items; `None` if only the text, the reasoning and the calls are needed.
    items: Option<Items>,
    usage: Option<Usage>,
    cut: Option<Cut>,
    error: Option<CompletionError>,
    is_finished: bool,
    needs_end: bool,
    has_ended: bool,
    room: Room<DEFAULT_LIMIT>,
}

/// The maximum number of characters of an error's message.
const LONGEST_MESSAGE: usize = 4096;

/// The maximum number of characters of an error's code.
const LONGEST_CODE: usize = 64;

/// An error that a server sent in place of the rest of an answer, or of a whole one.
///
/// `Debug` prints only the code: messages of servers may contain keys.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletionError {
    /// The message of the server.
    pub message: String,
    /// The code, or else the class of the error.
    pub code: Option<String>,
    /// `true` if the conversation is too long for the model.
    pub too_long: bool,
}

impl Completion {
    /// The default limit in bytes: 16 MiB.
    pub const DEFAULT_LIMIT: usize = DEFAULT_LIMIT;

    /// Creates a completion without content.
    pub fn new() -> Self {
        Self {
            items: Some(Items::default()),
            ..Self::without_items()
        }
    }

    /// Creates a completion without content that has no items.
    pub fn without_items() -> Self {
        Self {
            model: String::new(),
            text: String::new(),
            item: 0,
            reasoning: String::new(),
            calls: Calls::default(),
            others: BTreeMap::new(),
            items: None,
            usage: None,
            cut: None,
            error: None,
            is_finished: false,
            needs_end: false,
            has_ended: false,
            room: Room::default(),
        }
    }

    /// Sets the limit in bytes, approximately.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.room = self.room.limit(limit);
        self
    }

    /// Adds an event.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if the limit would be exceeded.
    pub fn push_event<P: super::Protocol>(&mut self, event: &P::Event) -> Result<(), TooLarge> {
        self.push_deltas(event, P::deltas)
    }

    /// Adds the deltas of an event.
    pub(super) fn push_deltas<E>(&mut self, event: &E, deltas: Deltas<E>) -> Result<(), TooLarge> {
        let mut result = Ok(());
        deltas(event, &mut |delta| {
            if result.is_ok() {
                result = self.push(&delta);
            }
        });
        result
    }

    /// Adds a delta. Parts that are neither reasoning, usage, calls nor the reason of a cut are ignored.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if the limit would be exceeded; the delta is not added. The end and the error of a stream are
    /// always added.
    pub fn push(&mut self, delta: &Delta<'_>) -> Result<(), TooLarge> {
        match delta {
            Delta::Text(text) => self.push_text(text)?,
            Delta::ItemText(_) | Delta::WholeText(_) => {
                self.push_text(self.rest(delta))?;
                self.item = self.text.len();
            }
            Delta::Part(Part::Reasoning(text)) => {
                self.room.take(text.len())?;
                if let Some(items) = &mut self.items {
                    let added = items.reasoning(self.reasoning.len() + text.len(), &mut self.room);
                    added.inspect_err(|_| self.room.free(text.len()))?;
                }
                self.reasoning.push_str(text);
            }
            // Totals do not decrease, and the tokens of the prompt may be in the first event only.
            Delta::Part(Part::Usage(usage)) => {
                self.usage = Some(self.usage.unwrap_or_default().max(**usage));
            }
            Delta::Part(Part::Cut(cut)) => self.cut = Some(*cut),
            Delta::Call(call) => {
                self.room.take(weight(call))?;
                let freed = self.calls.push(call);
                self.room.free(freed);
            }
            Delta::Model(model) if self.model.is_empty() => {
                self.room.take(model.len())?;
                self.model.push_str(model);
            }
            Delta::Item(key) => {
                if let Some(items) = &mut self.items {
                    items.select(*key);
                }
            }
            Delta::Native(native) => {
                if let Some(items) = &mut self.items {
                    items.push(native, &mut self.room)?;
                }
            }
            Delta::Choice(index, delta) => self.push_other(*index, delta)?,
            Delta::Failed(failure) => {
                self.error.get_or_insert_with(|| CompletionError {
                    message: failure.message.chars().take(LONGEST_MESSAGE).collect(),
                    // Part of a log line, and written by another server.
                    code: failure
                        .code
                        .map(|code| code.chars().take(LONGEST_CODE).collect()),
                    too_long: failure.too_long,
                });
            }
            Delta::Finished { needs_end } => {
                (self.is_finished, self.needs_end) = (true, *needs_end);
            }
            Delta::End => self.has_ended = true,
            Delta::Model(_) | Delta::Part(_) => {}
        }
        Ok(())
    }

    fn push_text(&mut self, text: &str) -> Result<(), TooLarge> {
        self.room.take(text.len())?;
        if let Some(items) = &mut self.items {
            let added = items.text(self.text.len() + text.len(), &mut self.room);
            added.inspect_err(|_| self.room.free(text.len()))?;
        }
        self.text.push_str(text);
        Ok(())
    }

    /// Adds a delta to another choice. Its weight is counted here.
    fn push_other(&mut self, index: u32, delta: &Delta<'_>) -> Result<(), TooLarge> {
        if !self.others.contains_key(&index) {
            self.room.take(size_of::<Self>())?;
        }
        let has_items = self.items.is_some();
        let other = self.others.entry(index).or_insert_with(|| match has_items {
            true => Self::new(),
            false => Self::without_items(),
        });
        if !has_items && !matches!(delta, Delta::Finished { .. }) {
            return Ok(());
        }
        other.room = self.room;
        let pushed = other.push(delta);
        self.room = other.room;
        pushed
    }

    /// Returns the part of a complete text that was not read yet. Nothing if the text differs from what was read.
    pub(crate) fn rest<'t>(&self, delta: &Delta<'t>) -> &'t str {
        let (whole, read) = match delta {
            Delta::ItemText(text) => (*text, self.text.get(self.item..)),
            Delta::WholeText(text) => (*text, Some(&*self.text)),
            _ => return "",
        };
        whole
            .strip_prefix(read.unwrap_or_default())
            .unwrap_or_default()
    }

    /// Returns the name of the model; empty if the server does not send it.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the text so far, including that of a refusal.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the reasoning so far.
    pub fn reasoning(&self) -> &str {
        &self.reasoning
    }

    /// Returns the tokens of the answer; `None` if the server has not sent them.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Returns the reason why the answer ended before it was complete; `None` if there is none.
    pub fn cut(&self) -> Option<Cut> {
        let is_open = self.calls.list.iter().any(|call| call.is_open);
        self.cut.or_else(|| is_open.then_some(Cut::Other))
    }

    /// Returns the error that the server sent.
    pub fn error(&self) -> Option<&CompletionError> {
        self.error.as_ref()
    }

    /// Returns `true` if the whole answer was read. Otherwise the stream was interrupted.
    pub fn is_complete(&self) -> bool {
        self.is_finished
            && self.error.is_none()
            && (self.has_ended || !self.needs_end)
            && self.others.values().all(|other| other.is_finished)
    }

    /// Returns `true` if the last event was read. Later bytes are ignored.
    pub fn is_over(&self) -> bool {
        self.has_ended || self.error.is_some()
    }

    /// Returns the calls, as the model made them, for a reply of any protocol. Arguments that are not a JSON object are
    /// a JSON string with the text of the model.
    pub fn calls(&self) -> Vec<ToolCall> {
        let calls = self.partial_calls().into_iter();
        calls.map(ToolCall::of_model).collect()
    }

    /// Returns the members of the answer itself, and its items in the order of the stream.
    #[must_use]
    pub fn into_items(self) -> (Json, Vec<CompletedItem>) {
        let items = self.items.unwrap_or_default();
        items.finish(&self.text, &self.reasoning)
    }

    /// Removes the other choices than the first, by their index, and returns them.
    pub fn take_others(&mut self) -> BTreeMap<u32, Self> {
        std::mem::take(&mut self.others)
    }

    pub(crate) fn partial_calls(&self) -> Vec<PartialCall> {
        self.calls.clone().into_sorted()
    }

    /// Checks that the arguments of all calls of functions are JSON objects. Empty text is an object without members.
    ///
    /// # Errors
    ///
    /// [`JsonError`] if the arguments of a call are not a JSON object.
    pub fn check_arguments(&self) -> Result<(), JsonError> {
        // Without a name, it is no call of a function.
        let mut calls = self.calls.list.iter().filter(|call| !call.name.is_empty());
        calls.try_for_each(|call| Json::parse_object(&call.arguments).map(drop))
    }
}

impl Default for Completion {
    fn default() -> Self {
        Self::new()
    }
}

/// Prints sizes only: texts and arguments may contain anything.
impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion")
            .field("text", &self.text.len())
            .field("calls", &self.calls.list.len())
            .field("room", &self.room)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for CompletionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionError")
            .field("code", &self.code)
            .finish_non_exhaustive()
    }
}
