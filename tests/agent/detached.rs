//! Runs that were taken out of their bodies.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use copilot_wire::Body;
use copilot_wire::protocol::Usage;
use futures::executor::block_on;
use futures::{FutureExt, StreamExt};

use crate::support::*;

#[test]
fn a_detached_run_goes_on_without_a_reader() {
    let done = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&done);
    let mut body = body(move |reply| {
        let flag = Arc::clone(&flag);
        async move {
            for _ in 0..1000 {
                reply.text(&"z".repeat(1000)).await?;
            }
            flag.store(true, Ordering::Relaxed);
            Ok(())
        }
    });
    let mut run = body.detach().unwrap();
    assert!(body.detach().is_none());
    let mut cx = Context::from_waker(Waker::noop());
    assert!(
        run.poll_unpin(&mut cx).is_pending(),
        "the reader is there, so it is waited for"
    );
    assert!(poll(&mut body).is_ready());
    drop(body);
    block_on(run);
    assert!(done.load(Ordering::Relaxed));
}

#[test]
fn a_detached_run_wakes_its_reader_for_output_and_for_the_end() {
    let mut body = body(|reply| async move {
        futures::pending!();
        for word in ["one", "two"] {
            reply.text(word).await?;
            futures::pending!();
        }
        Ok(())
    });
    let mut run = body.detach().unwrap();
    let reader = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&reader));
    let mut cx = Context::from_waker(&waker);
    assert!(body.poll_next_unpin(&mut cx).is_pending());
    for is_woken in [false, true, true, true] {
        let before = reader.0.load(Ordering::Relaxed);
        let _ = run.poll_unpin(&mut Context::from_waker(Waker::noop()));
        assert_eq!(reader.0.load(Ordering::Relaxed) > before, is_woken);
        let polled = body.poll_next_unpin(&mut cx);
        assert_eq!(polled.is_ready(), is_woken);
    }
}

#[test]
fn a_detached_run_is_read_as_any_other() {
    let mut body = body(|reply| async move {
        for _ in 0..100 {
            reply.text(&"z".repeat(1000)).await?;
        }
        Ok(())
    });
    let run = body.detach().unwrap();
    let thread = std::thread::spawn(move || block_on(run));
    assert_eq!(whole(body), chunk(&"z".repeat(1000)).repeat(100));
    thread.join().unwrap();
}

#[test]
fn a_detached_run_that_is_dropped_ends_the_body() {
    let mut body = body(|reply| async move {
        reply.text("one").await?;
        std::future::pending().await
    });
    let mut run = body.detach().unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(run.poll_unpin(&mut cx).is_pending());
    drop(run);
    assert_eq!(whole(body), chunk("one") + &failed());
}

/// The run and the body may share a task, and with it a waker.
#[test]
fn a_detached_run_is_read_in_its_own_task() {
    let mut body = body(|reply| async move {
        for _ in 0..100 {
            reply.text(&"z".repeat(1000)).await?;
        }
        Ok(())
    });
    let run = body.detach().unwrap();
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    let mut cx = Context::from_waker(&waker);
    let mut both = futures::future::join(run, body.collect::<Vec<_>>());
    let frames = loop {
        let before = count.0.load(Ordering::Relaxed);
        if let Poll::Ready(((), frames)) = both.poll_unpin(&mut cx) {
            break frames;
        }
        assert!(
            count.0.load(Ordering::Relaxed) > before,
            "the task would sleep for ever"
        );
    };
    let frames: Vec<Bytes> = frames.into_iter().map(Result::unwrap).collect();
    let text = String::from_utf8(frames.concat()).unwrap();
    assert_eq!(text, chunk(&"z".repeat(1000)).repeat(100));
}

#[test]
fn a_detached_run_that_is_dropped_by_a_panic_ends_the_body() {
    for polls in [0, 1] {
        let mut body = body(|reply| async move {
            reply.text("one").await?;
            std::future::pending().await
        });
        let mut run = body.detach().unwrap();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            for _ in 0..polls {
                let mut cx = Context::from_waker(Waker::noop());
                assert!(run.poll_unpin(&mut cx).is_pending());
            }
            panic!("beside the run");
        }));
        assert!(panicked.is_err());
        assert_eq!(whole(body), chunk("one").repeat(polls) + &failed());
    }
}

#[test]
fn a_detached_run_that_is_dropped_unpolled_ends_the_body() {
    let mut body = body(|reply| async move {
        reply.text("never").await?;
        Ok(())
    });
    drop(body.detach());
    assert_eq!(whole(body), failed());
}

/// A run is polled on a thread of its own. Bytes that another thread writes meanwhile are later than
/// those that the poll has written, which the body cannot see yet.
#[test]
fn a_detached_run_on_another_thread_sends_its_bytes_in_order() {
    let slot = Arc::new(Mutex::new(None::<Body>));
    let shared = Arc::clone(&slot);
    let mut body = body(move |reply| {
        let shared = Arc::clone(&shared);
        async move {
            let reply = Arc::new(reply);
            for round in 0..3 {
                reply.text(&format!("mine {round} ")).await?;
                let (other, seen) = (Arc::clone(&reply), Arc::clone(&shared));
                let meanwhile = std::thread::spawn(move || {
                    block_on(other.text(&format!("theirs {round} "))).unwrap();
                    drop(other);
                    poll(seen.lock().unwrap().as_mut().unwrap())
                });
                assert!(meanwhile.join().unwrap().is_pending());
                reply.text("mine again").await?;
            }
            Ok(())
        }
    });
    let run = body.detach().unwrap();
    *slot.lock().unwrap() = Some(body);
    std::thread::spawn(|| block_on(run)).join().unwrap();
    let round = |round| {
        let texts = [
            format!("mine {round} "),
            format!("theirs {round} "),
            "mine again".into(),
        ];
        texts.map(|text| chunk(&text)).concat()
    };
    let body = slot.lock().unwrap().take().unwrap();
    assert_eq!(whole(body), [0, 1, 2].map(round).concat());
}

/// A write without bytes wakes nobody, and later writes still do.
#[test]
fn a_write_after_a_silent_part_wakes_the_body() {
    let slot = Arc::new(Mutex::new(None));
    let shared = Arc::clone(&slot);
    let mut body = body(move |reply| {
        let shared = Arc::clone(&shared);
        async move {
            reply.usage(Usage::new(1, 2)).await?;
            *shared.lock().unwrap() = Some(reply);
            std::future::pending().await
        }
    });
    let mut run = body.detach().unwrap();
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    let mut cx = Context::from_waker(&waker);
    assert!(body.poll_next_unpin(&mut cx).is_pending());
    let mut noop = Context::from_waker(Waker::noop());
    assert!(run.poll_unpin(&mut noop).is_pending());
    let reply = slot.lock().unwrap().take().unwrap();
    block_on(reply.text("one")).unwrap();
    assert!(count.0.load(Ordering::Relaxed) > 0);
    assert_eq!(poll(&mut body), Poll::Ready(Some(chunk("one"))));
}
