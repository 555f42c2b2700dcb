//! The head that the requests of a connection share.

use bytes::BytesMut;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName,
    SEC_WEBSOCKET_PROTOCOL, TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderValue, Method, Uri};

/// The headers of a handshake that concern its connection, or the body that a handshake does not have.
const OF_CONNECTION: [HeaderName; 7] = [
    CONNECTION,
    UPGRADE,
    CONTENT_TYPE,
    CONTENT_LENGTH,
    TRANSFER_ENCODING,
    ACCEPT,
    ACCEPT_ENCODING,
];

/// The part of a handshake's head that the requests on its connection share, in a compact form.
pub(super) struct Head {
    path: Box<str>,
    query: Box<str>,
    /// Names and values alternately, each followed by a line feed, which neither can contain.
    headers: Box<[u8]>,
    extensions: Extensions,
    /// The first subprotocol that the client offers.
    pub(super) subprotocol: Option<HeaderValue>,
}

impl Head {
    pub(super) fn of(request: &Parts) -> Self {
        let mut headers = Vec::new();
        for (name, value) in &request.headers {
            let is_of_socket = name.as_str().starts_with("sec-websocket-");
            if !is_of_socket && !OF_CONNECTION.contains(name) {
                for text in [name.as_ref(), value.as_bytes()] {
                    headers.extend_from_slice(text);
                    headers.push(b'\n');
                }
            }
        }
        let offered = request.headers.get(SEC_WEBSOCKET_PROTOCOL);
        let first = offered.and_then(|offered| offered.to_str().ok()?.split(',').next());
        Self {
            path: request.uri.path().trim_end_matches('/').into(),
            query: request.uri.query().unwrap_or_default().into(),
            headers: headers.into(),
            extensions: request.extensions.clone(),
            subprotocol: first.and_then(|first| HeaderValue::from_str(first.trim()).ok()),
        }
    }

    /// Returns the head of a request on this connection. Headers of the handshake take precedence over `more`.
    pub(super) fn request(&self, method: Method, path: &str, more: &HeaderMap) -> Option<Parts> {
        let mark = if self.query.is_empty() { "" } else { "?" };
        let root = if self.path.is_empty() && path.is_empty() {
            "/"
        } else {
            ""
        };
        let uri = format!("{root}{}{path}{mark}{}", self.path, self.query);
        let (mut parts, ()) = http::Request::new(()).into_parts();
        parts.method = method;
        parts.uri = Uri::try_from(uri).ok()?;
        // All values share one buffer.
        let mut bytes = BytesMut::from(&*self.headers);
        let mut texts = self.headers.split(|byte| *byte == b'\n');
        while let (Some(name), Some(value)) = (texts.next(), texts.next()) {
            let _ = bytes.split_to(name.len() + 1);
            let value_bytes = bytes.split_to(value.len()).freeze();
            let _ = bytes.split_to(1);
            let name = HeaderName::from_bytes(name).ok()?;
            let value = HeaderValue::from_maybe_shared(value_bytes).ok()?;
            parts.headers.append(name, value);
        }
        for (name, value) in more {
            if !parts.headers.contains_key(name) {
                parts.headers.append(name, value.clone());
            }
        }
        let json = HeaderValue::from_static("application/json");
        parts.headers.insert(CONTENT_TYPE, json);
        parts.extensions = self.extensions.clone();
        Some(parts)
    }
}
