//! The incoming body of a request, and the rest of it that remains when the request is refused.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Buf;
use futures_core::Stream;
use http::header::{CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING};
use http::request::Parts;
use http::{Response, StatusCode, Version};

use crate::protocol::Env;

/// The maximum time that a refusal waits for the remaining bytes of the body.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// The body of a request.
pub(super) struct Upload<'a, B> {
    body: Pin<&'a mut B>,
    /// The length that the head announces.
    pub(super) announced: Option<u64>,
    /// `true` if a response must wait for remaining bytes. `false` at the end of the body.
    rest: bool,
    /// The maximum number of remaining bytes that a response waits for.
    most: usize,
}

impl<'a, B> Upload<'a, B> {
    /// Creates the upload of a body. A response does not wait for the rest of a body of more than `most` bytes.
    pub(super) fn new(parts: &Parts, body: Pin<&'a mut B>, most: usize) -> Self {
        // A client that sends `expect: 100-continue` has not sent the body yet, and HTTP/2 can reset a single stream.
        let comes = !parts.headers.contains_key(EXPECT) && parts.version <= Version::HTTP_11;
        let announced = parts.headers.get(CONTENT_LENGTH);
        let announced = announced.and_then(|length| length.to_str().ok()?.parse().ok());
        let fits = match announced {
            Some(length) => length <= most as u64,
            // RFC 9112, section 6.3: without either header a request has no body.
            None => parts.headers.contains_key(TRANSFER_ENCODING),
        };
        let rest = comes && fits;
        Self {
            body,
            announced,
            rest,
            most,
        }
    }

    /// Reads and discards the remaining bytes of the body, so that the client can read `response`.
    ///
    /// RFC 9112, section 9.6: a server that closes a connection while its client still sends resets it,
    /// and the client may lose the response. nginx then answers with status 502.
    pub(super) async fn finish<T, D, E>(&mut self, response: &Response<T>, env: &Env)
    where
        B: Stream<Item = Result<D, E>>,
        D: Buf,
    {
        // The body has already timed out.
        if response.status() == StatusCode::REQUEST_TIMEOUT {
            return;
        }
        let mut deadline = None;
        poll_fn(|cx| {
            while self.rest {
                match Pin::new(&mut *self).poll_next(cx) {
                    Poll::Ready(Some(Ok(chunk))) if chunk.remaining() <= self.most => {
                        self.most -= chunk.remaining();
                    }
                    // The end, an error, or more bytes than the maximum.
                    Poll::Ready(_) => self.rest = false,
                    Poll::Pending => {
                        let ticks = deadline.get_or_insert_with(|| env.ticks(DRAIN_TIMEOUT));
                        let Some(ticks) = ticks else { break };
                        return ticks.as_mut().poll_next(cx).map(|_| ());
                    }
                }
            }
            Poll::Ready(())
        })
        .await;
    }
}

impl<B, D, E> Stream for Upload<'_, B>
where
    B: Stream<Item = Result<D, E>>,
{
    type Item = Result<D, E>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.body.as_mut().poll_next(cx);
        if matches!(next, Poll::Ready(None | Some(Err(_)))) {
            self.rest = false;
        }
        next
    }
}
