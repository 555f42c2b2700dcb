//! The response body: it runs the agent and returns its output as frames.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderMap, StatusCode};

use super::channel::{Channel, Frames, Outcome};
use super::request::Head;
use super::staging::{self, Staging};
use super::turns::Running;
use super::wakeup::Wakeup;
use super::{Agent, Reply, Request};
use crate::conversations::{Recording, Storing};
use crate::protocol::consent::Asking;
use crate::protocol::{AgentError, Answered, Env, Protocol, Record, Ticks};
use crate::sync::Mutex;

/// The maximum time of silence before a keep-alive is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

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

struct Live {
    frames: Arc<dyn Frames>,
    /// The running agent. `None` once the agent has ended or was detached.
    run: Option<Run>,
    /// The staging buffer, while `run` is `Some`.
    staging: Option<Box<Staging>>,
    wakeup: Wakeup,
    detached: bool,
    /// `true` once the first frame was sent.
    begun: bool,
    ticks: Option<Exclusive<Ticks>>,
    /// `true` if nothing was sent since the last tick.
    silent: bool,
    done: bool,
    /// The recording of the turn; `None` after its end.
    recording: Option<Recording>,
    /// The last frame of the answer, which is sent once the turn is stored.
    storing: Option<(Exclusive<Storing>, Bytes)>,
}

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
        session: P::Session,
        env: &Env,
    ) -> Self
    where
        P: Protocol,
        A: Agent<P> + 'static,
    {
        let recording = request.take_recording();
        let is_stream = P::is_stream(&request);
        // Boxed, because few turns have a next call, and every waiting turn has this future in memory.
        let next_call = P::next_call(&request).map(Box::new);
        let record = Record::new(env, P::NAME)
            .path(request.path())
            .agent(request.agent())
            .extensions(request.extensions())
            .conversation(|| request.conversation_id());
        #[cfg(feature = "tracing")]
        let record = record.open_span(request.headers());
        let request = request.with_env(env);
        let (asking, _) = request.begin();
        let answered = P::answered(&request).filter(|_| next_call.is_none());
        let answered = answered.map(|wait| Box::new((wait, request.head())));
        let mut body = Self::drive(
            session,
            record,
            asking,
            is_stream,
            move |reply, channel| async move {
                let mut result = match next_call {
                    Some(call) => reply.end(*call).map_err(AgentError::from),
                    None => agent.answer(request, reply).await,
                };
                if let Some(answered) = answered {
                    result = Box::pin(go_on(&agent, result, &channel, answered)).await;
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
        session: P::Session,
        record: Record,
        asking: Asking,
        is_stream: bool,
        start: impl FnOnce(Reply<P>, Arc<Channel<P>>) -> Fut,
    ) -> Self
    where
        P: Protocol,
        Fut: Future<Output = ()> + Send + 'static,
    {
        // Half the time: a tick only reports silence since the previous tick, so silence is noticed after one to two
        // periods.
        let ticks = record.env().ticks(KEEP_ALIVE / 2);
        let wakeup = Wakeup::new();
        let channel = Channel::<P>::new(session, record, asking, is_stream, wakeup.task());
        let channel = Arc::new(channel);
        let reply = Reply::new(Arc::clone(&channel));
        let frames: Arc<dyn Frames> = Arc::clone(&channel) as _;
        let future: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(start(reply, channel));
        Self::of(Kind::Live(Box::new(Live {
            run: Some(Run {
                future: Exclusive::new(future),
                frames: Arc::clone(&frames),
                running: None,
            }),
            staging: frames.stage(),
            frames,
            wakeup,
            detached: false,
            begun: false,
            ticks: ticks.map(Exclusive::new),
            silent: false,
            done: false,
            recording: None,
            storing: None,
        })))
    }

    /// Returns a handle that cancels the turn of this body from another task. `None` for a body that runs no agent,
    /// such as the body of a stored reply.
    #[must_use]
    pub fn canceller(&self) -> Option<Canceller> {
        Some(Canceller(Arc::downgrade(self.frames()?)))
    }

    /// Creates a body from complete bytes.
    #[must_use]
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
        live.detached = true;
        live.frames.unstage(live.staging.take());
        let mut run = live.run.take()?;
        run.running.clone_from(&self.running);
        Some(run)
    }

    /// Returns the exact length in bytes of a complete body; `None` for a live body.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match &self.kind {
            Kind::Full(bytes) => Some(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Kind::Live(_) => None,
            #[cfg(feature = "resumable")]
            Kind::Stream(_) => None,
        }
    }

    /// Returns `true` if the body has ended.
    #[must_use]
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

    /// Returns the headers of an error response, once.
    pub(crate) fn take_headers(&self) -> HeaderMap {
        match &self.kind {
            Kind::Live(live) => live.frames.take_headers(),
            _ => HeaderMap::new(),
        }
    }

    /// Returns the status of the response. Final only at the end of the body.
    pub(crate) fn status(&self) -> StatusCode {
        match &self.kind {
            Kind::Full(_) => StatusCode::OK,
            Kind::Live(live) => live.frames.status(),
            #[cfg(feature = "resumable")]
            Kind::Stream(_) => StatusCode::OK,
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
            running.attach(self);
            self.running = Some(running);
        }
    }

    /// Returns the channel of the turn that this body sends. `None` if the body runs no agent.
    pub(super) fn frames(&self) -> Option<&Arc<dyn Frames>> {
        match &self.kind {
            Kind::Live(live) => Some(&live.frames),
            _ => None,
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

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Canceller")
    }
}

/// Waits for the answer to each question of a reply, and runs the agent again with it.
async fn go_on<P: Protocol, A: Agent<P>>(
    agent: &A,
    mut result: Result<(), AgentError>,
    channel: &Arc<Channel<P>>,
    answered: Box<(Answered<P::Request>, Head<P>)>,
) -> Result<(), AgentError> {
    let (mut wait, head) = *answered;
    while result.is_ok() && channel.is_ended() {
        let Some(message) = wait.await else {
            break;
        };
        let next = P::answered(&message);
        if !channel.reopen() {
            break;
        }
        let reply = Reply::new(Arc::clone(channel));
        let request = Request::with_head(head.clone(), message);
        result = agent.answer(request, reply).await;
        match next {
            Some(next) => wait = next,
            None => break,
        }
    }
    result
}

impl Live {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.done {
            return Poll::Ready(None);
        }
        if self.storing.is_some() {
            return self.poll_stored(cx);
        }
        self.poll_agent(cx);
        match self.poll_frame() {
            Poll::Ready(Some(frame)) => {
                self.silent = false;
                // Checked here, because most protocols end a cancelled turn like an answer.
                let cancelled = self.recording.is_some() && self.frames.is_cancelled();
                self.recording.take_if(|_| cancelled);
                if let Some(storing) = self.recording.as_mut().and_then(|it| it.push(&frame)) {
                    self.recording = None;
                    self.storing = Some((Exclusive::new(storing), frame));
                    return self.poll_stored(cx);
                }
                Poll::Ready(Some(frame))
            }
            Poll::Ready(None) => {
                self.done = true;
                self.ticks = None;
                Poll::Ready(None)
            }
            Poll::Pending => self.poll_keep_alive(),
        }
    }

    /// Returns the last frame of the answer once the turn is stored, because the client's next request continues the
    /// turn.
    fn poll_stored(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some((storing, _)) = &mut self.storing else {
            return Poll::Pending;
        };
        let Poll::Ready(stored) = storing.get().as_mut().poll(cx) else {
            return Poll::Pending;
        };
        if !stored {
            self.frames.set_unstored(true);
        }
        Poll::Ready(self.storing.take().map(|(_, frame)| frame))
    }

    fn poll_output(&mut self, cx: &Context<'_>) -> Poll<()> {
        self.poll_agent(cx);
        // The report is cleared before the check, as in `poll_frame`: a later report wakes the task.
        self.wakeup.channel();
        match self.frames.has_output(self.staging.as_deref()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    fn poll_agent(&mut self, cx: &Context<'_>) {
        self.wakeup.set_reader(cx);
        if self.wakeup.is_stopped() {
            self.drop_run();
        }
        if let Some(run) = &mut self.run {
            if let Some(waker) = self.wakeup.agent() {
                // The context has the agent's own waker, so that only wakes of this waker cause the next poll of the
                // agent.
                let polled;
                let mut cx = Context::from_waker(waker);
                (polled, self.staging) = run.poll_staged(&mut cx, self.staging.take());
                if polled.is_ready() {
                    self.drop_run();
                }
            }
        }
    }

    fn drop_run(&mut self) {
        // The buffer is returned first: dropping the run may run code of the agent, which may panic.
        self.frames.unstage(self.staging.take());
        self.run = None;
    }

    /// Returns all unsent bytes as one frame. Takes no lock if the channel has reported nothing, so that only text of
    /// this poll is unsent.
    fn poll_frame(&mut self) -> Poll<Option<Bytes>> {
        let news = self.wakeup.channel();
        match &mut self.staging {
            Some(staging) if self.begun && !news => {
                let frame = staging.take_frame();
                staging.sent += frame.len() as u64;
                match frame.is_empty() {
                    true => Poll::Pending,
                    false => Poll::Ready(Some(frame)),
                }
            }
            staging => {
                let agent = self.run.as_ref().map(|_| &self.wakeup);
                let polled = self.frames.poll_frame(staging.as_deref_mut(), agent);
                self.begun |= polled.is_ready();
                polled
            }
        }
    }

    fn poll_keep_alive(&mut self) -> Poll<Option<Bytes>> {
        let (Some(ticks), Some(waker)) = (&mut self.ticks, self.wakeup.timer()) else {
            return Poll::Pending;
        };
        let mut cx = Context::from_waker(waker);
        loop {
            match ticks.get().as_mut().poll_next(&mut cx) {
                Poll::Ready(Some(())) if self.silent => {
                    let frame = self.frames.keep_alive(self.staging.as_deref());
                    if !frame.is_empty() {
                        self.wakeup.poll_timer_again();
                        return Poll::Ready(Some(frame));
                    }
                }
                // Every frame clears the flag, so the next tick finds out whether a frame was sent in between.
                Poll::Ready(Some(())) => self.silent = true,
                Poll::Ready(None) => {
                    self.ticks = None;
                    return Poll::Pending;
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // From here on writes fail. The agent is dropped after that, so nothing is sent that it writes while it is
        // dropped.
        self.frames.unstage(self.staging.take());
        self.frames.detach(self.detached);
        self.wakeup.forget_reader();
    }
}

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

/// A value that is only accessed through `&mut`. It makes its owner `Sync`, which some web frameworks require of a
/// body. The lock is never taken.
struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    fn get(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running agent, taken out of its body by [`Body::detach`].
///
/// The future resolves when the agent has ended. Dropping it drops the agent, and the body then ends with a failure.
#[must_use = "an agent does nothing unless it is polled"]
pub struct Run {
    future: Exclusive<Pin<Box<dyn Future<Output = ()> + Send>>>,
    frames: Arc<dyn Frames>,
    running: Option<Running>,
}

impl Run {
    /// Polls the agent while its buffer is staged, and returns the buffer.
    fn poll_staged(
        &mut self,
        cx: &mut Context<'_>,
        mut staging: Option<Box<Staging>>,
    ) -> (Poll<()>, Option<Box<Staging>>) {
        #[cfg(feature = "tracing")]
        let _entered = self.frames.span().enter();
        if let Some(staging) = &mut staging {
            staging.borrow_spare();
        }
        let outer = staging::exchange(staging);
        // Unwind safety: after a panic the agent is not polled again, and the shared state is consistent, because a
        // write that panics is rolled back.
        let future = &mut self.future;
        let poll = catch_unwind(AssertUnwindSafe(|| future.get().as_mut().poll(cx)));
        let staging = staging::exchange(outer);
        if let Ok(poll) = poll {
            return (poll, staging);
        }
        self.frames.unstage(staging);
        self.frames.panicked();
        (Poll::Ready(()), None)
    }
}

impl Future for Run {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // A stop during the poll wakes this task again.
        if self.frames.poll_stopped(cx) {
            // The agent is dropped now, not with the run, which its owner may keep.
            self.future = Exclusive::new(Box::pin(std::future::ready(())));
            self.running = None;
            return Poll::Ready(());
        }
        let staging = self.frames.stage();
        let (poll, staging) = self.poll_staged(cx, staging);
        self.frames.unstage(staging);
        self.frames.wake_body();
        poll
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.frames.dropped();
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Run")
    }
}
