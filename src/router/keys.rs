//! API keys of callers.

use std::fmt;
use std::future::{Ready, ready};
use std::hint::black_box;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};

use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use sha2::{Digest as _, Sha256};

use crate::protocol::{Refusal, User};

/// The API keys of callers, each with its user. A user may have several keys. Clones share their keys.
///
/// Callers send a key as `Authorization: Bearer …`, as most clients do, or as `x-api-key`. Only
/// hashes of the keys are stored, and all of them are compared, so that the time of a check does not depend on a key.
///
/// From text, such as an environment variable or a file, keys are read as `user=key`, separated by commas or line
/// breaks; lines that start with `#` are skipped:
///
/// ```
/// use copilot_wire::Router;
/// use copilot_wire::router::Keys;
///
/// # let text = "ali=sesame,dorothy=poppy";
/// let keys: Keys = text.parse()?; // such as of std::env::var("API_KEYS")?
/// let router = Router::new()
///     .guard(keys.guard())
///     .max_turns_per_user(4)
///     .max_turns_per_minute(60);
/// # let _ = router;
///
/// // Later, such as at a signal: requests from here on need one of these keys.
/// keys.replace("ali=open,dorothy=poppy".parse()?);
/// # Ok::<(), copilot_wire::router::KeysError>(())
/// ```
#[derive(Clone, Default)]
pub struct Keys(Arc<RwLock<Known>>);

/// The users, each with the hash of a key.
type Known = Arc<[(User, [u8; 32])]>;

/// The error for keys that are not like `user=key`. It does not contain the keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("key {at} must be like `user=key`")]
pub struct KeysError {
    /// The position of the key in the text, starting at 1.
    at: usize,
}

impl Keys {
    /// Creates keys from pairs of a user's id and a key. An empty key is left out.
    pub fn new<U: Into<Arc<str>>, K: AsRef<[u8]>>(keys: impl IntoIterator<Item = (U, K)>) -> Self {
        let keys = keys.into_iter();
        let keys = keys.filter(|(_, key)| !key.as_ref().is_empty());
        let known = keys.map(|(user, key)| (User::new(user), hash(key.as_ref())));
        Self(Arc::new(RwLock::new(known.collect())))
    }

    /// Returns a guard that refuses callers without a key with status 401, and adds the [`User`] of the others; see
    /// [`Router::guard`](super::Router::guard).
    pub fn guard(&self) -> impl Fn(Parts) -> Ready<Result<Parts, Refusal>> + Clone + use<> {
        let keys = self.clone();
        move |parts| ready(keys.check(parts))
    }

    /// Replaces the keys, also those of all clones and guards. Requests that have passed a guard go on.
    pub fn replace(&self, with: Self) {
        let known = with.known();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = known;
    }

    fn known(&self) -> Known {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn check(&self, mut parts: Parts) -> Result<Parts, Refusal> {
        let header = |name| parts.headers.get(name).map(HeaderValue::as_bytes);
        let bearer = header(AUTHORIZATION.as_str()).and_then(|value| {
            let (scheme, key) = value.split_at_checked("Bearer ".len())?;
            scheme.eq_ignore_ascii_case(b"Bearer ").then_some(key)
        });
        let key = bearer.or_else(|| header("x-api-key"));
        let user = self.user(key.unwrap_or_default()).ok_or_else(|| {
            let message = "the API key is missing or not valid";
            Refusal::new(StatusCode::UNAUTHORIZED, message)
                .code("unauthorized")
                .header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
        })?;
        parts.extensions.insert(user);
        Ok(parts)
    }

    fn user(&self, key: &[u8]) -> Option<User> {
        let key = hash(key);
        let mut found = None;
        for (user, known) in &*self.known() {
            let bytes = known.iter().zip(&key);
            if bytes.fold(0, |all, (one, two)| black_box(all | (one ^ two))) == 0 {
                found = Some(user.clone());
            }
        }
        found
    }
}

fn hash(key: &[u8]) -> [u8; 32] {
    Sha256::digest(key).into()
}

impl FromStr for Keys {
    type Err = KeysError;

    fn from_str(text: &str) -> Result<Self, KeysError> {
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let entries = lines.flat_map(|line| line.split(','));
        let read = |(at, entry): (usize, &str)| {
            let (user, key) = entry.trim().split_once('=').unwrap_or_default();
            match user.is_empty() || key.is_empty() {
                true => Err(KeysError { at: at + 1 }),
                false => Ok((user.to_owned(), key.to_owned())),
            }
        };
        let keys: Result<Vec<_>, _> = entries.enumerate().map(read).collect();
        match keys?.as_slice() {
            // No key would lock everybody out, which is a fault of the setting.
            [] => Err(KeysError { at: 1 }),
            keys => Ok(Self::new(keys.iter().map(|(user, key)| (&**user, key)))),
        }
    }
}

/// Prints only the users.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.known();
        f.debug_set()
            .entries(known.iter().map(|(user, _)| &user.id))
            .finish()
    }
}
