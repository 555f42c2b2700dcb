//! Chunks, put together to a whole completion again.

use std::collections::BTreeMap;
use std::fmt;

use super::calls::{Calls, weight};
use super::kept::{self, Newest};
use super::{
    ChatCompletion, ChatCompletionChunk, ChatMessage, Choice, CompletedChoice, Content,
    FinishReason, FunctionCall, FunctionDelta, Logprobs, Usage,
};
use crate::json::{Json, Kind, Members};

/// Puts chunks together to messages and calls.
///
/// Choices and calls are found by their index, in any order; an index from the wire is never a
/// size. Text is appended; the role, and a call's id and name, count once. A fragment that has
/// another id than the call of its index opens a new call, because some servers number all calls 0.
///
/// Members that this crate does not know are kept too: those of deltas join the message, where text
/// is appended; of those beside them, such as `citations` in a chunk or `content_filter_results` in
/// a choice, the newest of a name counts.
///
/// ```
/// use copilot_wire::openai::{Accumulator, Delta, ToolCallDelta};
///
/// let mut whole = Accumulator::new();
/// let mut calls = Delta::text("Let me look.");
/// calls.tool_calls.push(ToolCallDelta::start(0, "call_A", "get_tide"));
/// whole.push(&calls.into())?;
/// let mut arguments = Delta::default();
/// arguments.tool_calls.push(ToolCallDelta::arguments(0, r#"{"port":"Brest"}"#));
/// whole.push(&arguments.into())?;
///
/// let completion = whole.finish();
/// assert_eq!(completion.calls()[0].function.arguments, r#"{"port":"Brest"}"#);
/// assert!(!completion.is_complete(), "there was no finish reason");
/// # Ok::<(), copilot_wire::openai::TooLarge>(())
/// ```
#[derive(Clone)]
pub struct Accumulator {
    head: ChatCompletion,
    unknown: Newest,
    choices: BTreeMap<u32, Building>,
    weight: usize,
    limit: usize,
}

/// The chunks put together are larger than the accumulator may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the completion is larger than the limit of {limit} bytes")]
#[non_exhaustive]
pub struct TooLarge {
    /// The limit, in bytes.
    pub limit: usize,
}

/// A choice of which more may come.
#[derive(Clone, Debug, Default)]
struct Building {
    role: Option<String>,
    content: Option<String>,
    refusal: Option<String>,
    calls: Calls,
    function_call: Option<FunctionCall>,
    logprobs: Option<Logprobs>,
    logprobs_unknown: Newest,
    finish_reason: Option<FinishReason>,
    /// Those of the deltas.
    message_unknown: BTreeMap<String, Unknown>,
    unknown: Newest,
}

/// OpenAI's padding, which hides how long the pieces of an answer are. It is of no answer.
const PADDING: &str = "obfuscation";

/// An unknown member of deltas: text is appended, of anything else the newest counts.
#[derive(Clone, Debug)]
enum Unknown {
    Text(String),
    Raw(Json),
}

impl Accumulator {
    /// The limit of [`new`](Self::new): 16 MiB.
    pub const DEFAULT_LIMIT: usize = 16 * 1024 * 1024;

    /// An accumulator for one completion, with the default limit.
    #[must_use]
    pub fn new() -> Self {
        Self {
            head: ChatCompletion::default(),
            unknown: Newest::default(),
            choices: BTreeMap::new(),
            weight: 0,
            limit: Self::DEFAULT_LIMIT,
        }
    }

    /// Sets the limit: a completion takes about this many bytes.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Adds a chunk.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] when more would be held than the limit; the chunk is then left out.
    pub fn push(&mut self, chunk: &ChatCompletionChunk) -> Result<(), TooLarge> {
        let weight = self.weight.saturating_add(self.weigh(chunk));
        if weight > self.limit {
            return Err(TooLarge { limit: self.limit });
        }
        // What newer members took the place of is not held any more.
        let mut freed = 0;
        let head = &mut self.head;
        for (to, from) in [(&mut head.id, &chunk.id), (&mut head.model, &chunk.model)] {
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
            let old = head.usage.replace(usage.detached());
            freed += old.as_ref().map_or(0, Usage::weight);
        }
        for (key, value) in chunk.unknown.iter() {
            freed += match key {
                PADDING => kept::weight(key, value),
                _ => self.unknown.put(key, value),
            };
        }
        for choice in &chunk.choices {
            freed += self.choices.entry(choice.index).or_default().push(choice);
        }
        self.weight = weight.saturating_sub(freed);
        Ok(())
    }

