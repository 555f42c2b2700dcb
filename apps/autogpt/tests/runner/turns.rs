//! Every turn once, whatever is sent again, dropped or killed.

use std::sync::Arc;

use autogpt::agent_loop::run::{Answer, End, EventKind, Question, Reason};
use autogpt::agent_loop::runner::{Turn, TurnEnd, TurnError};
use autogpt::memory::store::{Conversation, DiskStore, MemoryStore};

use crate::bench::{Bench, ClosesAfter, asks, reason, stores, turn};
use crate::scripted::command;

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

#[tokio::test]
async fn a_client_that_is_gone_loses_nothing() {
    for shown in 0..4 {
        let bench = Bench::new(Arc::new(MemoryStore::default()));
        bench.reply(&command("effect", "{}"));
        bench.say(1, "goal").await;
        let answer = Answer::Text("y".to_owned());
        let mut sink = ClosesAfter(shown);
        let _ = bench.agent.turn(turn(2, answer), &mut sink).await;
        let (end, events) = bench.say(2, "y").await;
        assert_eq!(end, TurnEnd::Finish(End::Complete("end".to_owned())));
        assert_eq!(bench.runs(), 1, "{shown}");
        assert_eq!(events.len(), 3, "{shown}: started, ended, thoughts");
    }
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
