//! One turn: which kind of turn it is, and the loop that performs the effects of its run.

use std::sync::Arc;
use std::time::Instant;

use super::record::Record;
use super::{AutoGpt, EventSink, Turn, TurnEnd, TurnError};
use crate::agent_loop::decision::{AnswerRules, Decision};
use crate::agent_loop::reply::Command;
use crate::agent_loop::run::{Effect, Event, Input, Run};
use crate::commands::{Outcome, Scope};
use crate::memory::store::Claim;
use crate::memory::{ByteCounts, LocalMemory, Memory};

/// The maximum size of a user message in bytes: a message is stored, and its tokens are counted for every request.
const LONGEST_TEXT: usize = 64 * 1024;
const TOO_LONG: &str = "The message is too long: the limit is 64 KiB. Nothing was done with it.";

/// A turn in progress.
pub(super) struct ActiveTurn<'a> {
    agent: &'a AutoGpt,
    sink: &'a mut dyn EventSink,
    /// Opened when it is first needed, because many turns need none.
    memory: Option<Arc<dyn Memory>>,
    claim: &'a Claim,
    until: Option<Instant>,
    revision: u64,
    record: Record,
    /// The number of events of the record that were shown.
    shown: usize,
}

impl<'a> ActiveTurn<'a> {
    pub(super) fn new(
        agent: &'a AutoGpt,
        sink: &'a mut dyn EventSink,
        claim: &'a Claim,
        revision: u64,
    ) -> Self {
        Self {
            agent,
            sink,
            memory: None,
            claim,
            until: agent.turn_time.map(|time| Instant::now() + time),
            revision,
            record: Record::default(),
            shown: 0,
        }
    }

    /// Starts a run. Its goal is the text of the turn, unless the profile has goals.
    pub(super) async fn first(mut self, turn: Turn) -> Result<TurnEnd, TurnError> {
        let mut profile = self.agent.profile.clone();
        if profile.goals.is_empty() {
            if is_too_long(&turn) {
                self.note(TOO_LONG);
                self.show().await?;
                return Ok(TurnEnd::NoRun);
            }
            let rules = self.agent.machine.settings().answers;
            let goal = turn.answer.text();
            let goal = goal.filter(|text| is_goal(text, rules));
            // Without a goal the text is an answer to a run that has ended or expired.
            let Some(goal) = goal else {
                return Ok(TurnEnd::NoRun);
            };
            profile.goals.push(goal.to_owned());
        }
        // Releases the memory of a run that has expired or is replaced.
        self.release().await;
        let run = self.agent.machine.start(&self.agent.env.run_id()?, profile);
        self.record.begin(turn.id);
        self.perform(run).await
    }

    /// Continues a run with the user's answer to its question.
    pub(super) async fn next(mut self, record: Record, turn: Turn) -> Result<TurnEnd, TurnError> {
        let mut run = self.restore(&record)?;
        let rules = self.agent.machine.settings().answers;
        let long = is_too_long(&turn);
        let goal = || turn.answer.text().is_some_and(|text| is_goal(text, rules));
        let restarts = turn.opens && (long || goal());
        if restarts || matches!(run.effect(), Effect::Finish(_)) {
            return self.first(turn).await;
        }
        self.record.begin(turn.id);
        // If the last turn was interrupted, the run pauses, and this answer decides how it continues.
        run.interrupt();
        run.begin_turn();
        if long {
            self.note(TOO_LONG);
            return self.perform(run).await;
        }
        let events = run.feed(Input::Answer(turn.answer));
        self.record
            .events
            .extend(events.map_err(|_| TurnError::Unreadable)?);
        self.perform(run).await
    }

    /// Asks the open question again after an answer that does not count.
    pub(super) async fn ask_again(
        mut self,
        record: Record,
        turn: Turn,
    ) -> Result<TurnEnd, TurnError> {
        let mut run = self.restore(&record)?;
        match run.effect() {
            // Nothing is saved: the turn with the answer that counts may have the same id.
            Effect::Ask(question) if self.agent.too_long(&question).is_none() => {
                return Ok(TurnEnd::AskAgain(question));
            }
            Effect::Finish(_) => return Ok(TurnEnd::NoRun),
            _ => {}
        }
        // The last turn was interrupted.
        self.record.begin(format!("{} void", turn.id));
        run.interrupt();
        match self.perform(run).await? {
            TurnEnd::Ask(question) => Ok(TurnEnd::AskAgain(question)),
            end => Ok(end),
        }
    }

    /// Shows the events of a turn that was answered before, and finishes it if it was interrupted.
    pub(super) async fn replay(mut self, record: Record) -> Result<TurnEnd, TurnError> {
        let run = self.restore(&record)?;
        self.record = record;
        self.perform(run).await
    }

    fn restore(&self, record: &Record) -> Result<Run, TurnError> {
        let run = self.agent.machine.restore(&record.run);
        run.map_err(|_| TurnError::Unreadable)
    }