    /// Adds text to the first choice.
    pub(super) fn push_text(&mut self, text: &str) -> Result<(), TooLarge> {
        let weight = self.weight.saturating_add(text.len());
        if weight > self.limit {
            return Err(TooLarge { limit: self.limit });
        }
        self.weight = weight;
        append(&mut self.choices.entry(0).or_default().content, Some(text));
        Ok(())
    }

    /// About how much memory a chunk adds.
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
            + kept::weigh(&chunk.unknown)
            + choices.sum::<usize>()
    }

    /// The text of the first choice so far.
    #[must_use]
    pub fn text(&self) -> &str {
        let first = self.choices.get(&0);
        first
            .and_then(|choice| choice.content.as_deref())
            .unwrap_or_default()
    }

    /// What the answer cost, once a chunk has said it.
    #[must_use]
    pub fn usage(&self) -> Option<&Usage> {
        self.head.usage.as_ref()
    }

    /// Whether every choice has come to its end, and there is one. Without that the stream was cut.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let mut choices = self.choices.values();
        !self.choices.is_empty() && choices.all(|choice| choice.finish_reason.is_some())
    }

    /// The completion as far as it has come.
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

impl Default for Accumulator {
    fn default() -> Self {
        Self::new()
    }
}

/// Says how much there is, not what: arguments and texts may hold anything.
impl fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accumulator")
            .field("choices", &self.choices.len())
            .field("weight", &self.weight)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl Building {
    /// Adds a piece; gives how much of the weight is not held.
    fn push(&mut self, choice: &Choice) -> usize {
        let mut freed = 0;
        let delta = &choice.delta;
        if self.role.is_none() {
            self.role.clone_from(&delta.role);
        }
        append(&mut self.content, delta.content.as_deref());
        append(&mut self.refusal, delta.refusal.as_deref());
        for fragment in &delta.tool_calls {
            self.calls.push(fragment);
        }
        if let Some(fragment) = &delta.function_call {
            let call = self.function_call.get_or_insert_default();
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
        for (key, value) in delta.unknown.iter() {
            let old = self.message_unknown.get_mut(key);
            let new = match (old, value.string()) {
                (Some(Unknown::Text(all)), Some(text)) => {
                    all.push_str(&text);
                    freed += kept::OVERHEAD + key.len();
                    continue;
                }
                (Some(_), None) if value.kind() == Kind::Null => {
                    freed += kept::weight(key, value);
                    continue;
                }
                (_, Some(text)) => Unknown::Text(text.into_owned()),
                (_, None) => Unknown::Raw(kept::own(value)),
            };
            let old = self.message_unknown.insert(key.to_owned(), new);
            freed += old.map_or(0, |old| kept::OVERHEAD + key.len() + old.len());
        }
        for (key, value) in choice.unknown.iter() {
            freed += match key {
                // The answer's own is made of the deltas.
                "message" => kept::weight(key, value),
                _ => self.unknown.put(key, value),
            };
        }
        freed
    }

    fn finish(self, index: u32) -> CompletedChoice {
        let unknown = self.message_unknown.into_iter().map(|(key, value)| {
            let value = match value {
                // A string always serialises.
                Unknown::Text(text) => Json::encode(&text).unwrap_or_default(),
                Unknown::Raw(json) => json,
            };
            (key, value)
        });
        let message = ChatMessage {
            role: self.role.unwrap_or_else(|| "assistant".into()),
            content: self.content.map_or(Content::Null, Content::Text),
            refusal: self.refusal,
            tool_calls: self.calls.into_calls().collect(),
            function_call: self.function_call,
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

impl Unknown {
    fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Raw(json) => json.as_bytes().len(),
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

/// About how much memory a choice's addition takes.
fn choice_weight(choice: &Choice) -> usize {
    let delta = &choice.delta;
    let function = |call: &FunctionDelta| len(&call.name) + len(&call.arguments);
    let reason = choice.finish_reason.as_ref();
    64 + len(&delta.role)
        + len(&delta.content)
        + len(&delta.refusal)
        + delta.tool_calls.iter().map(weight).sum::<usize>()
        + delta.function_call.as_ref().map_or(0, function)
        + choice.logprobs.as_ref().map_or(0, Logprobs::weight)
        + reason.map_or(0, |reason| reason.as_str().len())
        + kept::weigh(&delta.unknown)
        + kept::weigh(&choice.unknown)
}
