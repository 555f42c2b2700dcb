//! How likely the tokens of an answer were.

use serde::Serialize;

use super::{kept, read};
use crate::json::{JsonError, Members, Reader};

/// How likely the tokens of a piece of an answer were.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Logprobs {
    /// The tokens of the content.
    pub content: Option<Vec<TokenLogprob>>,
    /// The tokens of the refusal.
    pub refusal: Option<Vec<TokenLogprob>>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

impl Logprobs {
    /// For the tokens of the content.
    #[must_use]
    pub fn content(tokens: Vec<TokenLogprob>) -> Self {
        Self {
            content: Some(tokens),
            ..Self::default()
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut logprobs = Self::default();
        reader.object_keeping(&mut logprobs.unknown, |reader, key| {
            match &*key {
                "content" => logprobs.content = read::list(reader, TokenLogprob::read)?,
                "refusal" => logprobs.refusal = read::list(reader, TokenLogprob::read)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(logprobs)
    }

    /// Adds the tokens of a later piece, without its unknown members.
    pub(super) fn append(&mut self, later: &Self) {
        for (to, from) in [
            (&mut self.content, &later.content),
            (&mut self.refusal, &later.refusal),
        ] {
            if let Some(from) = from {
                let tokens = from.iter().map(TokenLogprob::detached);
                to.get_or_insert_default().extend(tokens);
            }
        }
    }

    /// About how much memory it takes.
    pub(super) fn weight(&self) -> usize {
        let lists = [&self.content, &self.refusal];
        let tokens = lists.into_iter().flatten().flatten();
        tokens.map(TokenLogprob::weight).sum::<usize>() + kept::weigh(&self.unknown)
    }
}

/// How likely one token was.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TokenLogprob {
    /// The token as text; for a part of a character, a stand-in.
    pub token: String,
    /// The natural logarithm of its probability.
    pub logprob: f64,
    /// The token as bytes, which together with its neighbours' are UTF-8.
    pub bytes: Option<Vec<u8>>,
    /// What else it could have been.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_logprobs: Option<Vec<TopLogprob>>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

/// How likely one of the tokens was that could have been in a place.
///
/// It has no alternatives of its own: the protocol has one level of them, and what is deeper stays
/// in `unknown`, as it came.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopLogprob {
    /// The token as text; for a part of a character, a stand-in.
    pub token: String,
    /// The natural logarithm of its probability.
    pub logprob: f64,
    /// The token as bytes, which together with its neighbours' are UTF-8.
    pub bytes: Option<Vec<u8>>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

impl TokenLogprob {
    /// A token without alternatives.
    #[must_use]
    pub fn new(token: impl Into<String>, logprob: f64) -> Self {
        let top = TopLogprob::new(token, logprob);
        Self {
            token: top.token,
            logprob,
            bytes: top.bytes,
            top_logprobs: Some(Vec::new()),
            unknown: Members::new(),
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut token = Self::default();
        let mut top = TopLogprob::default();
        reader.object_keeping(&mut token.unknown, |reader, key| {
            if key == "top_logprobs" {
                token.top_logprobs = read::list(reader, TopLogprob::read)?;
                return Ok(());
            }
            top.read_member(reader, &key)
        })?;
        Ok(Self {
            token: top.token,
            logprob: top.logprob,
            bytes: top.bytes,
            ..token
        })
    }

    /// A copy that keeps nothing of its event.
    fn detached(&self) -> Self {
        let mut token = self.clone();
        kept::detach(&mut token.unknown);
        for top in token.top_logprobs.iter_mut().flatten() {
            kept::detach(&mut top.unknown);
        }
        token
    }

    fn weight(&self) -> usize {
        let bytes = self.bytes.as_ref().map_or(0, Vec::len);
        let top = self.top_logprobs.iter().flatten();
        size_of::<Self>()
            + self.token.len()
            + bytes
            + top.map(TopLogprob::weight).sum::<usize>()
            + kept::weigh(&self.unknown)
    }
}

impl TopLogprob {
    /// A token.
    #[must_use]
    pub fn new(token: impl Into<String>, logprob: f64) -> Self {
        let token = token.into();
        Self {
            bytes: Some(token.as_bytes().to_vec()),
            token,
            logprob,
            unknown: Members::new(),
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut token = Self::default();
        let mut unknown = Members::new();
        reader.object_keeping(&mut unknown, |reader, key| token.read_member(reader, &key))?;
        token.unknown = unknown;
        Ok(token)
    }

    /// Reads one of the members that both kinds of tokens have.
    fn read_member(&mut self, reader: &mut Reader<'_>, key: &str) -> Result<(), JsonError> {
        match key {
            "token" => self.token = read::string(reader)?.unwrap_or_default(),
            "logprob" => self.logprob = read::f64(reader)?.unwrap_or_default(),
            "bytes" => self.bytes = read::list(reader, byte)?,
            _ => {}
        }
        Ok(())
    }

    fn weight(&self) -> usize {
        let bytes = self.bytes.as_ref().map_or(0, Vec::len);
        size_of::<Self>() + self.token.len() + bytes + kept::weigh(&self.unknown)
    }
}

fn byte(reader: &mut Reader<'_>) -> Result<u8, JsonError> {
    let byte = reader.u64()?.and_then(|byte| u8::try_from(byte).ok());
    byte.ok_or_else(|| reader.expected("a byte"))
}
