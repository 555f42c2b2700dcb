//! The abilities of a client, by its headers and by the id of its session.

use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue};

use super::message::{self, Message, SESSION, VERSION};
use super::random::{is_random, random};
use super::request::{CallRequest, has_dialogs};
use super::versions::{Era, LINKS_SINCE};

/// The suffix of session ids of clients that can ask their users.
pub(super) const FORMS: &str = "-forms";

/// The suffix of session ids of clients whose version has neither dialogs nor links in results. These versions have no
/// header with the version.
const PLAIN: &str = "-plain";

impl CallRequest {
    /// Stores which kinds of responses the client reads, by its headers.
    pub(super) fn look(&mut self, headers: &HeaderMap) {
        let accept = headers.get_all(ACCEPT).iter();
        let mut ranges = accept.flat_map(|value| value.to_str().unwrap_or_default().split(','));
        // RFC 9110, section 8.3.1: types are case-insensitive.
        let streams = |range: &str| {
            let kind = range.split(';').next().unwrap_or_default().trim();
            ["text/event-stream", "text/*", "*/*"]
                .iter()
                .any(|known| kind.eq_ignore_ascii_case(known))
        };
        self.found.is_stream = !headers.contains_key(ACCEPT) || ranges.any(streams);
        let version = message::header(headers, VERSION);
        self.found.is_primed = self.found.era == Era::Stateless
            || version.is_some_and(|version| version > "2025-06-18");
        let of_session = session(headers).is_some_and(|session| session.ends_with(PLAIN));
        self.found.is_plain = of_session || version.is_some_and(|version| version < LINKS_SINCE);
    }
}

/// Returns the id of a new session.
pub(super) fn session_id(message: &Message, version: &str) -> Option<HeaderValue> {
    let id = random()?;
    let capabilities = message.param("capabilities").unwrap_or_default();
    let suffix = match has_dialogs(&capabilities) {
        _ if version < LINKS_SINCE => PLAIN,
        true => FORMS,
        false => "",
    };
    HeaderValue::from_str(&format!("{id}{suffix}")).ok()
}

/// Returns the session id of a request, if this server could have created it.
pub(super) fn session(headers: &HeaderMap) -> Option<&str> {
    let session = message::header(headers, SESSION)?;
    let mut digits = session;
    for suffix in [FORMS, PLAIN] {
        digits = session.strip_suffix(suffix).unwrap_or(digits);
    }
    is_random(digits).then_some(session)
}
