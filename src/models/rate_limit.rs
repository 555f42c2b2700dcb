//! The headers with which servers of models tell their rate limits.

use http::HeaderMap;
use http::header::HeaderName;

/// The figures whose values are the same in every dialect. The form of the time of a reset is another in each.
const FIGURES: [&str; 2] = ["limit", "remaining"];

/// The text before a figure and its unit.
const PREFIX: &[u8; 10] = b"ratelimit-";

/// Returns `true` for a header that tells a rate limit.
pub(super) fn is_rate_limit(name: &HeaderName) -> bool {
    name.as_str().contains("ratelimit")
}

/// Gives the figures of rate limits the names of a dialect, see [`Dialect::RATE_LIMIT`](super::Dialect::RATE_LIMIT).
/// Other headers keep the name that the server has given them.
pub(super) fn rename_rate_limits(headers: &mut HeaderMap, name: fn(&str, &str) -> String) {
    let renamed = headers.iter().filter_map(|(old, value)| {
        // Every response has headers that are none: a search for a text would first prepare itself for each of them.
        let mut places = old.as_str().as_bytes().windows(PREFIX.len());
        let rest = places.position(|it| it == PREFIX)? + PREFIX.len();
        let rest = old.as_str().get(rest..)?;
        let (figure, unit) = FIGURES.iter().find_map(|figure| {
            let first = rest
                .strip_prefix(figure)
                .and_then(|it| it.strip_prefix('-'));
            let last = || rest.strip_suffix(figure)?.strip_suffix('-');
            Some((figure, first.or_else(last)?))
        })?;
        let new = HeaderName::try_from(name(figure, unit)).ok()?;
        Some((old.clone(), new, value.clone()))
    });
    for (old, new, value) in renamed.collect::<Vec<_>>() {
        headers.remove(old);
        headers.insert(new, value);
    }
}
