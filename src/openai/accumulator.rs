//! Assembly of chunks to a complete completion.

use std::collections::BTreeMap;
use std::fmt;

use super::retained::{self, LatestMembers};
use super::{
    ChatCompletion, ChatCompletionChunk, ChatMessage, Choice, CompletedChoice, Content,
    FinishReason, FunctionCall, FunctionDelta, Logprobs, Usage,
};
use crate::json::merge::{self, Merged};
use crate::json::{Json, Members, own};
use crate::protocol::fragments::{Calls, PartialCall, weight};
use crate::protocol::{Room, TooLarge};

/// An accumulator that assembles chunks to messages and calls.
///
/// Choices and calls are identified by their index, in any order; memory does not depend on the
/// value of an index. Text is appended; for the role, and a call's id and name, the first value
/// counts. A fragment with a name and another id than the call at its index starts a new call, because some
/// servers number all calls 0.
///
/// Unknown members are retained too: those of deltas become members of the message, where texts and
/// lists are continued and objects are merged; of the others, such as `citations` in a chunk or `content_filter_results` in a choice,
/// the latest value counts.
///
/// ```
/// use copilot_wire::openai::{Accumulator, Delta, ToolCallDelta};
///
/// let mut accumulator = Accumulator::new();
/// let mut calls = Delta::text("Let me look.");
/// calls.tool_calls.push(ToolCallDelta::start(0, "call_A", "get_tide"));
/// accumulator.push(&calls.into())?;
/// let mut arguments = Delta::default();
/// arguments.tool_calls.push(ToolCallDelta::arguments(0, r#"{"port":"Brest"}"#));
/// accumulator.push(&arguments.into())?;
///
/// let completion = accumulator.finish();
/// assert_eq!(completion.calls()[0].function.arguments, r#"{"port":"Brest"}"#);
/// assert!(!completion.is_complete(), "there was no finish reason");
/// # Ok::<(), copilot_wire::protocol::TooLarge>(())
/// ```
#[derive(Clone, Default)]
pub struct Accumulator {
    head: ChatCompletion,
    unknown: LatestMembers,
    choices: BTreeMap<u32, Building>,
    room: Room<DEFAULT_LIMIT>,
}

/// A choice that is not complete.
#[derive(Clone, Debug, Default)]
struct Building {
    role: Option<String>,
    content: Option<String>,
    refusal: Option<String>,
    calls: Calls,
    function_call: Option<FunctionCall>,
    logprobs: Option<Logprobs>,
    logprobs_unknown: LatestMembers,
    finish_reason: Option<FinishReason>,
    /// The unknown members of the deltas.
    message_unknown: BTreeMap<String, Merged>,
    unknown: LatestMembers,
}

const DEFAULT_LIMIT: usize = 16 * 1024 * 1024;

/// The member with OpenAI's padding, which hides the length of the pieces. It is no part of the
/// answer.
const PADDING: &str = "obfuscation";

impl Accumulator {
    /// The default limit in bytes: 16 MiB.
    pub const DEFAULT_LIMIT: usize = DEFAULT_LIMIT;

    /// Creates an accumulator for one completion, with the default limit.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limit of a completion in bytes, approximately.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.room = self.room.limit(limit);
        self
    }

    /// Adds a chunk.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if the limit would be exceeded; the chunk is not added.
    pub fn push(&mut self, chunk: &ChatCompletionChunk) -> Result<(), TooLarge> {
        // The limit is checked before any change, so that no part of a refused chunk is added.
        self.room.take(self.weigh(chunk))?;
        // The weight of members that were replaced is subtracted.
        let mut freed = 0;
        let head = &mut self.head;
        for (to, from) in [(&mut head.id, &chunk.id), (&mut head.model, &chunk.model)] {
            // The head of the first chunk counts, because some servers omit it in later chunks.
            if let (true, Some(from)) = (to.is_empty(), from) {
                to.clone_from(from);
            }
        }
        if let (0, Some(created)) = (head.created, chunk.created) {
            head.created = created;
        }
        for (to, from) in [
            (&mut head.system_fingerprint, &chunk.system_fingerprint),
            (&mut head.service_tier, &chunk.service_tier),
        ] {
            if to.is_none() {
                to.clone_from(from);
            }
        }
        if let Some(usage) = &chunk.usage {
            // Some servers send a running total with every chunk: the last one counts.
            let old = head.usage.replace(own(usage));
            freed += old.as_ref().map_or(0, Usage::weight);
        }
        for (key, value) in &chunk.unknown {
            freed += match key {
                PADDING => retained::weight(key, value),
                _ => self.unknown.put(key, value),
            };
        }
        for choice in &chunk.choices {
            freed += self.choices.entry(choice.index).or_default().push(choice);
        }
        // The limit applies to retained memory: the sizes of replaced members do not add up over a long stream.
        self.room.free(freed);
        Ok(())
    }

    /// Adds text to the first choice.
    pub(super) fn push_text(&mut self, text: &str) -> Result<(), TooLarge> {
        self.room.take(text.len())?;
        append(&mut self.choices.entry(0).or_default().content, Some(text));
        Ok(())
    }

    /// Returns the approximate memory in bytes that a chunk adds.
    fn weigh(&self, chunk: &ChatCompletionChunk) -> usize {
        let head = &self.head;
        let fingerprint = head.system_fingerprint.is_none();
        let heads = [
            (head.id.is_empty(), &chunk.id),
            (head.model.is_empty(), &chunk.model),
            (fingerprint, &chunk.system_fingerprint),
            (head.service_tier.is_none(), &chunk.service_tier),
        ];
        let heads = heads.into_iter().filter(|(new, _)| *new);
        let choices = chunk.choices.iter().map(|choice| {
            let new = !self.choices.contains_key(&choice.index);
            choice_weight(choice) + if new { size_of::<Building>() } else { 0 }
        });
        heads.map(|(_, text)| len(text)).sum::<usize>()
            + chunk.usage.as_ref().map_or(0, Usage::weight)
            + retained::weights(&chunk.unknown)
            + choices.sum::<usize>()
    }

    /// Returns the text of the first choice so far.
    #[must_use]
    pub fn text(&self) -> &str {
        let first = self.choices.get(&0);
        first
            .and_then(|choice| choice.content.as_deref())
            .unwrap_or_default()
    }

    /// Returns the usage, after the chunk with it.
    #[must_use]
    pub fn usage(&self) -> Option<&Usage> {
        self.head.usage.as_ref()
    }

    /// Returns `true` if there is at least one choice and all of them are complete. Otherwise the
    /// stream was interrupted.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let mut choices = self.choices.values();
        !self.choices.is_empty() && choices.all(|choice| choice.finish_reason.is_some())
    }

    /// Returns the completion with the chunks so far.
    #[must_use]
    pub fn finish(self) -> ChatCompletion {
        let choices = self.choices.into_iter();
        ChatCompletion {
            choices: choices
                .map(|(index, choice)| choice.finish(index))
                .collect(),
            unknown: self.unknown.into_members(),
            ..self.head
        }
    }
}

