//! A bridge in front of a replayed search engine, and readers of its answers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use copilot_wire::meilisearch::{
    ApiKey, ChatRequest, Event, Instance, Meilisearch, Message, StreamOutcome, Tools,
};
use copilot_wire::openai::{Event as OpenAiEvent, OpenAi};
use copilot_wire::protocol::{Env, Environment, EventDecoder};
use copilot_wire_kit::Toolkit;
use meilisearch_copilot::replay::{Recordings, Replay, Script, Step};
use meilisearch_copilot::{Bridge, Memory, Upstream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The lines that a log would show.
pub(crate) type Log = Arc<Mutex<String>>;

/// A fixed time, ids that count, and a log.
pub(crate) fn counting(log: Log) -> Env {
    struct Counting(AtomicU64);
    impl Environment for Counting {
        fn now(&self) -> SystemTime {
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_760_000_000)
        }
        fn random(&self, bytes: &mut [u8]) {
            let count = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
            let last = bytes.len().saturating_sub(count.len());
            bytes.fill(0);
            for (byte, count) in bytes[last..].iter_mut().zip(count) {
                *byte = count;
            }
        }
    }
    Env::new(Counting(AtomicU64::new(1))).observe(move |turn| {
        if turn.outcome.is_fault() {
            log.lock().unwrap().push_str(&format!("{turn:?} {turn}"));
        }
    })
}

/// A bridge in front of a replay, both on loopback.
pub(crate) struct Setup {
    pub(crate) base: String,
    pub(crate) replay: Replay,
    pub(crate) client: reqwest::Client,
    pub(crate) served: JoinHandle<()>,
    pub(crate) store: Arc<Memory>,
    pub(crate) log: Log,
}

impl Drop for Setup {
    fn drop(&mut self) {
        self.served.abort();
    }
}

impl Setup {
    pub(crate) async fn new(script: impl Script) -> Self {
        Self::patient(script, Duration::from_secs(20)).await
    }

    pub(crate) async fn patient(script: impl Script, patience: Duration) -> Self {
        Self::with(script, patience, |bridge| bridge).await
    }

