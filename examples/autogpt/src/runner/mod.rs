//! Drives runs: does what they ask for, keeps them between turns, and answers every turn once.

mod record;
mod turns;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use self::record::Record;
use self::turns::Turns;
use crate::command::{Outcome, Registry, Scope};
use crate::decision::Decision;
use crate::env::{Env, NoRandomness};
use crate::memory::{Memories, Memory};
use crate::model::{Model, ModelError, ModelRequest};
use crate::prompt::Profile;
use crate::reply::Command;
use crate::run::{Answer, Effect, End, Event, Input, Machine, Question, Run};
use crate::store::{Conversation, RunStore, StoreError};

/// The agent: a machine with everything that its runs need from outside.
#[derive(Debug)]
#[non_exhaustive]
pub struct AutoGpt {
    /// Settings, commands and the tokenizer.
    pub machine: Arc<Machine>,
    /// Who the agent is; its goals are what the human says first, unless it has some.
    pub profile: Profile,
    /// The chat model.
    pub model: Arc<dyn Model>,
    /// The commands.
    pub registry: Registry,
    /// The memory of each conversation.
    pub memories: Arc<dyn Memories>,
    /// Where runs are kept between turns.
    pub store: Arc<dyn RunStore>,
    /// Time and chance.
    pub env: Arc<dyn Env>,
    /// How often a busy model is asked again, and how long to wait before the first time; the wait
    /// doubles each time.
    pub retries: u32,
    /// See [`AutoGpt::retries`].
    pub wait: Duration,
    /// How long a turn may take before it asks; nothing is interrupted.
    pub turn_time: Option<Duration>,
    turns: Turns,
}

/// One turn of a conversation: what the human said last.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Turn {
    /// The conversation.
    pub conversation: Conversation,
    /// The same for a request that is sent again, and different for any other: a digest of the whole
    /// transcript, where the front end sends it.
    pub id: String,
    /// How many messages of the human the transcript has, where the front end sends it. An answer
    /// that is not newer than the last one runs nothing.
    pub index: Option<u64>,
    /// What the human said.
    pub answer: Answer,
}

impl Turn {
    /// A turn of a front end that does not send its transcript.
    #[must_use]
    pub fn new(conversation: Conversation, id: &str, answer: Answer) -> Self {
        Self {
            conversation,
            id: id.to_owned(),
            index: None,
            answer,
        }
    }

    /// The same with the number of messages of the human.
    #[must_use]
    pub fn with_index(self, index: u64) -> Self {
        let index = Some(index);
        Self { index, ..self }
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnEnd {
    /// With a question; the next turn answers it.
    Ask(Question),
    /// The run is over; the next turn starts another.
    Finish(End),
    /// The turn answers a question that nobody asks, and no run is open. The next turn starts one
    /// with what it says as the goal.
    NoRun,
}

/// A turn that could not be answered. The run is as it was after its last saved step.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The reader of the events is gone.
    #[error("nobody listens any more")]
    Closed,
    /// Another process answers this conversation.
    #[error("the conversation is being answered elsewhere")]
    Elsewhere,
    /// The memory of the conversation cannot be read.
    #[error(transparent)]
    Memory(#[from] crate::memory::MemoryError),
    /// There is no id for a new run.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The stored run cannot be read or written.
    #[error(transparent)]
    Store(StoreError),
    /// The stored run is of another version, or damaged.
    #[error("the stored run cannot be restored")]
    Unreadable,
}

impl From<StoreError> for TurnError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict => Self::Elsewhere,
            error => Self::Store(error),
        }
    }
}

/// Takes the events of a turn as they happen.
#[async_trait]
pub trait Outlet: Send {
    /// Takes an event.
    ///
    /// # Errors
    ///
    /// [`Closed`] if nobody listens any more; the turn then stops before its next effect.
    async fn show(&mut self, event: Event) -> Result<(), Closed>;
}

/// Nobody listens any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nobody listens any more")]
#[non_exhaustive]
pub struct Closed;

