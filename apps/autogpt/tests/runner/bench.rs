//! An agent with a scripted model, one command that counts its runs, and any store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autogpt::agent_loop::model::ModelError;
use autogpt::agent_loop::prompt::Profile;
use autogpt::agent_loop::run::{Answer, Event, Machine, Question, Reason};
use autogpt::agent_loop::runner::{AutoGpt, Closed, EventSink, Turn, TurnEnd};
use autogpt::agent_loop::settings::Settings;
use autogpt::commands::Registry;
use autogpt::env::{Env, NoRandomness};
use autogpt::memory::store::{Conversation, DiskStore, MemoryStore, RunStore};
use autogpt::memory::{ByteCounts, LocalMemories};

use crate::scripted::{Effect, Quick, Script};

#[derive(Debug)]
pub(crate) struct Fixed;

impl Env for Fixed {
    fn now(&self) -> String {
        "Wed Apr 12 09:49:23 2023".to_owned()
    }

    fn run_id(&self) -> Result<String, NoRandomness> {
        Ok("run".to_owned())
    }
}

pub(crate) struct Bench {
    pub(crate) agent: AutoGpt,
    pub(crate) script: Arc<Script>,
    pub(crate) effect: Arc<Effect>,
    pub(crate) folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new(store: Arc<dyn RunStore>) -> Self {
        Self::with(store, Settings::default())
    }

    pub(crate) fn with(store: Arc<dyn RunStore>, settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = Arc::new(Script::default());
        let effect = Arc::new(Effect::new());
        let registry = Registry::new().with(Arc::clone(&effect) as _);
        let memories = LocalMemories::new(folder.path(), Arc::new(ByteCounts)).unwrap();
        let machine = Machine::new(
            settings,
            registry.specs(),
            registry.wording(),
            Arc::new(Quick),
        );
        let mut agent = AutoGpt::new(
            Arc::new(machine),
            Profile::new("Bo", "a helper", &[]),
            Arc::clone(&script) as _,
            registry,
            Arc::new(memories),
            store,
            Arc::new(Fixed),
        );
        agent.wait = Duration::ZERO;
        Self {
            agent,
            script,
            effect,
            folder,
        }
    }

    pub(crate) fn reply(&self, reply: &str) {
        self.script.reply(reply.to_owned());
    }

    pub(crate) fn fail(&self, error: ModelError) {
        self.script.fail(error);
    }

    pub(crate) fn runs(&self) -> usize {
        self.effect.runs()
    }

    pub(crate) async fn say(&self, id: u64, text: &str) -> (TurnEnd, Vec<Event>) {
        self.answer(id, Answer::Text(text.to_owned())).await
    }

    pub(crate) async fn answer(&self, id: u64, answer: Answer) -> (TurnEnd, Vec<Event>) {
        let mut events = Vec::new();
        let end = self.agent.turn(turn(id, answer), &mut events).await;
        (end.unwrap(), events)
    }
}

pub(crate) fn turn(id: u64, answer: Answer) -> Turn {
    let conversation = Conversation::anonymous("c");
    Turn::new(conversation, &id.to_string(), answer)
}

pub(crate) fn stores() -> Vec<(Arc<dyn RunStore>, Option<tempfile::TempDir>)> {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(DiskStore::new(folder.path()).unwrap());
    vec![
        (Arc::new(MemoryStore::default()), None),
        (disk, Some(folder)),
    ]
}

pub(crate) fn asks(end: &TurnEnd) -> &Question {
    match end {
        TurnEnd::Ask(question) => question,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn reason(end: &TurnEnd) -> &Reason {
    match asks(end) {
        Question::GoOn { reason, .. } => reason,
        Question::Command(proposal) => proposal.reason.as_ref().unwrap(),
    }
}

/// Closes after so many events.
pub(crate) struct ClosesAfter(pub(crate) usize);

#[async_trait]
impl EventSink for ClosesAfter {
    async fn show(&mut self, _: Event) -> Result<(), Closed> {
        self.0 = self.0.checked_sub(1).ok_or(Closed)?;
        Ok(())
    }
}
