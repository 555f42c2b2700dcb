//! Drives runs: does what they ask for, keeps them between turns, and answers every turn once.

mod record;
mod turn;
mod turns;
mod work;

use std::sync::Arc;
use std::time::Duration;

use self::record::Record;
use self::turns::Turns;
use self::work::Work;
use crate::command::Registry;
use crate::env::Env;
use crate::memory::Memories;
use crate::model::{Model, ModelError, ModelRequest};
use crate::prompt::Profile;
use crate::run::{Effect, Input, Machine, Question};
use crate::store::{Conversation, RunStore};

pub use turn::{Closed, Outlet, Turn, TurnEnd, TurnError};

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
        let revision = saved.as_ref().map_or(0, |saved| saved.revision);
        let work = Work::new(self, outlet, turn.conversation.clone(), revision);
        let old = saved.map(|saved| Record::read(&saved.record));
        match old.transpose().map_err(|_| TurnError::Unreadable)? {
            Some(record) if record.turn == turn.id => work.again(record).await,
            Some(record) => work.next(record, turn).await,
            None => work.first(turn).await,
        }
    }

    /// The question that a conversation waits with, for a front end that has to find the answer to it
    /// among several.
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

    /// Whether a conversation has a run that is not over: the next turn goes on with it.
    ///
    /// # Errors
    ///
    /// [`TurnError`]
    pub async fn has_run(&self, conversation: &Conversation) -> Result<bool, TurnError> {
        let effect = self.effect(conversation).await?;
        Ok(effect.is_some_and(|effect| !matches!(effect, Effect::Finish(_))))
    }

    /// What the run of a conversation wants next.
    async fn effect(&self, conversation: &Conversation) -> Result<Option<Effect>, TurnError> {
        let Some(saved) = self.store.load(conversation).await? else {
            return Ok(None);
        };
        let record = Record::read(&saved.record).map_err(|_| TurnError::Unreadable)?;
        let run = self.machine.restore(&record.run);
        Ok(Some(run.map_err(|_| TurnError::Unreadable)?.effect()))
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
