//! Messages that answer requests.

use std::collections::HashSet;

use super::{ContentBlock, ToolUseBlock};
use crate::json::{Json, List, Members, Wire, own, present};
use crate::protocol;

/// The number of unknown token counts that remain when later counts have other names.
const RETAINED: usize = 64;

/// The reason why a message ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum StopReason {
    /// The answer is complete.
    EndTurn,
    /// The answer calls tools.
    ToolUse,
    /// The answer was truncated at a limit of tokens. Claude Code and Copilot then request the rest
    /// automatically: use `EndTurn` for a limit of the agent's own.
    MaxTokens,
    /// The answer reached a stop sequence of the request.
    StopSequence,
    /// The turn is paused, and continues with the next request.
    PauseTurn,
    /// The answer was refused.
    Refusal,
    /// Any other reason.
    #[wire(other)]
    Other(String),
}

/// Token counts. Every count is the total so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(
    null_is_absent,
    new = "Creates token counts of a request and its answer."
)]
pub struct Usage {
    /// The number of tokens in the request, without those of a cache.
    #[wire(new)]
    pub input_tokens: Option<u64>,
    /// The number of tokens in the request that were read from a cache.
    pub cache_read_input_tokens: Option<u64>,
    /// The number of tokens in the request that were written to a cache.
    pub cache_creation_input_tokens: Option<u64>,
    /// The number of tokens in the answer.
    #[wire(always, new)]
    pub output_tokens: u64,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Usage {
    /// Sets the counts that are present in `newer`.
    pub(super) fn update(&mut self, newer: &Self) {
        self.input_tokens = newer.input_tokens.or(self.input_tokens);
        let cached = newer.cache_read_input_tokens;
        self.cache_read_input_tokens = cached.or(self.cache_read_input_tokens);
        let written = newer.cache_creation_input_tokens;
        self.cache_creation_input_tokens = written.or(self.cache_creation_input_tokens);
        // Totals, not increments: the later one replaces the earlier one.
        self.output_tokens = newer.output_tokens;
        let newer = &newer.unknown;
        let names: HashSet<_> = newer.iter().map(|(key, _)| key).collect();
        if !names.is_empty() {
            let known = std::mem::take(&mut self.unknown).into_iter();
            let known = known.filter(|(key, _)| !names.contains(&**key));
            // Bounded, because a server may send any number of counts with other names.
            self.unknown = known.take(RETAINED).collect();
            let newer = newer
                .iter()
                .map(|(key, value)| (key.to_owned(), own(value)));
            self.unknown.extend(newer);
        }
    }
}

impl From<protocol::Usage> for Usage {
    fn from(usage: protocol::Usage) -> Self {
        let (cached, written) = (usage.cached_input_tokens, usage.cache_write_tokens);
        let mut all = Self::new(
            // Here `input_tokens` excludes what came from a cache or went to one; in the shared
            // vocabulary it includes both.
            usage
                .input_tokens
                .saturating_sub(cached)
                .saturating_sub(written),
            usage.output_tokens,
        );
        all.cache_read_input_tokens = Some(cached).filter(|cached| *cached > 0);
        all.cache_creation_input_tokens = Some(written).filter(|written| *written > 0);
        all
    }
}

impl From<&Usage> for protocol::Usage {
    fn from(usage: &Usage) -> Self {
        let cached = usage.cache_read_input_tokens.unwrap_or_default();
        let written = usage.cache_creation_input_tokens.unwrap_or_default();
        let input = usage.input_tokens.unwrap_or_default();
        let input = input.saturating_add(cached).saturating_add(written);
        Self::new(input, usage.output_tokens)
            .cached_input_tokens(cached)
            .cache_write_tokens(written)
    }
}

/// A message: the complete answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(fixed(type = "message", after = id), null_is_absent)]
pub struct Message {
    /// The id of the message.
    #[wire(always)]
    pub id: String,
    /// The role: `assistant`.
    #[wire(always)]
    pub role: String,
    /// The name of the model.
    #[wire(always)]
    pub model: String,
    /// The blocks of the answer.
    #[wire(always)]
    pub content: List<ContentBlock>,
    /// The reason why the message ended; `None` before its end.
    #[wire(always, read = present)]
    pub stop_reason: Option<StopReason>,
    /// The stop sequence that was reached.
    #[wire(always)]
    pub stop_sequence: Option<String>,
    /// The token counts.
    #[wire(always)]
    pub usage: Usage,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Message {
    /// Returns the text of all text blocks.
    pub fn text(&self) -> String {
        let blocks = self.content.iter();
        let texts = blocks.filter_map(|block| match block {
            ContentBlock::Text(block) => Some(block.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the calls.
    pub fn calls(&self) -> impl Iterator<Item = &ToolUseBlock> {
        let blocks = self.content.iter();
        blocks.filter_map(|block| match block {
            ContentBlock::ToolUse(call) => Some(call),
            _ => None,
        })
    }
}

/// The end of a message: the member `delta` of `message_delta`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct Stop {
    /// The reason why the message ended.
    #[wire(always, read = present)]
    pub stop_reason: Option<StopReason>,
    /// The stop sequence that was reached.
    #[wire(always)]
    pub stop_sequence: Option<String>,
    /// Details of a refusal: an object with `type`, `category` and `explanation`.
    pub stop_details: Option<Json>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl From<StopReason> for Stop {
    fn from(reason: StopReason) -> Self {
        Self {
            stop_reason: Some(reason),
            ..Self::default()
        }
    }
}

/// A change of the message: its end, and the token counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(fixed(type = "message_delta"), null_is_absent)]
pub struct MessageDelta {
    /// The end of the message; without a reason the message continues.
    #[wire(always)]
    pub delta: Stop,
    /// The token counts.
    #[wire(always)]
    pub usage: Usage,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl From<Usage> for MessageDelta {
    fn from(usage: Usage) -> Self {
        Self {
            usage,
            ..Self::default()
        }
    }
}