    pub(crate) async fn with(
        script: impl Script,
        patience: Duration,
        set: impl FnOnce(Bridge) -> Bridge,
    ) -> Self {
        let replay = Replay::start(script).await.unwrap();
        let key = ApiKey::new("key").unwrap();
        let instance = Instance::new(&replay.url()).unwrap().key(key);
        let upstream = Upstream::new(instance, "films", patience).unwrap();
        let store = Arc::new(Memory::default());
        let bridge = Bridge::new(upstream, "search_all_tools").store(Arc::clone(&store) as _);
        let log = Log::default();
        let env = counting(Arc::clone(&log));
        let router = meilisearch_copilot::router(set(bridge), env).unwrap();
        // Failures are compared in the streams of all front ends.
        let router = router.first_output_timeout(Duration::ZERO);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let served = tokio::spawn(async move {
            let forever = std::future::pending();
            copilot_wire_hyper::serve(listener, router, forever)
                .await
                .unwrap();
        });
        Self {
            base,
            replay,
            client: reqwest::Client::new(),
            served,
            store,
            log,
        }
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> reqwest::Response {
        let mut request = self
            .client
            .post(format!("{}{path}", self.base))
            .header("content-type", "application/json")
            .body(body.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if path.starts_with("/chats/") {
            request = request.header("authorization", "Bearer key");
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        response
    }

    /// Asks as `front` does; returns the whole stream.
    pub(crate) async fn ask(&self, front: &str, members: Value) -> String {
        let (path, body) = asking(front, members);
        self.post(path, &[], body).await.text().await.unwrap()
    }

    pub(crate) async fn meilisearch(
        &self,
        model: &str,
        tools: Tools,
    ) -> (Vec<Event>, StreamOutcome) {
        let chat = ChatRequest::new(model, [Message::user("Any robots?")]).tools(tools);
        let body = serde_json::from_slice(&chat.to_json()).unwrap();
        let response = self.post("/chats/any/chat/completions", &[], body).await;
        read(&response.bytes().await.unwrap())
    }

    pub(crate) async fn openai(&self, prompt: &str) -> OpenAiAnswer {
        let messages = json!([{"role": "user", "content": prompt}]);
        let body = json!({"model": "search", "stream": true, "messages": messages});
        let response = self.post("/v1/chat/completions", &[], body).await;
        OpenAiAnswer::read(&response.bytes().await.unwrap())
    }

    pub(crate) async fn github(&self, thread: &str, messages: &[(&str, &str)]) -> GitHubAnswer {
        let messages: Vec<_> = messages
            .iter()
            .map(|(role, content)| json!({"role": role, "content": content}))
            .collect();
        let body = json!({"copilot_thread_id": thread, "messages": messages});
        let response = self.post("/github", &[], body).await;
        GitHubAnswer::read(&response.text().await.unwrap())
    }

    pub(crate) async fn openbb(&self, trace: &str, messages: &[(&str, &str)]) -> String {
        let messages: Vec<_> = messages
            .iter()
            .map(|(role, content)| json!({"role": role, "content": content}))
            .collect();
        let headers = [("x-trace-id", trace)];
        let response = self
            .post("/v1/query", &headers, json!({"messages": messages}))
            .await;
        let mut text = String::new();
        let stream = response.text().await.unwrap();
        for block in stream.split("\n\n") {
            let mut lines = block.lines();
            if lines.next() == Some("event: copilotMessageChunk") {
                let data = lines.next().unwrap().strip_prefix("data: ").unwrap();
                let data: Value = serde_json::from_str(data).unwrap();
                text.push_str(data["delta"].as_str().unwrap());
            }
        }
        text
    }
}

/// The names of the front ends.
pub(crate) const FRONTS: [&str; 8] = [
    "openbb",
    "github",
    "openai",
    "responses",
    "anthropic",
    "meilisearch",
    "ui_stream",
    "ag_ui",
];

/// Returns the path of a front end and a request that asks "x", with further members.
pub(crate) fn asking(front: &str, members: Value) -> (&'static str, Value) {
    let user = json!([{"role": "user", "content": "x"}]);
    let (path, mut body) = match front {
        "openbb" => (
            "/v1/query",
            json!({"messages": [{"role": "human", "content": "x"}]}),
        ),
        "github" => ("/github", json!({"messages": user})),
        "openai" => (
            "/v1/chat/completions",
            json!({"model": "search", "stream": true, "messages": user}),
        ),
        "responses" => (
            "/v1/responses",
            json!({"model": "search", "stream": true, "input": "x"}),
        ),
        "anthropic" => (
            "/v1/messages",
            json!({"model": "search", "stream": true, "max_tokens": 1024, "messages": user}),
        ),
        "meilisearch" => (
            "/chats/any/chat/completions",
            json!({
                "model": "m", "stream": true, "messages": user,
                "tools": [
                    {"type": "function", "function": {"name": "_meiliSearchProgress"}},
                    {"type": "function", "function": {"name": "_meiliSearchSources"}},
                ],
            }),
        ),
        "ui_stream" => (
            "/api/chat",
            json!({
                "id": "c", "trigger": "submit-message",
                "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "x"}]}],
            }),
        ),
        "ag_ui" => (
            "/agui",
            json!({
                "threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [],
                "messages": [{"id": "u", "role": "user", "content": "x"}], "forwardedProps": {},
            }),
        ),
        front => panic!("{front}"),
    };
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
    (path, body)
}

/// Returns the text of the answer in a stream, as clients of `front` read it.
pub(crate) fn text_of(front: &str, stream: &str) -> String {
    fn decoded<P: Toolkit>(stream: &str) -> String {
        let mut decoder = EventDecoder::<P>::new();
        let (mut input, mut text) = (stream.as_bytes(), String::new());
        while let Ok(Some(event)) = decoder.next(&mut input) {
            let event = P::describe(event);
            if event.kind == "text" {
                text += &event.text;
            }
        }
        text
    }
    match front {
        "openbb" => decoded::<copilot_wire::openbb::OpenBb>(stream),
        "github" => decoded::<copilot_wire::github::GitHub>(stream),
        "openai" => decoded::<OpenAi>(stream),
        "responses" => decoded::<copilot_wire::responses::Responses>(stream),
        "anthropic" => decoded::<copilot_wire::anthropic::Anthropic>(stream),
        "meilisearch" => decoded::<Meilisearch>(stream),
        "ui_stream" => decoded::<copilot_wire::ui_stream::UiStream>(stream),
        "ag_ui" => decoded::<copilot_wire::ag_ui::AgUi>(stream),
        front => panic!("{front}"),
    }
}

pub(crate) fn read(stream: &[u8]) -> (Vec<Event>, StreamOutcome) {
    let mut decoder = EventDecoder::<Meilisearch>::new();
    let mut events = Vec::new();
    let mut input = stream;
    while let Some(event) = decoder.next(&mut input).unwrap() {
        events.push(event.clone());
    }
    (events, decoder.decoder().outcome())
}

pub(crate) fn text(events: &[Event]) -> String {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

#[derive(Debug, Default)]
pub(crate) struct OpenAiAnswer {
    pub(crate) text: String,
    pub(crate) finish: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) done: bool,
}

impl OpenAiAnswer {
    pub(crate) fn read(stream: &[u8]) -> Self {
        let mut answer = Self::default();
        let mut decoder = EventDecoder::<OpenAi>::new();
        let mut input = stream;
        while let Some(event) = decoder.next(&mut input).unwrap() {
            match event {
                OpenAiEvent::Chunk(chunk) => {
                    let chunk = serde_json::to_value(chunk).unwrap();
                    let choice = &chunk["choices"][0];
                    answer
                        .text
                        .push_str(choice["delta"]["content"].as_str().unwrap_or(""));
                    if let Some(reason) = choice["finish_reason"].as_str() {
                        answer.finish = Some(reason.to_owned());
                    }
                }
                OpenAiEvent::Error(error) => answer.error = Some(error.message.clone()),
                OpenAiEvent::Done => answer.done = true,
                _ => {}
            }
        }
        answer
    }
}

#[derive(Debug, Default)]
pub(crate) struct GitHubAnswer {
    pub(crate) text: String,
    pub(crate) references: usize,
    pub(crate) error: bool,
    pub(crate) done: bool,
}

impl GitHubAnswer {
    pub(crate) fn read(stream: &str) -> Self {
        let mut answer = Self::default();
        for block in stream.split("\n\n") {
            let name = block.lines().find_map(|line| line.strip_prefix("event: "));
            let Some(data) = block.lines().find_map(|line| line.strip_prefix("data: ")) else {
                continue;
            };
            match (name, data) {
                (_, "[DONE]") => answer.done = true,
                (Some("copilot_errors"), _) => answer.error = true,
                (Some("copilot_references"), data) => {
                    let references: Value = serde_json::from_str(data).unwrap();
                    answer.references += references.as_array().unwrap().len();
                }
                (_, data) => {
                    let chunk: Value = serde_json::from_str(data).unwrap();
                    let content = &chunk["choices"][0]["delta"]["content"];
                    answer.text.push_str(content.as_str().unwrap_or(""));
                }
            }
        }
        answer
    }
}

pub(crate) fn recordings() -> Recordings {
    Recordings::new(Duration::ZERO)
}

/// The frames of a recording, and then something else.
pub(crate) fn then(name: &str, count: usize, last: Vec<Step>) -> impl Script {
    let frames: Vec<_> = Recordings::frames(Recordings::stream(name).unwrap(), Tools::ALL)
        .take(count)
        .map(Step::Send)
        .chain(last)
        .collect();
    move |_: &ChatRequest| Ok(frames.clone())
}

pub(crate) fn send(text: &'static str) -> Step {
    Step::Send(Bytes::from_static(text.as_bytes()))
}

/// Answers like the recording, and keeps what it was asked.
pub(crate) fn listening() -> (impl Script, Arc<Mutex<Vec<Value>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    let script = move |chat: &ChatRequest| {
        let messages = serde_json::to_value(&chat.messages).unwrap();
        heard.lock().unwrap().push(messages);
        recordings().answer("", chat)
    };
    (script, asked)
}

pub(crate) fn roles(messages: &Value) -> Vec<&str> {
    let messages = messages.as_array().unwrap();
    messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect()
}
