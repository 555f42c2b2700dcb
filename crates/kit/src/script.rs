//! An agent with scripted turns.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::Clock;
use copilot_wire::agent::{Agent, Reply, Request};
use copilot_wire::protocol::{
    AgentError, Confirmation, Conversation, Message, Protocol, Status, ToolCall, ToolResult,
    ToolRun, Usage,
};

/// An agent with scripted turns that records its requests. Mounted with a model's protocol, it is a
/// scripted model.
///
/// To test an agent that takes the URL of a model, mount the script on a [`Router`](copilot_wire::Router). To test one
/// that takes a stream, run the script with [`Body::run`](copilot_wire::Body::run) and pass the body.
///
/// ```
/// use std::time::Duration;
/// use copilot_wire_kit::{Clock, Script, Step};
///
/// let clock = Clock::new();
/// let model = Script::new(&clock)
///     .turn([Step::text("Let me "), Step::pause(Duration::from_secs(2)), Step::text("see.")])
///     .turn([Step::fail("overloaded")]);
/// assert_eq!(model.requests().len(), 0);
/// ```
///
/// Clones share one script. A request after the last turn fails.
#[derive(Clone, Debug)]
pub struct Script {
    clock: Clock,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    turns: VecDeque<Vec<Step>>,
    asked: Vec<RecordedRequest>,
}

/// A step of a script.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Step {
    /// Sends a piece of text.
    Text(String),
    /// Sends a step of the work.
    Status(Status),
    /// Waits for this time on the script's clock.
    Pause(Duration),
    /// Sends a piece of reasoning.
    Reasoning(String),
    /// Sends a tool that the agent ran.
    ToolRun(ToolRun),
    /// Reports the tokens that were used.
    Usage(Usage),
    /// Calls tools, which ends the turn. A call that the request does not allow fails the turn.
    Calls(Vec<ToolCall>),
    /// Asks the user, which ends the turn.
    Confirm(Confirmation),
    /// Fails with this message.
    Fail(String),
    /// Waits for ever.
    Stall,
}

impl Step {
    /// Creates a step that sends a piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a step that waits for `duration` on the script's clock.
    pub fn pause(duration: Duration) -> Self {
        Self::Pause(duration)
    }

    /// Creates a step that calls a tool and ends the turn.
    pub fn call(call: ToolCall) -> Self {
        Self::Calls(vec![call])
    }

    /// Creates a step that fails the turn with a message.
    pub fn fail(message: impl Into<String>) -> Self {
        Self::Fail(message.into())
    }
}

/// The record of a request: the parts that requests of every protocol have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The messages, oldest first.
    pub messages: Vec<Message<'static>>,
    /// The names of the offered tools.
    pub tools: Vec<String>,
    /// The results of calls since the last user message.
    pub results: Vec<ToolResult<'static>>,
}

impl Script {
    /// Creates a script without turns. Its pauses use `clock`.
    pub fn new(clock: &Clock) -> Self {
        Self {
            clock: clock.clone(),
            state: Arc::default(),
        }
    }

    /// Adds a turn. Each request gets the next turn, in order.
    #[must_use]
    pub fn turn(self, steps: impl IntoIterator<Item = Step>) -> Self {
        let steps = steps.into_iter().collect();
        self.state().turns.push_back(steps);
        self
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state().asked.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request and returns its turn, if there is one.
    fn next<P: Protocol>(&self, request: &Request<P>) -> Option<Vec<Step>> {
        let messages = request.messages();
        let messages = messages.map(|m| Message::new(m.role, m.text.into_owned()));
        let results = request.results().map(|result| {
            let mut kept = ToolResult::new(result.name.into_owned(), result.content.into_owned());
            kept.call_id = result.call_id.map(|id| id.into_owned().into());
            kept.arguments = result.arguments;
            kept.failed = result.failed;
            kept
        });
        let asked = RecordedRequest {
            messages: messages.collect(),
            tools: request.tools().map(|tool| tool.name.into_owned()).collect(),
            results: results.collect(),
        };
        let mut state = self.state();
        state.asked.push(asked);
        state.turns.pop_front()
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Script {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let steps = self.next(&request);
        // A request may be large, and a script may pause for a long time.
        drop(request);
        let steps = steps.ok_or_else(|| AgentError::new("the script has no further turn"))?;
        for step in steps {
            match step {
                Step::Text(text) => reply.text(&text).await?,
                Step::Status(status) => reply.status(status).await?,
                Step::Pause(duration) => self.clock.sleep(duration).await,
                Step::Reasoning(text) => reply.reasoning(&text).await?,
                Step::ToolRun(run) => reply.tool_run(run).await?,
                Step::Usage(usage) => reply.usage(usage).await?,
                Step::Calls(calls) => return Ok(reply.calls(&calls)?),
                Step::Confirm(confirmation) => return Ok(reply.confirm(confirmation)?),
                Step::Fail(message) => return Err(AgentError::new(message)),
                Step::Stall => pending().await,
            }
        }
        Ok(())
    }
}