impl Closed {
    /// The error.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Default for Closed {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Closed> for TurnError {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

/// Collects the events.
#[async_trait]
impl Outlet for Vec<Event> {
    async fn show(&mut self, event: Event) -> Result<(), Closed> {
        self.push(event);
        Ok(())
    }
}

impl AutoGpt {
    /// An agent with three retries after 1, 2 and 4 seconds, and no time limit for turns.
    #[must_use]
    pub fn new(
        machine: Arc<Machine>,
        profile: Profile,
        model: Arc<dyn Model>,
        registry: Registry,
        memories: Arc<dyn Memories>,
        store: Arc<dyn RunStore>,
        env: Arc<dyn Env>,
    ) -> Self {
        Self {
            machine,
            profile,
            model,
            registry,
            memories,
            store,
            env,
            retries: 3,
            wait: Duration::from_secs(1),
            turn_time: None,
            turns: Turns::default(),
        }
    }

    /// Answers a turn.
    ///
    /// A turn that was answered before is answered with the same events again, and runs nothing. Two
    /// copies that arrive at once are answered one after the other. Dropping the future stops before
    /// the next effect; the same turn sent again then goes on where it stopped, but a command whose
    /// result was lost is not run again.
    ///
    /// # Errors
    ///
    /// [`TurnError`]
    pub async fn turn(&self, turn: Turn, outlet: &mut dyn Outlet) -> Result<TurnEnd, TurnError> {
        let _alone = self.turns.enter(&turn.conversation).await;
        let saved = self.store.load(&turn.conversation).await?;
        let memory = self.memories.of(turn.conversation.as_str()).await?;
        let work = Work {
            agent: self,
            outlet,
            memory,
            until: self.turn_time.map(|time| Instant::now() + time),
            revision: saved.as_ref().map_or(0, |saved| saved.revision),
            record: Record::default(),
            shown: 0,
            conversation: turn.conversation.clone(),
        };
        let old = saved.map(|saved| Record::read(&saved.record));
        match old.transpose().map_err(|_| TurnError::Unreadable)? {
            Some(record) if record.turn == turn.id => work.again(record).await,
            Some(record) => work.next(record, turn).await,
            None => work.first(turn).await,
        }
    }

    async fn ask_model(&self, request: &ModelRequest) -> Input {
        let mut wait = self.wait;
        let mut tries = 0;
        loop {
            match self.model.chat(request).await {
                Ok(reply) => return Input::Reply(reply),
                Err(error) if error.may_pass() && tries < self.retries => {
                    let asked = match error {
                        ModelError::Busy { wait } => wait,
                        _ => None,
                    };
                    // A server that asks for minutes is not waited for.
                    let most = wait.saturating_mul(10);
                    tokio::time::sleep(asked.unwrap_or(wait).min(most)).await;
                    wait = wait.saturating_mul(2);
                    tries += 1;
                }
                Err(error) => return Input::ModelFailed(error.to_string()),
            }
        }
    }
}

/// A turn at work.
struct Work<'a> {
    agent: &'a AutoGpt,
    outlet: &'a mut dyn Outlet,
    memory: Arc<dyn Memory>,
    conversation: Conversation,
    until: Option<Instant>,
    revision: u64,
    record: Record,
    /// How many events of the record were shown.
    shown: usize,
}

