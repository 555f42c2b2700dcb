//! Lists of what a server keeps: replies, conversations, messages of a socket and models.

use std::collections::HashMap;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::conversations::{
    ConversationStore, Conversations, MemoryConversationStore, RecordError, RecordKey,
};
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::replies::{
    ConversationKey, MemoryReplyStore, ReplyEnd, ReplyId, ReplyMeta, ReplyStore as _,
};
use copilot_wire::responses;
use copilot_wire::router::socket::SocketMessage;
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait, openai, ui_stream};
use futures_core::Stream;
use guard::Work;
use guard::lists::{List, each};
use guard::memory::Piece;
use guard::reply::frames;

/// Says a word.
struct Brief;

#[async_trait]
impl<P: Protocol> Agent<P> for Brief {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        Ok(reply.text("Yes.").await?)
    }
}

/// Runs what waits for nothing.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

fn text(body: Body) -> String {
    String::from_utf8(frames(body).flatten().collect()).unwrap()
}

fn post(router: &Router, path: &str, body: String) -> String {
    let request = http::Request::post(path)
        .header("content-type", "application/json")
        .header("content-length", body.len())
        .body(Piece(Some(body.into())))
        .unwrap();
    let response = now(router.handle(request));
    assert!(response.status().is_success(), "{}", response.status());
    text(response.into_body())
}

fn id(at: usize) -> [u8; 32] {
    let mut id = [0; 32];
    id[..8].copy_from_slice(&at.to_be_bytes());
    id
}

const HOUR: Duration = Duration::from_secs(3600);

/// Replies, all of one conversation, of which each pushes an older one out.
fn replies(count: usize) -> Work {
    Box::new(move || {
        let store = MemoryReplyStore::new().limit(1 << 15);
        let meta = ReplyMeta::new(HOUR, HOUR).conversation(ConversationKey::from_bytes(id(0)));
        for at in 0..count {
            let id = ReplyId::from_bytes(id(at));
            now(store.create(&id, &meta)).unwrap();
            now(store.append(&id, 0..1, "data: a\n\n".into())).unwrap();
            now(store.note_reader(&id)).unwrap();
            now(store.seal(&id, ReplyEnd::Done)).unwrap();
            black_box(now(store.read(&id, 0)).unwrap());
        }
        store.len()
    })
}

/// The events of one reply, each read as soon as it is there.
fn events(count: usize) -> Work {
    Box::new(move || {
        let store = MemoryReplyStore::new();
        let id = ReplyId::from_bytes(id(0));
        now(store.create(&id, &ReplyMeta::new(HOUR, HOUR))).unwrap();
        for at in 0..count as u64 {
            now(store.append(&id, at..at + 1, "data: a\n\n".into())).unwrap();
            black_box(now(store.read(&id, at)).unwrap());
        }
        now(store.read(&id, 0)).unwrap().events.len()
    })
}

/// Records, of which each pushes an older one out, all of one user.
fn records(count: usize) -> Work {
    Box::new(move || {
        let store = MemoryConversationStore::new().limit(1 << 15);
        let keys: Vec<_> = (0..count)
            .map(|at| RecordKey::new("u", "/", &at.to_string()))
            .collect();
        for key in &keys {
            now(store.put(key, Bytes::from_static(b"{}"), HOUR)).unwrap();
        }
        black_box(now(store.get(&keys, HOUR)).unwrap());
        keys.iter()
            .filter(|key| now(store.delete(key)).unwrap())
            .count()
    })
}

/// Records in a map. Those of the library's own store are also in order, which takes a little more than linear time.
#[derive(Debug, Default)]
struct Records(Mutex<HashMap<RecordKey, Bytes>>);

#[async_trait]
impl ConversationStore for Records {
    async fn put(&self, key: &RecordKey, record: Bytes, _: Duration) -> Result<bool, RecordError> {
        Ok(self.0.lock().unwrap().insert(*key, record).is_none())
    }

    async fn get(
        &self,
        keys: &[RecordKey],
        _: Duration,
    ) -> Result<Vec<Option<Bytes>>, RecordError> {
        let records = self.0.lock().unwrap();
        Ok(keys.iter().map(|key| records.get(key).cloned()).collect())
    }

    async fn delete(&self, key: &RecordKey) -> Result<bool, RecordError> {
        Ok(self.0.lock().unwrap().remove(key).is_some())
    }
}

fn responses() -> Router {
    let conversations = Conversations::single_user(Records::default());
    Router::new()
        .conversations(conversations.limit(10_000, 1 << 30))
        .mount(responses::Model::new("m"), Brief)
        .unwrap()
}

