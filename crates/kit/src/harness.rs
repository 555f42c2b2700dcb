//! A test harness for an agent and an emulated front end.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::frames::Frames;
use super::front_end::{FrontEnd, Next, ToolOutcome};
use super::{Clock, Transcript};
use copilot_wire::agent::{Agent, Body, Request};
use copilot_wire::protocol::{Env, EventError, Outcome, Protocol, Refusal, Turn};
use copilot_wire::router::path_params;

/// The number of harnesses so far.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// A test harness that runs an agent and an emulated front end in process, without a server, a network
/// or real time.
///
/// Requests are written as the front end writes them and read as a server reads them.
/// Time is that of the [`Clock`], which advances when the agent waits for a sleep and nothing has woken the agent,
/// even after other tasks of the same thread have run. External events, such as those of a socket, a thread or a
/// runtime's timer, cannot be observed, so they are awaited only while there is no sleep.
///
/// ```
/// use copilot_wire::protocol::{AgentError, Confirmation, Conversation, Protocol};
/// use copilot_wire_kit::{FrontEnd, Harness, HarnessError};
/// use copilot_wire::{Agent, Reply, Request, async_trait};
///
/// struct Janitor;
///
/// #[async_trait]
/// impl<P: Protocol> Agent<P> for Janitor {
///     async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
///         match request.decision() {
///             Some(answer) if answer.accepts("1") => reply.text("Deleted.").await?,
///             Some(_) => reply.text("Kept.").await?,
///             None => reply.confirm(Confirmation::new("1", "Delete it?", "It cannot be undone."))?,
///         }
///         Ok(())
///     }
/// }
///
/// async fn it_asks_first(front_end: impl FrontEnd) -> Result<(), HarnessError> {
///     let mut harness = Harness::new(front_end, Janitor);
///     let turn = harness.prompt("Tidy up").await?;
///     assert!(turn.question().is_some());
///     let turn = harness.decide(true).await?;
///     assert_eq!(turn.to_string(), "text: Deleted.\n");
///     Ok(())
/// }
/// ```
///
/// # Cancel safety
///
/// Dropping the future of a turn disconnects the client: the agent is dropped, and the
/// front end retains the events that it received. The next turn starts anew.
pub struct Harness<F: FrontEnd> {
    front: F,
    agent: Arc<dyn Agent<F::Protocol>>,
    clock: Clock,
    env: Option<Env>,
    /// Distinguishes harnesses.
    id: u64,
    headers: HeaderMap,
    /// `true` while a turn runs, and after the future of a turn was dropped.
    open: bool,
    next: Next,
}

/// An error of starting a turn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// The request was refused.
    #[error("refused with {status}: {refusal}")]
    Refused {
        /// The status of the response.
        status: StatusCode,
        /// The body of the response.
        refusal: Refusal,
    },
    /// There is no question to answer.
    #[error("the turn before ended without a question")]
    NoQuestion,
    /// There are no calls to answer.
    #[error("the turn before ended without calls")]
    NoCalls,
    /// The number of answers differs from the number of calls.
    #[error("the turn before made {calls} calls, not {answers}")]
    Calls {
        /// The number of calls.
        calls: usize,
        /// The number of answers.
        answers: usize,
    },
    /// The front end cannot run this call by itself.
    #[error("the front end has no answer of its own to {0}")]
    NoAnswer(String),
}

impl<F: FrontEnd> Harness<F> {
    /// Creates a harness.
    pub fn new(front: F, agent: impl Agent<F::Protocol> + 'static) -> Self {
        Self {
            front,
            agent: Arc::new(agent),
            clock: Clock::new(),
            env: None,
            id: COUNT.fetch_add(1, Ordering::Relaxed),
            headers: HeaderMap::new(),
            open: false,
            next: Next::Nothing,
        }
    }

    /// Sets the clock, to share it with the agent or a [`Script`](super::Script).
    #[must_use]
    pub fn clock(mut self, clock: &Clock) -> Self {
        self.clock = clock.clone();
        self
    }

    /// Sets an environment in place of the clock, such as one with a runtime's timer. Times are then read from its
    /// [`now`](copilot_wire::protocol::Environment::now).
    #[must_use]
    pub fn env(mut self, env: Env) -> Self {
        self.env = Some(env);
        self
    }

    /// Adds a header to every request, such as one that authenticates the user. It replaces
    /// the front end's own header of this name.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// Returns the front end.
    pub fn front_end(&self) -> &F {
        &self.front
    }

    /// Sends a message of the user and runs the agent.
    ///
    /// # Errors
    ///
    /// [`HarnessError::Refused`] when the request is refused.
    pub async fn prompt(&mut self, text: &str) -> Result<Transcript<F::Protocol>, HarnessError> {
        self.close();
        self.front.prompt(text);
        self.turn().await
    }

    /// Answers the calls of the previous turn, in their order, and runs the agent.
    ///
    /// # Errors
    ///
    /// [`HarnessError::NoCalls`] when there are no calls; [`HarnessError::Calls`] with another number of answers;
    /// [`HarnessError::Refused`].
    pub async fn answer(
        &mut self,
        answers: impl IntoIterator<Item = ToolOutcome>,
    ) -> Result<Transcript<F::Protocol>, HarnessError> {
        let answers: Vec<_> = answers.into_iter().collect();
        let calls = self.next.calls().len();
        match answers.len() {
            _ if calls == 0 => return Err(HarnessError::NoCalls),
            answers if answers != calls => return Err(HarnessError::Calls { calls, answers }),
            _ => {}
        }
        self.front.answer(answers);
        self.turn().await
    }

