//! The response body: a live one runs the agent and returns its output as frames.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderMap, StatusCode};

use super::channel::{Channel, Frames, Outcome};
use super::live::{self, Live};
use super::run::{Run, go_on};
use super::turns::Running;
use super::wakeup::Wakeup;
use super::{Agent, Reply, Request};
use crate::consent::Asking;
use crate::protocol::{AgentError, Env, Protocol, Record, Resumption, Session};
#[cfg(feature = "resumable")]
use crate::sync::Exclusive;

/// The body of a response: a stream of frames. It fails only if a connection is [interrupted](Interrupted).
///
/// A live body owns its agent. Polling the body polls the agent, if the agent was woken, until the agent waits or 16
/// KiB are unsent; then all output so far is returned as one frame. Dropping the body drops the agent.
///
/// A [`Router`](crate::Router) creates bodies. Without a router:
///
/// ```
/// use copilot_wire::protocol::{AgentError, Conversation, Env};
/// use copilot_wire::{Body, Protocol, Reply, Request, agent_fn};
/// use futures::StreamExt;
///
/// async fn echo<P: Protocol>(request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
///     Ok(reply.text(request.prompt().unwrap_or_default()).await?)
/// }
///
/// async fn stream<P: Protocol>(message: P::Request) -> Vec<u8> {
///     let mut body = Body::run(agent_fn(echo::<P>), Request::new(message), &Env::default());
///     let mut stream = Vec::new();
///     while let Some(Ok(frame)) = body.next().await {
///         stream.extend_from_slice(&frame);
///     }
///     assert!(body.is_done());
///     stream
/// }
/// ```
///
/// # Cancel safety
///
/// If a future that waits for the next frame is dropped, no frame is lost.
pub struct Body {
    kind: Kind,
    /// The request that the body answers, if a router created the body.
    running: Option<Running>,
}

enum Kind {
    Full(Option<Bytes>),
    Live(Box<Live>),
    #[cfg(feature = "resumable")]
    Stream(Exclusive<Pin<Box<dyn Stream<Item = Frame> + Send>>>),
}

/// A frame of a body, or the error that ends its connection.
type Frame = Result<Bytes, Interrupted>;

/// The error of a body that ends before its reply does: the server closes the connection, and the client resumes the
/// reply. It occurs only with `replies::Replies::reconnect_after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection was interrupted, so that its client resumes the reply")]
#[non_exhaustive]
pub struct Interrupted;

impl Body {
    /// Runs `agent` on `request`.
    #[must_use]
    pub fn run<P, A>(agent: A, request: Request<P>, env: &Env) -> Self
    where
        P: Protocol,
        A: Agent<P> + 'static,
    {
        let session = request.session(env);
        Self::run_session(agent, request, session, env)
    }

    /// Runs `agent` on `request`, and writes its reply with `session`.
    pub(crate) fn run_session<P, A>(
        agent: A,
        mut request: Request<P>,
        session: Session<P::Blocks>,
        env: &Env,
    ) -> Self
    where
        P: Protocol,
        A: Agent<P> + 'static,
    {
        let recording = request.take_recording();
        let is_stream = (P::EXTRAS.is_stream)(&request);
        // Otherwise the first write opens the reply, so that the events of another server can be the reply until then.
        // A reply that is asked for by its id begins with it.
        let opens =
            !P::EXTRAS.awaits_output || (P::EXTRAS.resumption)(&request) == Resumption::Required;
        // Boxed, because few turns have a next call, and every waiting turn has this future in memory.
        let next_call = (P::EXTRAS.next_call)(&request).map(Box::new);
        let record = Record::new(env, P::NAME)
            .path(request.path())
            .agent(request.agent())
            .extensions(request.extensions())
            .conversation(|| request.conversation_id());
        #[cfg(feature = "tracing")]
        let record = record.open_span(request.headers());
        let request = request.with_env(env);
        let (asking, _) = request.begin();
        let answered = (P::EXTRAS.answered)(&request).filter(|_| next_call.is_none());
        let answered = answered.map(|wait| Box::new((wait, request.head())));
        let mut body = Self::drive(
            session,
            record,
            asking,
            (is_stream, opens),
            move |reply, channel| async move {
                let mut result = match next_call {
                    Some(call) => reply.end(*call).map_err(AgentError::from),
                    None => agent.answer(request, reply).await,
                };
                if let Some(answered) = answered {
                    let (wait, head) = *answered;
                    result = Box::pin(go_on(&agent, result, &channel, wait, head)).await;
                }
                channel.settle(match result {
                    Ok(()) => Outcome::Answered,
                    Err(error) => Outcome::Failed(error),
                });
            },
        );
        if let Kind::Live(live) = &mut body.kind {
            live.recording = recording;
        }
        body
    }

