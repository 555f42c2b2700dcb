//! Counting tokens.
//!
//! The total of a message list is the original's formula: for each message a constant of the model,
//! plus the tokens of the role and of the content, and three for the start of the reply.

use std::fmt;

use tiktoken_rs::{CoreBPE, cl100k_base_singleton};

use crate::agent_loop::message::Message;

/// The size of the pieces in which long text is counted, so that the time stays linear.
///
/// A piece boundary may add a token, so the count may be too high, but never too low.
const PIECE: usize = 64 * 1024;

/// The length of the longest cl100k_base token in bytes, for a lower bound of a count without counting.
const LONGEST_TOKEN: usize = 128;

/// Counts the tokens of plain text.
pub trait Tokenizer: Send + Sync + fmt::Debug {
    /// Returns the number of tokens of a text.
    fn count(&self, text: &str) -> usize;

    /// Returns the longest start of a text with at most this many tokens.
    fn cut<'t>(&self, text: &'t str, tokens: usize) -> &'t str {
        search_cut(self, text, tokens)
    }
}

/// Finds the end of the start by bisection. Counts of longer starts are almost never lower, so the
/// result is the longest start or close to it, and never too long.
fn search_cut<'t, T: Tokenizer + ?Sized>(tokenizer: &T, text: &'t str, tokens: usize) -> &'t str {
    let mut low = 0;
    let mut high = floor(text, tokens.saturating_mul(LONGEST_TOKEN));
    while low < high {
        // Rounded up, so that `low` advances in every round that fits.
        let middle = ceil(text, low + (high - low).div_ceil(2));
        match tokenizer.count(text.get(..middle).unwrap_or_default()) <= tokens {
            true => low = middle,
            false => high = floor(text, middle - 1),
        }
    }
    text.get(..low).unwrap_or_default()
}

/// Returns the last character boundary at or before an index.
pub(crate) fn floor(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// Returns the first character boundary at or after an index.
fn ceil(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index += 1;
    }
    index
}

/// Exact token counts of the encoding cl100k_base.
///
/// The text of a special token counts as ordinary text; the original stopped with an error there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cl100k;

impl Cl100k {
    fn bpe(self) -> &'static CoreBPE {
        cl100k_base_singleton()
    }
}

impl Tokenizer for Cl100k {
    fn count(&self, text: &str) -> usize {
        let mut rest = text;
        let mut total = 0;
        while rest.len() > PIECE {
            let (piece, tail) = rest.split_at(floor(rest, PIECE));
            total += self.bpe().encode_ordinary(piece).len();
            rest = tail;
        }
        total + self.bpe().encode_ordinary(rest).len()
    }

    /// Encodes once and drops the surplus tokens. The remaining text may be encoded differently at its end, so it is
    /// counted, and bisected in the rare case that it has too many tokens.
    fn cut<'t>(&self, text: &'t str, tokens: usize) -> &'t str {
        // So many tokens cannot reach further than this, so the remaining text is not encoded.
        let end = floor(text, tokens.saturating_mul(LONGEST_TOKEN).min(PIECE));
        let start = text.get(..end).unwrap_or_default();
        let encoded = self.bpe().encode_ordinary(start);
        let start = encoded.get(..tokens).unwrap_or(&encoded);
        let length = self
            .bpe()
            .decode_bytes(start)
            .map_or(0, |bytes| bytes.len());
        let cut = text.get(..floor(text, length)).unwrap_or_default();
        match self.count(cut) <= tokens {
            true => cut,
            false => search_cut(self, text, tokens),
        }
    }
}

/// The token overhead of messages for one family of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageCost {
    /// Tokens added by every message.
    pub per_message: usize,
    /// Tokens added by an author's name, in addition to its own.
    pub per_name: isize,
    /// Tokens added by a whole list.
    pub per_list: usize,
}

impl MessageCost {
    /// The constants of `gpt-3.5-turbo-0301`, also used for `gpt-3.5-turbo`.
    pub const GPT_3_5: Self = Self {
        per_message: 4,
        per_name: -1,
        per_list: 3,
    };
    /// The constants of `gpt-4-0314`, also used for `gpt-4` and all later models.
    pub const GPT_4: Self = Self {
        per_message: 3,
        per_name: 1,
        per_list: 3,
    };

    /// Returns the tokens of a message list.
    #[must_use]
    pub fn count(self, tokenizer: &dyn Tokenizer, messages: &[Message]) -> usize {
        let cost = |message: &Message| self.of_message(tokenizer, message);
        messages.iter().map(cost).sum::<usize>() + self.per_list
    }

    /// Returns the tokens of one message counted alone.
    #[must_use]
    pub fn alone(self, tokenizer: &dyn Tokenizer, message: &Message) -> usize {
        self.of_message(tokenizer, message) + self.per_list
    }

    /// Returns `true` if a message exceeds a limit by a lower bound that needs no counting.
    pub(crate) fn surely_above(self, message: &Message, limit: usize) -> bool {
        self.at_least(message) > limit
    }

    /// Returns a lower bound of the tokens of a message, which needs no counting.
    pub(crate) fn at_least(self, message: &Message) -> usize {
        message.content.len() / LONGEST_TOKEN
    }

    fn of_message(self, tokenizer: &dyn Tokenizer, message: &Message) -> usize {
        let mut total = self.per_message;
        total += tokenizer.count(message.role.as_str());
        total += tokenizer.count(&message.content);
        if let Some(name) = &message.name {
            total = (total + tokenizer.count(name)).saturating_add_signed(self.per_name);
        }
        if let Some(call) = &message.call {
            total += tokenizer.count(&call.id);
            total += tokenizer.count(&call.name);
            total += tokenizer.count(&call.arguments);
        }
        if let Some(answers) = &message.answers {
            total += tokenizer.count(answers);
        }
        total
    }
}
