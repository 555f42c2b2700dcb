use std::sync::Arc;
use std::time::Instant;

use super::record::Record;
use super::{AutoGpt, Outlet, Turn, TurnEnd, TurnError};
use crate::command::{Outcome, Scope};
use crate::decision::{AnswerRules, Decision};
use crate::memory::{ByteCounts, LocalMemory, Memory};
use crate::reply::Command;
use crate::run::{Effect, Event, Input, Run};
use crate::store::Conversation;

/// The longest text of a human, in bytes. It is stored, and counted again for every request.
const LONGEST_TEXT: usize = 64 * 1024;
const TOO_LONG: &str = "The message is too long: the limit is 64 KiB. Nothing was done with it.";

/// A turn at work.
pub(super) struct Work<'a> {
    agent: &'a AutoGpt,
    outlet: &'a mut dyn Outlet,
    /// Opened when the run first needs it: most answers to nothing do not.
    memory: Option<Arc<dyn Memory>>,
    conversation: Conversation,
    until: Option<Instant>,
    revision: u64,
    record: Record,
    /// How many events of the record were shown.
    shown: usize,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        agent: &'a AutoGpt,
        outlet: &'a mut dyn Outlet,
        conversation: Conversation,
        revision: u64,
    ) -> Self {
        Self {
            agent,
            outlet,
            memory: None,
            conversation,
            until: agent.turn_time.map(|time| Instant::now() + time),
            revision,
            record: Record::default(),
            shown: 0,
        }
    }

    /// The first turn of a run: what the human says is its goal.
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
            // Without one it is an approval of a run that is over, or was forgotten.
            let Some(goal) = goal else {
                return Ok(TurnEnd::NoRun);
            };
            profile.goals.push(goal.to_owned());
        }
        // Of a run that was forgotten, or is given up.
        self.release().await;
        let run = self.agent.machine.start(&self.agent.env.run_id()?, profile);
        self.record.begin(turn.id, turn.index);
        self.go(run).await
    }

    /// A turn that answers a question.
    pub(super) async fn next(mut self, record: Record, turn: Turn) -> Result<TurnEnd, TurnError> {
        let mut run = self.restore(&record)?;
        let rules = self.agent.machine.settings().answers;
        let long = is_too_long(&turn);
        let goal = || turn.answer.text().is_some_and(|text| is_goal(text, rules));
        let anew = turn.opens && (long || goal());
        if anew || matches!(run.effect(), Effect::Finish(_)) {
            return self.first(turn).await;
        }
        let stale = record
            .index
            .zip(turn.index)
            .is_some_and(|(last, new)| new <= last);
        let index = turn.index.max(record.index);
        self.record.begin(turn.id, index);
        // The last turn may have stopped on its way; what the human says now decides how it goes on.
        run.interrupt();
        if stale {
            self.note("This answer is older than the last one; nothing was run.");
            return self.go(run).await;
        }
        run.begin_turn();
        if long {
            self.note(TOO_LONG);
            return self.go(run).await;
        }
        let events = run.feed(Input::Answer(turn.answer));
        self.record
            .events
            .extend(events.map_err(|_| TurnError::Unreadable)?);
        self.go(run).await
    }

    /// A turn that was seen before.
    pub(super) async fn again(mut self, record: Record) -> Result<TurnEnd, TurnError> {
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
                Effect::Finish(end) => {
                    self.release().await;
                    return Ok(TurnEnd::Finish(end));
                }
                Effect::Recall { query, count } => self.recall(&query, count).await,
                Effect::CallModel(request) => self.agent.ask_model(&request).await,
                Effect::Remember(text) => self.remember(&text).await,
                // Marked as started, it never starts.
                Effect::Withdraw { id } => {
                    match self.agent.store.start(&self.conversation, &id).await? {
                        true => Input::Withdrawn,
                        false => Input::Lost,
                    }
                }
                Effect::Execute { id, command } => {
                    let scope = Scope::new(self.memory().await);
                    execute(self.agent, &self.conversation, &id, &command, &scope).await?
                }
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

    /// The memory of the conversation. One that cannot be opened stays as it is, and the turn goes on
    /// with an empty one.
    async fn memory(&mut self) -> Arc<dyn Memory> {
        if let Some(memory) = &self.memory {
            return Arc::clone(memory);
        }
        let opened = self.agent.memories.of(self.conversation.as_str()).await;
        let memory = opened.unwrap_or_else(|error| {
            self.note(&format!("The run goes on with an empty memory: {error}."));
            Arc::new(LocalMemory::volatile(Arc::new(ByteCounts::new())))
        });
        self.memory = Some(Arc::clone(&memory));
        memory
    }

    async fn release(&mut self) {
        self.memory = None;
        let conversation = self.conversation.as_str();
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

/// Neither an approval nor an end nor nothing.
fn is_goal(text: &str, rules: AnswerRules) -> bool {
    matches!(Decision::read(text, rules), Decision::Feedback(_))
}

/// Marks the execution as started before it starts, so that it never starts twice.
async fn execute(
    agent: &AutoGpt,
    conversation: &Conversation,
    id: &str,
    command: &Command,
    scope: &Scope,
) -> Result<Input, TurnError> {
    if !agent.store.start(conversation, id).await? {
        return Ok(Input::Lost);
    }
    let args = &command.args;
    let outcome: Outcome = agent.registry.run(&command.name, args, scope).await;
    Ok(Input::Ended(outcome))
}
