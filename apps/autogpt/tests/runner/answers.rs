//! Answers that are late, made up, too long, or say something else than yes.

use std::sync::Arc;

use autogpt::agent_loop::run::{Answer, End, Event, EventKind, Question, Reason};
use autogpt::agent_loop::runner::{Turn, TurnEnd, TurnError};
use autogpt::agent_loop::settings::Settings;
use autogpt::memory::store::{Conversation, MemoryStore};

use crate::bench::{Bench, ClosesAfter, asks, reason, stores, turn};
use crate::scripted::command;

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
    for (turn, id) in [(2, ""), (3, "run.0"), (4, &*old.replace(".0.", ".1."))] {
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
async fn feedback_is_sent_once_with_a_reminder() {
    let settings = Settings {
        repair: false,
        ..Settings::default()
    };
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
        let end = bench.agent.turn(turn(2, answer), &mut ClosesAfter(0)).await;
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
