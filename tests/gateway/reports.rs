//! Reports of turns.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use copilot_wire::protocol::{AgentError, Env, Environment, Outcome, Protocol, Refusal, Ticks};
use copilot_wire::router::RouteKind;
use copilot_wire::{Agent, Reply, Request, Router, async_trait, meilisearch};
use futures::StreamExt;
use futures::executor::block_on;
use http::StatusCode;
use http::request::Parts;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::support::*;

#[derive(Default)]
struct Clock(AtomicUsize);

/// An environment whose clock is a second later whenever it is asked.
impl Environment for Clock {
    fn now(&self) -> SystemTime {
        let seconds = self.0.fetch_add(1, Ordering::Relaxed) as u64;
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn ticks(&self, _: Duration) -> Option<Ticks> {
        None
    }
}

fn reporting() -> (Router, Arc<Mutex<Vec<String>>>) {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&reports);
    let router = Router::new()
        .guard(async |mut parts: Parts| {
            parts.extensions.insert(User("Ali"));
            Ok(parts)
        })
        .observe(move |turn| {
            let told = match turn.outcome {
                Outcome::Failed { sent, .. } | Outcome::Panicked { sent } => format!(" {sent}"),
                _ => String::new(),
            };
            let report = format!(
                "{} {}{told} {:?} {:?} {}s {}b {}e {}t {}",
                turn.path,
                turn.outcome.as_str(),
                turn.conversation_id,
                turn.first_output.map(|time| time.as_secs()),
                turn.duration.as_secs(),
                turn.bytes,
                turn.events,
                turn.usage.map_or(0, |usage| usage.input_tokens),
                turn.extensions.get().map_or("", |User(name)| *name),
            );
            log.lock().unwrap().push(report);
        })
        .env(Env::new(Clock::default()))
        .mount(descriptor("one"), Echo)
        .unwrap()
        .mount(copilot_wire::openai::Model::new("one"), Echo)
        .unwrap();
    (router, reports)
}

#[test]
fn every_turn_is_reported_once_when_it_is_over() {
    let (router, reports) = reporting();
    let reported = || std::mem::take(&mut *reports.lock().unwrap());
    let turn = |prompt: &str| {
        let asked = post("/one/query").header("x-trace-id", "talk-1");
        let response = handle(&router, asked, chunks(human(prompt)));
        assert!(reports.lock().unwrap().is_empty(), "it is not over");
        response.into_body()
    };
    let size = text(turn("one two three")).len();
    let head = "/one/query";
    let id = r#"Some("talk-1")"#;
    assert_eq!(
        reported(),
        [format!("{head} answered {id} Some(1) 2s {size}b 5e 7t Ali")]
    );
    let size = text(turn("fail")).len();
    assert_eq!(
        reported(),
        [format!("{head} failed true {id} None 1s {size}b 0e 0t Ali")]
    );
    let size = text(turn("panic")).len();
    assert_eq!(
        reported(),
        [format!(
            "{head} panicked true {id} None 1s {size}b 0e 0t Ali"
        )]
    );

    // Before the first output, and after it, with bytes that nobody read.
    drop(turn("wait"));
    assert_eq!(
        reported(),
        [format!("{head} client_left {id} None 1s 0b 0e 0t Ali")]
    );
    let mut body = turn("wait");
    let size = block_on(body.next()).unwrap().unwrap().len();
    drop(body);
    assert_eq!(
        reported(),
        [format!(
            "{head} client_left {id} Some(1) 2s {size}b 1e 0t Ali"
        )]
    );

    // A detached run ends its turn itself.
    let mut body = turn("one");
    let run = body.detach().unwrap();
    drop(body);
    assert!(reported().is_empty());
    block_on(run);
    assert_eq!(
        reported(),
        [format!("{head} answered {id} Some(1) 2s 0b 3e 7t Ali")]
    );

    // An answer without a stream.
    let body = r#"{"model":"one","messages":[{"role":"user","content":"hello"}]}"#;
    let (_, answer) = ask(&router, post("/v1/chat/completions"), body.to_owned());
    let size = answer.len();
    let reports = reported();
    let end = format!("Some(1) 2s {size}b 3e 7t Ali");
    assert!(
        reports.len() == 1 && reports[0].ends_with(&end),
        "{reports:?} {end}"
    );
}

#[test]
fn a_refused_request_is_reported_and_no_fault() {
    let (router, reports) = reporting();
    let (status, body) = ask(&router, post("/one/query"), "[]".to_owned());
    assert_eq!(status, 422, "{body}");
    let (status, _) = ask(&router, post("/v1/chat/completions"), user("two", "hello"));
    assert_eq!(status, 404);
    // Documents are no turns.
    let _ = get(&router, "/agents.json");
    let _ = get(&router, "/none");
    let reports = reports.lock().unwrap().clone();
    assert_eq!(reports.len(), 2, "{reports:?}");
    let head = format!("/one/query refused None None 1s {}b 0e", body.len());
    assert!(reports[0].starts_with(&head), "{reports:?} {head}");
    assert!(
        reports[1].starts_with("/v1/chat/completions refused"),
        "{reports:?}"
    );
}

