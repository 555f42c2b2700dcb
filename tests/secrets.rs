//! No token, no API key and no signature is ever shown: by no `Debug`, no `Display`, no refusal.
//!
//! One secret goes into every place that may hold one, and what is shown of it is searched for it.
//! A new type that can hold a secret is a new line in `shown`, a new protocol one in `protocols`.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
// Without a protocol there is little to look at.
#![cfg_attr(not(feature = "openbb"), allow(unused_imports))]

use std::fmt::{Debug, Display};
use std::fs;
use std::path::Path;

use bytes::Bytes;
use copilot_wire::json::{Json, Members, Reader};
use copilot_wire::protocol::{AgentError, EventDecoder, Protocol};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use futures::StreamExt;
use futures::executor::block_on;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use serde_json::Value;

/// Found nowhere else; letters and digits, so that nothing escapes or cuts it.
const SECRET: &str = "s3cr3tCanary0123456789";

/// Headers that hold secrets, under every name that a front end uses.
fn headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    for name in [
        "authorization",
        "proxy-authorization",
        "cookie",
        "x-github-token",
        "x-api-key",
        "api-key",
        "x-openbb-token",
        "github-public-key-identifier",
        "github-public-key-signature",
        "x-github-public-key-identifier",
        "x-github-public-key-signature",
    ] {
        headers.insert(name, HeaderValue::from_static(SECRET));
    }
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers
}

fn parts() -> Parts {
    let (mut parts, ()) = http::Request::post("/").body(()).unwrap().into_parts();
    parts.headers = headers();
    parts
}

/// Searches what a value shows of itself.
struct Search(Vec<String>);

impl Search {
    fn text(&mut self, place: &str, text: &str) {
        if text.contains(SECRET) || text.contains(&SECRET[..12]) {
            self.0.push(format!("{place}: {text}"));
        }
    }

    fn debug(&mut self, place: &str, value: &impl Debug) {
        self.text(place, &format!("{value:?}"));
        self.text(place, &format!("{value:#?}"));
    }

    fn error(&mut self, place: &str, error: &(impl Debug + Display)) {
        self.debug(place, error);
        self.text(place, &error.to_string());
    }

    fn finish(self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n"));
    }
}

/// Calls a function for every protocol, with its name in `fixtures/` and what it calls secret.
macro_rules! protocols {
    ($each:ident($search:expr)) => {{
        #[cfg(feature = "openbb")]
        $each::<copilot_wire::openbb::OpenBb>("openbb", $search);
        #[cfg(feature = "github")]
        $each::<copilot_wire::github::GitHub>("github-copilot", $search);
        #[cfg(feature = "openai")]
        $each::<copilot_wire::openai::OpenAi>("openai", $search);
        #[cfg(feature = "anthropic")]
        $each::<copilot_wire::anthropic::Anthropic>("anthropic", $search);
        #[cfg(feature = "responses")]
        $each::<copilot_wire::responses::Responses>("responses", $search);
        #[cfg(feature = "meilisearch")]
        $each::<copilot_wire::meilisearch::Meilisearch>("meilisearch", $search);
        #[cfg(feature = "mcp")]
        $each::<copilot_wire::mcp::Mcp>("mcp", $search);
        #[cfg(feature = "ag_ui")]
        $each::<copilot_wire::ag_ui::AgUi>("ag-ui", $search);
    }};
}

/// The JSON fixtures of a protocol, and a small request that every protocol reads.
fn fixtures(folder: &str) -> Vec<(String, Value)> {
    let small = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}"#;
    let human = r#"{"messages":[{"role":"human","content":"hi"}]}"#;
    let mut all = vec![
        ("small".to_owned(), serde_json::from_str(small).unwrap()),
        ("human".to_owned(), serde_json::from_str(human).unwrap()),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(folder);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("req") || !name.ends_with(".json") {
            continue;
        }
        let Ok(value) = serde_json::from_slice::<Value>(&fs::read(&path).unwrap()) else {
            continue;
        };
        all.push((name, value));
    }
    all
}

