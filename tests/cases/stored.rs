//! Keys, records and questions as servers store them, to the byte: a server of the next version reads what one of this version has stored.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::conversations::{
    ConversationStore, Conversations, MemoryConversationStore, RecordError, RecordKey,
};
use copilot_wire::replies::{
    ConversationKey, LogPage, MemoryReplyStore, Replies, ReplyEnd, ReplyId, ReplyMeta, ReplyState,
    ReplyStore, StoreError, Task,
};
use copilot_wire::{Router, anthropic, async_trait, openai, responses, ui_stream};
use futures::executor::block_on;
use serde_json::json;

use crate::exchange::{send, whole};
use crate::file::is_written_anew;
use crate::parts::Parts;
use crate::{fixed, settled};

/// A store of both kinds that writes down what it is told.
#[derive(Clone, Debug, Default)]
struct Book {
    replies: Arc<MemoryReplyStore>,
    records: Arc<MemoryConversationStore>,
    text: Arc<Mutex<String>>,
}

impl Book {
    fn note(&self, line: &str) {
        let mut text = self.text.lock().unwrap();
        writeln!(text, "{line}").unwrap();
    }
}

#[async_trait]
impl ConversationStore for Book {
    async fn put(
        &self,
        key: &RecordKey,
        record: Bytes,
        keep: Duration,
    ) -> Result<bool, RecordError> {
        let text = settled(std::str::from_utf8(&record).unwrap());
        self.note(&format!("record {key} for {keep:?}\n  {text}"));
        self.records.put(key, record, keep).await
    }

    async fn get(
        &self,
        keys: &[RecordKey],
        keep: Duration,
    ) -> Result<Vec<Option<Bytes>>, RecordError> {
        let texts: Vec<_> = keys.iter().map(RecordKey::to_string).collect();
        self.note(&format!("records {}", texts.join(" ")));
        self.records.get(keys, keep).await
    }

    async fn delete(&self, key: &RecordKey) -> Result<bool, RecordError> {
        self.records.delete(key).await
    }
}

#[async_trait]
impl ReplyStore for Book {
    // The ids of new replies are random.
    async fn create(&self, id: &ReplyId, meta: &ReplyMeta) -> Result<(), StoreError> {
        let conversation = meta.conversation.map(|key| key.to_string());
        let times = (meta.lifetime, meta.retention);
        self.note(&format!("reply of {conversation:?} for {times:?}"));
        self.replies.create(id, meta).await
    }

    async fn append(
        &self,
        id: &ReplyId,
        numbers: Range<u64>,
        events: Bytes,
    ) -> Result<Duration, StoreError> {
        self.note(&format!("events {numbers:?}"));
        self.replies.append(id, numbers, events).await
    }

    async fn seal(&self, id: &ReplyId, end: ReplyEnd) -> Result<ReplyEnd, StoreError> {
        self.note(&format!("end {}", end.as_str()));
        self.replies.seal(id, end).await
    }

    async fn read(&self, id: &ReplyId, from: u64) -> Result<LogPage, StoreError> {
        self.replies.read(id, from).await
    }

    async fn state(&self, id: &ReplyId) -> Result<ReplyState, StoreError> {
        self.note(&format!("state {id}"));
        self.replies.state(id).await
    }

    async fn note_reader(&self, id: &ReplyId) -> Result<(), StoreError> {
        self.replies.note_reader(id).await
    }

    async fn latest(&self, conversation: &ConversationKey) -> Result<Option<ReplyId>, StoreError> {
        self.note(&format!("latest {conversation}"));
        self.replies.latest(conversation).await
    }

    async fn cancel(&self, id: &ReplyId) -> Result<(), StoreError> {
        self.replies.cancel(id).await
    }

    async fn cancelled(&self, id: &ReplyId) {
        self.replies.cancelled(id).await;
    }
}

fn spawn(task: Task) {
    std::thread::spawn(move || block_on(task)).join().unwrap();
}