impl Work<'_> {
    /// The first turn of a run: what the human says is its goal.
    async fn first(mut self, turn: Turn) -> Result<TurnEnd, TurnError> {
        let mut profile = self.agent.profile.clone();
        if profile.goals.is_empty() {
            let rules = self.agent.machine.settings().answers;
            match turn.answer {
                Answer::Text(text)
                    if matches!(Decision::read(&text, rules), Decision::Feedback(_)) =>
                {
                    profile.goals.push(text);
                }
                // An approval of a run that is over, or was forgotten.
                _ => return Ok(TurnEnd::NoRun),
            }
        }
        let run = self.agent.machine.start(&self.agent.env.run_id()?, profile);
        self.record.begin(turn.id, turn.index);
        self.go(run).await
    }

    /// A turn that answers a question.
    async fn next(mut self, record: Record, turn: Turn) -> Result<TurnEnd, TurnError> {
        let mut run = self.restore(&record)?;
        if matches!(run.effect(), Effect::Finish(_)) {
            return self.first(turn).await;
        }
        let stale = record
            .index
            .zip(turn.index)
            .is_some_and(|(last, new)| new <= last);
        let index = turn.index.max(record.index);
        self.record.begin(turn.id, index);
        if stale {
            self.note("This answer is older than the last one; nothing was run.");
            return self.go(run).await;
        }
        run.begin_turn();
        // The last turn may have stopped on its way; what the human says now decides how it goes on.
        run.interrupt();
        let events = run.feed(Input::Answer(turn.answer));
        self.record
            .events
            .extend(events.map_err(|_| TurnError::Unreadable)?);
        self.go(run).await
    }

    /// A turn that was seen before.
    async fn again(mut self, record: Record) -> Result<TurnEnd, TurnError> {
        let run = self.restore(&record)?;
        self.record = record;
        self.go(run).await
    }

    fn restore(&self, record: &Record) -> Result<Run, TurnError> {
        let run = self.agent.machine.restore(&record.run);
        run.map_err(|_| TurnError::Unreadable)
    }

    /// Does what the run asks for until it asks the human or ends.
    ///
    /// Every step is saved before it is shown: what was shown is never lost, and what was saved but
    /// not shown is shown when the turn comes again.
    async fn go(mut self, mut run: Run) -> Result<TurnEnd, TurnError> {
        loop {
            // The first time this claims the turn: of two processes, one goes on.
            self.save(&run).await?;
            self.show().await?;
            let input = match run.effect() {
                Effect::Ask(question) => return Ok(TurnEnd::Ask(question)),
                Effect::Finish(end) => return Ok(TurnEnd::Finish(end)),
                Effect::Recall { query, count } => self.recall(&query, count).await,
                Effect::CallModel(request) => self.agent.ask_model(&request).await,
                Effect::Remember(text) => self.remember(&text).await,
                Effect::Execute { id, command } => self.execute(&id, &command).await?,
            };
            if self.until.is_some_and(|until| Instant::now() >= until) {
                run.end_of_time();
            }
            let events = run.feed(input).map_err(|_| TurnError::Unreadable)?;
            self.record.events.extend(events);
        }
    }

    async fn save(&mut self, run: &Run) -> Result<(), TurnError> {
        self.record.run = run.to_json();
        let (store, record) = (&self.agent.store, self.record.to_json());
        let saved = store.save(&self.conversation, self.revision, &record);
        self.revision = saved.await?;
        Ok(())
    }

    /// Shows what was not shown yet.
    async fn show(&mut self) -> Result<(), TurnError> {
        while let Some(event) = self.record.events.get(self.shown) {
            self.outlet.show(event.clone()).await?;
            self.shown += 1;
        }
        Ok(())
    }

    /// Marks the execution as started before it starts, so that it never starts twice.
    async fn execute(&self, id: &str, command: &Command) -> Result<Input, TurnError> {
        if !self.agent.store.start(&self.conversation, id).await? {
            return Ok(Input::Lost);
        }
        let scope = Scope::new(Arc::clone(&self.memory));
        let registry = &self.agent.registry;
        let outcome: Outcome = registry.run(&command.name, &command.args, &scope).await;
        Ok(Input::Ended(outcome))
    }

    async fn recall(&mut self, query: &str, count: usize) -> Input {
        let texts = match count {
            0 => Ok(Vec::new()),
            count => self.memory.relevant(query, count).await,
        };
        let texts = texts.unwrap_or_else(|error| {
            self.note(&format!("Nothing was looked up in the memory: {error}."));
            Vec::new()
        });
        let now = self.agent.env.now();
        Input::Memories { texts, now }
    }

    async fn remember(&mut self, text: &str) -> Input {
        if let Err(error) = self.memory.add(text).await {
            self.note(&format!("The step was not remembered: {error}."));
        }
        Input::Remembered
    }

    fn note(&mut self, text: &str) {
        self.record.events.push(Event::notice(text));
    }
}