    /// Performs the effects of a run until it asks the user or ends.
    ///
    /// Every step is saved before it is shown. So events that were shown are never lost, and events that were saved but
    /// not shown are shown when the turn is sent again.
    async fn perform(mut self, mut run: Run) -> Result<TurnEnd, TurnError> {
        loop {
            // Fails if another process has claimed or saved since, so that only one of them continues.
            self.save(&run).await?;
            self.show().await?;
            let input = match run.effect() {
                Effect::Ask(question) => match self.agent.too_long(&question) {
                    Some(input) => input,
                    None => return Ok(TurnEnd::Ask(question)),
                },
                Effect::Finish(end) => {
                    self.release().await;
                    return Ok(TurnEnd::Finish(end));
                }
                Effect::Recall { query, count } => self.recall(&query, count).await,
                Effect::CallModel(request) => self.agent.ask_model(&request).await,
                Effect::Remember(text) => {
                    self.agent.check(self.claim).await?;
                    self.remember(&text).await
                }
                // The mark prevents the execution: an execution that is marked as started is never started.
                Effect::Withdraw { id } => match self.agent.store.start(self.claim, &id).await? {
                    true => Input::Withdrawn,
                    false => Input::Lost,
                },
                Effect::Execute { id, command } => {
                    let scope = Scope::new(self.memory().await);
                    self.agent
                        .execute(self.claim, &id, &command, &scope)
                        .await?
                }
            };
            // Checked after the effect, so that its result is used. The next command asks.
            if self.until.is_some_and(|until| Instant::now() >= until) {
                run.end_of_time();
            }
            // The new state and its events are saved together at the start of the next iteration.
            let events = run.feed(input).map_err(|_| TurnError::Unreadable)?;
            self.record.events.extend(events);
        }
    }

    async fn save(&mut self, run: &Run) -> Result<(), TurnError> {
        self.record.run = run.to_json();
        let (store, record) = (&self.agent.store, self.record.to_json());
        // Fails also if a process with an older claim has saved in between, because the revision differs then.
        let saved = store.save(self.claim, self.revision, &record);
        self.revision = saved.await?;
        Ok(())
    }

    /// Shows the events that were not shown yet.
    async fn show(&mut self) -> Result<(), TurnError> {
        // Counted after `show` has succeeded: otherwise the event is shown again when the turn is repeated.
        while let Some(event) = self.record.events.get(self.shown) {
            self.sink.show(event.clone()).await?;
            self.shown += 1;
        }
        Ok(())
    }

    /// Returns the memory of the conversation. If it cannot be opened, it is left unchanged, and the turn continues
    /// with an empty memory.
    async fn memory(&mut self) -> Arc<dyn Memory> {
        if let Some(memory) = &self.memory {
            return Arc::clone(memory);
        }
        let opened = self
            .agent
            .memories
            .of(self.claim.conversation().as_str())
            .await;
        let memory = opened.unwrap_or_else(|error| {
            self.note(&format!("The run goes on with an empty memory: {error}."));
            Arc::new(LocalMemory::volatile(Arc::new(ByteCounts)))
        });
        self.memory = Some(Arc::clone(&memory));
        memory
    }

    async fn release(&mut self) {
        self.memory = None;
        let conversation = self.claim.conversation().as_str();
        self.agent.memories.release(conversation).await;
    }

    async fn recall(&mut self, query: &str, count: usize) -> Input {
        let texts = match count {
            0 => Ok(Vec::new()),
            count => self.memory().await.relevant(query, count).await,
        };
        let texts = texts.unwrap_or_else(|error| {
            self.note(&format!("Nothing was looked up in the memory: {error}."));
            Vec::new()
        });
        let now = self.agent.env.now();
        Input::Memories { texts, now }
    }

    async fn remember(&mut self, text: &str) -> Input {
        if let Err(error) = self.memory().await.add(text).await {
            self.note(&format!("The step was not remembered: {error}."));
        }
        Input::Remembered
    }

    fn note(&mut self, text: &str) {
        self.record.events.push(Event::notice(text));
    }
}

fn is_too_long(turn: &Turn) -> bool {
    let text = turn.answer.text();
    text.is_some_and(|text| text.len() > LONGEST_TEXT)
}

/// Returns `true` unless the text is an approval, an end, or empty.
fn is_goal(text: &str, rules: AnswerRules) -> bool {
    matches!(Decision::read(text, rules), Decision::Feedback(_))
}

impl AutoGpt {
    /// Runs a command, after marking the execution as started so that it never starts twice.
    async fn execute(
        &self,
        claim: &Claim,
        id: &str,
        command: &Command,
        scope: &Scope,
    ) -> Result<Input, TurnError> {
        // `false` if an earlier attempt at this turn started the command: its process no longer exists, and the result
        // is lost.
        if !self.store.start(claim, id).await? {
            return Ok(Input::Lost);
        }
        self.check(claim).await?;
        let args = &command.args;
        let outcome: Outcome = self.registry.run(&command.name, args, scope).await;
        Ok(Input::Ended(outcome))
    }

    /// Checks that no other server has claimed the conversation, before an effect outside of the store.
    ///
    /// The process may have been paused for longer than the lease since its last call to the store. Another server may
    /// then have reported the result of this command as lost, so the command must not start. The store is called only
    /// if the lease has ended by the clock of this process.
    async fn check(&self, claim: &Claim) -> Result<(), TurnError> {
        if !claim.is_current() {
            self.store.renew(claim).await?;
        }
        Ok(())
    }
}
