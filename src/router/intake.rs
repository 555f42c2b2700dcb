//! Reading of request bodies, within limits.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_core::Stream;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};

use super::content_coding::{self, Coding};
use super::upload::Upload;
use crate::protocol::{Env, Refusal, Ticks};

/// The limits of request bodies.
#[derive(Clone)]
pub(super) struct Limits {
    /// The maximum size of one body in bytes.
    pub(super) size: usize,
    /// The memory for all bodies together.
    pub(super) budget: Budget,
    /// The maximum time in which one body must arrive.
    pub(super) timeout: Duration,
}

impl Default for Limits {
    /// Requests with nine megabytes of widget data have been observed.
    fn default() -> Self {
        Self {
            size: 32 * 1024 * 1024,
            budget: Budget::new(256 * 1024 * 1024),
            timeout: Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// Returns these limits with the size limit of a route, if it is smaller.
    pub(super) fn at_most(&self, size: Option<usize>) -> Self {
        Self {
            size: size.map_or(self.size, |size| size.min(self.size)),
            ..self.clone()
        }
    }

    /// Reads the whole body of a `POST` request, decoded and without a leading byte order mark, and removes the headers
    /// with its encoding and its encoded length. Bodies of other methods are ignored.
    pub(super) async fn read<B, D, E>(
        &self,
        parts: &mut Parts,
        body: &mut Upload<'_, B>,
        env: &Env,
    ) -> Result<Bytes, Refusal>
    where
        B: Stream<Item = Result<D, E>>,
        D: Buf,
    {
        // No route of this crate reads the body of another method.
        if parts.method != Method::POST {
            return Ok(Bytes::new());
        }
        if !is_json(&parts.headers) {
            // Browsers send other content types to other origins without a preflight.
            let message = "content-type must be application/json";
            let code = if parts.headers.contains_key(CONTENT_TYPE) {
                "invalid_content_type"
            } else {
                "missing_content_type"
            };
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message).code(code));
        }
        let coding = content_coding::of(&parts.headers)?;
        let announced = body.announced;
        if announced.is_some_and(|length| length > self.size as u64) {
            return Err(self.too_large());
        }
        let mut whole = Whole::new(&self.budget);
        // At most this many bytes: the client has only announced the length and not sent the bytes yet.
        let most = announced.map_or(self.size, |length| length as usize);
        whole.reserve(announced.map_or(0, |_| most.min(64 * 1024)), most)?;
        // The timer is created only if the body is not complete at once.
        let mut deadline = None;
        loop {
            let next = poll_fn(|cx| self.poll_next(cx, Pin::new(&mut *body), &mut deadline, env));
            let Some(chunk) = next.await? else {
                if let Some(coding) = coding {
                    whole = self.decode(coding, whole)?;
                    parts.headers.remove(CONTENT_ENCODING);
                    parts.headers.remove(CONTENT_LENGTH);
                }
                // RFC 8259, section 8.1: a parser may ignore a byte order mark before JSON.
                let mark = match whole.bytes.starts_with(BYTE_ORDER_MARK) {
                    true => BYTE_ORDER_MARK.len(),
                    false => 0,
                };
                return Ok(Bytes::from_owner(whole).slice(mark..));
            };
            let Ok(mut chunk) = chunk else {
                let message = "the request body broke off";
                return Err(Refusal::new(StatusCode::BAD_REQUEST, message));
            };
            if chunk.remaining() > self.size - whole.bytes.len() {
                return Err(self.too_large());
            }
            whole.reserve(chunk.remaining(), most)?;
            while chunk.has_remaining() {
                whole.bytes.extend_from_slice(chunk.chunk());
                chunk.advance(chunk.chunk().len());
            }
        }
    }

