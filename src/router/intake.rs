//! Reads a request's body, and refuses what must not be read.

use std::future::poll_fn;
use std::pin::pin;

use bytes::{Buf, Bytes, BytesMut};
use futures_core::Stream;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};

use crate::protocol::Refusal;

/// Reads the whole body of a POST; other methods carry none that counts.
pub(super) async fn read<B, D, E>(parts: &Parts, body: B, limit: usize) -> Result<Bytes, Refusal>
where
    B: Stream<Item = Result<D, E>>,
    D: Buf,
{
    if parts.method != Method::POST {
        return Ok(Bytes::new());
    }
    if !is_json(&parts.headers) {
        // Anything else could be posted across origins without a preflight.
        let message = "content-type must be application/json";
        let code = if parts.headers.contains_key(CONTENT_TYPE) {
            "invalid_content_type"
        } else {
            "missing_content_type"
        };
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message).code(code));
    }
    let announced = content_length(&parts.headers);
    if announced.is_some_and(|length| length > limit as u64) {
        return Err(too_large(limit));
    }
    let mut body = pin!(body);
    let mut whole = BytesMut::new();
    // Trust the announced length only so far: the bytes have yet to come.
    whole.reserve(announced.map_or(0, |length| length.min(64 * 1024) as usize));
    while let Some(chunk) = poll_fn(|cx| body.as_mut().poll_next(cx)).await {
        let Ok(chunk) = chunk else {
            return Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                "the request body broke off",
            ));
        };
        if chunk.remaining() > limit - whole.len() {
            return Err(too_large(limit));
        }
        bytes::BufMut::put(&mut whole, chunk);
    }
    Ok(whole.freeze())
}

fn too_large(limit: usize) -> Refusal {
    let message = format!("the request body is larger than {limit} bytes");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Whether the content type is `application/json` or another type with the suffix `+json`.
fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = content_type
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    let essence = essence.to_ascii_lowercase();
    essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"))
}
