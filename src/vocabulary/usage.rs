//! The tokens that a turn used.

use std::ops::AddAssign;

/// The tokens of one call of a model, or of all calls of a turn. Sums saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Usage {
    /// The tokens of the prompt, including those read from a cache or written to one.
    pub input_tokens: u64,
    /// The tokens of the answer, including reasoning.
    pub output_tokens: u64,
    /// The tokens of the prompt that were read from a cache.
    pub cached_input_tokens: u64,
    /// The tokens of the prompt that were written to a cache, which may cost more than others.
    pub cache_write_tokens: u64,
    /// The tokens of the answer that were spent on reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Creates the usage of a prompt and an answer.
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            cached_input_tokens: 0,
            cache_write_tokens: 0,
            reasoning_tokens: 0,
        }
    }

    /// Sets the tokens of the prompt that were read from a cache.
    #[must_use]
    pub const fn cached_input_tokens(mut self, tokens: u64) -> Self {
        self.cached_input_tokens = tokens;
        self
    }

    /// Sets the tokens of the prompt that were written to a cache.
    #[must_use]
    pub const fn cache_write_tokens(mut self, tokens: u64) -> Self {
        self.cache_write_tokens = tokens;
        self
    }

    /// Sets the tokens of the answer that were spent on reasoning.
    #[must_use]
    pub const fn reasoning_tokens(mut self, tokens: u64) -> Self {
        self.reasoning_tokens = tokens;
        self
    }

    /// Returns the sum of the tokens of prompt and answer.
    pub const fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = self.zip(other, u64::saturating_add);
    }
}

impl Usage {
    /// Returns the increase since `earlier`, for each figure. Zero if a figure has decreased.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.zip(earlier, u64::saturating_sub)
    }

    /// Returns the larger of two totals, for each figure.
    pub(crate) fn max(self, other: Self) -> Self {
        self.zip(other, u64::max)
    }

    fn zip(self, other: Self, join: fn(u64, u64) -> u64) -> Self {
        Self {
            input_tokens: join(self.input_tokens, other.input_tokens),
            output_tokens: join(self.output_tokens, other.output_tokens),
            cached_input_tokens: join(self.cached_input_tokens, other.cached_input_tokens),
            cache_write_tokens: join(self.cache_write_tokens, other.cache_write_tokens),
            reasoning_tokens: join(self.reasoning_tokens, other.reasoning_tokens),
        }
    }
}
