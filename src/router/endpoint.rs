//! The handler of a route.

use std::fmt;
use std::future::{poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use super::path::{Params, fill};
use super::refusals::refuse;
use super::settings::Settings;
use crate::agent::{Agent, Body, Head, Request, Running, copy_values};
use crate::conversations::{ConnectionTurns, Recording, UserConversations};
use crate::protocol::{AgentError, Env, Outcome, Progress, Protocol, Record, Refusal};
#[cfg(feature = "resumable")]
use crate::replies::UserReplies;

/// The purpose of a route. A router with a guard or an observer adds it to the extensions of every request, where guards
/// and observers ([`Turn::extensions`](crate::protocol::Turn::extensions)) can read it.
///
/// This guard counts only turns:
///
/// ```
/// use copilot_wire::Router;
/// use copilot_wire::protocol::Refusal;
/// use copilot_wire::router::RouteKind;
/// # fn count(_: &http::HeaderMap) -> Result<(), Refusal> { Ok(()) }
///
/// let router = Router::new().guard(async |parts: http::request::Parts| {
///     if parts.extensions.get() == Some(&RouteKind::Turn) {
///         count(&parts.headers)?;
///     }
///     Ok(parts)
/// });
/// # let _ = router;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RouteKind {
    /// Begins a turn of an agent, or a call of a skill.
    Turn,
    /// Sends a reply that has begun before: from the start, from an event on, or only its state.
    Resume,
    /// Cancels a running reply.
    Stop,
    /// Returns a document, such as a list of agents or models.
    Document,
    /// Opens a [WebSocket](super::socket); each request on it is checked separately.
    Socket,
    /// Has another purpose, such as feedback.
    Other,
}

/// The handler of a route, which a [`Mount`](super::Mount) adds to a [`Site`](super::Site).
#[async_trait]
pub trait Endpoint: Send + Sync {
    /// Answers a request. Its body has been read.
    async fn call(&self, call: HttpRequest) -> Response<Body>;

    /// Returns the response to a refused request, in the format that clients of this route expect.
    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        refuse(refusal)
    }

    /// Checks the head of a request before its body is read. Accepts all requests by default.
    ///
    /// # Errors
    ///
    /// A [`Refusal`], which [`refuse`](Self::refuse) turns into the response.
    fn admit(&self, parts: &Parts) -> Result<(), Refusal> {
        let _ = parts;
        Ok(())
    }

    /// Returns the maximum size in bytes of a request body, if it is less than the [limit of the
    /// router](super::Router::body_limit). `None` by default.
    fn body_limit(&self) -> Option<usize> {
        None
    }

    /// Returns `true` if requests have a body, which must be JSON; otherwise bodies are ignored. `true` by default.
    /// Browsers send a `POST` without a content type to other origins without a preflight, so the path of a route
    /// without bodies must have a part that cannot be guessed.
    fn has_body(&self) -> bool {
        true
    }

    /// Returns the name of the protocol if this route answers `POST` requests of chat clients.
    fn protocol(&self) -> Option<&'static str> {
        None
    }

    /// Returns `true` if only some requests begin a turn, by [`HttpRequest::begin_turn`]. The other requests are answered even
    /// while no turn may begin. `false` by default.
    fn begins_turns_itself(&self) -> bool {
        false
    }

    /// Returns the purpose of the route. By default [`RouteKind::Turn`] if there is a [protocol](Self::protocol),
    /// otherwise [`RouteKind::Other`].
    fn kind(&self) -> RouteKind {
        match self.protocol() {
            Some(_) => RouteKind::Turn,
            None => RouteKind::Other,
        }
    }
}

/// An HTTP request as an [`Endpoint`] receives it: its head, its whole body, and the parameters of the path.
///
/// `Debug` prints the method, the route, the names of the headers and the size of the body; other parts may be secret.
#[non_exhaustive]
pub struct HttpRequest {
    /// The head of the request.
    pub parts: Parts,
    /// The body of the request.
    pub body: Bytes,
    /// The digest of the request, by which equal requests share a reply.
    #[cfg(feature = "resumable")]
    pub(super) digest: String,
    pub(super) params: Params,
    /// The path of the route.
    pub(super) path: Arc<str>,
    /// The path of the route as clients see it, with the names of the parameters.
    pub(super) public_path: Arc<str>,
    pub(super) settings: Arc<Settings>,
    pub(super) running: Running,
    pub(super) recording: Option<Recording>,
    pub(super) agent: Option<Arc<str>>,
}

