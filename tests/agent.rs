//! How a reply becomes the frames of a body.

#![cfg(feature = "openbb")]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::json::Json;
use copilot_wire::openbb::{Event, FunctionCall, OpenBb, QueryRequest, Say};
use copilot_wire::protocol::{
    AgentError, Conversation, Env, Environment, Outcome, Protocol, SendError, Ticks,
};
use copilot_wire::{Agent, Body, Reply, Request, async_trait};
use futures::channel::{mpsc, oneshot};
use futures::executor::block_on;
use futures::{FutureExt, Stream, StreamExt};

/// An agent made of a closure.
struct Run<F>(F);

type Answer = Pin<Box<dyn Future<Output = Result<(), AgentError>> + Send>>;

#[async_trait]
impl<F> Agent<OpenBb> for Run<F>
where
    F: Fn(Reply<OpenBb>) -> Answer + Send + Sync,
{
    async fn answer(&self, _: Request<OpenBb>, reply: Reply<OpenBb>) -> Result<(), AgentError> {
        (self.0)(reply).await
    }
}

fn request() -> Request<OpenBb> {
    let body = Bytes::from_static(br#"{"messages":[{"role":"human","content":"hi"}]}"#);
    let (parts, ()) = http::Request::new(()).into_parts();
    Request::from_parts(parts.clone(), OpenBb::read(&parts, body).unwrap())
}

fn body<F, Fut>(agent: F) -> Body
where
    F: Fn(Reply<OpenBb>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    body_in(&Env::default(), agent)
}

fn body_in<F, Fut>(env: &Env, agent: F) -> Body
where
    F: Fn(Reply<OpenBb>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    Body::run(
        Run(move |reply| -> Answer { Box::pin(agent(reply)) }),
        request(),
        env,
    )
}

fn chunk(text: &str) -> String {
    format!("event: copilotMessageChunk\ndata: {{\"delta\":\"{text}\"}}\n\n")
}

fn failed() -> String {
    chunk("\\n\\nSorry, something went wrong and the answer is incomplete.")
}

fn frames(body: Body) -> Vec<String> {
    block_on(
        body.map(|Ok(frame)| String::from_utf8(frame.to_vec()).unwrap())
            .collect(),
    )
}

fn whole(body: Body) -> String {
    frames(body).concat()
}

/// Polls once and says what came.
fn poll(body: &mut Body) -> Poll<Option<String>> {
    let mut cx = Context::from_waker(Waker::noop());
    body.poll_next_unpin(&mut cx)
        .map(|frame| frame.map(|Ok(frame)| String::from_utf8(frame.to_vec()).unwrap()))
}

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
    const PIECE: usize = 1000;
    let written = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&written);
    let mut body = body(move |reply| {
        let counter = Arc::clone(&counter);
        async move {
            let piece = "x".repeat(PIECE);
            for _ in 0..64_000 {
                reply.text(&piece).await?;
                counter.fetch_add(PIECE, Ordering::Relaxed);
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
    assert_eq!(written.load(Ordering::Relaxed), 64_000 * PIECE);
    assert_eq!(first.len() + rest, 64_000 * chunk(&"x".repeat(PIECE)).len());
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
fn a_failure_is_told_in_the_protocols_way() {
    let error = || AgentError::new("The database is away.");
    let told = body(move |reply| async move {
        reply.text("one").await?;
        Err(error())
    });
    assert_eq!(
        whole(told),
        chunk("one") + &chunk("\\n\\nThe database is away.")
    );

    // The cause is for the observer, not for the user.
    let cause = std::io::Error::other("password=hunter2");
    let told = body(move |_| {
        let cause = std::io::Error::new(cause.kind(), cause.to_string());
        async { Err(cause.into()) }
    });
    assert_eq!(whole(told), failed());
}

#[test]
fn a_panic_is_told_and_the_body_ends() {
    let told = body(|reply| async move {
        reply.text("one").await?;
        panic!("a bug in the agent");
    });
    assert_eq!(whole(told), chunk("one") + &failed());
    let before_the_first_await = body(|_| -> std::future::Ready<_> { panic!("at once") });
    assert_eq!(whole(before_the_first_await), failed());
}

#[test]
fn a_panic_in_a_drop_is_told_too() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a bug in a drop");
        }
    }
    let told = body(|reply| async move {
        let _bomb = Bomb;
        reply.text("one").await?;
        Ok(())
    });
    assert_eq!(whole(told), chunk("one") + &failed());
}

/// Remembers incidents, and has ticks that tests drive.
#[derive(Default)]
struct Observer {
    incidents: Mutex<Vec<String>>,
    ticks: Mutex<Option<mpsc::UnboundedReceiver<()>>>,
}

struct Observed(Arc<Observer>);

impl Environment for Observed {
    fn ticks(&self, period: Duration) -> Option<Ticks> {
        assert_eq!(period, Duration::from_millis(7500));
        Some(Box::pin(self.0.ticks.lock().unwrap().take()?))
    }
}

/// An environment with the ticks of `observer`, which writes down the faults of turns.
fn observed(observer: &Arc<Observer>) -> Env {
    let faults = Arc::clone(observer);
    Env::new(Observed(Arc::clone(observer))).observe(move |turn| {
        let protocol = turn.protocol;
        let line = match turn.outcome {
            Outcome::Failed { error, told } => format!("{protocol} {error} {told}"),
            Outcome::Panicked { told } => format!("{protocol} panicked {told}"),
            _ => return,
        };
        faults.incidents.lock().unwrap().push(line);
    })
}

#[test]
fn nothing_follows_an_ending_and_the_observer_hears_of_it() {
    let observer = Arc::new(Observer::default());
    let env = observed(&observer);
    let call = || {
        FunctionCall::new(
            "get_widget_data",
            &std::collections::BTreeMap::from([("widget_uuid", "x")]),
        )
        .unwrap()
    };
    let ending = "event: copilotFunctionCall\ndata: {\"function\":\"get_widget_data\",";

    let failed_late = body_in(&env, move |reply| async move {
        reply.end(call())?;
        Err(AgentError::new("too late"))
    });
    let text = whole(failed_late);
    assert!(
        text.starts_with(ending) && text.matches("event:").count() == 1,
        "{text}"
    );

    let panicked_late = body_in(&env, move |reply| async move {
        reply.end(call())?;
        panic!("too late");
    });
    let text = whole(panicked_late);
    assert!(
        text.starts_with(ending) && text.matches("event:").count() == 1,
        "{text}"
    );

    let in_time = body_in(&env, |_| async { Err(AgentError::new("in time")) });
    assert_eq!(whole(in_time), chunk("\\n\\nin time"));

    let heard = observer.incidents.lock().unwrap().clone();
    assert_eq!(
        heard,
        [
            "openbb too late false",
            "openbb panicked false",
            "openbb in time true"
        ]
    );
}

#[test]
fn a_client_that_leaves_is_no_incident() {
    let observer = Arc::new(Observer::default());
    let env = observed(&observer);
    let mut body = body_in(&env, |reply| async move {
        reply.text("one").await?;
        std::future::pending().await
    });
    assert!(poll(&mut body).is_ready());
    drop(body);
    assert!(observer.incidents.lock().unwrap().is_empty());
}

#[test]
fn silence_is_broken_after_a_whole_silent_tick() {
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

// The three hand-over tests.

#[test]
fn a_reply_goes_to_a_thread_and_back_within_one_poll() {
    let body = body(|reply| async move {
        reply.text("here").await?;
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
        [chunk("here") + &chunk("there") + &chunk("back")]
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
fn a_panic_in_an_inner_body_stays_there() {
    let outer = body(|reply| async move {
        let mut inner = body(|reply| async move {
            reply.text("inner").await?;
            panic!("inner");
        });
        let mut length = 0;
        while let Some(Ok(frame)) = inner.next().await {
            length += frame.len();
        }
        reply.text(&format!("[{length}]")).await?;
        Ok(())
    });
    let length = (chunk("inner") + &failed()).len();
    assert_eq!(whole(outer), chunk(&format!("[{length}]")));
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
fn a_reply_dropped_by_a_panic_elsewhere_is_a_failure() {
    let told = body(|reply| async move {
        reply.text("one").await?;
        let other = std::thread::spawn(move || {
            let _reply = reply;
            panic!("elsewhere");
        });
        assert!(other.join().is_err());
        Ok(())
    });
    assert_eq!(whole(told), chunk("one") + &failed());
}

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
    let frames: Vec<Bytes> = frames.into_iter().map(|Ok(frame)| frame).collect();
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

#[test]
fn a_failing_serialisation_writes_nothing_and_the_turn_goes_on() {
    struct Fails;
    impl serde::Serialize for Fails {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::{Error, SerializeSeq};
            let mut seq = serializer.serialize_seq(None)?;
            seq.serialize_element("half an event")?;
            Err(S::Error::custom("half-way"))
        }
    }
    struct Endless;
    impl serde::Serialize for Endless {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_newtype_struct("Endless", self)
        }
    }
    struct Deep;
    impl serde::Serialize for Deep {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq([self])
        }
    }
    let body = body(|reply| async move {
        reply.text("one").await?;
        assert!(FunctionCall::new("f", &Fails).is_err());
        assert!(FunctionCall::new("f", &Endless).is_err());
        assert!(Json::encode(&Deep).is_err());
        reply.text("two").await?;
        Ok(())
    });
    assert_eq!(whole(body), chunk("one") + &chunk("two"));
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
fn a_stream_of_events_needs_no_agent() {
    let call =
        || FunctionCall::new("get_widget_data", &serde_json::json!({"widget_uuid": "x"})).unwrap();
    let say = |text: &str| Ok(Event::from(Say::MessageChunk(text.into())));
    let events = vec![say("one"), say("two"), Ok(call().into()), say("never")];
    let body =
        Body::from_events::<OpenBb, _>(&request(), futures::stream::iter(events), &Env::default());
    let text = whole(body);
    assert!(text.starts_with(&(chunk("one") + &chunk("two") + "event: copilotFunctionCall\n")));
    assert!(!text.contains("never"));

    let broken = vec![
        say("one"),
        Err(AgentError::new("Half an answer.")),
        say("never"),
    ];
    let body =
        Body::from_events::<OpenBb, _>(&request(), futures::stream::iter(broken), &Env::default());
    assert_eq!(whole(body), chunk("one") + &chunk("\\n\\nHalf an answer."));
}

#[test]
fn a_panicking_observer_harms_nobody() {
    let env = Env::default().observe(|_| panic!("a bug in the observer"));
    let told = body_in(&env, |reply| async move {
        reply.text("one").await?;
        panic!("a bug in the agent");
    });
    assert_eq!(whole(told), chunk("one") + &failed());
    let told = body_in(&env, |reply| async move {
        let other = std::thread::spawn(move || {
            let _reply = reply;
            panic!("elsewhere");
        });
        assert!(other.join().is_err());
        Ok(())
    });
    assert_eq!(whole(told), failed());
}

/// Wakes nobody, and counts.
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
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
    fn stream<T: Stream<Item = Result<Bytes, Infallible>> + Unpin>() {}
    stream::<Body>();
}

#[cfg(feature = "tokio")]
#[test]
fn without_a_tokio_runtime_there_is_no_keep_alive() {
    let env = Env::default();
    let body = body_in(&env, |reply| async move { Ok(reply.text("one").await?) });
    assert_eq!(whole(body), chunk("one"));
}
