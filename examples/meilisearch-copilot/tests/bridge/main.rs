//! The bridge over HTTP, in front of a search engine that does what the test says.
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod failures;
#[cfg(unix)]
mod program;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use copilot_wire::meilisearch::{
    ApiError, ApiKey, ChatRequest, Event, Instance, Meilisearch, Message, Outcome, Sources, Tools,
};
use copilot_wire::openai::{Event as OpenAiEvent, OpenAi};
use copilot_wire::protocol::{Env, Environment, EventDecoder};
use meilisearch_copilot::replay::{Recordings, Replay, Script, Step};
use meilisearch_copilot::{Bridge, Memory, Store, Turn, Upstream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The lines that a log would show.
type Log = Arc<Mutex<String>>;

/// A fixed time, ids that count, and a log.
fn counting(log: Log) -> Env {
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
struct Setup {
    base: String,
    replay: Replay,
    client: reqwest::Client,
    served: JoinHandle<()>,
    store: Arc<Memory>,
    log: Log,
}

impl Drop for Setup {
    fn drop(&mut self) {
        self.served.abort();
    }
}

impl Setup {
    async fn new(script: impl Script) -> Self {
        Self::patient(script, Duration::from_secs(20)).await
    }

    async fn patient(script: impl Script, patience: Duration) -> Self {
        Self::with(script, patience, |bridge| bridge).await
    }

    async fn with(
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
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let served = tokio::spawn(async move {
            let forever = std::future::pending();
            hyper_server::serve(listener, router, forever)
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

    async fn post(&self, path: &str, headers: &[(&str, &str)], body: Value) -> reqwest::Response {
        let mut request = self
            .client
            .post(format!("{}{path}", self.base))
            .header("content-type", "application/json")
            .body(body.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        response
    }

    async fn meilisearch(&self, model: &str, tools: Tools) -> (Vec<Event>, Outcome) {
        let chat = ChatRequest::new(model, [Message::user("Any robots?")]).tools(tools);
        let body = serde_json::from_slice(&chat.to_json()).unwrap();
        let response = self.post("/chats/any/chat/completions", &[], body).await;
        read(&response.bytes().await.unwrap())
    }

    async fn openai(&self, prompt: &str) -> OpenAiAnswer {
        let messages = json!([{"role": "user", "content": prompt}]);
        let body = json!({"model": "search", "stream": true, "messages": messages});
        let response = self.post("/v1/chat/completions", &[], body).await;
        OpenAiAnswer::read(&response.bytes().await.unwrap())
    }

    async fn github(&self, thread: &str, messages: &[(&str, &str)]) -> GitHubAnswer {
        let messages: Vec<_> = messages
            .iter()
            .map(|(role, content)| json!({"role": role, "content": content}))
            .collect();
        let body = json!({"copilot_thread_id": thread, "messages": messages});
        let response = self.post("/github", &[], body).await;
        GitHubAnswer::read(&response.text().await.unwrap())
    }

    async fn openbb(&self, trace: &str, messages: &[(&str, &str)]) -> String {
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

fn read(stream: &[u8]) -> (Vec<Event>, Outcome) {
    let mut decoder = EventDecoder::<Meilisearch>::new();
    let mut events = Vec::new();
    let mut input = stream;
    while let Some(event) = decoder.next(&mut input).unwrap() {
        events.push(event);
    }
    (events, decoder.decoder().outcome())
}

fn text(events: &[Event]) -> String {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

#[derive(Debug, Default)]
struct OpenAiAnswer {
    text: String,
    finish: Option<String>,
    error: Option<String>,
    done: bool,
}

impl OpenAiAnswer {
    fn read(stream: &[u8]) -> Self {
        let mut answer = Self::default();
        let mut decoder = EventDecoder::<OpenAi>::new();
        let mut input = stream;
        while let Some(event) = decoder.next(&mut input).unwrap() {
            match event {
                OpenAiEvent::Chunk(chunk) => {
                    let chunk = serde_json::to_value(&chunk).unwrap();
                    let choice = &chunk["choices"][0];
                    answer
                        .text
                        .push_str(choice["delta"]["content"].as_str().unwrap_or(""));
                    if let Some(reason) = choice["finish_reason"].as_str() {
                        answer.finish = Some(reason.to_owned());
                    }
                }
                OpenAiEvent::Error(error) => answer.error = Some(error.message),
                OpenAiEvent::Done => answer.done = true,
                _ => {}
            }
        }
        answer
    }
}

#[derive(Debug, Default)]
struct GitHubAnswer {
    text: String,
    references: usize,
    error: bool,
    done: bool,
}

impl GitHubAnswer {
    fn read(stream: &str) -> Self {
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

fn recordings() -> Recordings {
    Recordings::new(Duration::ZERO)
}

/// The frames of a recording, and then something else.
fn then(name: &str, count: usize, last: Vec<Step>) -> impl Script {
    let frames: Vec<_> = Recordings::frames(Recordings::stream(name).unwrap(), Tools::ALL)
        .take(count)
        .map(Step::Send)
        .chain(last)
        .collect();
    move |_: &ChatRequest| Ok(frames.clone())
}

fn send(text: &'static str) -> Step {
    Step::Send(Bytes::from_static(text.as_bytes()))
}

#[tokio::test]
async fn every_recording_passes_through_to_our_own_route() {
    let patience = Duration::from_secs(20);
    let setup = Setup::with(recordings(), patience, |bridge| bridge.error_frames(true)).await;
    for name in [
        "search_all_tools",
        "parallel_two_all_tools",
        "sequential_two_all_tools",
        "args_not_json_all_tools",
        "unknown_index_all_tools",
        "unicode_text",
        "refusal",
        "finish_length",
        "llm_401",
        "llm_error_second_turn",
        "provider_ip_denied",
    ] {
        let (events, outcome) = setup.meilisearch(name, Tools::ALL).await;
        let (recorded, expected) = read(Recordings::stream(name).unwrap().as_bytes());
        let terminal =
            |event: &Event| matches!(event, Event::Error(failure) if failure.is_terminal());
        // Word for word but for what a provider's connection error says.
        let kept = |events: Vec<Event>| -> Vec<Event> {
            events
                .into_iter()
                .filter(|event| !terminal(event))
                .collect()
        };
        assert_eq!(kept(events), kept(recorded), "{name}");
        match (outcome, expected) {
            (Outcome::Failed(ours), Outcome::Failed(theirs)) => {
                assert_eq!((ours.kind, ours.code), (theirs.kind, theirs.code), "{name}");
                assert!(!ours.message.contains("IP"), "{name}");
            }
            (ours, theirs) => assert_eq!(ours, theirs, "{name}"),
        }
    }
    for tools in [Tools::NONE, Tools::SOURCES, Tools::APPEND] {
        let (events, _) = setup.meilisearch("search_all_tools", tools).await;
        let heard = events
            .iter()
            .any(|event| matches!(event, Event::Progress(_)));
        assert!(!heard, "{tools:?}");
    }
}

#[tokio::test]
async fn an_openai_client_reads_the_answer_and_its_sources() {
    let setup = Setup::new(recordings()).await;
    let answer = setup.openai("Which films are about robots?").await;
    assert_eq!(
        answer.text,
        "I'll search for robots now.\n\n\
         Here is what I found: Blade Runner 2049 and Her both fit. \
         \n\n**Sources**\n\n\
         - Metropolis: A robot double stirs up the workers of a divided city.\n\
         - Blade Runner 2049: A young robot hunter uncovers a buried secret and looks for a missing predecessor.\n\
         - WALL·E: The last robot on a deserted Earth follows a visitor into space.\n"
    );
    assert_eq!(answer.finish.as_deref(), Some("stop"));
    assert!(answer.done && answer.error.is_none());
}

#[tokio::test]
async fn the_workspace_reads_the_answer() {
    let setup = Setup::new(recordings()).await;
    let answer = setup
        .openbb("t", &[("human", "Which films are about robots?")])
        .await;
    assert!(
        answer.starts_with("I'll search for robots now.\n\nHere is what I found"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_github_client_reads_the_answer_and_its_sources() {
    let setup = Setup::new(recordings()).await;
    let answer = setup
        .github("t", &[("user", "Which films are about robots?")])
        .await;
    assert!(
        answer
            .text
            .starts_with("I'll search for robots now.\n\nHere is what I found"),
        "{answer:?}"
    );
    assert!(
        answer.references == 3 || answer.text.contains("- Metropolis"),
        "{answer:?}"
    );
    assert!(answer.done && !answer.error);
}

#[tokio::test]
async fn text_survives_every_front_end() {
    let setup = Setup::new(then("unicode_text", usize::MAX, vec![])).await;
    let (events, _) = read(Recordings::stream("unicode_text").unwrap().as_bytes());
    let expected = text(&events);
    assert!(
        expected.contains("data: [DONE]")
            && expected.contains('\u{2028}')
            && expected.contains('\0')
    );
    assert_eq!(setup.openai("x").await.text, expected);
    assert_eq!(setup.github("t", &[("user", "x")]).await.text, expected);
    assert_eq!(setup.openbb("t", &[("human", "x")]).await, expected);
    assert_eq!(text(&setup.meilisearch("m", Tools::ALL).await.0), expected);
}

#[tokio::test]
async fn an_answer_that_goes_wrong_ends_cleanly() {
    let search = "search_all_tools";
    let error = "data: {\"event_id\":\"e\",\"type\":\"error\",\"error\":{\"type\":\"server_error\",\"code\":null,\"message\":\"out of order\",\"param\":null,\"event_id\":null}}\n\n";
    let done = || send("data: [DONE]\n\n");
    let cases = [
        ("dies", vec![Step::Break]),
        ("ends without its end", vec![]),
        ("stalls", vec![Step::Stall]),
        ("fails", vec![send(error), done()]),
        (
            "sends garbage",
            vec![send("data: {\"choices\":[}\n\n"), done()],
        ),
        (
            "sends a page",
            vec![send("<html>\n\n<body>gateway</body>"), send("\n\n")],
        ),
    ];
    for (what, last) in cases {
        let script = then(search, 6, last);
        let setup = Setup::patient(script, Duration::from_millis(300)).await;
        let (events, outcome) = setup.meilisearch("m", Tools::ALL).await;
        assert!(matches!(outcome, Outcome::Failed(_)), "{what}: {outcome:?}");
        assert_eq!(text(&events), "I'll search for robots now.", "{what}");

        let answer = setup.openai("x").await;
        assert!(
            answer.error.is_some() && answer.finish.is_none(),
            "{what}: {answer:?}"
        );
        assert_eq!(answer.text, "I'll search for robots now.", "{what}");

        let answer = setup.github("t", &[("user", "x")]).await;
        assert!(answer.error && answer.done, "{what}: {answer:?}");
        assert!(
            answer.text.starts_with("I'll search for robots now."),
            "{what}"
        );

        let answer = setup.openbb("t", &[("human", "x")]).await;
        assert!(
            answer.starts_with("I'll search for robots now."),
            "{what}: {answer}"
        );
        assert!(answer.len() > 40, "{what}: {answer}");
    }
}

#[tokio::test]
async fn a_search_that_fails_is_noted_and_the_answer_goes_on() {
    let setup = Setup::new(then("unknown_index_all_tools", usize::MAX, vec![])).await;
    let answer = setup.openai("x").await;
    assert!(
        answer
            .text
            .contains("A search failed: there is no such index."),
        "{}",
        answer.text
    );
    assert!(
        answer.text.ends_with("Sorry, that index does not exist."),
        "{}",
        answer.text
    );
    assert_eq!(answer.finish.as_deref(), Some("stop"));
    let (events, outcome) = setup.meilisearch("m", Tools::NONE).await;
    assert!(outcome.is_answered());
    // OpenAI's clients would abort on an error frame.
    assert!(!events.iter().any(|event| matches!(event, Event::Error(_))));
    assert!(text(&events).contains("A search failed"));
    // The search engine's own words name indexes, and more.
    assert!(!text(&events).contains("nope"));
    assert!(!answer.text.contains("nope"));
}

#[tokio::test]
async fn a_refused_request_is_a_failure_without_secrets() {
    let setup = Setup::new(|_: &ChatRequest| -> Result<Vec<Step>, ApiError> {
        Err(ApiError::invalid_api_key())
    })
    .await;
    let answer = setup.openai("x").await;
    assert!(answer.error.unwrap().contains("refused the request"));
    let (_, outcome) = setup.meilisearch("m", Tools::ALL).await;
    assert!(matches!(outcome, Outcome::Failed(_)));
}

#[tokio::test]
async fn large_sources_arrive_whole() {
    let documents: Vec<_> = (0..400)
        .map(
            |id| json!({"id": id, "title": format!("Film {id}"), "overview": "é\"\\\n".repeat(60)}),
        )
        .collect();
    let sources = Sources::new("call_1", &documents).unwrap();
    assert!(sources.documents.text().len() > 136 * 1024);
    let arguments = json!({"call_id": "call_1", "sources": documents}).to_string();
    let chunk = json!({"id": "1", "choices": [{"index": 0, "delta": {"tool_calls": [{
        "index": 0, "id": "u", "type": "function",
        "function": {"name": "_meiliSearchSources", "arguments": arguments}}]}}]});
    let finish =
        json!({"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let frames = format!("data: {chunk}\n\ndata: {finish}\n\ndata: [DONE]\n\n");
    let script = move |_: &ChatRequest| Ok(vec![Step::Send(Bytes::from(frames.clone()))]);
    let setup = Setup::new(script).await;
    let (events, outcome) = setup.meilisearch("m", Tools::ALL).await;
    assert!(outcome.is_answered());
    let [Event::Sources(got), ..] = &events[..] else {
        panic!("sources are due")
    };
    assert_eq!(got.decode::<Value>().unwrap(), documents);
    let answer = setup.openai("x").await;
    assert_eq!(answer.text.matches("\n- Film ").count(), 400);
}

#[tokio::test]
async fn a_front_end_that_leaves_stops_the_search_engine() {
    let setup = Setup::new(then("search_all_tools", 4, vec![Step::Stall])).await;
    let mut shortest = Duration::MAX;
    // The best of a few: the machine may be busy, the code may not.
    for _ in 0..5 {
        for path in [
            "/v1/chat/completions",
            "/chats/any/chat/completions",
            "/github",
            "/v1/query",
        ] {
            let role = if path == "/v1/query" { "human" } else { "user" };
            let body = json!({"model": "search", "stream": true, "messages": [{"role": role, "content": "x"}]});
            let mut response = setup.post(path, &[], body).await;
            assert!(response.chunk().await.unwrap().is_some());
            let left = Instant::now();
            drop(response);
            let noticed =
                tokio::time::timeout(Duration::from_secs(20), setup.replay.hang_up()).await;
            let noticed = noticed.expect(path).unwrap();
            shortest = shortest.min(noticed.duration_since(left));
        }
    }
    assert!(shortest < Duration::from_millis(100), "{shortest:?}");
}

/// Answers like the recording, and keeps what it was asked.
fn listening() -> (impl Script, Arc<Mutex<Vec<Value>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    let script = move |chat: &ChatRequest| {
        let messages = serde_json::to_value(&chat.messages).unwrap();
        heard.lock().unwrap().push(messages);
        recordings().answer(chat)
    };
    (script, asked)
}

fn roles(messages: &Value) -> Vec<&str> {
    let messages = messages.as_array().unwrap();
    messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn what_was_found_survives_the_next_turn() {
    let (script, asked) = listening();
    let setup = Setup::new(script).await;
    let first = "Which films are about robots?";
    let shown = setup.openbb("one", &[("human", first)]).await;
    assert_eq!(setup.store.len(), 1);
    let next = [
        ("human", first),
        ("ai", &*shown),
        ("human", "Which is the oldest?"),
    ];
    setup.openbb("one", &next).await;
    // The store of another conversation has nothing.
    setup.openbb("two", &next).await;
    // What the user changed is another turn.
    let edited = [
        ("human", "Which films are about dreams?"),
        ("ai", &*shown),
        ("human", "Which is the oldest?"),
    ];
    setup.openbb("one", &edited).await;

    let asked = asked.lock().unwrap();
    assert_eq!(roles(&asked[0]), ["user"]);
    assert_eq!(
        roles(&asked[1]),
        ["user", "assistant", "tool", "assistant", "user"]
    );
    assert_eq!(roles(&asked[2]), ["user", "assistant", "user"]);
    assert_eq!(asked[2][1]["content"], shown);
    assert_eq!(roles(&asked[3]), ["user", "assistant", "user"]);
    let mut recorded: Value = serde_json::from_str(include_str!(
        "../../../../fixtures/meilisearch/request_follow_up.json"
    ))
    .unwrap();
    // The recorded client joined the rounds without a break.
    let text = recorded["messages"][3]["content"].as_str().unwrap();
    recorded["messages"][3]["content"] = text.replace("now.Here", "now.\n\nHere").into();
    for place in 0..4 {
        assert_eq!(asked[1][place], recorded["messages"][place]);
    }
}

#[tokio::test]
async fn a_turn_that_broke_off_leaves_a_sound_history() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    let script = move |chat: &ChatRequest| {
        heard
            .lock()
            .unwrap()
            .push(serde_json::to_value(&chat.messages).unwrap());
        // Ends behind the assistant's call, before its result.
        let frames =
            Recordings::frames(Recordings::stream("search_all_tools").unwrap(), chat.tools);
        Ok(frames.take(8).map(Step::Send).collect())
    };
    let setup = Setup::new(script).await;
    let shown = setup.openbb("one", &[("human", "a")]).await;
    setup
        .openbb("one", &[("human", "a"), ("ai", &shown), ("human", "b")])
        .await;
    let asked = asked.lock().unwrap();
    assert_eq!(roles(&asked[1]), ["user", "assistant", "user"]);
    assert_eq!(asked[1][1]["content"], "I'll search for robots now.");
}

#[tokio::test]
async fn a_store_forgets() {
    let turn = |_| Vec::<Turn>::new();
    let store = Memory::new(Duration::from_secs(3600), 2);
    for name in ["a", "b", "c"] {
        store.save(name, turn(name)).await;
    }
    assert_eq!(store.len(), 2);
    let store = Memory::new(Duration::ZERO, 2);
    assert!(store.is_empty());
    store.save("a", Vec::new()).await;
    tokio::time::sleep(Duration::from_millis(2)).await;
    assert!(store.load("a").await.is_empty());
}

#[tokio::test]
async fn thousands_of_tiny_frames_lose_nothing() {
    let frame = json!({"id": "1", "choices": [{"index": 0, "delta": {"content": "ab"}}]});
    let frame = Bytes::from(format!("data: {frame}\n\n"));
    let count = 5000;
    let end = json!({"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let end = Bytes::from(format!("data: {end}\n\ndata: [DONE]\n\n"));
    let script = move |_: &ChatRequest| {
        let mut steps = vec![Step::Send(frame.clone()); count];
        steps.push(Step::Send(end.clone()));
        Ok(steps)
    };
    let setup = Setup::new(script).await;
    let (events, outcome) = setup.meilisearch("m", Tools::NONE).await;
    assert!(outcome.is_answered());
    assert_eq!(text(&events).len(), 2 * count);
}

/// The whole stream of every front end for a recorded answer. `GOLDEN=write` writes the files anew.
#[tokio::test]
async fn golden_streams() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for name in [
        "search_all_tools",
        "parallel_two_all_tools",
        "unknown_index_all_tools",
        "llm_error_second_turn",
    ] {
        for (front, path, request) in [
            (
                "openbb",
                "/v1/query",
                json!({"messages": [{"role": "human", "content": "x"}]}),
            ),
            (
                "github",
                "/github",
                json!({"messages": [{"role": "user", "content": "x"}]}),
            ),
            (
                "openai",
                "/v1/chat/completions",
                json!({
                    "model": "search", "stream": true, "messages": [{"role": "user", "content": "x"}],
                }),
            ),
            (
                "meilisearch",
                "/chats/any/chat/completions",
                json!({
                    "model": name, "stream": true, "messages": [{"role": "user", "content": "x"}],
                    "tools": [
                        {"type": "function", "function": {"name": "_meiliSearchProgress"}},
                        {"type": "function", "function": {"name": "_meiliSearchSources"}},
                    ],
                }),
            ),
        ] {
            let setup = Setup::new(then(name, usize::MAX, vec![])).await;
            let stream = setup.post(path, &[], request).await.text().await.unwrap();
            let file = folder.join(format!("{front}.{name}.sse"));
            if std::env::var("GOLDEN").is_ok_and(|value| value == "write") {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(&file, &stream).unwrap();
            }
            let golden = std::fs::read_to_string(&file).unwrap();
            assert!(stream == golden, "{}:\n{stream}", file.display());
        }
    }
}
