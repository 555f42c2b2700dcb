//! The frames of a reply: their times, their order, and back-pressure.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::agent::Interrupted;
use copilot_wire::openbb::{FunctionCall, OpenBb, QueryRequest};
use copilot_wire::protocol::{
    AgentError, Conversation, Env, Environment, Protocol, SendError, Ticks,
};
use copilot_wire::{Agent, Body, Reply, Request, async_trait};
use futures::channel::{mpsc, oneshot};
use futures::executor::block_on;
use futures::{Stream, StreamExt};

use crate::support::*;

#[test]
fn a_ready_agent_leaves_as_one_frame() {
    let body = body(|reply| async move {
        for word in ["one", "two", "three"] {
            reply.text(word).await?;
        }
        Ok(())
    });
    assert_eq!(
        frames(body),
        [chunk("one") + &chunk("two") + &chunk("three")]
    );
}

#[test]
fn a_waiting_agent_flushes_at_once() {
    let (sender, receiver) = mpsc::unbounded::<&str>();
    let receiver = Arc::new(Mutex::new(Some(receiver)));
    let mut body = body(move |reply| {
        let mut receiver = receiver.lock().unwrap().take().unwrap();
        async move {
            while let Some(word) = receiver.next().await {
                reply.text(word).await?;
            }
            Ok(())
        }
    });
    assert_eq!(poll(&mut body), Poll::Pending);
    sender.unbounded_send("one").unwrap();
    assert_eq!(poll(&mut body), Poll::Ready(Some(chunk("one"))));
    assert_eq!(poll(&mut body), Poll::Pending);
    sender.unbounded_send("two").unwrap();
    sender.unbounded_send("three").unwrap();
    assert_eq!(
        poll(&mut body),
        Poll::Ready(Some(chunk("two") + &chunk("three")))
    );
    drop(sender);
    assert_eq!(poll(&mut body), Poll::Ready(None));
    assert_eq!(poll(&mut body), Poll::Ready(None));
}

#[test]
fn nothing_is_written_ahead_of_a_reader_that_stalls() {
    const PIECES: usize = 64_000;
    for size in [4, 1000] {
        let written = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&written);
        let mut body = body(move |reply| {
            let counter = Arc::clone(&counter);
            async move {
                let piece = "x".repeat(size);
                for _ in 0..PIECES {
                    reply.text(&piece).await?;
                    counter.fetch_add(size, Ordering::Relaxed);
                }
                Ok(())
            }
        });
        let Poll::Ready(Some(first)) = poll(&mut body) else {
            panic!("a frame is due")
        };
        assert!((16 * 1024..20 * 1024).contains(&first.len()));
        assert!(written.load(Ordering::Relaxed) <= first.len());
        let rest: usize = frames(body).iter().map(String::len).sum();
        assert_eq!(written.load(Ordering::Relaxed), PIECES * size);
        assert_eq!(first.len() + rest, PIECES * chunk(&"x".repeat(size)).len());
    }
}

#[test]
fn a_frame_ends_where_the_buffer_is_full() {
    const FULL: usize = 16 * 1024;
    let word = chunk("word");
    let first = "x".repeat(FULL % word.len() + word.len() - chunk("").len());
    let mut body = body(move |reply| {
        let first = first.clone();
        async move {
            reply.text(first).await?;
            loop {
                reply.text("word").await?;
            }
        }
    });
    let Poll::Ready(Some(frame)) = poll(&mut body) else {
        panic!("a frame is due")
    };
    assert_eq!(frame.len(), FULL);
    assert!(frame.ends_with(&word));
}

#[test]
fn the_bytes_of_all_frames_are_counted() {
    let seen = Arc::new(Mutex::new((0, 0)));
    let log = Arc::clone(&seen);
    let env = Env::default().observe(move |turn| *log.lock().unwrap() = (turn.bytes, turn.events));
    let body = body_in(&env, |reply| async move {
        for _ in 0..10 {
            reply.text("word").await?;
            // The agent continues after the frame.
            std::future::poll_fn(|cx| {
                cx.waker().wake_by_ref();
                Poll::Ready(())
            })
            .await;
            futures::pending!();
        }
        Ok(())
    });
    let frames = frames(body);
    assert_eq!(frames, vec![chunk("word"); 10]);
    let bytes = frames.concat().len() as u64;
    assert_eq!(*seen.lock().unwrap(), (bytes, 10));
}

