//! Answers without a stream, whose text is handed over together.

use std::sync::{Arc, Mutex};
use std::task::Poll;

use copilot_wire::Body;
use copilot_wire::protocol::{AgentError, Env, SendError, Status, Table};
use futures::channel::{mpsc, oneshot};
use futures::executor::block_on;
use serde_json::json;

use crate::support::*;

#[test]
fn text_of_another_thread_stands_where_it_was_written() {
    let body = document(|reply| async move {
        reply.text("here ").await?;
        let there = std::thread::spawn(move || {
            block_on(reply.text("there ")).unwrap();
            reply
        });
        let reply = there.join().unwrap();
        reply.text("back ").await?;
        // A part that is no text comes between.
        reply.status(Status::new("working")).await?;
        reply.text("and forth").await?;
        Ok(())
    });
    assert_eq!(content(&whole(body)), "here there back and forth");
}

#[test]
fn what_another_thread_writes_between_stands_there() {
    let body = document(|reply| async move {
        reply.text("first ").await?;
        let there = std::thread::spawn(move || {
            block_on(async {
                // More than fits between two waits, and a part that is no text.
                reply.text("a".repeat(10 * 1024)).await.unwrap();
                reply.text("b".repeat(10 * 1024)).await.unwrap();
                let table = Table::new("t", &json!([{"c": "d"}])).unwrap();
                reply.table(table).await.unwrap();
            });
            reply
        });
        let reply = there.join().unwrap();
        reply.text("last").await?;
        Ok(())
    });
    let content = content(&whole(body));
    let order = ["first ", "aaa", "bbb", "| d |", "last"].map(|it| content.find(it).unwrap());
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn text_of_another_thread_stands_where_it_was_written_in_a_detached_run() {
    let mut body = document(|reply| async move {
        let reply = Arc::new(reply);
        for round in 0..3 {
            reply.text(&format!("mine {round} ")).await?;
            let other = Arc::clone(&reply);
            let theirs = std::thread::spawn(move || {
                block_on(other.text(&format!("theirs {round} "))).unwrap();
            });
            theirs.join().unwrap();
            reply.text("mine again ").await?;
            // The end of a poll.
            let (done, wait) = oneshot::channel::<()>();
            std::thread::spawn(move || done.send(()));
            let _ = wait.await;
        }
        Ok(())
    });
    let run = body.detach().unwrap();
    std::thread::spawn(|| block_on(run)).join().unwrap();
    let round = |round| format!("mine {round} theirs {round} mine again ");
    assert_eq!(content(&whole(body)), [0, 1, 2].map(round).concat());
}

#[test]
fn nothing_is_lost_where_an_agent_yields() {
    let text = "0123456789".repeat(10_000);
    let said = text.clone();
    let body = document(move |reply| {
        let said = said.clone();
        async move {
            // Pieces of 8 bytes meet the limit exactly.
            let (odd, even) = said.as_bytes().split_at(said.len() / 2);
            for piece in odd.chunks(7).chain(even.chunks(8)) {
                reply.text(std::str::from_utf8(piece).unwrap()).await?;
            }
            Ok(())
        }
    });
    assert_eq!(content(&whole(body)), text);
}

#[test]
fn an_agent_that_never_waits_yields() {
    for kind in ["text", "step", "steps before text"] {
        let mut body = document(move |reply| async move {
            if kind == "step" {
                reply.text("word").await?;
            }
            for _ in 0..10_000 {
                match kind {
                    "text" => reply.text("word").await?,
                    _ => reply.status("Looking").await?,
                }
            }
            Ok(())
        });
        for _ in 0..2 {
            assert_eq!(poll(&mut body), Poll::Pending, "{kind}");
        }
    }
}

#[test]
fn each_text_is_counted() {
    let seen = Arc::new(Mutex::new((0, None)));
    let log = Arc::clone(&seen);
    let env =
        Env::default().observe(move |turn| *log.lock().unwrap() = (turn.events, turn.first_output));
    let body = document_in(&env, |reply| async move {
        for _ in 0..10 {
            reply.text("word").await?;
        }
        Ok(())
    });
    assert_eq!(content(&whole(body)), "word".repeat(10));
    let (events, first) = *seen.lock().unwrap();
    assert_eq!((events, first.is_some()), (10, true));
}

/// A line of its own would be no part of the document.
#[test]
fn there_is_no_keep_alive() {
    let (tick, ticks) = mpsc::unbounded();
    let observer = Observer {
        ticks: Mutex::new(Some(ticks)),
        ..Observer::default()
    };
    let mut body = document_in(&observed(&Arc::new(observer)), |_| {
        std::future::pending::<Result<(), AgentError>>()
    });
    for _ in 0..3 {
        assert_eq!(poll(&mut body), Poll::Pending);
        tick.unbounded_send(()).unwrap();
    }
}

#[test]
fn a_shut_reply_takes_no_text() {
    let slot = Arc::new(Mutex::new(None::<Body>));
    let shared = Arc::clone(&slot);
    let mut body = document(move |reply| {
        let shared = Arc::clone(&shared);
        async move {
            reply.text("a").await?;
            reply.text("b").await?;
            // A detached run whose body is gone is not stopped: it writes for nobody.
            drop(shared.lock().unwrap().take());
            reply.text("c").await?;
            Ok(())
        }
    });
    let run = body.detach().unwrap();
    *slot.lock().unwrap() = Some(body);
    block_on(run);

    let seen = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&seen);
    let body = document(move |reply| {
        let shared = Arc::clone(&shared);
        async move {
            let reply = Arc::new(reply);
            reply.text("a").await?;
            let (held, late) = (Arc::clone(&reply), Arc::clone(&shared));
            let task = std::thread::spawn(move || {
                late.lock().unwrap().push(block_on(held.text("b")));
            });
            task.join().unwrap();
            Ok(())
        }
    });
    assert_eq!(content(&whole(body)), "ab");
    assert_eq!(*seen.lock().unwrap(), [Ok::<(), SendError>(())]);
}