/// Prints sizes only: arguments and texts may contain anything.
impl fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accumulator")
            .field("choices", &self.choices.len())
            .field("room", &self.room)
            .finish_non_exhaustive()
    }
}

impl Building {
    /// Adds a piece; returns the part of its weight that is not retained.
    fn push(&mut self, choice: &Choice) -> usize {
        let mut freed = 0;
        let delta = &choice.delta;
        if self.role.is_none() {
            self.role.clone_from(&delta.role);
        }
        append(&mut self.content, delta.content.as_deref());
        append(&mut self.refusal, delta.refusal.as_deref());
        for fragment in &delta.tool_calls {
            self.calls.push(&fragment.delta());
        }
        if let Some(fragment) = &delta.function_call {
            let call = self.function_call.get_or_insert_default();
            // A repeated name is not appended: the first fragment has the complete name.
            if let (true, Some(name)) = (call.name.is_empty(), &fragment.name) {
                call.name.clone_from(name);
            }
            let arguments = fragment.arguments.as_deref();
            call.arguments.push_str(arguments.unwrap_or_default());
        }
        if let Some(later) = &choice.logprobs {
            self.logprobs.get_or_insert_default().append(later);
            freed += self.logprobs_unknown.put_all(&later.unknown);
        }
        if let Some(reason) = &choice.finish_reason {
            self.finish_reason = Some(reason.clone());
        }
        for (key, value) in &delta.unknown {
            match self.message_unknown.get_mut(key) {
                Some(old) => {
                    let added = old.add(value);
                    freed += member_weight((key, value)).saturating_sub(added);
                }
                None => {
                    let new = Merged::new(value);
                    self.message_unknown.insert(key.to_owned(), new);
                }
            }
        }
        for (key, value) in &choice.unknown {
            freed += match key {
                // The member `message` is assembled from the deltas.
                "message" => retained::weight(key, value),
                _ => self.unknown.put(key, value),
            };
        }
        freed
    }

    fn finish(self, index: u32) -> CompletedChoice {
        let unknown = self.message_unknown.into_iter();
        let unknown = unknown.map(|(key, value)| (key, value.into_json()));
        let calls = self.calls.into_sorted().into_iter();
        let message = ChatMessage {
            role: self.role.unwrap_or_else(|| "assistant".into()),
            content: self.content.map_or(Content::Null, Content::Text),
            refusal: self.refusal,
            tool_calls: calls.map(PartialCall::into_tool_call).collect(),
            function_call: self.function_call.map(Box::new),
            unknown: unknown.collect::<Members>(),
            ..ChatMessage::default()
        };
        CompletedChoice {
            index,
            message,
            logprobs: self.logprobs.map(|logprobs| Logprobs {
                unknown: self.logprobs_unknown.into_members(),
                ..logprobs
            }),
            finish_reason: self.finish_reason,
            unknown: self.unknown.into_members(),
        }
    }
}

fn append(to: &mut Option<String>, piece: Option<&str>) {
    if let Some(piece) = piece {
        to.get_or_insert_default().push_str(piece);
    }
}

fn len(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}

/// Returns the approximate memory in bytes that a choice of a chunk adds.
fn choice_weight(choice: &Choice) -> usize {
    let delta = &choice.delta;
    let function = |call: &FunctionDelta| len(&call.name) + len(&call.arguments);
    let reason = choice.finish_reason.as_ref();
    // The 64 stand for allocations and slots of the collections, so that many empty pieces count
    // too.
    64 + len(&delta.role)
        + len(&delta.content)
        + len(&delta.refusal)
        + delta
            .tool_calls
            .iter()
            .map(|it| weight(&it.delta()))
            .sum::<usize>()
        + delta.function_call.as_ref().map_or(0, function)
        + choice.logprobs.as_ref().map_or(0, Logprobs::weight)
        + reason.map_or(0, |reason| reason.as_str().len())
        + delta.unknown.iter().map(member_weight).sum::<usize>()
        + retained::weights(&choice.unknown)
}

/// Returns the maximum memory in bytes that a member of a delta adds.
fn member_weight((key, value): (&str, &Json)) -> usize {
    retained::OVERHEAD + key.len() + merge::weight(value)
}