#[test]
fn a_waker_that_outlives_the_body_does_not_keep_its_reader() {
    let kept = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&kept);
    let mut body = body(move |_| {
        let slot = Arc::clone(&slot);
        std::future::poll_fn(move |cx| {
            slot.lock().unwrap().replace(cx.waker().clone());
            Poll::Pending
        })
    });
    let reader = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&reader));
    let polled = body.poll_next_unpin(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    drop((waker, body));
    assert!(kept.lock().unwrap().is_some());
    assert_eq!(Arc::strong_count(&reader), 1);
}

#[test]
fn dropping_the_body_drops_the_agent() {
    struct Flag(Arc<AtomicBool>);
    impl Drop for Flag {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let gone = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&gone);
    let mut body = body(move |reply| {
        let flag = Flag(Arc::clone(&flag));
        async move {
            reply.text("one").await?;
            std::future::pending::<()>().await;
            drop(flag);
            Ok(())
        }
    });
    assert!(poll(&mut body).is_ready());
    assert!(!gone.load(Ordering::Relaxed));
    drop(body);
    assert!(gone.load(Ordering::Relaxed));
}

#[test]
fn a_reply_that_outlives_the_body_is_closed() {
    let kept = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&kept);
    let mut body = body(move |reply| {
        slot.lock().unwrap().replace(reply);
        async { Ok(()) }
    });
    assert_eq!(
        poll(&mut body),
        Poll::Pending,
        "the turn goes on while the reply lives"
    );
    let reply = kept.lock().unwrap().take().unwrap();
    block_on(reply.text("one")).unwrap();
    assert_eq!(poll(&mut body), Poll::Ready(Some(chunk("one"))));
    drop(body);
    assert!(matches!(
        block_on(reply.text("two")),
        Err(SendError::Closed)
    ));
    let call = FunctionCall::new("get_widget_data", &()).unwrap();
    assert!(matches!(reply.end(call), Err(SendError::Closed)));
}

#[test]
fn a_keep_alive_is_sent_after_a_whole_silent_tick() {
    let (tick, ticks) = mpsc::unbounded();
    let (word, words) = mpsc::unbounded::<&str>();
    let observer = Observer {
        ticks: Mutex::new(Some(ticks)),
        ..Observer::default()
    };
    let env = observed(&Arc::new(observer));
    let words = Arc::new(Mutex::new(Some(words)));
    let mut body = body_in(&env, move |reply| {
        let mut words = words.lock().unwrap().take().unwrap();
        async move {
            while let Some(word) = words.next().await {
                reply.text(word).await?;
            }
            Ok(())
        }
    });
    let ping = Poll::Ready(Some(": ping\n\n".to_owned()));

    assert_eq!(poll(&mut body), Poll::Pending);
    tick.unbounded_send(()).unwrap();
    assert_eq!(
        poll(&mut body),
        Poll::Pending,
        "the first tick may follow a word closely"
    );
    tick.unbounded_send(()).unwrap();
    assert_eq!(poll(&mut body), ping);
    tick.unbounded_send(()).unwrap();
    assert_eq!(poll(&mut body), ping);

    word.unbounded_send("one").unwrap();
    assert_eq!(poll(&mut body), Poll::Ready(Some(chunk("one"))));
    tick.unbounded_send(()).unwrap();
    assert_eq!(poll(&mut body), Poll::Pending);
    tick.unbounded_send(()).unwrap();
    assert_eq!(poll(&mut body), ping);
}