    fn drive<P, Fut>(
        session: Session<P::Blocks>,
        record: Record,
        asking: Asking,
        form: (bool, bool),
        start: impl FnOnce(Reply<P>, Arc<Channel<P>>) -> Fut,
    ) -> Self
    where
        P: Protocol,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let ticks = live::ticks(record.env());
        let wakeup = Wakeup::new();
        let channel = Channel::<P>::new(session, record, asking, form, wakeup.task());
        let reply = Reply::new(Arc::clone(&channel));
        let frames: Arc<dyn Frames> = Arc::clone(&channel) as _;
        let run = Run::new(Box::pin(start(reply, channel)), Arc::clone(&frames));
        Self::of(Kind::Live(Box::new(Live::new(run, frames, wakeup, ticks))))
    }

    /// Returns a handle that cancels the turn of this body from another task. `None` for a body that runs no agent,
    /// such as the body of a stored reply.
    pub fn canceller(&self) -> Option<Canceller> {
        match &self.kind {
            Kind::Live(live) => Some(Canceller(Arc::downgrade(&live.frames))),
            _ => None,
        }
    }

    /// Creates a body from complete bytes.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self::of(Kind::Full((!bytes.is_empty()).then_some(bytes)))
    }

    /// Takes the agent out of the body, so that it runs to its end even if the client disconnects.
    ///
    /// After this call, dropping the body does not stop the agent; its output is discarded then. Spawn the [`Run`] on a
    /// runtime: the agent makes progress only while the `Run` is polled. `None` for a body that runs no agent.
    #[must_use = "the agent runs only while the `Run` is polled"]
    pub fn detach(&mut self) -> Option<Run> {
        let Kind::Live(live) = &mut self.kind else {
            return None;
        };
        let mut run = live.detach()?;
        run.running.clone_from(&self.running);
        Some(run)
    }

    /// Returns the exact length in bytes of a complete body; `None` for a live body.
    pub fn size(&self) -> Option<u64> {
        match &self.kind {
            Kind::Full(bytes) => Some(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            _ => None,
        }
    }

    /// Returns `true` if the body has ended.
    pub fn is_done(&self) -> bool {
        match &self.kind {
            Kind::Full(bytes) => bytes.is_none(),
            Kind::Live(live) => live.done,
            #[cfg(feature = "resumable")]
            Kind::Stream(_) => false,
        }
    }

    /// Delays the head of the response until the first output: a failure before it becomes the whole response.
    pub(crate) fn hold(&self) {
        if let Kind::Live(live) = &self.kind {
            live.frames.hold();
        }
    }

    /// Polls the agent until it has written output or the turn has ended. The output stays in the buffer.
    pub(crate) fn poll_output(&mut self, cx: &Context<'_>) -> Poll<()> {
        match &mut self.kind {
            Kind::Live(live) => live.poll_output(cx),
            _ => Poll::Ready(()),
        }
    }

    /// Ends the delay of the head. Returns `true` if the body is the body of an error response.
    pub(crate) fn release(&self) -> bool {
        match &self.kind {
            Kind::Live(live) => live.frames.release(),
            _ => false,
        }
    }

    /// Returns the headers of the response that its agent has set, once.
    pub(crate) fn take_headers(&self) -> Option<Box<HeaderMap>> {
        match &self.kind {
            Kind::Live(live) => live.frames.take_headers(),
            _ => None,
        }
    }

    /// Returns the status of the response. Final only at the end of the body.
    pub(crate) fn status(&self) -> StatusCode {
        match &self.kind {
            Kind::Live(live) => live.frames.status(),
            _ => StatusCode::OK,
        }
    }

    fn of(kind: Kind) -> Self {
        Self {
            kind,
            running: None,
        }
    }

    /// Attaches this body to the request that it answers, unless it is already attached.
    pub(crate) fn set_running(&mut self, running: Running) {
        if self.running.is_none() {
            self.register(&running);
            self.running = Some(running);
        }
    }

    /// Registers the turn that this body sends, if it sends one, with the request that it answers.
    pub(crate) fn register(&self, running: &Running) {
        if let Kind::Live(live) = &self.kind {
            running.attach(&live.frames);
        }
    }

    #[cfg_attr(
        not(feature = "resumable"),
        expect(clippy::needless_pass_by_ref_mut, reason = "a stored reply needs it")
    )]
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Frame>> {
        match &mut self.kind {
            Kind::Full(bytes) => Poll::Ready(bytes.take().map(Ok)),
            Kind::Live(live) => live.poll(cx).map(|frame| frame.map(Ok)),
            #[cfg(feature = "resumable")]
            Kind::Stream(stream) => stream.get().as_mut().poll_next(cx),
        }
    }
}

#[cfg(feature = "resumable")]
impl Body {
    /// Creates a body from a stream of frames, without an agent.
    pub(crate) fn from_frames(
        frames: impl Stream<Item = Result<Bytes, Interrupted>> + Send + 'static,
    ) -> Self {
        Self::of(Kind::Stream(Exclusive::new(Box::pin(frames))))
    }

    /// Disables the keep-alive.
    pub(crate) fn without_ticks(mut self) -> Self {
        if let Kind::Live(live) = &mut self.kind {
            live.ticks = None;
        }
        self
    }

    /// Ends the turn: as failed with `error`, otherwise as cancelled. The next poll drops the agent. Earlier output and
    /// the end of the turn can still be polled.
    pub(crate) fn stop(&self, error: Option<AgentError>) {
        if let Kind::Live(live) = &self.kind {
            live.frames
                .stop(error.map_or(Outcome::Cancelled, Outcome::Failed));
        }
    }

    /// Records whether the reply could not be stored.
    pub(crate) fn set_unstored(&self, unstored: bool) {
        if let Kind::Live(live) = &self.kind {
            live.frames.set_unstored(unstored);
        }
    }
}

/// A handle that cancels a turn, see [`Body::canceller`]. It does not keep the turn alive.
#[derive(Clone)]
pub struct Canceller(Weak<dyn Frames>);

impl Canceller {
    /// Ends the turn as cancelled if it is still running: the output so far is the answer.
    pub fn cancel(&self) {
        if let Some(frames) = self.0.upgrade() {
            frames.stop(Outcome::Cancelled);
        }
    }
}

opaque_debug!(Canceller);

impl Stream for Body {
    type Item = Result<Bytes, Interrupted>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(cx)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            Kind::Full(_) => "Full",
            Kind::Live(_) => "Live",
            #[cfg(feature = "resumable")]
            Kind::Stream(_) => "Stream",
        };
        f.debug_tuple("Body").field(&kind).finish()
    }
}
