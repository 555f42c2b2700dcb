//! API keys: who asks.

use std::hint::black_box;
use std::sync::Arc;

use copilot_wire::protocol::{Refusal, User};
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};

/// The keys, each with its user.
pub(crate) struct Keys(Vec<(Arc<str>, String)>);

impl Keys {
    pub(crate) fn new(keys: Vec<(String, String)>) -> Self {
        Self(
            keys.into_iter()
                .map(|(user, key)| (user.into(), key))
                .collect(),
        )
    }

    /// Lets pass who has a key: as a bearer token, which is what OpenAI clients send, or as
    /// `x-api-key`, which users of the Workspace can set.
    pub(crate) fn check(&self, mut parts: Parts) -> Result<Parts, Refusal> {
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

/// Compares in a time that does not tell how much of a key is right.
fn is_same(one: &[u8], two: &[u8]) -> bool {
    let bytes = one.iter().zip(two);
    let differences = bytes.fold(0, |all, (one, two)| black_box(all | (one ^ two)));
    one.len() == two.len() && differences == 0
}