/// The timer has its own waker: it is polled when it was woken, not with every event.
#[test]
fn events_do_not_poll_the_timer() {
    struct Counted(Arc<AtomicUsize>);
    impl Environment for Counted {
        fn ticks(&self, _: Duration) -> Option<Ticks> {
            let polls = Arc::clone(&self.0);
            Some(Box::pin(futures::stream::poll_fn(move |_| {
                polls.fetch_add(1, Ordering::Relaxed);
                Poll::Pending
            })))
        }
    }
    let polls = Arc::new(AtomicUsize::new(0));
    let (word, words) = mpsc::unbounded::<&str>();
    let words = Arc::new(Mutex::new(Some(words)));
    let env = Env::new(Counted(Arc::clone(&polls)));
    let mut body = body_in(&env, move |reply| {
        let mut words = words.lock().unwrap().take().unwrap();
        async move {
            while let Some(word) = words.next().await {
                reply.text(word).await?;
            }
            Ok(())
        }
    });
    for _ in 0..10 {
        word.unbounded_send("one").unwrap();
        assert_eq!(poll(&mut body), Poll::Ready(Some(chunk("one"))));
        assert_eq!(poll(&mut body), Poll::Pending);
    }
    assert_eq!(polls.load(Ordering::Relaxed), 1);
}

/// A task that waits for the end of the body neither stops its frames nor stays registered for ever.
#[test]
fn a_watcher_does_not_keep_the_body_from_sending() {
    let (word, words) = mpsc::unbounded::<&str>();
    let words = Arc::new(Mutex::new(Some(words)));
    let mut body = body(move |reply| {
        let mut words = words.lock().unwrap().take().unwrap();
        async move {
            loop {
                let closed = pin!(reply.closed());
                let next = futures::future::select(words.next(), closed).await;
                let futures::future::Either::Left((Some(word), _)) = next else {
                    return Ok(());
                };
                reply.text(word).await?;
            }
        }
    });
    for _ in 0..10 {
        word.unbounded_send("one").unwrap();
        assert_eq!(poll(&mut body), Poll::Ready(Some(chunk("one"))));
        assert_eq!(poll(&mut body), Poll::Pending);
    }
    drop(word);
    assert_eq!(poll(&mut body), Poll::Ready(None));
}

// The three hand-over tests.

#[test]
fn a_reply_goes_to_a_thread_and_back_within_one_poll() {
    let body = body(|reply| async move {
        // So long and so many that the buffer has room without the lock.
        for _ in 0..4 {
            reply.text("here".repeat(50)).await?;
        }
        let there = std::thread::spawn(move || {
            block_on(reply.text("there")).unwrap();
            reply
        });
        let reply = there.join().unwrap();
        reply.text("back").await?;
        Ok(())
    });
    assert_eq!(
        frames(body),
        [chunk(&"here".repeat(50)).repeat(4) + &chunk("there") + &chunk("back")]
    );
}

#[test]
fn a_body_runs_inside_another() {
    let outer = body(|reply| async move {
        reply.text("outer").await?;
        let mut inner = body(|reply| async move {
            reply.text("inner").await?;
            Ok(())
        });
        while let Some(Ok(frame)) = inner.next().await {
            reply.text(&format!("[{}]", frame.len())).await?;
        }
        reply.text("outer").await?;
        Ok(())
    });
    let length = chunk("inner").len();
    assert_eq!(
        whole(outer),
        chunk("outer") + &chunk(&format!("[{length}]")) + &chunk("outer")
    );
}

#[test]
fn a_reply_in_the_agent_of_another_body_writes_to_its_own() {
    let kept = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&kept);
    let mut one = body(move |reply| {
        slot.lock().unwrap().replace(reply);
        async { Ok(()) }
    });
    assert!(poll(&mut one).is_pending());
    let two = body(move |reply| {
        let other = kept.lock().unwrap().take().unwrap();
        async move {
            for _ in 0..4 {
                reply.text("two").await?;
                other.text("one").await?;
            }
            Ok(())
        }
    });
    assert_eq!(whole(two), chunk("two").repeat(4));
    assert_eq!(whole(one), chunk("one").repeat(4));
}

