//! The runner: performs the effects of runs, stores runs between turns, and answers each turn once.
//!
//! The order of each step is: save, show, perform. A step is saved before its events are shown, so that events that
//! were shown are never lost. An execution is marked as started before it starts, so that it never starts twice. Every
//! save and every mark needs the claim of the conversation, whose lease `AutoGpt::renew` extends meanwhile.
//!
//! Read `AutoGpt::turn` below first: it claims the conversation, loads its record, and decides which kind of turn this
//! is. Then `ActiveTurn::perform` in `active_turn`, the loop over the effects. The methods of [`AutoGpt`] that need the
//! store are with their callers: `execute` and `check` in `active_turn`, `claim` and `renew` in `claims`.

mod active_turn;
mod claims;
mod record;
mod turn;

use std::sync::Arc;
use std::time::Duration;

use self::active_turn::ActiveTurn;
use self::record::Record;
use crate::agent_loop::model::{Model, ModelRequest};
use crate::agent_loop::prompt::Profile;
use crate::agent_loop::run::{Answer, Effect, Input, Machine, Question};
use crate::commands::Registry;
use crate::env::Env;
use crate::memory::Memories;
use crate::memory::store::{Claim, Conversation, RunStore};

pub use turn::{Closed, EventSink, Turn, TurnEnd, TurnError};

/// An agent: a machine with the model, commands and stores that its runs need.
#[derive(Debug)]
pub struct AutoGpt {
    /// Settings, commands and the tokenizer.
    pub machine: Arc<Machine>,
    /// The identity of the agent. Without goals, the first message of the user is the goal.
    pub profile: Profile,
    /// The chat model.
    pub model: Arc<dyn Model>,
    /// The commands.
    pub registry: Registry,
    /// The memory of each conversation.
    pub memories: Arc<dyn Memories>,
    /// The store of runs.
    pub store: Arc<dyn RunStore>,
    /// The clock and the random generator.
    pub env: Arc<dyn Env>,
    /// The number of retries of an overloaded model.
    pub retries: u32,
    /// The delay before the first retry; it doubles each time.
    pub wait: Duration,
    /// The time limit of a turn. Once it is over, the next command asks; a running effect is not interrupted.
    pub turn_time: Option<Duration>,
    /// The maximum number of characters of a question. A command that needs more is neither asked about nor run, and
    /// the model is told so. `None` for a terminal, which shows commands of any length.
    pub longest_question: Option<usize>,
}

impl AutoGpt {
    /// Creates an agent with three retries after 1, 2 and 4 seconds, and without limits of turns and questions.
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
            longest_question: None,
        }
    }

    /// Answers a turn.
    ///
    /// A turn that was answered before gets the same events again, and runs nothing. If copies of a turn arrive at the
    /// same time, on any servers that share the store, one does the work, and the others wait for it and show the same
    /// events. Dropping the future stops the turn before its next effect. The same turn sent again then continues, but
    /// does not repeat a command whose result was lost.
    ///
    /// # Errors
    ///
    /// [`TurnError`]
    pub async fn turn(&self, turn: Turn, sink: &mut dyn EventSink) -> Result<TurnEnd, TurnError> {
        let claim = self.claim(&turn.conversation).await?;
        // Both are polled only while the reply is read, so a turn without a reader loses its lease.
        tokio::select! {
            end = self.work(turn, sink, &claim) => end,
            lost = self.renew(&claim) => Err(lost),
        }
    }

    /// Answers a turn of a claimed conversation.
    async fn work(
        &self,
        turn: Turn,
        sink: &mut dyn EventSink,
        claim: &Claim,
    ) -> Result<TurnEnd, TurnError> {
        // Loaded after the claim, so that no other turn saves from here on.
        let saved = self.store.load(&turn.conversation).await?;
        let revision = saved.as_ref().map_or(0, |saved| saved.revision);
        let active = ActiveTurn::new(self, sink, claim, revision);
        let old = saved.map(|saved| Record::read(&saved.record));
        match old.transpose().map_err(|_| TurnError::Unreadable)? {
            Some(record) if record.turn == turn.id => active.replay(record).await,
            Some(record) if turn.answer == Answer::Void => active.ask_again(record, turn).await,
            None if turn.answer == Answer::Void => Ok(TurnEnd::NoRun),
            Some(record) => active.next(record, turn).await,
            None => active.first(turn).await,
        }
    }

    /// Returns the open question of a conversation, so that a front end can find the answer to it among several
    /// answers.
    ///
    /// # Errors
    ///
    /// [`TurnError`]
    pub async fn question(
        &self,
        conversation: &Conversation,
    ) -> Result<Option<Question>, TurnError> {
        match self.effect(conversation).await? {
            Some(Effect::Ask(question)) => Ok(Some(question)),
            _ => Ok(None),
        }
    }

    /// Returns `true` if a conversation has a run that has not ended. The next turn continues it.
    ///
    /// # Errors
    ///
    /// [`TurnError`]
    pub async fn has_run(&self, conversation: &Conversation) -> Result<bool, TurnError> {
        let effect = self.effect(conversation).await?;
        Ok(effect.is_some_and(|effect| !matches!(effect, Effect::Finish(_))))
    }

    /// Returns the next effect of the run of a conversation.
    async fn effect(&self, conversation: &Conversation) -> Result<Option<Effect>, TurnError> {
        let Some(record) = self.record(conversation).await? else {
            return Ok(None);
        };
        let run = self.machine.restore(&record.run);
        Ok(Some(run.map_err(|_| TurnError::Unreadable)?.effect()))
    }

    async fn record(&self, conversation: &Conversation) -> Result<Option<Record>, TurnError> {
        let saved = self.store.load(conversation).await?;
        let record = saved.map(|saved| Record::read(&saved.record)).transpose();
        record.map_err(|_| TurnError::Unreadable)
    }

    /// Returns the input for a question about a command that cannot be shown as a whole.
    fn too_long(&self, question: &Question) -> Option<Input> {
        let most = self.longest_question?;
        let shown = question.shown_length();
        // The question of a pause may be shortened, because it approves no command.
        let command = matches!(question, Question::Command(_));
        (command && shown > most).then_some(Input::TooLong { shown, most })
    }

    async fn ask_model(&self, request: &ModelRequest) -> Input {
        let mut wait = self.wait;
        let mut tries = 0;
        loop {
            match self.model.chat(request).await {
                Ok(reply) => return Input::Reply(reply),
                Err(error) if error.is_temporary() && tries < self.retries => {
                    // The delay that the server requests, but at least the usual one and at most ten times as long.
                    let most = wait.saturating_mul(10);
                    tokio::time::sleep(error.wait.unwrap_or(wait).clamp(wait, most)).await;
                    wait = wait.saturating_mul(2);
                    tries += 1;
                }
                Err(error) => return Input::ModelFailed(error.to_string()),
            }
        }
    }
}
