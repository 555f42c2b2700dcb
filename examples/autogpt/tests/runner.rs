//! The runner: every turn once, whatever is sent again, dropped or killed.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may be blunt"
)]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autogpt::command::{Args, Command, CommandError, Output, Policy, Registry, Scope, Spec};
use autogpt::env::{Env, NoRandomness};
use autogpt::memory::{ByteCounts, LocalMemories, Memories, Memory, MemoryError};
use autogpt::model::{Model, ModelError, ModelReply, ModelRequest};
use autogpt::prompt::Profile;
use autogpt::run::{Answer, End, Event, EventKind, Machine, Question, Reason};
use autogpt::runner::{AutoGpt, Closed, Outlet, Turn, TurnEnd, TurnError};
use autogpt::settings::Settings;
use autogpt::store::{Conversation, DiskStore, MemoryStore, RunStore};
use autogpt::tokens::Tokenizer;
use tokio::sync::Semaphore;

#[derive(Debug, Default)]
struct Script(Mutex<VecDeque<Result<String, ModelError>>>);

#[async_trait]
impl Model for Script {
    async fn chat(&self, _: &ModelRequest) -> Result<ModelReply, ModelError> {
        let next = self.0.lock().unwrap().pop_front();
        let next = next.unwrap_or_else(|| Ok(command("task_complete", r#"{"reason":"end"}"#)));
        next.map(|text| ModelReply::text(&text))
    }
}

/// Counts how often it ran; waits for a permit, so that a test can stop it on its way.
#[derive(Debug)]
struct Effect {
    runs: AtomicUsize,
    gate: Semaphore,
}

#[async_trait]
impl Command for Effect {
    fn spec(&self) -> Spec {
        Spec::new("effect", "Effect", &[]).with_policy(Policy::Always)
    }

    async fn run(&self, _: &Args<'_>, _: &Scope) -> Result<Output, CommandError> {
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        let _permit = self.gate.acquire().await.unwrap();
        Ok(Output::new(format!("effect number {run}")))
    }
}

#[derive(Debug)]
struct Fixed;

impl Env for Fixed {
    fn now(&self) -> String {
        "Wed Apr 12 09:49:23 2023".to_owned()
    }

    fn run_id(&self) -> Result<String, NoRandomness> {
        Ok("run".to_owned())
    }
}

/// Exact counts take too long for hundreds of calls.
#[derive(Debug)]
struct Quick;

impl Tokenizer for Quick {
    fn count(&self, text: &str) -> usize {
        text.len().div_ceil(4)
    }
}

struct Bench {
    agent: AutoGpt,
    script: Arc<Script>,
    effect: Arc<Effect>,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(store: Arc<dyn RunStore>) -> Self {
        Self::with(store, Settings::default())
    }

    fn with(store: Arc<dyn RunStore>, settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = Arc::new(Script::default());
        let effect = Arc::new(Effect {
            runs: AtomicUsize::new(0),
            gate: Semaphore::new(100),
        });
        let registry = Registry::new().with(Arc::clone(&effect) as _);
        let memories = LocalMemories::new(folder.path(), Arc::new(ByteCounts::new())).unwrap();
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

    fn reply(&self, reply: &str) {
        self.script
            .0
            .lock()
            .unwrap()
            .push_back(Ok(reply.to_owned()));
    }

    fn fail(&self, error: ModelError) {
        self.script.0.lock().unwrap().push_back(Err(error));
    }

    fn runs(&self) -> usize {
        self.effect.runs.load(Ordering::SeqCst)
    }

    async fn say(&self, id: u64, text: &str) -> (TurnEnd, Vec<Event>) {
        self.answer(id, Answer::Text(text.to_owned())).await
    }

    async fn answer(&self, id: u64, answer: Answer) -> (TurnEnd, Vec<Event>) {
        let mut events = Vec::new();
        let end = self.agent.turn(turn(id, answer), &mut events).await;
        (end.unwrap(), events)
    }
}

fn turn(id: u64, answer: Answer) -> Turn {
    let conversation = Conversation::anonymous("c");
    Turn::new(conversation, &id.to_string(), answer).with_index(id)
}

fn command(name: &str, args: &str) -> String {
    format!(r#"{{"thoughts":{{"text":"t"}},"command":{{"name":"{name}","args":{args}}}}}"#)
}

fn stores() -> Vec<(Arc<dyn RunStore>, Option<tempfile::TempDir>)> {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(DiskStore::new(folder.path()).unwrap());
    vec![
        (Arc::new(MemoryStore::default()), None),
        (disk, Some(folder)),
    ]
}

fn asks(end: &TurnEnd) -> &Question {
    match end {
        TurnEnd::Ask(question) => question,
        other => panic!("{other:?}"),
    }
}

fn reason(end: &TurnEnd) -> &Reason {
    match asks(end) {
        Question::GoOn { reason, .. } => reason,
        Question::Command(proposal) => proposal.reason.as_ref().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_run_asks_runs_and_ends() {
    for (store, _folder) in stores() {
        let bench = Bench::new(store);
        bench.reply(&command("effect", "{}"));
        let (end, events) = bench.say(1, "make an effect").await;
        assert!(matches!(asks(&end), Question::Command(p) if p.command.name == "effect"));
        assert!(matches!(events[0].kind, EventKind::Thoughts(_)));
        assert_eq!(bench.runs(), 0);
        let (end, events) = bench.say(2, "y").await;
        assert_eq!(end, TurnEnd::Finish(End::Complete("end".to_owned())));
        assert_eq!(bench.runs(), 1);
        let ended = events.iter().find_map(|event| match &event.kind {
            EventKind::Ended { text, .. } => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(ended, Some("effect number 1"));
    }
}

#[tokio::test]
async fn the_same_turn_again_runs_nothing_and_says_the_same() {
    for (store, _folder) in stores() {
        let bench = Bench::new(store);
        bench.reply(&command("effect", "{}"));
        bench.reply(&command("effect", r#"{"again":1}"#));
        bench.say(1, "goal").await;
        let first = bench.say(2, "y").await;
        assert!(matches!(first.0, TurnEnd::Ask(_)));
        for _ in 0..3 {
            assert_eq!(bench.say(2, "y").await, first);
        }
        assert_eq!(bench.runs(), 1);
    }
}

#[tokio::test]
async fn two_copies_at_once_run_one_command() {
    for (store, _folder) in stores() {
        let bench = Bench::new(store);
        bench.reply(&command("effect", "{}"));
        bench.reply(&command("effect", r#"{"again":1}"#));
        bench.say(1, "goal").await;
        let (a, b) = tokio::join!(bench.say(2, "y"), bench.say(2, "y"));
        assert_eq!(a, b);
        assert_eq!(bench.runs(), 1);
    }
}

#[tokio::test]
async fn two_processes_run_one_command() {
    let folder = tempfile::tempdir().unwrap();
    let store = || Arc::new(DiskStore::new(folder.path()).unwrap());
    let (one, two) = (Bench::new(store()), Bench::new(store()));
    one.reply(&command("effect", "{}"));
    one.say(1, "goal").await;
    one.effect.gate.forget_permits(100);
    let mut events = Vec::new();
    let slow = one
        .agent
        .turn(turn(2, Answer::Text("y".to_owned())), &mut events);
    let fast = async {
        while one.runs() == 0 {
            tokio::task::yield_now().await;
        }
        // The other process sees a turn that stopped on its way, and asks.
        let (end, _) = two.say(2, "y").await;
        assert_eq!(*reason(&end), Reason::Lost("effect".to_owned()));
        one.effect.gate.add_permits(1);
    };
    let (slow, ()) = tokio::join!(slow, fast);
    assert!(matches!(slow, Err(TurnError::Elsewhere)));
    assert_eq!(one.runs() + two.runs(), 1);
}

#[tokio::test]
async fn a_process_that_was_killed_never_repeats_its_command() {
    for (store, _folder) in stores() {
        let bench = Bench::new(Arc::clone(&store));
        bench.reply(&command("effect", "{}"));
        bench.say(1, "goal").await;
        bench.effect.gate.forget_permits(100);
        let mut events = Vec::new();
        let killed = bench
            .agent
            .turn(turn(2, Answer::Text("y".to_owned())), &mut events);
        tokio::select! {
            _ = killed => panic!("it waits for a permit"),
            () = async { while bench.runs() == 0 { tokio::task::yield_now().await } } => {}
        }
        // The same request comes again, to a new process with the same store.
        let next = Bench::new(store);
        let (end, events) = next.say(2, "y").await;
        assert_eq!(*reason(&end), Reason::Lost("effect".to_owned()));
        assert!(matches!(events[0].kind, EventKind::Started(_)));
        assert_eq!((bench.runs(), next.runs()), (1, 0));
        let (end, _) = next.say(3, "y").await;
        assert!(matches!(end, TurnEnd::Finish(End::Complete(_))));
    }
}

struct Deaf(usize);

#[async_trait]
impl Outlet for Deaf {
    async fn show(&mut self, _: Event) -> Result<(), Closed> {
        self.0 = self.0.checked_sub(1).ok_or_else(Closed::new)?;
        Ok(())
    }
}

#[tokio::test]
async fn a_damaged_memory_is_left_alone_and_gone_without() {
    let bench = Bench::new(Arc::new(MemoryStore::default()));
    let files = || std::fs::read_dir(bench.folder.path()).unwrap();
    bench.reply(&command("effect", "{}"));
    bench.reply(&command("effect", r#"{"other":1}"#));
    bench.say(1, "goal").await;
    bench.say(2, "y").await;
    let file = files().next().unwrap().unwrap().path();
    std::fs::write(&file, "damaged").unwrap();
    // As after a restart: a memory that is open is not read again.
    let embedder = Arc::new(ByteCounts::new());
    let mut next = Bench::new(Arc::clone(&bench.agent.store));
    next.agent.memories = Arc::new(LocalMemories::new(bench.folder.path(), embedder).unwrap());
    let (end, events) = next.say(3, "y").await;
    assert_eq!(end, TurnEnd::Finish(End::Complete("end".to_owned())));
    assert_eq!(next.runs(), 1);
    let told =
        |event: &&Event| matches!(&event.kind, EventKind::Notice(text) if text.contains("damaged"));
    assert_eq!(events.iter().filter(told).count(), 1, "{events:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "damaged");
    assert_eq!(files().count(), 1);
}

#[tokio::test]
async fn what_is_too_long_is_refused_and_kept_nowhere() {
    let told = |events: &[Event]| matches!(&events[0].kind, EventKind::Notice(text) if text.contains("64 KiB"));
    let bench = Bench::new(Arc::new(MemoryStore::default()));
    bench.reply(&command("effect", "{}"));
    let conversation = Conversation::anonymous("c");
    let long = "x".repeat(64 * 1024 + 1);
    let (end, events) = bench.say(1, &long).await;
    assert_eq!(end, TurnEnd::NoRun);
    assert!(told(&events), "{events:?}");
    let saved = bench.agent.store.load(&conversation).await.unwrap();
    assert_eq!(saved, None);
    let (asked, _) = bench.say(2, "goal").await;
    // Feedback, and the goal of a chat that begins anew: the question stays.
    let (end, events) = bench.say(3, &long).await;
    assert_eq!(end, asked);
    assert!(told(&events), "{events:?}");
    let mut events = Vec::new();
    let opening = turn(4, Answer::Text(long.clone())).opening();
    let end = bench.agent.turn(opening, &mut events).await.unwrap();
    assert_eq!(end, TurnEnd::NoRun);
    assert!(told(&events), "{events:?}");
    let saved = bench.agent.store.load(&conversation).await.unwrap();
    assert!(!saved.unwrap().record.contains("xxxx"));
    bench.say(5, "y").await;
    assert_eq!(bench.runs(), 1);
}

/// Counts how many memories were opened.
#[derive(Debug)]
struct Opened(LocalMemories, AtomicUsize);

#[async_trait]
impl Memories for Opened {
    async fn of(&self, conversation: &str) -> Result<Arc<dyn Memory>, MemoryError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.of(conversation).await
    }

    async fn release(&self, conversation: &str) {
        self.0.release(conversation).await;
    }
}

#[tokio::test]
async fn a_memory_is_kept_as_long_as_its_run() {
    let mut bench = Bench::new(Arc::new(MemoryStore::default()));
    let memories = LocalMemories::volatile(Arc::new(ByteCounts::new()));
    let memories = Arc::new(Opened(memories, AtomicUsize::new(0)));
    bench.agent.memories = Arc::clone(&memories) as _;
    let conversation = Conversation::anonymous("c");
    let count = async || {
        let memory = memories.0.of(conversation.as_str()).await;
        memory.unwrap().count().await
    };
    let (end, _) = bench.say(1, "y").await;
    assert_eq!(end, TurnEnd::NoRun);
    assert_eq!(memories.1.load(Ordering::SeqCst), 0);
    bench.reply(&command("effect", "{}"));
    bench.reply(&command("effect", r#"{"other":1}"#));
    bench.say(2, "goal").await;
    bench.say(3, "y").await;
    assert_eq!(count().await, 1);
    let (end, _) = bench.say(4, "y").await;
    assert!(matches!(end, TurnEnd::Finish(_)));
    assert_eq!(count().await, 0);
    // A run that the store forgot takes its memory with it. (Both have the same id.)
    bench.agent.store = Arc::new(MemoryStore::default());
    bench.reply(&command("effect", "{}"));
    bench.reply(&command("effect", r#"{"other":1}"#));
    bench.say(5, "goal").await;
    bench.say(6, "y").await;
    assert_eq!(count().await, 1);
    bench.agent.store = Arc::new(MemoryStore::default());
    bench.reply(&command("effect", "{}"));
    bench.say(7, "another goal").await;
    assert_eq!(count().await, 0);
}

#[tokio::test]
async fn a_client_that_is_gone_loses_nothing() {
    for heard in 0..4 {
        let bench = Bench::new(Arc::new(MemoryStore::default()));
        bench.reply(&command("effect", "{}"));
        bench.say(1, "goal").await;
        let answer = Answer::Text("y".to_owned());
        let mut deaf = Deaf(heard);
        let _ = bench.agent.turn(turn(2, answer), &mut deaf).await;
        let (end, events) = bench.say(2, "y").await;
        assert_eq!(end, TurnEnd::Finish(End::Complete("end".to_owned())));
        assert_eq!(bench.runs(), 1, "{heard}");
        assert_eq!(events.len(), 3, "{heard}: started, ended, thoughts");
    }
}

#[tokio::test]
async fn stale_and_forged_approvals_run_nothing() {
    let bench = Bench::new(Arc::new(MemoryStore::default()));
    bench.reply(&command("effect", "{}"));
    bench.reply(&command("effect", r#"{"other":1}"#));
    let (end, _) = bench.say(1, "goal").await;
    let old = asks(&end).id().to_owned();
    let confirm = |id: &str, accepted| Answer::Confirmation {
        id: id.to_owned(),
        accepted,
    };
    for (turn, id) in [(2, ""), (3, "run:0"), (4, &*old.replace(":0:", ":1:"))] {
        let (end, _) = bench.answer(turn, confirm(id, true)).await;
        assert_eq!(asks(&end).id(), old);
        assert_eq!(bench.runs(), 0);
    }
    let (end, _) = bench.answer(5, confirm(&old, true)).await;
    assert_eq!(bench.runs(), 1);
    let new = asks(&end).id().to_owned();
    // The first approval does not fit the second command.
    let (end, _) = bench.answer(6, confirm(&old, true)).await;
    assert_eq!(asks(&end).id(), new);
    // An older message that was edited is not an answer to the newest question.
    let edited = Turn::new(
        Conversation::anonymous("c"),
        "edited",
        Answer::Text("y".to_owned()),
    );
    let end = bench
        .agent
        .turn(edited.with_index(2), &mut Vec::new())
        .await;
    assert_eq!(asks(&end.unwrap()).id(), new);
    assert_eq!(bench.runs(), 1);
    // Declining rejects the command, not the run.
    let (end, _) = bench.answer(7, confirm(&new, false)).await;
    assert!(matches!(end, TurnEnd::Finish(End::Complete(_))));
    assert_eq!(bench.runs(), 1);
    // And an approval of nothing is not a goal.
    let (end, _) = bench.say(8, "y").await;
    assert_eq!(end, TurnEnd::NoRun);
}

#[tokio::test]
async fn another_user_cannot_approve() {
    let bench = Bench::new(Arc::new(MemoryStore::default()));
    bench.reply(&command("effect", "{}"));
    let say = |user, text: &str| {
        let answer = Answer::Text(text.to_owned());
        Turn::new(Conversation::of_user(user, "c"), text, answer)
    };
    bench
        .agent
        .turn(say("a", "goal"), &mut Vec::new())
        .await
        .unwrap();
    let end = bench
        .agent
        .turn(say("b", "y"), &mut Vec::new())
        .await
        .unwrap();
    assert_eq!(end, TurnEnd::NoRun);
    assert_eq!(bench.runs(), 0);
}

#[tokio::test]
async fn a_model_that_fails_loses_nothing() {
    let bench = Bench::new(Arc::new(MemoryStore::default()));
    for _ in 0..4 {
        bench.fail(ModelError::Busy { wait: None });
    }
    let (end, _) = bench.say(1, "goal").await;
    assert!(matches!(reason(&end), Reason::Model(_)));
    bench.fail(ModelError::Unreachable);
    bench.reply(&command("effect", "{}"));
    let (end, _) = bench.say(2, "y").await;
    assert!(matches!(asks(&end), Question::Command(_)));
}

#[tokio::test]
async fn unreadable_replies_end_in_a_question() {
    let bench = Bench::new(Arc::new(MemoryStore::default()));
    for _ in 0..3 {
        bench.reply("I would rather not.");
    }
    let (end, _) = bench.say(1, "goal").await;
    assert_eq!(
        *reason(&end),
        Reason::Damaged("I would rather not.".to_owned())
    );
    let (end, _) = bench.say(2, "then do as I say").await;
    assert!(matches!(end, TurnEnd::Finish(_)));
}

#[tokio::test]
async fn loops_are_noticed() {
    let bench = Bench::new(Arc::new(MemoryStore::default()));
    for _ in 0..5 {
        bench.reply(&command("effect", "{}"));
    }
    bench.say(1, "goal").await;
    let (end, events) = bench.say(2, "y -100").await;
    assert_eq!(*reason(&end), Reason::Repeats(3));
    assert_eq!(bench.runs(), 2);
    let told = |event: &Event| matches!(&event.kind, EventKind::Ended { text, .. } if text.contains("same command"));
    assert!(events.iter().any(told));

    let bench = Bench::new(Arc::new(MemoryStore::default()));
    for step in 0..5 {
        bench.reply(&command("effect", &format!(r#"{{"x":{}}}"#, step % 2)));
    }
    bench.say(1, "goal").await;
    let (end, _) = bench.say(2, "y -100").await;
    assert_eq!(*reason(&end), Reason::Alternation);
    assert_eq!(bench.runs(), 3);
}

#[tokio::test]
async fn limits_ask_and_end() {
    let bench = Bench::new(Arc::new(MemoryStore::default()));
    for step in 0..200 {
        bench.reply(&command("effect", &format!(r#"{{"x":{step}}}"#)));
    }
    bench.say(1, "goal").await;
    let (end, _) = bench.say(2, "y -100").await;
    assert_eq!(*reason(&end), Reason::Unasked(10));
    assert_eq!(bench.runs(), 11);
    let mut turn = 3;
    let end = loop {
        let (end, _) = bench.say(turn, "y -100").await;
        turn += 1;
        if matches!(end, TurnEnd::Finish(_)) {
            break end;
        }
    };
    assert_eq!(end, TurnEnd::Finish(End::Limit(Reason::ModelCalls(100))));
}

#[tokio::test]
async fn budgets_and_time_ask_and_end() {
    let mut settings = Settings::default();
    settings.limits.soft_tokens = Some(1);
    let bench = Bench::with(Arc::new(MemoryStore::default()), settings);
    for step in 0..9 {
        bench.reply(&command("effect", &format!(r#"{{"x":{step}}}"#)));
    }
    bench.say(1, "goal").await;
    let (end, _) = bench.say(2, "y -5").await;
    assert_eq!(*reason(&end), Reason::Budget(1));
    assert_eq!(bench.runs(), 1);

    let mut settings = Settings::default();
    settings.limits.hard_tokens = Some(1);
    let bench = Bench::with(Arc::new(MemoryStore::default()), settings);
    bench.reply(&command("effect", "{}"));
    let (end, _) = bench.say(1, "goal").await;
    assert_eq!(end, TurnEnd::Finish(End::Limit(Reason::Budget(1))));

    let mut bench = Bench::new(Arc::new(MemoryStore::default()));
    bench.agent.turn_time = Some(Duration::ZERO);
    let (end, _) = bench.say(1, "goal").await;
    assert_eq!(*reason(&end), Reason::Time);

    let mut settings = Settings::default();
    settings.limits.turn_calls = Some(2);
    settings.limits.damaged_replies = None;
    let bench = Bench::with(Arc::new(MemoryStore::default()), settings);
    for _ in 0..5 {
        bench.reply("prose");
    }
    let (end, _) = bench.say(1, "goal").await;
    assert_eq!(*reason(&end), Reason::ModelCalls(2));
    let (end, _) = bench.say(2, "y").await;
    assert_eq!(*reason(&end), Reason::ModelCalls(2));
}

#[tokio::test]
async fn what_waits_can_be_looked_up() {
    let bench = Bench::new(Arc::new(MemoryStore::default()));
    bench.reply(&command("effect", "{}"));
    let conversation = Conversation::anonymous("c");
    assert_eq!(bench.agent.question(&conversation).await.unwrap(), None);
    let (end, _) = bench.say(1, "goal").await;
    let question = bench.agent.question(&conversation).await.unwrap();
    assert_eq!(question.as_ref(), Some(asks(&end)));
}

#[test]
fn a_transcript_names_its_turn() {
    let turn = |said: &[&str]| {
        let answer = Answer::Text(said.last().unwrap().to_string());
        Turn::of_transcript(Conversation::anonymous("c"), said, answer)
    };
    assert_eq!(turn(&["goal", "y"]), turn(&["goal", "y"]));
    assert_ne!(turn(&["goal", "y"]).id, turn(&["goal", "y", "y"]).id);
    assert_ne!(turn(&["goal", "y"]).id, turn(&["goa", "ly"]).id);
}

#[tokio::test]
async fn feedback_is_sent_once_with_a_reminder() {
    let mut settings = Settings::default();
    settings.repair = false;
    let bench = Bench::with(Arc::new(MemoryStore::default()), settings);
    bench.reply(&command("effect", "{}"));
    bench.reply(&command("effect", r#"{"b":1}"#));
    bench.say(1, "goal").await;
    let (end, _) = bench.say(2, "only green tea").await;
    assert!(matches!(asks(&end), Question::Command(_)));
    assert_eq!(bench.runs(), 0);
    let saved = bench.agent.store.load(&Conversation::anonymous("c")).await;
    let saved = saved.unwrap().unwrap().record;
    // In the history, and in nothing but the history.
    let history = saved
        .matches(r#"only green tea\\n\\nAnswer only in the JSON format"#)
        .count();
    assert_eq!(history, 1, "{saved}");
}

#[tokio::test]
async fn feedback_does_not_run_what_it_forbids() {
    for (store, _folder) in stores() {
        let bench = Bench::new(store);
        bench.reply(&command("effect", "{}"));
        bench.say(1, "goal").await;
        let answer = Answer::Text("y".to_owned());
        // Gone when the command is about to start.
        let end = bench.agent.turn(turn(2, answer), &mut Deaf(0)).await;
        assert!(matches!(end, Err(TurnError::Closed)));
        let (end, _) = bench.say(3, "No! Do not run it").await;
        assert!(matches!(end, TurnEnd::Finish(End::Complete(_))));
        assert_eq!(bench.runs(), 0);
    }
}

#[tokio::test]
async fn feedback_to_what_has_started_says_that_it_is_lost() {
    for (store, _folder) in stores() {
        let bench = Bench::new(store);
        bench.reply(&command("effect", "{}"));
        bench.say(1, "goal").await;
        bench.effect.gate.forget_permits(100);
        let mut events = Vec::new();
        let answer = Answer::Text("y".to_owned());
        let stopped = bench.agent.turn(turn(2, answer), &mut events);
        tokio::select! {
            _ = stopped => panic!("it waits for a permit"),
            () = async { while bench.runs() == 0 { tokio::task::yield_now().await } } => {}
        }
        let (end, _) = bench.say(3, "No! Do not run it").await;
        assert_eq!(*reason(&end), Reason::Lost("effect".to_owned()));
        assert_eq!(bench.runs(), 1);
    }
}

#[tokio::test]
async fn an_older_answer_does_not_go_on_with_what_was_stopped() {
    let bench = Bench::new(Arc::new(MemoryStore::default()));
    bench.reply(&command("effect", "{}"));
    bench.say(1, "goal").await;
    let answer = Answer::Text("y".to_owned());
    let end = bench.agent.turn(turn(2, answer), &mut Deaf(0)).await;
    assert!(matches!(end, Err(TurnError::Closed)));
    let edited = Turn::new(
        Conversation::anonymous("c"),
        "edited",
        Answer::Text("another goal".to_owned()),
    );
    let mut events = Vec::new();
    let end = bench.agent.turn(edited.with_index(1), &mut events).await;
    assert_eq!(*reason(&end.unwrap()), Reason::Interrupted);
    assert_eq!(bench.runs(), 0);
}
