//! The secrets of a target, which a report must not repeat.

use std::fmt;

use super::exam::Settings;

/// The length in bytes below which a value is no secret: `1` or `true` would hide half of every excerpt.
const SHORTEST: usize = 8;

/// The minimum length in bytes of the end of a secret that is hidden at the start of an excerpt.
const SHORTEST_END: usize = 4;

/// The words of header values and of the query that were sent to the endpoint and may be keys.
#[derive(Default)]
pub(super) struct Secrets(Vec<Vec<u8>>);

/// Shows the number of the secrets, and none of them.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

impl Secrets {
    /// Returns the secrets of a target, such as the keys in `Bearer KEY` and `session=KEY; path=/`.
    pub(super) fn of(settings: &Settings) -> Self {
        let query = settings
            .path
            .as_deref()
            .and_then(|path| path.split_once('?'));
        let query = query.map(|(_, query)| query.as_bytes());
        let values = settings.headers.values().map(|value| value.as_bytes());
        let words = values
            .chain(query)
            .flat_map(|value| value.split(|byte| b" ;,&=".contains(byte)));
        Self(
            words
                .filter(|word| word.len() >= SHORTEST)
                .map(<[u8]>::to_vec)
                .collect(),
        )
    }

    /// Returns the length in bytes of the longest secret.
    pub(super) fn longest(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or_default()
    }

    /// Replaces every byte of a secret with `*`, also where the excerpt begins inside one.
    pub(super) fn hide(&self, bytes: &[u8]) -> Vec<u8> {
        let mut hidden = bytes.to_vec();
        for secret in &self.0 {
            let ends = 0..=secret.len().saturating_sub(SHORTEST_END);
            let mut ends = ends.map(|from| secret.split_at(from).1);
            let end = ends.find(|end| bytes.starts_with(end));
            let windows = bytes.windows(secret.len()).enumerate();
            let whole = windows.filter(|(_, window)| window == secret);
            let whole = whole.map(|(at, secret)| at..at + secret.len());
            for place in whole.chain(end.map(|end| 0..end.len())) {
                if let Some(place) = hidden.get_mut(place) {
                    place.fill(b'*');
                }
            }
        }
        hidden
    }
}