impl HttpRequest {
    /// Returns a parameter of the path, such as `model` of `/v1/models/{model}`. If several have the same name, returns
    /// the last one.
    pub fn param(&self, name: &str) -> Option<&str> {
        let mut params = self.params.iter();
        let (_, value) = params.rfind(|(key, _)| **key == *name)?;
        Some(value)
    }

    /// Returns the state that mounts share; see [`Site::shared`](super::Site::shared).
    pub fn shared<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.settings.shared.get()
    }

    /// Returns `path` of this router as clients see it, below the [base path](super::Router::base_path), for documents
    /// that contain paths.
    pub fn public_path(&self, path: &str) -> String {
        self.settings.base.join(path)
    }

    /// Returns `true` if the request comes from no page, or from a page that may call. The origin of such a page is
    /// [allowed](super::Router::cors) by the router, or it is this server's own origin and either the router limits the
    /// [hosts](super::Router::hosts) or the host is a name of the user's own machine. Without this condition a page
    /// could let its name resolve to this server (DNS rebinding).
    ///
    /// Browsers send requests to other origins and only hide the responses from pages. So check this in routes that
    /// must not even execute such requests.
    #[must_use]
    pub fn is_origin_allowed(&self) -> bool {
        let router = &*self.settings;
        let headers = &self.parts.headers;
        let Some(origin) = headers.get(ORIGIN) else {
            return true;
        };
        router.cors.origin(headers, &router.origins).is_some()
            || router.hosts.is_own_origin(origin, &self.parts)
    }

    /// Returns the environment of the router.
    pub fn env(&self) -> &Env {
        &self.settings.env
    }

    /// Returns the conversations of the user who sent this request, below the path of a route. `None` if the router
    /// does not [store conversations](super::Router::conversations) and the request is not of a WebSocket. The first
    /// parameters of the request replace those of the route.
    pub fn conversations(&self, route: &str) -> Option<UserConversations> {
        let stored = self.settings.conversations.as_ref().and_then(|stored| {
            let path = self.public_path(&fill(route, &self.params));
            stored.of(&self.parts, &path, self.env())
        });
        match self.parts.extensions.get::<ConnectionTurns>() {
            Some(turns) => Some(UserConversations::of_connection(
                stored,
                turns.clone(),
                self.env(),
            )),
            None => stored,
        }
    }

    /// Returns the path of the route, with the names of its parameters.
    pub fn route(&self) -> &str {
        &self.path
    }

    /// Makes this request a turn, for an endpoint that [begins turns itself](Endpoint::begins_turns_itself).
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with status 503 if the server shuts down, or the [maximum](super::Router::max_turns) of turns is
    /// running, and with status 429 at a [limit](super::Router::max_turns_per_user) of the user.
    pub fn begin_turn(&mut self) -> Result<(), Refusal> {
        self.running = self.settings.enter(true, &self.parts.extensions)?;
        Ok(())
    }

    /// Sets the name of the agent that [`answer_request`](Self::answer_request) runs, for
    /// [reports](crate::protocol::Turn::agent). Use a small set of names.
    pub fn set_agent_name(&mut self, name: impl Into<Arc<str>>) {
        self.agent = Some(name.into());
    }

    /// Sets the recording of the turn that [`answer_request`](Self::answer_request) begins.
    pub fn set_recording(&mut self, recording: Option<Recording>) {
        self.recording = recording;
    }

    /// Returns a parsed request as an agent gets it.
    fn into_request<P: Protocol>(
        mut self,
        mut message: P::Request,
        settings: P::Settings,
    ) -> Request<P> {
        copy_values(&mut self.parts);
        (P::EXTRAS.apply)(&settings, &mut message);
        let head = Head {
            settings,
            parts: self.parts,
            params: self.params,
            path: Some(self.public_path),
            agent: self.agent,
            env: self.settings.env.clone(),
            consent: self.settings.consent.clone(),
        };
        Request::with_head(head, message, self.recording)
    }

    /// Answers a parsed request with `agent`, with the `settings` of a mount. The response is a stream, or one document
    /// if the request wants a document or the turn fails before its [first output](crate::protocol::Extras::awaits_output).
    ///
    /// # Cancel safety
    ///
    /// The agent of a stream runs in the body of the response, once the wait for its first output is over. During this
    /// wait, and for a document, the agent runs in this future and is dropped with it.
    pub fn answer_request<P: Protocol>(
        self,
        agent: Arc<dyn Agent<P>>,
        message: P::Request,
        settings: P::Settings,
    ) -> impl Future<Output = Response<Body>> + Send + use<P> {
        // Computed before the request is moved into the turn.
        let is_stream = (P::EXTRAS.is_stream)(&message);
        #[cfg(feature = "resumable")]
        let resumable = self.resumable::<P>(&message);
        #[cfg(feature = "resumable")]
        let resumable = resumable.map(|replies| (replies, self.digest.clone()));
        let (router, running) = (Arc::clone(&self.settings), self.running.clone());
        let request = self.into_request::<P>(message, settings);
        // The request is created outside the future, which so contains one pointer to it instead of two copies.
        async move {
            #[cfg(feature = "resumable")]
            if let Some(replies) = &router.replies {
                replies.begin(&request, &router.consent, &router.env).await;
            }
            #[cfg(feature = "resumable")]
            if let Some((replies, digest)) = resumable {
                let answer = replies.answer(agent, request, &digest).await;
                return match answer {
                    Ok(body) => respond::<P>(body, is_stream, &router).await,
                    Err(refusal) => P::refuse(&refusal).map(Body::full),
                };
            }
            let mut body = Body::run(agent, request, &router.env);
            body.set_running(running);
            respond::<P>(body, is_stream, &router).await
        }
    }

    /// Returns the replies among which the reply to this request is stored. `None` if it is not resumable.
    #[cfg(feature = "resumable")]
    fn resumable<P: Protocol>(&self, message: &P::Request) -> Option<UserReplies> {
        let replies = self.settings.replies.as_ref()?;
        match replies.takes::<P>(message) {
            true => self.replies(&self.path),
            false => None,
        }
    }

    /// Returns the stored replies at the path of a route, of the user who sent this request. `None` if the router
    /// stores no replies. The first parameters of the request replace those of the route.
    ///
    /// The key contains the base path even if a proxy has stripped it, so every server finds the same replies.
    #[cfg(feature = "resumable")]
    pub fn replies(&self, route: &str) -> Option<UserReplies> {
        let replies = self.settings.replies.as_ref()?;
        let path = self.public_path(&fill(route, &self.params));
        replies.of(&self.parts, &path, self.env(), &self.running)
    }

    /// Returns `true` if clients can request the reply to this request again.
    #[cfg(feature = "resumable")]
    pub fn has_replies(&self) -> bool {
        self.replies(&self.path).is_some()
    }

    /// Runs a future that answers a request of protocol `P` without an agent, and reports it as a turn. A failure
    /// becomes a refusal with the user's message. A panic ends only this call.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the status of the failure.
    pub async fn run<P: Protocol, T>(
        &self,
        work: impl Future<Output = Result<T, AgentError>>,
    ) -> Result<T, Refusal> {
        let record = self.record::<P>();
        let ended = caught(work).await;
        // The refusal is always sent, because nothing was sent before it.
        report(&record, &ended, true);
        let message = match ended {
            Some(Ok(done)) => return Ok(done),
            Some(Err(error)) => error.message().to_owned(),
            None => AgentError::DEFAULT.to_owned(),
        };
        Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, message))
    }

    /// Returns the number of tokens of a request as the agent counts them, and reports it as a turn. `None` if the agent
    /// does not count or fails, or at a limit: those of turns apply to counts too, but separately.
    #[allow(dead_code, reason = "not every protocol has such a route")]
    pub(crate) async fn count_tokens<P: Protocol>(
        self,
        agent: Arc<dyn Agent<P>>,
        message: P::Request,
    ) -> Option<u64> {
        let _running = self.settings.enter_count(&self.parts.extensions)?;
        let record = self.record::<P>().agent(self.agent.clone());
        let request = self.into_request(message, P::Settings::default());
        let ended = caught(async { agent.count_tokens(request).await }).await;
        if !matches!(ended, Some(Ok(None))) {
            // The client gets an estimate in place of a failure.
            report(&record, &ended, false);
        }
        ended?.ok()?
    }

    fn record<P: Protocol>(&self) -> Record {
        Record::new(self.env(), P::NAME)
            .path(Some(Arc::clone(&self.public_path)))
            .extensions(&self.parts.extensions)
    }
}

