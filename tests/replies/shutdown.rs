//! What a shutdown makes of turns at every stage.

use std::future::{pending, ready};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Confirmation, Env, Environment, Protocol, Ticks};
use copilot_wire::replies::{MemoryReplyStore, ReplyEnd, ReplyStore as _};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait};
use copilot_wire_kit::Visit;
use copilot_wire_kit::{FrontEnd as _, Toolkit};
use futures::{FutureExt as _, StreamExt as _, stream};
use http::{Method, StatusCode};
use tokio::time::Instant;

use crate::server::{
    ask, env, in_virtual_time, memory, read, replies, router, seconds, send, text, watch,
};
use crate::spy::Spy;

const MESSAGE: &str = "The server is shutting down, and the answer is incomplete.";

/// An environment with one second and one id, so that two streams can be compared.
struct Fixed {
    ticks: bool,
}

impl Environment for Fixed {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }

    fn ticks(&self, period: Duration) -> Option<Ticks> {
        self.ticks.then(|| env().ticks(period)).flatten()
    }
}

/// What an agent does until it is stopped. All of them ignore that their reply is closed.
#[derive(Clone, Debug)]
enum Act {
    /// It writes nothing.
    Silent,
    /// It writes a word and waits.
    Word,
    /// It writes a word in a task of its own, which writes on, and returns.
    Elsewhere,
    /// It writes as fast as it can.
    Flood,
    /// It writes its ending and goes on working.
    Ended,
    /// It shuts the server down within its own poll, and writes on.
    Stop(Arc<OnceLock<Router>>),
    /// It fails with the message of a shutdown, behind a word or not.
    Fail { word: bool },
}

/// A task that does nothing when it is woken.
struct Idle;

impl Wake for Idle {
    fn wake(self: Arc<Self>) {}
}

struct Actor {
    act: Act,
    /// The number of agents that run.
    alive: Arc<AtomicUsize>,
}

struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Actor {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        self.alive.fetch_add(1, Ordering::Relaxed);
        let alive = Alive(Arc::clone(&self.alive));
        match &self.act {
            Act::Silent => {}
            Act::Word => reply.text("word").await?,
            Act::Elsewhere => {
                tokio::spawn(async move {
                    let _alive = alive;
                    let _ = reply.text("word").await;
                    seconds(60).await;
                    while reply.text("on").await.is_ok() {}
                });
                return Ok(());
            }
            Act::Flood => loop {
                let _ = reply.text("x".repeat(100)).await;
            },
            Act::Ended => {
                reply.text("word").await?;
                reply.confirm(Confirmation::new("1", "Sure?", "no more"))?;
            }
            Act::Stop(server) => {
                let server = server.get().unwrap();
                assert!(server.drain(ready(())).now_or_never().is_none());
                loop {
                    let _ = reply.text("on").await;
                }
            }
            Act::Fail { word } => {
                if *word {
                    reply.text("word").await?;
                }
                return Err(AgentError::new(MESSAGE));
            }
        }
        pending().await
    }
}

struct Served {
    router: Router,
    outcomes: crate::server::Outcomes,
    alive: Arc<AtomicUsize>,
}

fn serve<P: Toolkit>(act: Act) -> Served {
    let alive = Arc::default();
    let actor = Actor {
        act,
        alive: Arc::clone(&alive),
    };
    let router = router::<P>(actor, None).env(Env::new(Fixed { ticks: true }));
    // The head does not wait for the first output.
    let router = router.first_output_timeout(Duration::ZERO);
    let (router, outcomes) = watch(router);
    Served {
        router,
        outcomes,
        alive,
    }
}

impl Served {
    fn outcomes(&self) -> Vec<String> {
        self.outcomes.lock().unwrap().clone()
    }

    fn alive(&self) -> usize {
        self.alive.load(Ordering::Relaxed)
    }
}

/// Reads what a body has so far.
async fn so_far(body: &mut Body) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(Some(Ok(frame))) = body.next().now_or_never() {
        all.extend_from_slice(&frame);
        tokio::task::yield_now().await;
    }
    all
}

