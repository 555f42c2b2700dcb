//! Models that fail, runs in circles, and limits.

use std::sync::Arc;
use std::time::Duration;

use autogpt::agent_loop::run::{End, Event, EventKind, Question, Reason};
use autogpt::agent_loop::runner::TurnEnd;
use autogpt::agent_loop::settings::Settings;
use autogpt::memory::store::MemoryStore;
use copilot_wire::protocol::ModelFault;

use crate::bench::{Bench, asks, reason};
use crate::scripted::command;

#[tokio::test]
async fn a_model_that_fails_loses_nothing() {
    let bench = Bench::new(Arc::new(MemoryStore::default()));
    for _ in 0..4 {
        bench.fail(ModelFault::Failed.into());
    }
    let (end, _) = bench.say(1, "goal").await;
    assert!(matches!(reason(&end), Reason::Model(_)));
    bench.fail(ModelFault::NoAnswer.into());
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

/// A terminal shows everything; what shows less asks about no command that it would have to cut.
#[tokio::test]
async fn a_command_that_cannot_be_shown_is_not_asked_about() {
    let long = command(
        "effect",
        &format!(r#"{{"text":"{}"}}"#, "word ".repeat(2_000)),
    );
    for longest in [None, Some(8_000)] {
        let mut bench = Bench::new(Arc::new(MemoryStore::default()));
        bench.agent.longest_question = longest;
        for _ in 0..30 {
            bench.reply(&long);
        }
        let (end, _) = bench.say(1, "goal").await;
        let refused = bench
            .script
            .latest_request()
            .concat()
            .contains("Do it in smaller parts");
        assert_eq!(refused, longest.is_some());
        // A model that insists meets the limit of a turn.
        let command = matches!(asks(&end), Question::Command(_));
        assert_eq!(command, longest.is_none(), "{end:?}");
        assert_eq!(bench.runs(), 0);
    }
}
