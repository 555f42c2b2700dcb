//! A request and its answer.

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::response::Parts;
use http::{HeaderValue, Request, Response, StatusCode};
use serde_json::Value;

use super::arrival::{Arrival, Arrived, LATE};
use super::endpoint::{Endpoint, EndpointBody, EndpointError};
use super::progress::Progress;
use crate::race::race;

/// The size in bytes above which a request may take longer to be read.
const LARGE: usize = 1024 * 1024;

/// The length of a tick. [`SILENT`] ticks without a byte are too long a silence.
const TICK: Duration = Duration::from_secs(10);

/// The number of whole ticks without a byte that end an answer. A tick in which a byte came does not count.
const SILENT: u32 = 2;

/// The number of ticks after which an answer counts as endless.
const ENDLESS: u32 = 30;

/// The limit in bytes of an answer.
const LIMIT: usize = 16 * 1024 * 1024;

/// The limit in bytes of a body in the evidence for a finding: more than a report shows.
const EXCERPT: usize = 1000;

/// A request and its answer.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exchange {
    /// The name of the request in findings.
    pub name: String,
    /// The head of the response.
    pub head: Parts,
    /// `true` if the head was late.
    pub(super) late: bool,
    pub(super) arrival: Arrived,
    /// The received part of the body.
    pub body: Vec<u8>,
    pub(super) end: End,
}

impl Exchange {
    /// Returns `true` if the status is 200.
    pub fn is_ok(&self) -> bool {
        self.head.status == StatusCode::OK
    }

    /// Returns `true` if the body is complete.
    pub fn is_complete(&self) -> bool {
        matches!(self.end, End::Clean)
    }

    /// Returns the body as JSON, `null` if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Returns the status and the beginning of the body, for a finding about either.
    pub fn evidence(&self) -> Vec<u8> {
        let mut evidence = format!("{} ", self.head.status).into_bytes();
        evidence.extend(self.body.iter().take(EXCERPT));
        evidence
    }

    /// Returns the last 200 bytes of the body, for a finding about a missing end.
    pub fn last(&self) -> &[u8] {
        last(&self.body)
    }

    /// Returns the value of a header of the response. `None` if it is missing.
    pub fn header(&self, name: impl http::header::AsHeaderName) -> Option<&[u8]> {
        self.head.headers.get(name).map(HeaderValue::as_bytes)
    }

    /// Returns `true` if the content type, apart from its parameters, is `kind`.
    pub fn is(&self, kind: &str) -> bool {
        // Parameters such as `charset` follow a semicolon, and media types compare without case
        // (RFC 9110, section 8.3.1).
        let value = self.header(CONTENT_TYPE).unwrap_or_default();
        let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
        essence.trim_ascii().eq_ignore_ascii_case(kind.as_bytes())
    }
}

/// Returns the last 200 bytes of a body, for a finding.
pub(super) fn last(body: &[u8]) -> &[u8] {
    body.split_at(body.len().saturating_sub(200)).1
}

/// The end of an answer.
#[derive(Debug)]
pub(super) enum End {
    Clean,
    /// The connection broke.
    Cut(EndpointError),
    /// No byte came for twenty seconds or more.
    Silent,
    /// The answer exceeded the limit of time or bytes.
    Endless,
}

/// The reason for a missing answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    Failed(EndpointError),
    /// No head came within 22 seconds, or 30 for a large request.
    Silent,
}

/// A sender of requests that reads the answers.
pub(super) struct Asker<'a> {
    endpoint: &'a dyn Endpoint,
    progress: &'a (dyn Fn(Progress<'_>) + Send + Sync),
    /// The number of requests sent.
    sent: usize,
    /// The expected number of requests.
    pub(super) planned: usize,
}

impl<'a> Asker<'a> {
    pub(super) fn new(
        endpoint: &'a dyn Endpoint,
        progress: &'a (dyn Fn(Progress<'_>) + Send + Sync),
    ) -> Self {
        Self {
            endpoint,
            progress,
            sent: 0,
            planned: 0,
        }
    }

    /// Reports the current request.
    fn tell(&mut self, request: &str) {
        self.sent += 1;
        (self.progress)(Progress {
            request,
            number: self.sent,
            total: self.planned.max(self.sent),
        });
    }

    /// Sends a request and reads the answer to its end.
    pub(super) async fn ask(
        &mut self,
        name: &str,
        request: Request<Bytes>,
    ) -> Result<Exchange, NoAnswer> {
        self.tell(name);
        let (response, late) = self.head(request).await?;
        let (head, mut stream) = response.into_parts();
        let mut body = Vec::new();
        let mut ticks = 0;
        let mut heard = false;
        let mut silent = 0;
        let mut timer = pin!(self.endpoint.sleep(TICK));
        let mut arrival = Arrival::new(self.endpoint);
        let end = loop {
            let piece = poll_fn(|cx| {
                // The timing's own timer is polled only while there is nothing to read, so a piece
                // that is already there is never counted as late.
                let piece = stream.as_mut().poll_next(cx);
                if piece.is_pending() {
                    arrival.wait(cx);
                }
                piece
            });
            match race(piece, timer.as_mut()).await {
                Some(Some(Ok(piece))) => {
                    // An empty piece is no byte on the wire: it must not end a silence.
                    if !piece.is_empty() {
                        heard = true;
                        arrival.piece();
                    }
                    body.extend_from_slice(&piece);
                    // An answer that is too long counts as endless, and would fill the memory of the check.
                    if body.len() > LIMIT {
                        break End::Endless;
                    }
                }
                Some(Some(Err(error))) => break End::Cut(error),
                Some(None) => break End::Clean,
                None => {
                    // A tick in which a byte came says nothing about the time since that byte, so
                    // only whole ticks count.
                    silent = if heard { 0 } else { silent + 1 };
                    heard = false;
                    ticks += 1;
                    if silent >= SILENT {
                        break End::Silent;
                    }
                    if ticks >= ENDLESS {
                        break End::Endless;
                    }
                    timer.set(self.endpoint.sleep(TICK));
                }
            }
        };
        Ok(Exchange {
            name: name.to_owned(),
            head,
            late,
            arrival: arrival.arrived,
            body,
            end,
        })
    }

    /// Sends a request and disconnects after the first piece of the answer.
    pub(super) async fn leave(
        &mut self,
        name: &str,
        request: Request<Bytes>,
    ) -> Result<(), NoAnswer> {
        self.tell(name);
        let (response, _) = self.head(request).await?;
        let mut stream = response.into_body();
        let piece = poll_fn(|cx| stream.as_mut().poll_next(cx));
        // Whether a piece came or not, the body is dropped here, which is what closes the
        // connection.
        let _ = race(piece, pin!(self.endpoint.sleep(TICK))).await;
        Ok(())
    }

    /// Returns the head of the response, and `true` if it was late.
    async fn head(
        &self,
        request: Request<Bytes>,
    ) -> Result<(Response<EndpointBody>, bool), NoAnswer> {
        // Large requests take longer to be sent and read.
        let patience = if request.body().len() > LARGE {
            TICK
        } else {
            LATE
        };
        // Pinned across the waits: the request is sent once, however long its head takes.
        let mut call = pin!(self.endpoint.call(request));
        let mut late = false;
        for wait in [patience, TICK, TICK] {
            match race(call.as_mut(), pin!(self.endpoint.sleep(wait))).await {
                Some(Ok(response)) => return Ok((response, late)),
                Some(Err(error)) => return Err(NoAnswer::Failed(error)),
                None => late = true,
            }
        }
        Err(NoAnswer::Silent)
    }
}