    /// Lets the front end answer the calls of the previous turn by itself, and runs the agent.
    ///
    /// # Errors
    ///
    /// [`HarnessError::NoAnswer`] when the front end cannot answer a call; [`HarnessError::NoCalls`] when there are no
    /// calls; [`HarnessError::Refused`].
    pub async fn answer_itself(&mut self) -> Result<Transcript<F::Protocol>, HarnessError> {
        let calls = self.next.calls();
        let answer = |call| {
            let own = self.front.own_answer(call);
            own.ok_or_else(|| HarnessError::NoAnswer(call.name.clone()))
        };
        let answers: Vec<_> = calls.iter().map(answer).collect::<Result<_, _>>()?;
        self.answer(answers).await
    }

    /// Answers the question of the previous turn and runs the agent.
    ///
    /// # Errors
    ///
    /// [`HarnessError::NoQuestion`] when there is no question; [`HarnessError::Refused`].
    pub async fn decide(
        &mut self,
        accepted: bool,
    ) -> Result<Transcript<F::Protocol>, HarnessError> {
        let Next::Question(question) = &self.next else {
            return Err(HarnessError::NoQuestion);
        };
        self.front.decide(question, accepted);
        self.turn().await
    }

    async fn turn(&mut self) -> Result<Transcript<F::Protocol>, HarnessError> {
        let request = self.front.request();
        self.send(request).await
    }

    /// Sends any request, such as a recorded one, and reads the answer as the front end does.
    ///
    /// # Errors
    ///
    /// [`HarnessError::Refused`] when the request is refused.
    pub async fn send(
        &mut self,
        request: http::Request<Bytes>,
    ) -> Result<Transcript<F::Protocol>, HarnessError> {
        self.close();
        self.next = Next::Nothing;
        let (mut parts, body) = request.into_parts();
        // `extend` with a header map replaces the front end's own header, and keeps several values
        // that were added under one name.
        parts.headers.extend(self.headers.clone());
        let message = F::Protocol::read(&parts, body).map_err(refused)?;
        let mut params = path_params(F::PATH, parts.uri.path());
        // A question is bound to the path and its parameters: a unique parameter keeps apart the same questions of two
        // harnesses.
        params.push(("harness".into(), self.id.to_string().into()));
        let request = Request::<F::Protocol>::from_parts(parts, message).params(params);

        let faults = Arc::new(Mutex::new(Vec::new()));
        let observed = Arc::clone(&faults);
        let env = self.env.clone();
        let env = env.unwrap_or_else(|| Env::new(self.clock.clone()));
        // Front ends get only a general message. The cause of a failure is reported to observers, and a test needs it.
        let env = env.observe(move |turn| {
            let mut faults = observed.lock().unwrap_or_else(PoisonError::into_inner);
            faults.extend(fault(turn));
        });
        let start = env.now();
        let since = || env.now().duration_since(start).unwrap_or_default();
        let body = Body::run(self.agent.clone(), request, &env);
        let mut frames = Frames::new(body, self.clock.clone());
        let mut turn = Transcript::new();
        let mut readable = true;
        self.open = true;
        while let Some(frame) = frames.next().await {
            turn.bytes.extend_from_slice(&frame);
            // The body is read to its end even if nothing more can be decoded: the agent must be
            // able to finish, and its bytes are evidence.
            readable = readable && self.receive(&frame, since(), &mut turn);
        }
        turn.took = since();
        self.open = false;
        turn.next = self.front.next();
        if let Next::Broken(why) = turn.next {
            turn.faults.push(why.into());
        }
        // The turn is reported when its body is dropped.
        drop(frames);
        let mut faults = faults.lock().unwrap_or_else(PoisonError::into_inner);
        turn.faults.append(&mut faults);
        self.next = turn.next.clone();
        Ok(turn)
    }

    /// Ends a turn that was dropped.
    fn close(&mut self) {
        if mem::take(&mut self.open) {
            // Front ends store the messages of a turn in `next`. A dropped turn did not call it, and the next request
            // would lack these messages.
            self.front.next();
        }
    }

    /// Processes a frame. Returns `true` if the stream can be read any further.
    fn receive(
        &mut self,
        frame: &[u8],
        time: Duration,
        turn: &mut Transcript<F::Protocol>,
    ) -> bool {
        let mut input = frame;
        loop {
            match self.front.decode(&mut input) {
                Ok(Some(event)) => {
                    let effects = self.front.receive(&event);
                    turn.effects
                        .extend(effects.into_iter().map(|effects| (time, effects)));
                    turn.events.push((time, event));
                }
                Ok(None) => return true,
                Err(error) => {
                    turn.faults.push(error.to_string());
                    // An unreadable event is skipped, as the real front end does. After an error of the stream, no
                    // position is known from which to continue.
                    if matches!(error, EventError::Stream(_)) {
                        return false;
                    }
                }
            }
        }
    }
}

fn refused(refusal: Refusal) -> HarnessError {
    let status = refusal.status();
    HarnessError::Refused { status, refusal }
}

fn fault(turn: &Turn<'_>) -> Option<String> {
    match turn.outcome {
        Outcome::Failed { error, .. } => Some(match error.cause() {
            Some(cause) => format!("the agent failed: {cause}"),
            None => format!("the agent failed: {}", error.message()),
        }),
        Outcome::Panicked { .. } => Some("the agent panicked".into()),
        _ => None,
    }
}

impl<F: FrontEnd> std::fmt::Debug for Harness<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Harness")
            .field("protocol", &F::Protocol::NAME)
            .field("clock", &self.clock)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
