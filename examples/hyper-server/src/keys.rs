//! API keys: who asks.

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

use copilot_wire::protocol::{Refusal, User};
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};

/// The keys of the callers, each with its user. A guard of a [`Router`](copilot_wire::Router).
pub struct Keys(Vec<(Arc<str>, String)>);

/// Reads users and their keys: `user=key,user=key`.
#[must_use]
pub fn users(text: &str) -> Option<Vec<(String, String)>> {
    let user = |user: &str| {
        let (name, key) = user.split_once('=')?;
        (!name.is_empty() && !key.is_empty()).then(|| (name.to_owned(), key.to_owned()))
    };
    text.split(',').map(user).collect()
}

impl Keys {
    /// Creates the keys from pairs of a user and a key.
    #[must_use]
    pub fn new(keys: Vec<(String, String)>) -> Self {
        Self(
            keys.into_iter()
                .map(|(user, key)| (user.into(), key))
                .collect(),
        )
    }

    /// Lets pass who has a key: as a bearer token, which is what OpenAI clients send, or as
    /// `x-api-key`, which Anthropic clients send and users of the Workspace can set. Adds the [`User`].
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with status 401.
    pub fn check(&self, mut parts: Parts) -> Result<Parts, Refusal> {
        let header = |name| parts.headers.get(name).map(HeaderValue::as_bytes);
        let bearer = header(AUTHORIZATION.as_str()).and_then(|value| {
            let (scheme, key) = value.split_at_checked("Bearer ".len())?;
            scheme.eq_ignore_ascii_case(b"Bearer ").then_some(key)
        });
        let key = bearer.or_else(|| header("x-api-key")).unwrap_or_default();
        let user = self.user(key).ok_or_else(|| {
            Refusal::new(
                StatusCode::UNAUTHORIZED,
                "the API key is missing or not valid",
            )
            .code("unauthorized")
            .header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
        })?;
        parts.extensions.insert(User::new(user));
        Ok(parts)
    }

    /// Compares every key: the time does not tell which one matched.
    fn user(&self, key: &[u8]) -> Option<Arc<str>> {
        let mut found = None;
        for (user, known) in &self.0 {
            if is_same(key, known.as_bytes()) {
                found = Some(Arc::clone(user));
            }
        }
        found
    }
}

/// Shows the users alone.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.iter().map(|(user, _)| user))
            .finish()
    }
}

/// Compares in a time that does not tell how much of a key is right.
fn is_same(one: &[u8], two: &[u8]) -> bool {
    let bytes = one.iter().zip(two);
    let differences = bytes.fold(0, |all, (one, two)| black_box(all | (one ^ two)));
    one.len() == two.len() && differences == 0
}
