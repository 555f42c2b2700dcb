//! Log probabilities of tokens.

use crate::json::{List, Members, Wire};

/// The log probabilities of the tokens of an answer or a piece of it.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct Logprobs {
    /// The tokens of the content.
    #[wire(always)]
    pub content: Option<List<TokenLogprob>>,
    /// The tokens of the refusal.
    #[wire(always)]
    pub refusal: Option<List<TokenLogprob>>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Logprobs {
    /// Creates the log probabilities of the tokens of a content.
    pub fn content(tokens: impl IntoIterator<Item = TokenLogprob>) -> Self {
        Self {
            content: Some(tokens.into_iter().collect()),
            ..Self::default()
        }
    }
}

/// A token with its log probability.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct TokenLogprob {
    /// The token as text; for a part of a character, a placeholder.
    #[wire(always)]
    pub token: String,
    /// The natural logarithm of its probability.
    #[wire(always)]
    pub logprob: f64,
    /// The bytes of the token. Only together with its neighbours they are valid UTF-8.
    #[wire(always)]
    pub bytes: Option<List<u8>>,
    /// The alternatives to the token.
    pub top_logprobs: Option<List<TopLogprob>>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// An alternative to a token, with its log probability.
///
/// The protocol has one level of alternatives; deeper ones are retained in `unknown`.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct TopLogprob {
    /// The token as text; for a part of a character, a placeholder.
    #[wire(always)]
    pub token: String,
    /// The natural logarithm of its probability.
    #[wire(always)]
    pub logprob: f64,
    /// The bytes of the token. Only together with its neighbours they are valid UTF-8.
    #[wire(always)]
    pub bytes: Option<List<u8>>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl TokenLogprob {
    /// Creates an alternative.
    pub fn new(token: impl Into<String>, logprob: f64) -> Self {
        let top = TopLogprob::new(token, logprob);
        Self {
            token: top.token,
            logprob,
            bytes: top.bytes,
            top_logprobs: Some(List::new()),
            unknown: Members::new(),
        }
    }
}

impl TopLogprob {
    /// Creates a token without alternatives.
    pub fn new(token: impl Into<String>, logprob: f64) -> Self {
        let token = token.into();
        Self {
            bytes: Some(token.as_bytes().to_vec().into()),
            token,
            logprob,
            unknown: Members::new(),
        }
    }
}
