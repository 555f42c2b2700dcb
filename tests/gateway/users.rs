//! Keys of callers, and the limits of each user.

use copilot_wire::Router;
use copilot_wire::protocol::{Env, Environment};
use copilot_wire::router::Keys;
use futures::StreamExt as _;
use futures::executor::block_on;
use http::StatusCode;
use http::request::Builder;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::guards::Greeter;
use crate::support::*;

fn of(key: &str) -> Builder {
    post("/one/query").header("authorization", format!("Bearer {key}"))
}

fn status(router: &Router, request: Builder) -> StatusCode {
    ask(router, request, human("hello")).0
}

#[test]
fn keys_name_their_users_in_every_form_of_text() {
    for text in [
        "ali=sesame,dorothy=poppy",
        "ali=sesame\n\n# the other one\n dorothy=poppy \r\n",
        "dorothy=poppy,ali=x,ali=sesame",
    ] {
        let keys: Keys = text.parse().unwrap();
        let shown = format!("{keys:?}");
        assert!(
            shown.contains("dorothy") && !shown.contains("poppy"),
            "{shown}"
        );
        let router = Router::new()
            .guard(keys.guard())
            .guard(async |mut parts: http::request::Parts| {
                let user = parts.extensions.get::<copilot_wire::protocol::User>();
                let name = match &*user.unwrap().id {
                    "ali" => "Ali",
                    _ => "Dorothy",
                };
                parts.extensions.insert(User(name));
                Ok(parts)
            })
            .mount(descriptor("one"), Greeter)
            .unwrap();
        for (name, value, user) in [
            ("authorization", "Bearer sesame", "Ali"),
            ("authorization", "bearer sesame", "Ali"),
            ("x-api-key", "poppy", "Dorothy"),
        ] {
            let request = post("/one/query").header(name, value);
            let (status, reply) = ask(&router, request, human("hello"));
            assert!(status == 200 && reply.contains(user), "{text}: {reply}");
        }
        for value in [
            "Bearer sesam",
            "Bearer sesames",
            "Bearer ",
            "sesame",
            "Basic sesame",
        ] {
            let request = post("/one/query").header("authorization", value);
            let response = handle(&router, request, unread());
            assert_eq!(response.status(), 401, "{text}: {value}");
            assert_eq!(response.headers()["www-authenticate"], "Bearer");
        }
        assert_eq!(status(&router, post("/one/query")), 401);
    }
    for (text, at) in [
        ("", 1),
        ("# none", 1),
        ("sesame", 1),
        ("ali=sesame,", 2),
        ("ali=sesame\n=poppy", 2),
        ("ali=", 1),
    ] {
        let error = text.parse::<Keys>().unwrap_err().to_string();
        assert_eq!(error, format!("key {at} must be like `user=key`"), "{text}");
    }
}

#[test]
fn replaced_keys_hold_from_the_next_request_on() {
    let keys = Keys::new([("ali", "sesame")]);
    let router = Router::new()
        .guard(keys.guard())
        .mount(descriptor("one"), Echo)
        .unwrap();
    assert_eq!(status(&router, of("sesame")), 200);
    keys.replace(Keys::new([("ali", "sesame"), ("ali", "open")]));
    assert_eq!(status(&router, of("sesame")), 200);
    assert_eq!(status(&router, of("open")), 200);
    keys.replace(Keys::new([("ali", "open"), ("eve", "")]));
    assert_eq!(status(&router, of("sesame")), 401);
    assert_eq!(status(&router, of("")), 401);
    assert_eq!(status(&router, of("open")), 200);
}

fn keys() -> Keys {
    Keys::new([("ali", "sesame"), ("dorothy", "poppy")])
}

/// A time that moves when it is told to.
#[derive(Clone)]
struct Seconds(Arc<AtomicU64>);

impl Environment for Seconds {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

#[test]
fn a_user_begins_so_many_turns_in_a_minute() {
    let seconds = Seconds(Arc::new(AtomicU64::new(6_000)));
    let router = Router::new()
        .env(Env::new(seconds.clone()))
        .guard(keys().guard())
        .max_turns_per_minute(2)
        .mount(descriptor("one"), Echo)
        .unwrap();
    for _ in 0..2 {
        assert_eq!(status(&router, of("sesame")), 200);
    }
    seconds.0.store(6_018, Ordering::Relaxed);
    // Refused before its body is read.
    let response = handle(&router, of("sesame"), unread());
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "42");
    let refused = text(response.into_body());
    assert!(refused.contains("rate_limited"), "{refused}");
    // A document is not a turn, and each user has a limit of their own.
    let documents = http::Request::get("/agents.json").header("x-api-key", "sesame");
    assert_eq!(ask(&router, documents, String::new()).0, 200);
    assert_eq!(status(&router, of("poppy")), 200);
    seconds.0.store(6_060, Ordering::Relaxed);
    assert_eq!(status(&router, of("sesame")), 200);
}

#[test]
fn a_user_has_so_many_turns_at_a_time() {
    let router = Router::new()
        .guard(keys().guard())
        .max_turns_per_user(2)
        .mount(descriptor("one"), Echo)
        .unwrap();
    let turn = |key: &str| handle(&router, of(key), chunks(human("wait")));
    let mut running: Vec<_> = (0..2).map(|_| turn("sesame")).collect();
    block_on(running[0].body_mut().next());
    let refused = turn("sesame");
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(turn("poppy").status(), 200);
    running.pop();
    let again = turn("sesame");
    assert_eq!(again.status(), 200);
    assert_eq!(turn("sesame").status(), 429);
}