/// The stream of an agent that fails with the message of a shutdown.
async fn failed<P: Toolkit>(word: bool) -> Vec<u8> {
    let served = serve::<P>(Act::Fail { word });
    read(ask::<P>(&served.router, "").await).await
}

struct EveryProtocol;

impl Visit for EveryProtocol {
    fn visit<P: Toolkit>(&mut self) {
        in_virtual_time(async {
            for act in [Act::Silent, Act::Word, Act::Elsewhere] {
                for polled in [false, true] {
                    let name = format!("{}, {act:?}, polled: {polled}", P::NAME);
                    let word = polled && !matches!(act, Act::Silent);
                    let served = serve::<P>(act.clone());
                    let mut body = ask::<P>(&served.router, "").await;
                    let mut bytes = Vec::new();
                    if polled {
                        bytes = so_far(&mut body).await;
                        tokio::task::yield_now().await;
                        bytes.extend(so_far(&mut body).await);
                    }
                    let start = Instant::now();
                    let drain = served.router.drain(seconds(3));
                    let rest = async {
                        // One that nobody polls does not begin, and is ended all the same.
                        seconds(if polled { 0 } else { 4 }).await;
                        read(body).await
                    };
                    let (rest, ()) = futures::join!(rest, drain);
                    bytes.extend(rest);
                    assert_eq!(text(&bytes), text(&failed::<P>(word).await), "{name}");
                    let took = Duration::from_secs(if polled { 3 } else { 4 });
                    assert_eq!(start.elapsed(), took, "{name}");
                    seconds(61).await;
                    assert_eq!(served.alive(), 0, "{name}");
                    assert_eq!(served.outcomes(), ["shut_down"], "{name}");
                    refuses::<P>(&served.router).await;
                }
            }
        });
    }
}

/// Checks that no new turn begins.
async fn refuses<P: Toolkit>(router: &Router) {
    let path = P::FrontEnd::PATH;
    let response = send(router, "", Method::POST, path, P::SAMPLE.request).await;
    // A call of a tool that cannot begin has a result.
    if P::NAME != "mcp" {
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()["retry-after"], "5");
    }
    let bytes = read(response.into_body()).await;
    assert!(text(&bytes).contains("the server is shutting down"));
}

#[test]
fn every_stream_fails_as_its_protocol_does() {
    EveryProtocol.visit_all();
}

#[test]
fn a_turn_that_ends_in_time_is_whole() {
    in_virtual_time(async {
        let (router, outcomes) = watch(router::<UiStream>(crate::server::Talker::default(), None));
        let body = ask::<UiStream>(&router, "").await;
        let start = Instant::now();
        let (bytes, ()) = futures::join!(read(body), router.drain(seconds(30)));
        assert_eq!(start.elapsed(), Duration::from_secs(1));
        assert!(text(&bytes).contains("word9"));
        assert!(text(&bytes).ends_with("data: [DONE]\n\n"));
        assert_eq!(*outcomes.lock().unwrap(), ["answered"]);
    });
}

#[test]
fn a_server_without_turns_stops_at_once() {
    in_virtual_time(async {
        let served = serve::<UiStream>(Act::Word);
        for _ in 0..2 {
            assert!(served.router.drain(pending()).now_or_never().is_some());
            refuses::<UiStream>(&served.router).await;
        }
    });
}

#[test]
fn a_client_that_never_reads_holds_up_nothing() {
    for act in [Act::Flood, Act::Word, Act::Silent] {
        in_virtual_time(async {
            let served = serve::<UiStream>(act.clone());
            let mut body = ask::<UiStream>(&served.router, "").await;
            let _ = body.next().now_or_never();
            let start = Instant::now();
            served.router.drain(seconds(3)).await;
            assert_eq!(start.elapsed(), Duration::from_secs(8), "{act:?}");
            // It can still read the end: what was written before, and little more.
            let rest = read(body).await;
            assert!(rest.len() < 40_000, "{}", rest.len());
            assert!(text(&rest).contains(MESSAGE));
            assert_eq!(served.alive(), 0);
            assert_eq!(served.outcomes(), ["shut_down"]);
        });
    }
}