#[test]
fn stored_forms_are_what_they_were() {
    let book = Book::default();
    book.note(&format!(
        "key {}",
        RecordKey::new("ada", "/v1/responses", "resp_1")
    ));
    let parts = Arc::new(Mutex::new(Vec::new()));
    let agent = || Parts(Arc::clone(&parts));
    let router = Router::new()
        .env(fixed())
        .secret([7; 32])
        .conversations(Conversations::single_user(book.clone()))
        .resumable(Replies::single_user(book.clone(), spawn))
        .mount(responses::Model::new("echo"), agent())
        .unwrap()
        .mount(anthropic::Model::new("echo"), agent())
        .unwrap()
        .mount(ui_stream::Mount::new(), agent())
        .unwrap();
    let ask = |path: &str, says: &str, body: &str| {
        book.note(&format!("\n# {path} {body}"));
        *parts.lock().unwrap() = says.lines().map(str::to_owned).collect();
        let response = send(&router, http::Request::post(path), body);
        assert_eq!(response.status(), 200);
        whole(response.into_body())
    };
    let text = "reasoning \"Hm.\"\ntext \"Hi\"\nusage {\"input\": 3, \"output\": 4}";
    let call = "call {\"name\": \"get_tide\", \"arguments\": {\"port\": \"Brest\"}}";
    let question =
        "confirm {\"id\": \"del-1\", \"title\": \"Delete?\", \"message\": \"All of it.\"}";
    let id_of = |document: &str| {
        let id = document.split("\"id\":\"").nth(1).unwrap();
        id.split('"').next().unwrap().to_owned()
    };
    let first = ask(
        "/v1/responses",
        text,
        r#"{"model":"echo","input":"Hi","instructions":"Be brief."}"#,
    );
    let tool = r#""tools":[{"type":"function","name":"get_tide"}]"#;
    let next = r#""input":[{"role":"user","content":"And now?"}]"#;
    let previous = format!(r#"{next},"previous_response_id":"{}""#, id_of(&first));
    ask(
        "/v1/responses",
        call,
        &format!(r#"{{"model":"echo","stream":true,{previous},{tool}}}"#),
    );
    let list = id_of(&ask("/v1/conversations", "", "{}"));
    ask(
        "/v1/responses",
        text,
        &format!(r#"{{"model":"echo","conversation":"{list}",{next}}}"#),
    );
    ask(
        "/v1/responses",
        text,
        r#"{"model":"echo","input":"Hi","store":false,"stream":true}"#,
    );
    let ask_user = r#""max_tokens":9,"messages":[{"role":"user","content":"Hi"}]"#;
    let first = ask(
        "/v1/messages",
        question,
        &format!(r#"{{"model":"echo",{ask_user},"thread":{{"type":"create"}}}}"#),
    );
    let thread = format!(
        r#"{{"type":"continue","previous_message_id":"{}"}}"#,
        id_of(&first)
    );
    ask(
        "/v1/messages",
        text,
        &format!(r#"{{"model":"echo",{ask_user},"thread":{thread}}}"#),
    );
    ask(
        "/api/chat",
        text,
        r#"{"id":"c","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"Hi"}]}]}"#,
    );
    let reply = http::Request::get("/v1/responses/resp_1?stream=true");
    assert_eq!(send(&router, reply, "").status(), 404);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/stored/forms.txt");
    let text = book.text.lock().unwrap();
    if is_written_anew() {
        std::fs::write(path, &*text).unwrap();
    }
    assert_eq!(*text, std::fs::read_to_string(path).unwrap());
}

/// A question that a server of an earlier version has asked, whose key this one shares.
#[test]
fn a_question_that_was_asked_before_an_update_is_answered_after_it() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/stored/question.json");
    let post = |part: &str, body: &str| {
        let parts = Parts(Arc::new(Mutex::new(vec![part.to_owned()])));
        let router = Router::new().env(fixed()).secret([7; 32]);
        let router = router.mount(openai::Model::new("echo"), parts).unwrap();
        whole(send(&router, http::Request::post("/v1/chat/completions"), body).into_body())
    };
    // The question stays the one of the earlier version.
    if is_written_anew() && !std::path::Path::new(path).exists() {
        let mut body = json!({"model": "echo", "messages": [{"role": "user", "content": "Hi"}]});
        let asked = post(
            r#"confirm {"id": "del-1", "title": "Delete?", "message": "All of it."}"#,
            &body.to_string(),
        );
        let asked: serde_json::Value = serde_json::from_str(&asked).unwrap();
        let question = asked["choices"][0]["message"]["content"].as_str().unwrap();
        let yes = &question.split("reply: ").nth(1).unwrap()[.."yes 000000".len()];
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": question}));
        messages.push(json!({"role": "user", "content": yes}));
        std::fs::write(path, body.to_string() + "\n").unwrap();
    }
    let said = post("answer", &std::fs::read_to_string(path).unwrap());
    assert!(said.contains("del-1 Accepted"), "{said}");
}
