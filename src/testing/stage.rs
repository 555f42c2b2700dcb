//! An agent and a front end, together in a test.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::frames::Frames;
use super::front_end::{Answer, FrontEnd, Next};
use super::{Clock, Transcript};
use crate::agent::{Agent, Body, Request};
use crate::protocol::{Env, EventError, Outcome, Protocol, Refusal, Turn};
use crate::router::path_params;

/// An agent and a front end that talk to each other in process: no server, no network, no waiting.
///
/// Requests are written as the front end writes them and read as a server reads them, so what the
/// agent sees is the real thing. Time is the [`Clock`]'s: it moves when the agent waits for a sleep
/// and nothing has woken it, not even once other tasks of the same thread had their turn. What comes
/// from outside, such as a socket, a thread or a runtime's timer, is waited for only while no sleep
/// is: nobody can see that it is under way.
///
/// ```
/// use copilot_wire::protocol::{AgentError, Confirmation, Conversation, Protocol};
/// use copilot_wire::testing::{FrontEnd, Stage, StageError};
/// use copilot_wire::{Agent, Reply, Request, async_trait};
///
/// struct Janitor;
///
/// #[async_trait]
/// impl<P: Protocol> Agent<P> for Janitor {
///     async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
///         match request.decision() {
///             Some(decision) if decision.accepted => reply.text("Deleted.").await?,
///             Some(_) => reply.text("Kept.").await?,
///             None => reply.confirm(Confirmation::new("1", "Delete it?", "It cannot be undone."))?,
///         }
///         Ok(())
///     }
/// }
///
/// async fn it_asks_first(front_end: impl FrontEnd) -> Result<(), StageError> {
///     let mut stage = Stage::new(front_end, Janitor);
///     let turn = stage.say("Tidy up").await?;
///     assert!(turn.question().is_some());
///     let turn = stage.decide(true).await?;
///     assert_eq!(turn.to_string(), "text: Deleted.\n");
///     Ok(())
/// }
/// ```
///
/// # Cancel safety
///
/// A turn that is dropped before it is over is one whose user left: the agent is dropped, and the
/// front end keeps what it heard. The next turn begins afresh.
pub struct Stage<F: FrontEnd> {
    front: F,
    agent: Arc<dyn Agent<F::Protocol>>,
    clock: Clock,
    env: Option<Env>,
    headers: HeaderMap,
    /// Whether a turn is under way, or was dropped half-way.
    open: bool,
    next: Next,
}

/// Why a turn did not come about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StageError {
    /// The request was turned away.
    #[error("refused with {status}: {refusal}")]
    Refused {
        /// The status of the response.
        status: StatusCode,
        /// What is wrong with the request.
        refusal: Refusal,
    },
    /// There is no question to answer.
    #[error("the turn before ended without a question")]
    NoQuestion,
    /// There are not as many calls to answer.
    #[error("the turn before made {calls} calls, not {answers}")]
    Calls {
        /// How many calls there are.
        calls: usize,
        /// How many answers were given.
        answers: usize,
    },
    /// The front end has no answer of its own to this call.
    #[error("the front end has no answer of its own to {0}")]
    NoAnswer(String),
}

impl<F: FrontEnd> Stage<F> {
    /// Puts both on a stage.
    #[must_use]
    pub fn new(front: F, agent: impl Agent<F::Protocol> + 'static) -> Self {
        Self {
            front,
            agent: Arc::new(agent),
            clock: Clock::new(),
            env: None,
            headers: HeaderMap::new(),
            open: false,
            next: Next::Nothing,
        }
    }

    /// Uses a clock that the agent, or a [`Script`](super::Script), waits for as well.
    #[must_use]
    pub fn clock(mut self, clock: &Clock) -> Self {
        self.clock = clock.clone();
        self
    }

    /// Uses another environment than the clock, such as one with a runtime's timer. Times are then
    /// by its [`now`](crate::protocol::Environment::now).
    #[must_use]
    pub fn env(mut self, env: Env) -> Self {
        self.env = Some(env);
        self
    }

    /// Adds a header to every request, such as one that authenticates the user. It stands in for
    /// what the front end itself sends under this name.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// The front end.
    #[must_use]
    pub fn front_end(&self) -> &F {
        &self.front
    }