#[test]
fn a_connection_that_the_server_closes_was_shut_down() {
    in_virtual_time(async {
        let served = serve::<UiStream>(Act::Flood);
        let mut body = ask::<UiStream>(&served.router, "").await;
        assert!(body.next().now_or_never().is_some());
        served.router.drain(seconds(3)).await;
        drop(body);
        assert_eq!(served.alive(), 0);
        assert_eq!(served.outcomes(), ["shut_down"]);
    });
}

/// An agent that ignores errors would not return from the poll in which its turn is stopped.
#[test]
fn an_agent_that_writes_on_is_dropped() {
    in_virtual_time(async {
        let server = Arc::new(OnceLock::new());
        let served = serve::<UiStream>(Act::Stop(Arc::clone(&server)));
        server.set(served.router.clone()).unwrap();
        let bytes = read(ask::<UiStream>(&served.router, "").await).await;
        assert!(text(&bytes).contains(MESSAGE));
        assert_eq!(served.alive(), 0);
        assert_eq!(served.outcomes(), ["shut_down"]);
    });
}

#[test]
fn an_ending_that_was_written_stays() {
    in_virtual_time(async {
        for polled in [false, true] {
            let served = serve::<UiStream>(Act::Ended);
            let mut body = ask::<UiStream>(&served.router, "").await;
            let mut bytes = Vec::new();
            if polled {
                bytes = so_far(&mut body).await;
                assert!(text(&bytes).contains("no more"));
            }
            let rest = async {
                seconds(4).await;
                read(body).await
            };
            let (rest, ()) = futures::join!(rest, served.router.drain(seconds(3)));
            bytes.extend(rest);
            assert_eq!(text(&bytes).contains("no more"), polled);
            assert_eq!(text(&bytes).contains(MESSAGE), !polled);
            assert_eq!(served.alive(), 0);
            assert_eq!(served.outcomes(), ["shut_down"]);
        }
    });
}

/// Answers without a stream, in every dialect that has them.
struct EveryDocument(usize);