/// Returns the places of the values of an object or array, as JSON pointers.
fn places(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(value, format!("{at}/{key}"), found);
            }
        }
        Value::Array(elements) => {
            for (index, value) in elements.iter().enumerate() {
                places(value, format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
    found.push(at);
}

/// Returns `true` if the value at a place is a secret by its name, or by that of its parents.
fn is_secret(place: &str) -> bool {
    place.split('/').any(|key| {
        let key = key.to_ascii_lowercase().replace(['-', '_'], "");
        ["apikey", "token", "secret", "password", "authorization", "signature"]
            .iter()
            .any(|word| key.contains(word))
            // Counts, limits and the like.
            && !key.contains("tokens")
    })
}

fn read<P: Protocol>(folder: &str, search: &mut Search)
where
    P::Request: Debug,
{
    let parts = parts();
    let mut secrets = 0;
    for (name, fixture) in fixtures(folder) {
        let mut found = Vec::new();
        places(&fixture, String::new(), &mut found);
        let extra = ["api_key", "apiKey", "api_keys", "token", "x-unknown-token"];
        for (index, place) in found.iter().enumerate() {
            let at = format!("{folder} {name} {place}");
            let mut hostile = fixture.clone();
            // As the value itself, and as a member that nobody expects.
            match hostile.pointer_mut(place) {
                Some(Value::Object(members)) if index % 2 == 0 => {
                    for key in extra {
                        members.insert(key.to_owned(), Value::from(SECRET));
                    }
                }
                Some(value) => *value = Value::from(SECRET),
                None => continue,
            }
            let extended = hostile.pointer(place).is_some_and(Value::is_object);
            let body = Bytes::from(hostile.to_string());
            match P::read(&parts, body.clone()) {
                Ok(request) => {
                    if is_secret(place) || extended {
                        secrets += 1;
                        search.debug(&at, &request);
                    }
                    let request = Request::<P>::from_parts(parts.clone(), request);
                    // Of HTTP it shows names only, and of the message nothing.
                    search.debug(&format!("{at}, whole"), &request);
                }
                // Meilisearch's own words name the function that it cannot call: no secret.
                Err(_) if place.ends_with("/function/name") => {}
                Err(refusal) => {
                    search.error(&at, &refusal);
                    search.text(&at, &String::from_utf8_lossy(P::refuse(&refusal).body()));
                }
            }
            // Cut in the middle of the secret, and right behind it.
            let text = String::from_utf8_lossy(&body).into_owned();
            if let Some(start) = text.find(SECRET) {
                for end in [start + 12, start + SECRET.len(), start + SECRET.len() + 1] {
                    let cut = Bytes::from(text[..end].to_owned());
                    if let Err(refusal) = P::read(&parts, cut) {
                        search.error(&at, &refusal);
                        search.text(&at, &String::from_utf8_lossy(P::refuse(&refusal).body()));
                    }
                }
            }
        }
    }
    assert!(secrets > 0, "{folder}: no request with a secret was read");
}

#[test]
fn requests_and_refusals_show_no_secret() {
    let mut search = Search(Vec::new());
    protocols!(read(&mut search));
    search.finish();
}

fn events<P: Protocol>(folder: &str, search: &mut Search) {
    let names = [
        "message",
        "copilotMessageChunk",
        "copilotStatusUpdate",
        "copilotFunctionCall",
        "copilotMessageArtifact",
        "copilot_errors",
        "copilot_references",
        "copilot_confirmation",
        SECRET,
    ];
    let bodies = [
        SECRET.to_owned(),
        format!("{{\"{SECRET}\""),
        format!("{{\"{SECRET}\":1}}"),
        format!("[{{\"type\":\"{SECRET}\",\"code\":7}}]"),
        format!("{{\"choices\":\"{SECRET}\"}}"),
        format!("{{\"choices\":[{{\"delta\":\"{SECRET}\"}}]}}"),
        format!("{{\"delta\":{{\"{SECRET}\":\"{SECRET}"),
        format!("\"{SECRET}\\u12"),
    ];
    let mut errors = 0;
    for name in names {
        for body in &bodies {
            let stream = format!("event: {name}\ndata: {body}\n\n");
            let mut decoder = EventDecoder::<P>::new();
            if let Err(error) = decoder.next(&mut stream.as_bytes()) {
                errors += 1;
                search.error(&format!("{folder} {name} {body}"), &error);
            }
            search.debug(folder, &decoder);
        }
    }
    assert!(errors > 0, "{folder}: every event was read");
}

#[test]
fn errors_about_events_show_no_secret() {
    let mut search = Search(Vec::new());
    protocols!(events(&mut search));
    search.finish();
}

/// Says nothing of what it knows.
struct Fails;

#[async_trait]
impl<P: Protocol> Agent<P> for Fails {
    async fn answer(&self, _: Request<P>, _: Reply<P>) -> Result<(), AgentError> {
        Err(std::io::Error::other(SECRET).into())
    }
}

/// Returns a router's answers to invalid requests with secrets in all of them. Keys of
/// objects are places, and models are named in answers: neither is a secret.
#[test]
#[cfg(all(
    feature = "openbb",
    feature = "github",
    feature = "openai",
    feature = "responses",
    feature = "meilisearch"
))]
fn responses_show_no_secret() {
    use copilot_wire::github::Mount;
    use copilot_wire::openbb::Descriptor;

    let router = Router::new()
        .body_limit(1000)
        .mount(Descriptor::new("fails", "Fails", "Fails"), Fails)
        .unwrap()
        .mount(Mount::unverified(), Fails)
        .unwrap()
        .mount(copilot_wire::openai::Model::new("fails"), Fails)
        .unwrap()
        .mount(copilot_wire::responses::Model::new("fails"), Fails)
        .unwrap()
        .mount(copilot_wire::meilisearch::Mount::new(), Fails)
        .unwrap();
    let mut search = Search(Vec::new());
    search.debug("router", &router);
    let good = r#"{"model":"fails","stream":true,"messages":[{"role":"user","content":"hi"}]}"#;
    let bodies = [
        good.to_owned(),
        good.replace("user", "human"),
        good.replace("true", "false"),
        good.replace("messages", "input"),
        good.replace("messages", "input").replace("true", "false"),
        good.replace("\"hi\"", SECRET),
        format!("{{\"messages\":\"{SECRET}\"}}"),
        format!("{{\"messages\":\"{SECRET}"),
        SECRET.to_owned(),
        format!("\"{}\"", SECRET.repeat(100)),
        String::new(),
    ];
    for path in [
        "/v1/query",
        "/github",
        "/v1/chat/completions",
        "/v1/responses",
        "/chats/main/chat/completions",
        "/chats/s3cr3tCanary0123456789/chat/completions",
        "/v1/models/s3cr3tCanary0123456789",
        "/s3cr3tCanary0123456789",
    ] {
        for method in ["POST", "GET", "OPTIONS", "PUT"] {
            for body in &bodies {
                let chunk = Ok::<_, std::convert::Infallible>(Bytes::from(body.clone()));
                let mut request = http::Request::builder()
                    .method(method)
                    .uri(path)
                    .body(futures::stream::iter([chunk]))
                    .unwrap();
                *request.headers_mut() = headers();
                let response = block_on(router.handle(request));
                let place = format!("{method} {path} {body}");
                search.debug(&place, response.headers());
                let frames: Vec<Bytes> =
                    block_on(response.into_body().map(Result::unwrap).collect());
                search.text(&place, &String::from_utf8_lossy(&frames.concat()));
            }
        }
    }
    search.finish();
}

