//! One request and its answer.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, ORIGIN};
use http::response::Parts;
use http::{HeaderValue, Method, Request, Response};

use super::arrival::{Arrival, Arrived, LATE};
use super::endpoint::{Endpoint, EndpointBody, EndpointError};
use super::{Front, Progress, Target};

/// A request that may take longer to be read.
const LARGE: usize = 1024 * 1024;

/// [`SILENT`] of these without a byte are too long a silence.
const TICK: Duration = Duration::from_secs(10);

/// How many whole ticks without a byte are too many. A tick that follows a byte is not one.
const SILENT: u32 = 2;

/// An answer that goes on for this many ticks has no end.
const PATIENCE: u32 = 30;

/// How much of an answer is read.
const LIMIT: usize = 16 * 1024 * 1024;

/// How much of a body is evidence: more than is shown.
const KEPT: usize = 1000;

/// Where the OpenBB Workspace runs.
pub(super) const WORKSPACE: &str = "https://pro.openbb.co";

const TRACE_ID: HeaderName = HeaderName::from_static("x-trace-id");

/// One request and its answer.
pub(super) struct Exchange {
    /// What the request is called in findings.
    pub(super) name: String,
    pub(super) head: Parts,
    /// Whether the head was long in coming.
    pub(super) late: bool,
    pub(super) arrival: Arrived,
    pub(super) body: Vec<u8>,
    pub(super) end: End,
}

impl Exchange {
    /// The status and the beginning of the body, for a finding about either.
    pub(super) fn evidence(&self) -> Vec<u8> {
        let mut evidence = format!("{} ", self.head.status).into_bytes();
        evidence.extend(self.body.iter().take(KEPT));
        evidence
    }

    pub(super) fn header(&self, name: impl http::header::AsHeaderName) -> Option<&[u8]> {
        self.head.headers.get(name).map(HeaderValue::as_bytes)
    }

    /// Whether the content type, apart from its parameters, is `kind`.
    pub(super) fn is(&self, kind: &str) -> bool {
        let value = self.header(CONTENT_TYPE).unwrap_or_default();
        let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
        essence.trim_ascii().eq_ignore_ascii_case(kind.as_bytes())
    }
}

/// How an answer ended.
#[derive(Debug)]
pub(super) enum End {
    Clean,
    /// The connection broke.
    Cut(EndpointError),
    /// Not a byte for twenty seconds or more.
    Silent,
    /// It went on and on.
    Endless,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    Failed(EndpointError),
    /// No head for twenty seconds.
    Silent,
}

/// Sends requests as the front end would.
pub(super) struct Asker<'a, E: ?Sized> {
    endpoint: &'a E,
    target: &'a Target,
    progress: &'a (dyn Fn(Progress<'_>) + Sync),
    /// How many requests were sent.
    sent: AtomicUsize,
    /// How many there will be.
    planned: AtomicUsize,
}

impl<'a, E: Endpoint + ?Sized> Asker<'a, E> {
    pub(super) fn new(
        endpoint: &'a E,
        target: &'a Target,
        progress: &'a (dyn Fn(Progress<'_>) + Sync),
    ) -> Self {
        Self {
            endpoint,
            target,
            progress,
            sent: AtomicUsize::new(0),
            planned: AtomicUsize::new(0),
        }
    }

    /// There will be this many more requests.
    pub(super) fn plan(&self, requests: usize) {
        self.planned.fetch_add(requests, Ordering::Relaxed);
    }

    /// Tells which request is sent now.
    fn tell(&self, request: &str) {
        let number = self.sent.fetch_add(1, Ordering::Relaxed) + 1;
        (self.progress)(Progress {
            request,
            number,
            total: self.planned.load(Ordering::Relaxed).max(number),
        });
    }

    pub(super) fn target(&self) -> &'a Target {
        self.target
    }

    /// A request with the headers that the front end sends, without a signature.
    pub(super) fn request(&self, method: Method, path: &str, body: Bytes) -> Request<Bytes> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().unwrap_or_default();
        let headers = request.headers_mut();
        let json = HeaderValue::from_static("application/json");
        headers.insert(CONTENT_TYPE, json.clone());
        match self.target.front {
            Front::OpenBb => {
                headers.insert(ORIGIN, HeaderValue::from_static(WORKSPACE));
                let id = HeaderValue::from_static("7d1c3f52-6f0f-4b7e-9a55-0d8f2f6f7a11");
                headers.insert(TRACE_ID, id);
            }
            // The platform says so although a stream is what it wants.
            Front::GitHub => drop(headers.insert(ACCEPT, json)),
            Front::OpenAi | Front::Meilisearch => {
                headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
            }
        }
        headers.extend(self.target.headers.clone());
        request
    }

    /// A POST as the front end sends it, signed if the target is.
    pub(super) fn post(&self, path: &str, body: impl Into<Bytes>) -> Request<Bytes> {
        #[allow(unused_mut, reason = "signatures are a feature")]
        let mut request = self.request(Method::POST, path, body.into());
        #[cfg(feature = "verify")]
        if let (Front::GitHub, Some(signer)) = (self.target.front, &self.target.signer) {
            let signature = signer.sign(request.body());
            request.headers_mut().extend(signature);
        }
        request
    }

    /// Sends a request and reads the answer to its end.
    pub(super) async fn ask(
        &self,
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
                let piece = stream.as_mut().poll_next(cx);
                if piece.is_pending() {
                    arrival.wait(cx);
                }
                piece
            });
            match race(piece, timer.as_mut()).await {
                Some(Some(Ok(piece))) => {
                    if !piece.is_empty() {
                        heard = true;
                        arrival.piece();
                    }
                    body.extend_from_slice(&piece);
                    if body.len() > LIMIT {
                        break End::Endless;
                    }
                }
                Some(Some(Err(error))) => break End::Cut(error),
                Some(None) => break End::Clean,
                None => {
                    silent = if heard { 0 } else { silent + 1 };
                    heard = false;
                    ticks += 1;
                    if silent >= SILENT {
                        break End::Silent;
                    }
                    if ticks >= PATIENCE {
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
            arrival: arrival.end(),
            body,
            end,
        })
    }

    /// Sends a request and leaves after the first piece of the answer.
    pub(super) async fn leave(&self, name: &str, request: Request<Bytes>) -> Result<(), NoAnswer> {
        self.tell(name);
        let (response, _) = self.head(request).await?;
        let mut stream = response.into_body();
        let piece = poll_fn(|cx| stream.as_mut().poll_next(cx));
        let _ = race(piece, pin!(self.endpoint.sleep(TICK))).await;
        Ok(())
    }

    /// The head of the response, and whether it was late.
    async fn head(
        &self,
        request: Request<Bytes>,
    ) -> Result<(Response<EndpointBody>, bool), NoAnswer> {
        // Megabytes take their time to be sent and read.
        let patience = if request.body().len() > LARGE {
            TICK
        } else {
            LATE
        };
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

/// What `future` gives, or `None` when `timer` is over first.
async fn race<F: Future, T: Future<Output = ()>>(
    future: F,
    mut timer: Pin<&mut T>,
) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => timer.as_mut().poll(cx).map(|()| None),
    })
    .await
}
