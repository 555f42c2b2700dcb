//! Every interleaving of small models: a reply and its body on several threads, a shutdown, stored replies, and sockets.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release --test loom --features resumable,ui_stream --target-dir target/loom` runs them;
//! without the flag this is an empty test. In every interleaving of a model no event is lost, doubled or out of order, a turn has one end, and
//! nobody waits for ever: loom reports a deadlock where a wake is lost.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::future::{Future, poll_fn, ready};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::openai::{Model, OpenAi};
use copilot_wire::protocol::{AgentError, Env, Environment, Protocol, SendError, Ticks};
use copilot_wire::replies::{MemoryReplyStore, Replies};
use copilot_wire::router::socket::{Socket, SocketMessage};
use copilot_wire::ui_stream::{self, UiStream};
use copilot_wire::{Body, Reply, Request, Router, agent_fn};
use futures::{Stream, stream};
use loom::future::block_on;
use loom::model::Builder;
use loom::thread;

/// Explores a model, with at most this many preemptions of a thread that could go on.
fn explore(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 50_000;
    builder.check(model);
}

struct NoTimer;

impl Environment for NoTimer {
    fn ticks(&self, _: Duration) -> Option<Ticks> {
        None
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

const QUESTION: &str = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}"#;

const WITHOUT_STREAM: &str = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;

fn body<F, Fut>(agent: F) -> Body
where
    F: Fn(Reply<OpenAi>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    answer(QUESTION, agent)
}

fn answer<F, Fut>(question: &'static str, agent: F) -> Body
where
    F: Fn(Reply<OpenAi>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    let (parts, ()) = http::Request::new(()).into_parts();
    let message = OpenAi::read(&parts, Bytes::from_static(question.as_bytes())).unwrap();
    let request = Request::from_parts(parts, message);
    Body::run(
        agent_fn(move |_, reply| agent(reply)),
        request,
        &Env::new(NoTimer),
    )
}

/// Reads a body to its end.
fn whole(mut body: Body) -> String {
    let mut stream = Vec::new();
    block_on(async {
        while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await {
            stream.extend_from_slice(&frame);
        }
    });
    String::from_utf8(stream).unwrap()
}

/// Returns the texts of a stream that was answered, or `None` if it has another end or several.
fn texts(stream: &str) -> Option<Vec<&str>> {
    let is_whole = stream.ends_with("data: [DONE]\n\n") && stream.matches("[DONE]").count() == 1;
    let pieces = stream.split(r#""content":""#).skip(1);
    let texts = pieces.map(|piece| piece.split('"').next().unwrap());
    is_whole.then(|| texts.filter(|text| !text.is_empty()).collect())
}

#[test]
fn a_reply_on_another_thread() {
    explore(3, || {
        let body = body(|reply| {
            thread::spawn(move || {
                block_on(async {
                    reply.text("a").await.unwrap();
                    reply.text("b").await.unwrap();
                });
            });
            ready(Ok(()))
        });
        assert_eq!(texts(&whole(body)), Some(vec!["a", "b"]));
    });
}

#[test]
fn an_agent_that_waits_for_another_thread() {
    explore(3, || {
        let body = body(async |reply| {
            reply.text("a").await?;
            let (sender, receiver) = futures::channel::oneshot::channel();
            thread::spawn(move || {
                block_on(async {
                    reply.text("b").await.unwrap();
                    sender.send(reply).ok().unwrap();
                });
            });
            let reply = receiver.await.map_err(|_| AgentError::new("lost"))?;
            reply.text("c").await?;
            Ok(())
        });
        assert_eq!(texts(&whole(body)), Some(vec!["a", "b", "c"]));
    });
}

#[test]
fn an_answer_without_a_stream_from_two_threads() {
    explore(3, || {
        let body = answer(WITHOUT_STREAM, async |reply| {
            let reply = Arc::new(reply);
            reply.text("a").await?;
            reply.text("b").await?;
            let other = Arc::clone(&reply);
            let thread = thread::spawn(move || block_on(other.text("c")).unwrap());
            reply.text("d").await?;
            thread.join().unwrap();
            reply.text("e").await?;
            Ok(())
        });
        let document = whole(body);
        let orders = ["abcde", "abdce"].map(|text| format!(r#""content":"{text}""#));
        assert!(orders.iter().any(|it| document.contains(it)), "{document}");
    });
}

#[test]
fn a_detached_run() {
    explore(3, || {
        let mut body = body(async |reply| {
            reply.text("a").await?;
            reply.text("b").await?;
            Ok(())
        });
        let run = body.detach().unwrap();
        let thread = thread::spawn(move || block_on(run));
        assert_eq!(texts(&whole(body)), Some(vec!["a", "b"]));
        thread.join().unwrap();
    });
}

#[test]
fn a_detached_run_whose_reply_is_elsewhere() {
    explore(2, || {
        let mut body = body(|reply| {
            thread::spawn(move || block_on(async { reply.text("a").await.unwrap() }));
            ready(Ok(()))
        });
        let run = body.detach().unwrap();
        let thread = thread::spawn(move || block_on(run));
        assert_eq!(texts(&whole(body)), Some(vec!["a"]));
        thread.join().unwrap();
    });
}

#[test]
fn a_body_that_is_dropped() {
    explore(3, || {
        let mut body = body(|reply| {
            thread::spawn(move || {
                block_on(async {
                    // Returns at the latest when the body is gone.
                    reply.closed().await;
                    assert_eq!(reply.text("a").await, Err(SendError::Closed));
                });
            });
            ready(Ok(()))
        });
        block_on(poll_fn(|cx| {
            let _ = Pin::new(&mut body).poll_next(cx);
            std::task::Poll::Ready(())
        }));
        drop(body);
    });
}

#[test]
fn a_body_that_is_dropped_while_somebody_waits_for_space() {
    explore(2, || {
        let body = body(|reply| {
            thread::spawn(move || {
                block_on(async { while reply.text(&"x".repeat(9000)).await.is_ok() {} });
            });
            ready(Ok(()))
        });
        drop(body);
    });
}

fn ask(router: &Router) -> Body {
    let question = Bytes::from_static(QUESTION.as_bytes());
    let chunks = stream::iter([Ok::<_, std::convert::Infallible>(question)]);
    let request =
        http::Request::post("/v1/chat/completions").header("content-type", "application/json");
    let request = request.body(chunks).unwrap();
    block_on(router.handle(request)).into_body()
}

#[test]
fn a_shutdown() {
    explore(2, || {
        let agent = agent_fn(async |_, reply: Reply<OpenAi>| Ok(reply.text("a").await?));
        let router = Router::new()
            .env(Env::new(NoTimer))
            .mount(Model::new("m"), agent)
            .unwrap();
        let reader = router.clone();
        let thread = thread::spawn(move || whole(ask(&reader)));
        block_on(pin!(router.drain(ready(()))));
        let stream = thread.join().unwrap();
        // Answered as a whole, failed as a whole, or refused.
        let failed = stream.matches(r#""error":{"#).count();
        assert_eq!(
            usize::from(texts(&stream).is_some()) + failed,
            1,
            "{stream}"
        );
    });
}

#[test]
fn a_stored_reply() {
    explore(1, || {
        let spawn = |task| drop(thread::spawn(move || block_on(task)));
        let replies = Replies::single_user(MemoryReplyStore::new().env(Env::new(NoTimer)), spawn);
        let agent = agent_fn(async |_, reply: Reply<OpenAi>| {
            reply.text("a").await?;
            Ok(reply.text("b").await?)
        });
        let router = Router::new()
            .env(Env::new(NoTimer))
            .resumable(replies.join(true));
        let router = router.mount(Model::new("m"), agent).unwrap();
        let reader = router.clone();
        let thread = thread::spawn(move || whole(ask(&reader)));
        let here = whole(ask(&router));
        assert_eq!(texts(&here), Some(vec!["a", "b"]));
        assert_eq!(texts(&thread.join().unwrap()), Some(vec!["a", "b"]));
    });
}

/// Opens a socket and asks a question in each of several chats. Each answer is one text, written on another thread.
fn socket(router: Router, chats: &[&str]) -> (Router, Socket) {
    let agent = agent_fn(|_, reply: Reply<UiStream>| {
        thread::spawn(move || {
            // Fails if the turn has been ended by a shutdown.
            let _ = block_on(reply.text("a"));
        });
        ready(Ok(()))
    });
    let router = router.mount(ui_stream::Mount::new(), agent).unwrap();
    let handshake = http::Request::get("/api/chat")
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    let (handshake, ()) = handshake.body(()).unwrap().into_parts();
    let mut socket = block_on(router.socket(handshake)).unwrap();
    for chat in chats {
        let question = format!(
            r#"{{"type":"send","requestId":"{chat}","id":"{chat}","trigger":"submit-message","messages":[{{"id":"u","role":"user","parts":[{{"type":"text","text":"hi"}}]}}],"headers":{{}},"body":{{}}}}"#
        );
        socket.receive(SocketMessage::Text(question.into()));
    }
    (router, socket)
}

fn next(socket: &mut Socket) -> SocketMessage {
    block_on(poll_fn(|cx| Pin::new(&mut *socket).poll_next(cx))).unwrap()
}

#[test]
fn two_turns_of_a_socket() {
    explore(2, || {
        let chats = ["x", "y"];
        let router = Router::new().env(Env::new(NoTimer));
        let (_router, mut socket) = socket(router, &chats);
        let mut messages = chats.map(|_| String::new());
        while !messages.iter().all(|it| it.contains(r#""type":"end""#)) {
            let SocketMessage::Text(message) = next(&mut socket) else {
                panic!("{messages:?}");
            };
            let message = std::str::from_utf8(&message).unwrap();
            let is_of = |chat| message.contains(&format!(r#""requestId":"{chat}""#));
            let chat = chats.iter().position(is_of).unwrap();
            messages[chat].push_str(message);
        }
        for messages in messages {
            for (number, rest) in messages.split(r#""sequence":"#).skip(1).enumerate() {
                assert!(rest.starts_with(&format!("{number},")), "{messages}");
            }
            assert_eq!(messages.matches(r#""delta":"a""#).count(), 1, "{messages}");
            assert_eq!(messages.matches(r#""type":"end""#).count(), 1, "{messages}");
        }
    });
}

#[test]
fn a_socket_at_a_shutdown() {
    explore(3, || {
        let router = Router::new().env(Env::new(NoTimer));
        let (router, mut socket) = socket(router, &["x"]);
        let thread = thread::spawn(move || {
            let mut messages = String::new();
            loop {
                match next(&mut socket) {
                    SocketMessage::Text(message) => {
                        messages.push_str(std::str::from_utf8(&message).unwrap());
                    }
                    close => return (messages, close),
                }
            }
        });
        block_on(pin!(router.drain(ready(()))));
        let (messages, close) = thread.join().unwrap();
        assert!(matches!(close, SocketMessage::Close { code: 1001, .. }));
        // Answered as a whole, failed, or refused.
        let count = |part| messages.matches(part).count();
        let answered = count(r#""delta":"a""#) == 1 && count(r#""type":"error""#) == 0;
        let failed = count(r#""type":"error""#) == 1;
        assert!(answered ^ failed, "{messages}");
        assert!(failed || count(r#""type":"end""#) == 1, "{messages}");
    });
}