/// Waits for a future. Returns `None` if it panics.
async fn caught<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Some),
            Err(_) => Poll::Ready(None),
        },
    )
    .await
}

/// Reports the result of [`caught`] work. `sent` is `true` if a failure is sent to the client.
fn report<T>(record: &Record, ended: &Option<Result<T, AgentError>>, sent: bool) {
    let outcome = match ended {
        Some(Ok(_)) => Outcome::Answered,
        Some(Err(error)) => Outcome::Failed { error, sent },
        None => Outcome::Panicked { sent },
    };
    record.finish(outcome, Progress::default());
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.parts.headers.keys().collect();
        f.debug_struct("HttpRequest")
            .field("method", &self.parts.method)
            .field("route", &self.path)
            .field("headers", &headers)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish_non_exhaustive()
    }
}

/// Returns the response to a turn: a stream, or one document if the request wants a document or the turn has failed
/// before its first output.
async fn respond<P: Protocol>(
    mut body: Body,
    is_stream: bool,
    settings: &Settings,
) -> Response<Body> {
    let failed = is_stream && P::EXTRAS.awaits_output && fails_early(&mut body, settings).await;
    if failed || !is_stream {
        return document(body).await;
    }
    let headers = body.take_headers();
    let mut response = stream::<P>(body);
    if let Some(headers) = headers {
        response.headers_mut().extend(*headers);
    }
    response
}