/// Agents at several places are told apart, and so are users, also of turns that are refused.
#[test]
fn a_report_names_the_whole_path_and_the_user() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&reports);
    let router = Router::new()
        .base_path("/agents")
        .guard(async |mut parts: Parts| {
            parts
                .extensions
                .insert(copilot_wire::protocol::User::new("ada"));
            Ok(parts)
        })
        .guard(
            async |parts: Parts| match parts.headers.contains_key("x-late") {
                true => Err(Refusal::new(
                    StatusCode::TOO_MANY_REQUESTS,
                    "too many requests",
                )),
                false => Ok(parts),
            },
        )
        .observe(move |turn| {
            let kind = turn.extensions.get::<RouteKind>();
            let (path, user, outcome) = (turn.path, turn.user, turn.outcome.as_str());
            log.lock()
                .unwrap()
                .push(format!("{path} {user:?} {kind:?} {outcome}"));
        })
        .mount(descriptor("one"), Echo)
        .unwrap()
        .mount(meilisearch::Mount::new(), Echo)
        .unwrap();
    let tail = r#"Some("ada") Some(Turn)"#;
    let chat = "/chats/a/chat/completions";
    for (request, body, path, outcome) in [
        (
            post("/agents/one/query"),
            human("hello"),
            "/agents/one/query",
            "answered",
        ),
        // A proxy has stripped the path.
        (
            post("/one/query"),
            human("hello"),
            "/agents/one/query",
            "answered",
        ),
        (
            post("/one/query"),
            "[]".into(),
            "/agents/one/query",
            "refused",
        ),
        (
            post("/one/query").header("x-late", "1"),
            human("hello"),
            "/agents/one/query",
            "refused",
        ),
        (
            post(chat),
            user("m", "hello"),
            "/agents/chats/{workspace}/chat/completions",
            "answered",
        ),
    ] {
        drop(ask(&router, request, body));
        let reports = std::mem::take(&mut *reports.lock().unwrap());
        assert_eq!(reports, [format!("{path} {tail} {outcome}")]);
    }
}

/// The line for a log is one line, and says where and why.
#[test]
fn a_report_is_a_line() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&lines);
    let router = Router::new()
        .observe(move |turn| log.lock().unwrap().push(turn.to_string()))
        .mount(descriptor("one"), Echo)
        .unwrap();
    for prompt in ["fail", "panic", "hello"] {
        drop(text(
            handle(&router, post("/one/query"), chunks(human(prompt))).into_body(),
        ));
    }
    let _ = ask(&router, http::Request::post("/one/query"), String::new());
    let lines = lines.lock().unwrap();
    let (failed, others) = lines.split_first().unwrap();
    // The line that converts the error into an `AgentError`.
    let (failed, line) = failed.rsplit_once(':').unwrap();
    assert!(line.parse::<u32>().is_ok(), "{line}");
    let file = file!().replace("reports.rs", "support.rs");
    let expected = format!("openbb turn at /one/query failed: the disk\\nis full, at {file}");
    assert_eq!(failed, expected);
    assert_eq!(
        others,
        [
            "openbb turn at /one/query panicked",
            "openbb turn at /one/query answered",
            "openbb turn at /one/query was refused (415 Unsupported Media Type): \
             content-type must be application/json",
        ]
    );
}

/// Says what is not to be seen in a log as it is.
struct Sly;

#[async_trait]
impl<P: Protocol> Agent<P> for Sly {
    async fn answer(&self, _: Request<P>, _: Reply<P>) -> Result<(), AgentError> {
        Err(std::io::Error::other(hidden().collect::<String>()).into())
    }
}

/// Returns all characters that control or format others, or end a line.
fn hidden() -> impl Iterator<Item = char> {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
    ('\0'..=char::MAX).filter(|character| {
        matches!(
            character.general_category(),
            Control | Format | LineSeparator | ParagraphSeparator
        )
    })
}

#[test]
fn a_report_shows_no_character_that_hides_others() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&lines);
    let router = Router::new()
        .observe(move |turn| log.lock().unwrap().push(turn.to_string()))
        .guard(
            async |parts: Parts| match parts.headers.contains_key("x-refuse") {
                true => Err(Refusal::new(
                    StatusCode::FORBIDDEN,
                    hidden().collect::<String>(),
                )),
                false => Ok(parts),
            },
        )
        .mount(descriptor("one"), Sly)
        .unwrap();
    let asked = || post("/one/query");
    drop(text(
        handle(&router, asked(), chunks(human("x"))).into_body(),
    ));
    drop(ask(&router, asked().header("x-refuse", "1"), human("x")));
    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in lines.iter() {
        let seen: Vec<char> = hidden().filter(|it| line.contains(*it)).collect();
        assert!(seen.is_empty(), "{seen:?}");
        for shown in [
            "\\n",
            "\\r",
            "\\u{1b}",
            "\\u{9b}",
            "\\u{202e}",
            "\\u{2028}",
            "\\u{e0041}",
        ] {
            assert!(line.contains(shown), "{shown}");
        }
    }
}

#[test]
fn an_observer_knows_the_kind_of_a_route_without_guards() {
    let kinds = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&kinds);
    let router = Router::new()
        .observe(move |turn| {
            let kind = turn.extensions.get::<RouteKind>();
            log.lock().unwrap().push(kind.copied());
        })
        .mount(descriptor("one"), Echo)
        .unwrap();
    assert_eq!(ask(&router, post("/one/query"), human("hello")).0, 200);
    assert_eq!(ask(&router, post("/one/query"), "[]".into()).0, 422);
    assert_eq!(*kinds.lock().unwrap(), [Some(RouteKind::Turn); 2]);
}