/// The next turn after so many, each of which names the one before.
fn turns(count: usize) -> Work {
    let router = responses();
    let next = |previous: &str| {
        let answer = post(
            &router,
            "/v1/responses",
            format!(r#"{{"model":"m","input":"a"{previous}}}"#),
        );
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        format!(r#","previous_response_id":{}"#, answer["id"])
    };
    // Each turn reads those before it, so fewer are enough.
    let last = (0..count / 4).fold(String::new(), |previous, _| next(&previous));
    Box::new(move || {
        let body = format!(r#"{{"model":"m","input":"a"{last}}}"#);
        post(&router, "/v1/responses", body).len()
    })
}

/// A turn that names the items of another by reference.
fn references(count: usize) -> Work {
    let router = responses();
    let items = each(count, |at| {
        format!(r#"{{"type":"reasoning","id":"rs_{at:04}","summary":[],"encrypted_content":"x"}}"#)
    });
    let ask = |input: String| {
        post(
            &router,
            "/v1/responses",
            format!(r#"{{"model":"m","input":[{input},{{"role":"user","content":"a"}}]}}"#),
        )
    };
    let answer: serde_json::Value = serde_json::from_str(&ask(items)).unwrap();
    let reference = format!(
        r#"{{"type":"item_reference","id":{}}}"#,
        answer["output"][0]["id"]
    );
    let input = each(count, |_| reference.clone());
    drop(ask(input.clone()));
    Box::new(move || {
        let body = format!(r#"{{"model":"m","input":[{input},{{"role":"user","content":"a"}}]}}"#);
        post(&router, "/v1/responses", body).len()
    })
}

/// The messages that are received on a socket, and those that answer.
fn received(path: &'static str, messages: Vec<String>) -> Work {
    let router = responses().mount(ui_stream::Mount::new(), Brief).unwrap();
    Box::new(move || {
        let mut head = http::Request::get(path);
        for (name, value) in [
            ("host", "127.0.0.1"),
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ] {
            head = head.header(name, value);
        }
        let (head, ()) = head.body(()).unwrap().into_parts();
        let mut socket = pin!(now(router.socket(head)).map_err(|_| "refused").unwrap());
        let mut found = 0;
        for message in &messages {
            socket.receive(SocketMessage::Text(Bytes::from(message.clone())));
            let mut cx = Context::from_waker(Waker::noop());
            // Twice, as what was started may have woken it.
            for _ in 0..2 {
                while let Poll::Ready(Some(message)) = socket.as_mut().poll_next(&mut cx) {
                    black_box(message);
                    found += 1;
                }
            }
        }
        assert!(found >= messages.len(), "{found} messages");
        found
    })
}

fn chat(request: usize, more: &str) -> String {
    format!(
        r#"{{"type":"send","requestId":"r{request:04}","id":"a","trigger":"submit-message","messages":[{{"id":"u","role":"user","parts":[{{"type":"text","text":"hi"}}]}}],"headers":{{}},"body":{{{more}"team":"a"}}}}"#
    )
}

/// Models of one path, the last of which answers, and their list.
fn models(count: usize) -> Work {
    let mut router = Router::new();
    for at in 0..count {
        router = router
            .mount(openai::Model::new(format!("m{at:04}")), Brief)
            .unwrap();
    }
    Box::new(move || {
        let body = format!(
            r#"{{"model":"m{:04}","messages":[{{"role":"user","content":"a"}}]}}"#,
            count - 1
        );
        let request = http::Request::get("/v1/models").body(Piece(None)).unwrap();
        let list = text(now(router.handle(request)).into_body());
        post(&router, "/v1/chat/completions", body).len() + list.len()
    })
}

/// The models themselves.
fn mounted(count: usize) -> Work {
    Box::new(move || {
        drop(black_box(models(count)));
        count
    })
}

pub(crate) fn lists() -> Vec<List> {
    vec![
        List::new("replies", replies),
        List::new("events-of-a-reply", events),
        List::new("records", records),
        List::new("turns", turns),
        List::new("references", references),
        List::new("socket-members", |count| {
            received(
                "/api/chat",
                vec![chat(
                    0,
                    &format!("{},", each(count, |at| format!(r#""k{at:04}":0"#))),
                )],
            )
        }),
        List::new("socket-same-member", |count| {
            received("/api/chat", vec![chat(0, &r#""id":0,"#.repeat(count))])
        }),
        List::new("socket-chats", |count| {
            received("/api/chat", (0..count).map(|at| chat(at, "")).collect())
        }),
        List::new("socket-turns", |count| {
            let create = r#"{"type":"response.create","model":"m","input":"hi"}"#;
            received("/v1/responses", vec![create.to_owned(); count])
        }),
        List::new("models", models),
        List::new("mounted-models", mounted),
    ]
}