impl Visit for EveryDocument {
    fn visit<P: Toolkit>(&mut self) {
        let sample = P::SAMPLE.request;
        let whole = sample
            .replace(r#""stream":true"#, r#""stream":false"#)
            .replace(r#""model":"m""#, r#""model":"echo""#);
        if !whole.contains(r#""stream":false"#) || P::NAME == "meilisearch" {
            return;
        }
        self.0 += 1;
        in_virtual_time(async {
            let path = P::FrontEnd::PATH;
            for act in [Act::Silent, Act::Word] {
                let served = serve::<P>(act);
                let response = async {
                    let response = send(&served.router, "", Method::POST, path, &whole).await;
                    (
                        response.status(),
                        response.headers().get("x-should-retry").cloned(),
                        read(response.into_body()).await,
                    )
                };
                let drain = async {
                    tokio::task::yield_now().await;
                    served.router.drain(seconds(3)).await;
                };
                let ((status, retry, body), ()) = futures::join!(response, drain);
                assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{}", P::NAME);
                assert_eq!(retry.unwrap(), "false", "{}", P::NAME);
                let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
                let message = body.pointer("/error/message").unwrap();
                assert_eq!(message, MESSAGE, "{}", P::NAME);
                assert_eq!(served.alive(), 0);
                assert_eq!(served.outcomes(), ["shut_down"]);
            }
        });
    }
}

#[test]
fn an_answer_without_a_stream_has_a_status() {
    let mut every = EveryDocument(0);
    every.visit_all();
    assert!(every.0 > 0);
}

#[test]
fn a_request_that_is_still_arriving_begins_no_turn() {
    in_virtual_time(async {
        let served = serve::<UiStream>(Act::Word);
        let (half, rest) = UiStream::SAMPLE.request.split_at(10);
        let late = stream::once(async move {
            seconds(10).await;
            Ok::<_, std::convert::Infallible>(rest.as_bytes())
        });
        let body = stream::iter([Ok(half.as_bytes())]).chain(late);
        let request = http::Request::post("/api/chat").header("content-type", "application/json");
        let request = request.body(body).unwrap();
        let drain = async {
            tokio::task::yield_now().await;
            let start = Instant::now();
            served.router.drain(seconds(30)).await;
            assert_eq!(start.elapsed(), Duration::ZERO);
        };
        let (response, ()) = futures::join!(served.router.handle(request), drain);
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(served.outcomes(), ["refused"]);
        // From now on the body is not waited for.
        let body = stream::pending::<Result<&[u8], std::convert::Infallible>>();
        let request = http::Request::post("/api/chat").header("content-type", "application/json");
        let response = served.router.handle(request.body(body).unwrap());
        let status = response.now_or_never().map(|response| response.status());
        assert_eq!(status, Some(StatusCode::SERVICE_UNAVAILABLE));
    });
}

#[test]
fn documents_are_served_to_the_end() {
    in_virtual_time(async {
        let router = router::<Responses>(crate::server::Talker::default(), None);
        assert!(router.drain(ready(())).now_or_never().is_some());
        let response = send(&router, "", Method::GET, "/v1/models", "").await;
        assert_eq!(response.status(), StatusCode::OK);
    });
}

#[test]
fn a_detached_run_is_waited_for_and_ended() {
    for read_on in [true, false] {
        in_virtual_time(async {
            let served = serve::<UiStream>(Act::Word);
            let mut body = ask::<UiStream>(&served.router, "").await;
            let run = tokio::spawn(body.detach().unwrap());
            tokio::task::yield_now().await;
            assert_eq!(served.alive(), 1);
            let start = Instant::now();
            let drain = served.router.drain(seconds(3));
            if read_on {
                let (bytes, ()) = futures::join!(read(body), drain);
                assert!(text(&bytes).contains("word"));
                assert!(text(&bytes).contains(MESSAGE));
            } else {
                drop(body);
                drain.await;
            }
            assert_eq!(start.elapsed(), Duration::from_secs(3));
            assert_eq!(served.alive(), 0);
            run.await.unwrap();
            assert_eq!(served.outcomes(), ["shut_down"]);
        });
    }
}

#[test]
fn a_drain_may_be_dropped_repeated_and_shared() {
    in_virtual_time(async {
        let served = serve::<UiStream>(Act::Word);
        let body = ask::<UiStream>(&served.router, "").await;
        assert!(served.router.drain(pending()).now_or_never().is_none());
        refuses::<UiStream>(&served.router).await;
        let clone = served.router.clone();
        let start = Instant::now();
        let long = served.router.drain(seconds(1000));
        let (bytes, (), ()) = futures::join!(read(body), long, clone.drain(seconds(3)));
        assert!(text(&bytes).contains(MESSAGE));
        assert_eq!(start.elapsed(), Duration::from_secs(3));
        assert_eq!(
            served.outcomes(),
            ["shut_down", "refused"]
                .map(str::to_owned)
                .into_iter()
                .rev()
                .collect::<Vec<_>>()
        );
    });
}

/// Each drain has its own task.
#[test]
fn every_drain_ends_and_one_that_is_dropped_leaves_nothing() {
    in_virtual_time(async {
        let served = serve::<UiStream>(Act::Word);
        let body = ask::<UiStream>(&served.router, "").await;
        let drain = || {
            let router = served.router.clone();
            async move { router.drain(pending()).await }
        };
        let task = Arc::new(Idle);
        let waker = Waker::from(Arc::clone(&task));
        let mut dropped = Box::pin(drain());
        let polled = dropped.poll_unpin(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        drop((dropped, waker));
        assert_eq!(Arc::strong_count(&task), 1);
        let (one, two) = (tokio::spawn(drain()), tokio::spawn(drain()));
        seconds(1).await;
        assert!(!one.is_finished() && !two.is_finished());
        drop(body);
        seconds(1).await;
        assert!(one.is_finished() && two.is_finished());
    });
}

#[test]
fn without_a_timer_it_ends_turns_and_waits_for_nobody() {
    in_virtual_time(async {
        let served = serve::<UiStream>(Act::Word);
        let router = served.router.clone().env(Env::new(Fixed { ticks: false }));
        let mut body = ask::<UiStream>(&router, "").await;
        assert!(!so_far(&mut body).await.is_empty());
        let start = Instant::now();
        router.drain(seconds(3)).await;
        assert_eq!(start.elapsed(), Duration::from_secs(3));
        assert!(text(&read(body).await).contains(MESSAGE));
    });
}

#[test]
fn a_resumable_reply_fails_with_a_reader_and_without() {
    for read_on in [true, false] {
        in_virtual_time(async {
            let store = Spy::new(MemoryReplyStore::new());
            let actor = Actor {
                act: Act::Word,
                alive: Arc::default(),
            };
            let alive = Arc::clone(&actor.alive);
            let router = router::<UiStream>(actor, Some(replies(store.clone())));
            let (router, outcomes) = watch(router);
            let body = ask::<UiStream>(&router, "ada").await;
            seconds(1).await;
            let start = Instant::now();
            let drain = router.drain(seconds(3));
            if read_on {
                let (bytes, ()) = futures::join!(read(body), drain);
                assert!(text(&bytes).contains(MESSAGE));
            } else {
                drop(body);
                drain.await;
            }
            assert_eq!(start.elapsed(), Duration::from_secs(3));
            let end = store.state(&store.last()).await.unwrap().end;
            assert_eq!(end, Some(ReplyEnd::Failed));
            assert_eq!(alive.load(Ordering::Relaxed), 0);
            assert_eq!(*outcomes.lock().unwrap(), ["shut_down"]);
        });
    }
}

/// The reply goes on where it runs; its reader here has to see that something is missing.
#[test]
fn a_reader_of_another_servers_reply_is_not_just_cut() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let talker = || crate::server::Talker {
            words: 100,
            ..Default::default()
        };
        let one = router::<UiStream>(talker(), Some(replies(store.clone())));
        let two = router::<UiStream>(talker(), Some(replies(store.clone())));
        let body = ask::<UiStream>(&one, "ada").await;
        let path = "/api/chat/chat-1/stream";
        let elsewhere = send(&two, "ada", Method::GET, path, "").await.into_body();
        let start = Instant::now();
        let drain = async {
            two.drain(seconds(3)).await;
            start.elapsed()
        };
        let (whole, elsewhere, took) = futures::join!(read(body), read(elsewhere), drain);
        assert_eq!(took, Duration::from_secs(3));
        assert!(text(&whole).contains("word99"));
        assert!(text(&elsewhere).contains("word9"));
        assert!(text(&elsewhere).contains(r#""type":"error""#));
        let end = store.state(&store.last()).await.unwrap().end;
        assert_eq!(end, Some(ReplyEnd::Done));
    });
}

/// A shutdown while the head waits for the first output is a status.
#[test]
fn a_head_that_waits_gets_a_status() {
    in_virtual_time(async {
        let served = serve::<OpenAi>(Act::Silent);
        let router = served
            .router
            .clone()
            .first_output_timeout(Duration::from_secs(60));
        let ask = send(&router, "", Method::POST, "/v1/chat/completions", HI);
        let (response, ()) = futures::join!(ask, router.drain(seconds(1)));
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["x-should-retry"], "false");
        assert!(text(&read(response.into_body()).await).contains("shutting down"));
        assert_eq!(served.outcomes(), ["shut_down"]);
    });
}

const HI: &str = r#"{"model":"echo","stream":true,"messages":[{"role":"user","content":"hi"}]}"#;