/// Waits for the first output. Returns `true` if the turn has failed without output.
async fn fails_early(body: &mut Body, settings: &Settings) -> bool {
    let timeout = settings.first_output_timeout();
    if timeout.is_zero() {
        return false;
    }
    body.hold();
    let mut ticks = None;
    poll_fn(|cx| {
        // The agent is polled before the timer: output that is ready counts.
        if body.poll_output(cx).is_ready() {
            return Poll::Ready(());
        }
        match ticks.get_or_insert_with(|| settings.env.ticks(timeout)) {
            Some(ticks) => ticks.as_mut().poll_next(cx).map(drop),
            // Without a timer the wait would have no end.
            None => Poll::Ready(()),
        }
    })
    .await;
    body.release()
}

/// Creates the response whose body is a stream of protocol `P`.
pub fn stream<P: Protocol>(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    // With those of the protocol and of CORS there are more than a map has room for at first.
    headers.reserve(8);
    let content_type = HeaderValue::from_static(P::FRAMING.content_type());
    headers.insert(CONTENT_TYPE, content_type);
    // This header and the next two are for caches, proxies that buffer or transform, and middleware that compresses
    // responses without an encoding.
    let no_cache = HeaderValue::from_static("no-cache, no-transform");
    headers.insert(CACHE_CONTROL, no_cache);
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("identity"));
    (P::EXTRAS.response_headers)(headers);
    response
}

/// nginx buffers responses by default; this header disables the buffering of one response.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Collects a body that is one document. The head of the response needs the agent's outcome for its status.
async fn document(mut body: Body) -> Response<Body> {
    let mut out = Vec::new();
    // The document is one frame, and an agent that is always ready yields before.
    while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await {
        out.extend_from_slice(&frame);
    }
    let mut response = json(body.status(), out);
    // The headers of a failure include the content type.
    if let Some(headers) = body.take_headers() {
        response.headers_mut().extend(*headers);
    }
    response
}

/// The endpoint of an agent, with the settings of its mount.
pub(crate) struct AgentEndpoint<P: Protocol> {
    pub(crate) agent: Arc<dyn Agent<P>>,
    pub(crate) settings: P::Settings,
    /// The name of the agent.
    pub(crate) name: Option<Arc<str>>,
}

impl<P: Protocol> Endpoint for AgentEndpoint<P> {
    // Written without the `async_trait` macro, so that `call` is not moved into a future.
    fn call<'a, 'b>(
        &'a self,
        mut call: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Response<Body>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let body = std::mem::take(&mut call.body);
        call.agent.clone_from(&self.name);
        match P::read(&call.parts, body) {
            Ok(message) => {
                let (agent, settings) = (Arc::clone(&self.agent), self.settings.clone());
                Box::pin(call.answer_request(agent, message, settings))
            }
            Err(refusal) => Box::pin(ready(self.refuse(&refusal))),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        P::refuse(refusal).map(Body::full)
    }

    fn protocol(&self) -> Option<&'static str> {
        Some(P::NAME)
    }
}

/// A JSON document that is created for every request.
pub(super) struct Document<F>(pub(super) F);

#[async_trait]
impl<F: Fn(&HttpRequest) -> Vec<u8> + Send + Sync> Endpoint for Document<F> {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        json(StatusCode::OK, (self.0)(&call))
    }

    fn kind(&self) -> RouteKind {
        RouteKind::Document
    }
}

/// Creates a response whose body is a JSON document.
pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::full(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