#[test]
fn writes_from_another_thread_wake_the_body() {
    let body = body(|reply| async move {
        let (done, wait) = oneshot::channel::<()>();
        std::thread::spawn(move || {
            for _ in 0..1000 {
                block_on(reply.text(&"y".repeat(100))).unwrap();
            }
            drop(reply);
            drop(done);
        });
        let _ = wait.await;
        Ok(())
    });
    assert_eq!(whole(body), chunk(&"y".repeat(100)).repeat(1000));
}

#[test]
fn writes_in_a_join_all_arrive() {
    let body = body(|reply| async move {
        let piece = "w".repeat(5000);
        let writes = (0..50).map(|_| reply.text(&piece));
        for result in futures::future::join_all(writes).await {
            result?;
        }
        Ok(())
    });
    assert_eq!(whole(body), chunk(&"w".repeat(5000)).repeat(50));
}

#[test]
fn outputs_leave_in_their_order_and_an_ending_is_the_last() {
    let body = body(|reply| async move {
        reply.send("one").await?;
        reply.text("two").await?;
        let arguments = serde_json::json!({"widget_uuid": "x"});
        Ok(reply.end(FunctionCall::new("get_widget_data", &arguments)?)?)
    });
    let text = whole(body);
    assert!(text.starts_with(&(chunk("one") + &chunk("two") + "event: copilotFunctionCall\n")));
    assert_eq!(text.matches("event: ").count(), 3);
}

#[test]
fn an_agent_in_its_own_body_costs_no_wakes() {
    let mut body = body(|reply| async move {
        for _ in 0..2000 {
            reply.text(&"v".repeat(100)).await?;
        }
        Ok(())
    });
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    let mut cx = Context::from_waker(&waker);
    while let Poll::Ready(Some(_)) = body.poll_next_unpin(&mut cx) {}
    assert!(body.is_done());
    assert_eq!(count.0.load(Ordering::Relaxed), 0);
}

#[test]
fn a_request_turns_native_only_in_its_own_protocol() {
    struct Either;
    #[async_trait]
    impl<P: Protocol> Agent<P> for Either {
        async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
            match request.native::<OpenBb>(reply) {
                Ok((request, reply)) => {
                    let request: QueryRequest = request.into_inner();
                    reply
                        .text(&format!("{} message", request.messages.len()))
                        .await?;
                }
                Err((request, reply)) => {
                    reply.text(&request.prompt().unwrap_or_default()).await?;
                }
            }
            Ok(())
        }
    }
    let body = Body::run(Either, request(), &Env::default());
    assert_eq!(whole(body), chunk("1 message"));
    // Behind a pointer an agent is the same agent.
    let shared: Arc<dyn Agent<OpenBb>> = Arc::new(Either);
    assert_eq!(
        whole(Body::run(shared, request(), &Env::default())),
        chunk("1 message")
    );
}

#[test]
fn bodies_and_replies_move_between_threads() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Body>();
    send::<Reply<OpenBb>>();
    sync::<Reply<OpenBb>>();
    send::<Request<OpenBb>>();
    fn stream<T: Stream<Item = Result<Bytes, Interrupted>> + Unpin>() {}
    stream::<Body>();
}

#[cfg(feature = "http-body")]
#[test]
fn a_server_knows_the_length_and_the_end_of_a_whole_body() {
    use http_body::Body as HttpBody;
    let mut whole = Body::full("one");
    assert_eq!(HttpBody::size_hint(&whole).exact(), Some(3));
    assert!(!whole.is_end_stream());
    let mut cx = Context::from_waker(Waker::noop());
    let polled = pin!(&mut whole).poll_frame(&mut cx);
    let Poll::Ready(Some(Ok(frame))) = polled else {
        panic!("a frame is due")
    };
    assert_eq!(frame.into_data().unwrap(), "one");
    assert!(whole.is_end_stream());
    let stream = body(|_| std::future::pending());
    assert_eq!(HttpBody::size_hint(&stream).exact(), None);
}

#[cfg(feature = "tokio")]
#[test]
fn without_a_tokio_runtime_there_is_no_keep_alive() {
    let env = Env::default();
    let body = body_in(&env, |reply| async move { Ok(reply.text("one").await?) });
    assert_eq!(whole(body), chunk("one"));
}