/// Everything else that can hold a secret and be shown.
#[test]
fn nothing_else_shows_a_secret() {
    let mut search = Search(Vec::new());
    shown(&mut search);
    search.finish();
}

fn shown(search: &mut Search) {
    let json = Json::parse(format!("{{\"token\":\"{SECRET}\"}}")).unwrap();
    search.debug("Json", &json);
    search.debug("Json string", &json.get("token"));
    search.debug("Members", &Members::from_iter([("token", json.clone())]));
    search.debug("Reader", &json.reader());
    search.error("Json::decode", &json.decode::<Vec<u8>>().unwrap_err());
    search.error("Json::parse", &Json::parse(SECRET).unwrap_err());
    let body = Bytes::from(format!("\"{SECRET}"));
    let mut reader = Reader::new(&body).unwrap();
    search.error("Reader::string", &reader.string().unwrap_err());
    search.error("WriteError", &Json::encode(&Refuses).unwrap_err());

    let message = AgentError::new("fit for the user");
    search.error("AgentError", &message);

    #[cfg(feature = "openbb")]
    {
        use copilot_wire::openbb::{QueryRequest, Secret};
        search.debug("Secret", &Secret::new(SECRET));
        search.debug("QueryRequest", &QueryRequest::default());
    }
    #[cfg(feature = "github")]
    {
        use copilot_wire::github::{Mount, SkillCall, Token};
        let headers = headers();
        search.debug("Token", &Token::from_headers(&headers).unwrap());
        search.debug("SkillCall", &SkillCall::new(SECRET, headers));
        search.debug("Mount", &Mount::unverified());
    }
    #[cfg(feature = "verify")]
    {
        use copilot_wire::github::Mount;
        use copilot_wire::github::verify::{
            KeyId, KeySet, PublicKey, SignatureHeaders, Verifier, verify,
        };
        use copilot_wire_kit::github::RequestSigner;
        let signer = RequestSigner::from_seed(SECRET.as_bytes());
        let signed = signer.sign(b"{}");
        let signature = signer.signature(b"{}");
        let mut shown = vec![
            format!("{signer:?}"),
            format!("{:?}", signer.key_set()),
            format!("{:?}", SignatureHeaders::from_headers(&signed).unwrap()),
            format!("{:?}", Verifier::new(signer.key_set())),
            format!("{:?}", Mount::verified(signer.key_set())),
        ];
        let mut wrong = vec![
            verify(b"[]", &signed, &signer.key_set()).unwrap_err(),
            verify(b"{}", &headers(), &signer.key_set()).unwrap_err(),
            verify(b"{}", &HeaderMap::new(), &signer.key_set()).unwrap_err(),
            verify(b"{}", &signed, &RequestSigner::from_seed(b"x").key_set()).unwrap_err(),
        ];
        wrong.extend(SignatureHeaders::from_headers(&headers()).err());
        for error in wrong {
            shown.push(format!("{error:?} {error}"));
        }
        for text in shown {
            search.text("verify", &text);
            assert!(!text.contains(&signature), "{text}");
            assert!(!text.contains(&signature[..20]), "{text}");
        }
        search.error("KeyId", &KeyId::new(&format!("{SECRET}\n")).unwrap_err());
        search.error("KeySet", &KeySet::from_json(SECRET.as_bytes()).unwrap_err());
        let key = PublicKey::from_pem(signer.identifier().clone(), SECRET, true);
        search.debug("PublicKey", &key);
    }
    #[cfg(feature = "meilisearch")]
    {
        use copilot_wire::meilisearch::{ApiKey, ChatRequest, Instance, Message};
        let key = || ApiKey::new(SECRET).unwrap();
        search.debug("ApiKey", &key());
        search.error(
            "InstanceError",
            &ApiKey::new(format!("{SECRET}\n")).unwrap_err(),
        );
        let instance = Instance::new("http://localhost:7700").unwrap().key(key());
        search.debug("Instance", &instance);
        let chat = ChatRequest::new("m", [Message::user("hi")]);
        // With the key in a header that says of itself that it is sensitive.
        search.debug(
            "Instance::chat",
            &instance.chat("main", &chat).unwrap().headers(),
        );
    }
}

/// Refuses, and says why in words that it should not.
struct Refuses;

impl serde::Serialize for Refuses {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(SECRET))
    }
}