    /// The user says something, and the agent answers.
    ///
    /// # Errors
    ///
    /// [`StageError::Refused`] when the request is turned away.
    pub async fn say(&mut self, text: &str) -> Result<Transcript<F::Protocol>, StageError> {
        self.close();
        self.front.say(text);
        self.turn().await
    }

    /// The front end answers the calls of the turn before, in their order, and the agent goes on.
    ///
    /// # Errors
    ///
    /// [`StageError::Calls`] when there are more calls or fewer; [`StageError::Refused`].
    pub async fn answer(
        &mut self,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Result<Transcript<F::Protocol>, StageError> {
        let answers: Vec<_> = answers.into_iter().collect();
        let calls = match &self.next {
            Next::Calls(calls) => calls.len(),
            _ => 0,
        };
        if calls == 0 || calls != answers.len() {
            let answers = answers.len();
            return Err(StageError::Calls { calls, answers });
        }
        self.front.answer(answers);
        self.turn().await
    }

    /// The front end answers the calls of the turn before by itself, and the agent goes on.
    ///
    /// # Errors
    ///
    /// [`StageError::NoAnswer`] when it cannot; [`StageError::Calls`] without calls;
    /// [`StageError::Refused`].
    pub async fn answer_itself(&mut self) -> Result<Transcript<F::Protocol>, StageError> {
        let calls = match &self.next {
            Next::Calls(calls) => calls.as_slice(),
            _ => &[],
        };
        let answer = |call| {
            let own = self.front.own_answer(call);
            own.ok_or_else(|| StageError::NoAnswer(call.name.clone()))
        };
        let answers: Vec<_> = calls.iter().map(answer).collect::<Result<_, _>>()?;
        self.answer(answers).await
    }

    /// The user answers the question of the turn before.
    ///
    /// # Errors
    ///
    /// [`StageError::NoQuestion`] when there is none; [`StageError::Refused`].
    pub async fn decide(&mut self, accepted: bool) -> Result<Transcript<F::Protocol>, StageError> {
        if !matches!(self.next, Next::Question(_)) {
            return Err(StageError::NoQuestion);
        }
        self.front.decide(accepted);
        self.turn().await
    }

    async fn turn(&mut self) -> Result<Transcript<F::Protocol>, StageError> {
        let request = self.front.request();
        self.send(request).await
    }

    /// Sends any request, such as a recorded one, and hears the answer as the front end does.
    ///
    /// # Errors
    ///
    /// [`StageError::Refused`] when the request is turned away.
    pub async fn send(
        &mut self,
        request: http::Request<Bytes>,
    ) -> Result<Transcript<F::Protocol>, StageError> {
        self.close();
        self.next = Next::Nothing;
        let (mut parts, body) = request.into_parts();
        parts.headers.extend(self.headers.clone());
        let message = F::Protocol::read(&parts, body).map_err(refused)?;
        let params = path_params(F::PATH, parts.uri.path());
        let request = Request::<F::Protocol>::from_parts(parts, message).with_params(params);

        let faults = Arc::new(Mutex::new(Vec::new()));
        let observed = Arc::clone(&faults);
        let env = self.env.clone();
        let env = env.unwrap_or_else(|| Env::new(self.clock.clone()));
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
            readable = readable && self.hear(&frame, since(), &mut turn);
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

    /// Ends a turn that was dropped half-way.
    fn close(&mut self) {
        if mem::take(&mut self.open) {
            self.front.next();
        }
    }

    /// Hears what a frame says; whether the stream can be read on.
    fn hear(&mut self, frame: &[u8], time: Duration, turn: &mut Transcript<F::Protocol>) -> bool {
        let mut input = frame;
        loop {
            match self.front.decode(&mut input) {
                Ok(Some(event)) => {
                    let heard = self.front.hear(&event);
                    turn.heard
                        .extend(heard.into_iter().map(|heard| (time, heard)));
                    turn.events.push((time, event));
                }
                Ok(None) => return true,
                Err(error) => {
                    turn.faults.push(error.to_string());
                    if matches!(error, EventError::Stream(_)) {
                        return false;
                    }
                }
            }
        }
    }
}

fn refused(refusal: Refusal) -> StageError {
    let status = refusal.status();
    StageError::Refused { status, refusal }
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

impl<F: FrontEnd> std::fmt::Debug for Stage<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage")
            .field("protocol", &F::Protocol::NAME)
            .field("clock", &self.clock)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