    /// Decodes a body, within the same limits.
    fn decode(&self, coding: Coding, encoded: Whole) -> Result<Whole, Refusal> {
        let mut whole = Whole::new(&self.budget);
        coding.decode(&encoded.bytes, |piece| {
            if piece.len() > self.size - whole.bytes.len() {
                return Err(self.too_large());
            }
            whole.reserve(piece.len(), self.size)?;
            whole.bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(whole)
    }

    fn poll_next<B: Stream>(
        &self,
        cx: &mut Context<'_>,
        body: Pin<&mut B>,
        deadline: &mut Option<Option<Ticks>>,
        env: &Env,
    ) -> Poll<Result<Option<B::Item>, Refusal>> {
        // The body is polled before the timer: a body that has arrived is not too slow.
        if let Poll::Ready(chunk) = body.poll_next(cx) {
            return Poll::Ready(Ok(chunk));
        }
        let ticks = deadline.get_or_insert_with(|| env.ticks(self.timeout));
        match ticks.as_mut().map(|ticks| ticks.as_mut().poll_next(cx)) {
            Some(Poll::Ready(Some(()))) => Poll::Ready(Err(self.too_slow())),
            // The ticks have ended; a stream must not be polled after its end.
            Some(Poll::Ready(None)) => {
                *ticks = None;
                Poll::Pending
            }
            Some(Poll::Pending) | None => Poll::Pending,
        }
    }

    fn too_large(&self) -> Refusal {
        let message = format!("the request body is larger than {} bytes", self.size);
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    fn too_slow(&self) -> Refusal {
        let message = format!("the request body took longer than {:?}", self.timeout);
        Refusal::new(StatusCode::REQUEST_TIMEOUT, message)
            .code("request_timeout")
            .retryable()
    }
}

/// U+FEFF in UTF-8, which some Windows programs write at the start of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The remaining memory for request bodies, in bytes, and all of it.
#[derive(Clone)]
pub(super) struct Budget(Arc<AtomicUsize>, usize);

/// The weight in bytes of an object and of another element: a sixth of the memory that a request with nothing else holds
/// for each. Of longer contents it holds up to six bytes for each byte.
const OBJECT: usize = 213;
const ELEMENT: usize = 13;

/// The weight in bytes up to which elements are not counted.
const LIGHT: usize = 4096;

/// The weight of a request beyond its bytes, which returns to the budget when the request is dropped.
pub(super) struct Held {
    weight: usize,
    budget: Budget,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.0.fetch_add(self.weight, Ordering::Relaxed);
    }
}

impl Budget {
    pub(super) fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)), bytes)
    }

    /// Takes the weight of a body beyond its bytes: many short elements hold a multiple of their bytes. `None` for a body
    /// that has none.
    pub(super) fn weigh(&self, body: &[u8]) -> Result<Option<Arc<Held>>, Refusal> {
        // Also counts what is inside of texts, so a body is never too light.
        // Blocks of 255 bytes, whose counts fit into a byte each: the compiler vectorizes them.
        let count = |wanted: u8| {
            let blocks = body.chunks(255).map(|block| {
                let equal = |count: u8, byte: &u8| count + u8::from(*byte == wanted);
                usize::from(block.iter().fold(0, equal))
            });
            blocks.sum::<usize>()
        };
        let weight = OBJECT * count(b'{') + ELEMENT * count(b',');
        let weight = weight.saturating_sub(body.len().max(LIGHT));
        if weight == 0 {
            return Ok(None);
        }
        if weight > self.1 {
            let message = "the request body has too many elements";
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message));
        }
        self.take(weight, 0)?;
        let budget = self.clone();
        Ok(Some(Arc::new(Held { weight, budget })))
    }

    /// Takes `more` bytes of the budget for a body of `size` bytes. The body may be at most as large as the remaining
    /// budget.
    fn take(&self, more: usize, size: usize) -> Result<(), Refusal> {
        let take = |left: usize| left.checked_sub(more).filter(|left| *left >= size);
        // Relaxed, because no other memory is published with this number.
        let taken = (self.0).fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.map(drop).map_err(|_| {
            let message = "too many request bodies at a time";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, message)
                .code("overloaded")
                .retryable()
        })
    }

    /// Counts a received body in the budget until its last slice is dropped.
    pub(super) fn count(&self, bytes: Bytes) -> Result<Bytes, Refusal> {
        self.take(bytes.len(), bytes.len())?;
        Ok(Bytes::from_owner(Counted {
            bytes,
            budget: self.clone(),
        }))
    }
}

/// A body that is counted in a budget.
struct Counted {
    bytes: Bytes,
    budget: Budget,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.budget.0).fetch_add(self.bytes.len(), Ordering::Relaxed);
    }
}

/// A partly received body. Its bytes return to the budget when its last slice is dropped.
struct Whole {
    bytes: Vec<u8>,
    taken: usize,
    budget: Budget,
}

impl Whole {
    fn new(budget: &Budget) -> Self {
        Self {
            bytes: Vec::new(),
            taken: 0,
            budget: budget.clone(),
        }
    }

    /// Reserves space for `more` bytes, and for further bytes if the body may have up to `most`.
    ///
    /// A body may be at most as large as the remaining budget. So however many uploads stall, other uploads have at
    /// least as much memory as the largest of them.
    fn reserve(&mut self, more: usize, most: usize) -> Result<(), Refusal> {
        let (length, capacity) = (self.bytes.len(), self.bytes.capacity());
        if more <= capacity - length {
            return Ok(());
        }
        let wanted = (length + more).max((2 * length).min(most));
        let grow = wanted - capacity;
        self.budget.take(grow, wanted)?;
        self.taken += grow;
        self.bytes.reserve_exact(wanted - length);
        Ok(())
    }
}

impl AsRef<[u8]> for Whole {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        self.budget.0.fetch_add(self.taken, Ordering::Relaxed);
    }
}

/// Returns `true` if the content type is `application/json` or another type with the suffix `+json`.
fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE);
    // The content type of nearly all clients.
    if content_type.is_some_and(|value| value == "application/json") {
        return true;
    }
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let essence = content_type
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    let has = |part: Option<&str>, word| part.is_some_and(|it| it.eq_ignore_ascii_case(word));
    let suffix = essence
        .len()
        .checked_sub(5)
        .and_then(|at| essence.get(at..));
    has(Some(essence), "application/json")
        || (has(essence.get(..12), "application/") && has(suffix, "+json"))
}
