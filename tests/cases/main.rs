//! Every case of `fixtures/NAME/*.case`: a request, what an agent says, the bytes that leave, and what the front end
//! makes of them. Those of `fixtures/every` are for all protocols.
//!
//! `CASES=write cargo test --workspace --test cases` writes the expectations anew.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[path = "../exchange/mod.rs"]
mod exchange;
mod file;
mod mounts;
mod parts;
mod readers;
mod seen;
mod stored;

use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use copilot_wire::protocol::{Env, Environment};
use copilot_wire_kit::{AnyFrontEnd, Kit, Next, Setup, ToolOutcome, kits};
use http::header::CONTENT_TYPE;

use file::{Ask, Case, Turn};

/// A fixed time, and random bytes that count.
struct Fixed(AtomicU8);

impl Environment for Fixed {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000)
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
    }
}

fn fixed() -> Env {
    Env::new(Fixed(AtomicU8::new(1)))
}

/// The usual requests: a user says "Hi", and offers two tools where the protocol has some.
const USUAL: &str = include_str!("../../fixtures/every/requests.json");

/// Runs the cases of a folder for these protocols, and returns the places where they differ from what is expected.
fn run(folder: &str, kits: &[Kit]) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(folder);
    let paths = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut cases: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "case"))
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "{}", folder.display());
    let mut wrong = Vec::new();
    for path in &cases {
        let case = Case::read(path);
        let mut found: Vec<Vec<(String, String)>> = vec![Vec::new(); case.turns.len()];
        for kit in kits {
            let mut conversation = None;
            for (turn, found) in case.turns.iter().zip(&mut found) {
                play(kit, turn, &mut conversation, found);
            }
        }
        wrong.extend(case.settle(&found));
    }
    wrong
}

/// A router and a front end that has asked it something.
type Running = (Box<dyn AnyFrontEnd>, mounts::Scene, Next);

/// Plays a turn, and adds what came of it.
fn play(kit: &Kit, turn: &Turn, running: &mut Option<Running>, found: &mut Vec<(String, String)>) {
    let body = match &turn.asks {
        Ask::Usual => {
            let all: copilot_wire::json::Json = copilot_wire::json::Json::parse(USUAL).unwrap();
            Some(all.get(kit.name).unwrap().text().to_owned())
        }
        Ask::Body(body) => Some(body.trim_end().to_owned()),
        _ => None,
    };
    if let Some(body) = &body {
        let mut setup = Setup::default();
        setup.request = Some(Bytes::from(body.clone()));
        let front_end = (kit.front_end)(&setup).or_else(|_| (kit.front_end)(&Setup::default()));
        let scene = mounts::scene(kit.name, &turn.mount);
        *running = Some((front_end.unwrap(), scene, Next::Nothing));
    }
    let (front_end, scene, next) = running.as_mut().unwrap();
    match (&turn.asks, &*next) {
        (Ask::Say(text), _) => front_end.prompt(text),
        (Ask::Decide(accepted), Next::Question(question)) => front_end.decide(question, *accepted),
        (Ask::Results(results), Next::Calls(calls)) => {
            let results: Vec<String> = serde_json::from_str(results).unwrap();
            assert_eq!(results.len(), calls.len());
            front_end.answer(results.into_iter().map(ToolOutcome::text).collect());
        }
        // A front end that got no question has nothing to decide.
        (Ask::Decide(_) | Ask::Results(_), _) => return,
        _ => {}
    }
    let request = front_end.request();
    let (head, sent) = request.into_parts();
    let mut sent = body.map_or(sent, Bytes::from);
    if let Some((from, to)) = &turn.edit {
        let text = std::str::from_utf8(&sent).unwrap();
        assert!(text.contains(from), "{from}: {text}");
        sent = text.replace(from, to).into();
    }
    let Some(parts) = &turn.parts else {
        let seen = seen::seen(kit.name, &head, &sent);
        found.push((format!("seen {}", kit.name), seen));
        return;
    };
    *scene.parts.lock().unwrap() = parts.clone();
    let mut builder = http::Request::builder().method(head.method).uri(head.uri);
    *builder.headers_mut().unwrap() = head.headers;
    builder.headers_mut().unwrap().remove(CONTENT_TYPE);
    let response = exchange::send(&scene.router, builder, sent);
    let (head, body) = response.into_parts();
    let stream = exchange::whole(body);
    let faults = std::mem::take(&mut *parts::FAULTS.lock().unwrap());
    assert!(faults.is_empty(), "these parts cannot be said: {faults:?}");
    let kind = head.headers[CONTENT_TYPE].to_str().unwrap().to_owned();
    let status = if head.status == 200 {
        String::new()
    } else {
        format!(" {}", head.status.as_u16())
    };
    let mut shown = settled(&stream);
    if shown.is_empty() {
        "(nothing)".clone_into(&mut shown);
    }
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    found.push((format!("bytes {}{status}", kit.name), shown));
    if head.status != 200 || !kind.starts_with(kit.framing.content_type()) {
        return;
    }
    let broken = readers::check(kit, &stream).into_iter();
    let mut heard: String = broken.map(|rule| format!("breaks: {rule}\n")).collect();
    let mut input = stream.as_bytes();
    loop {
        match front_end.read(&mut input) {
            Ok(None) => break,
            Ok(Some(effects)) => effects
                .iter()
                .for_each(|effect| heard += &format!("{effect}\n")),
            Err(error) => heard += &format!("unreadable: {error}\n"),
        }
    }
    *next = front_end.next();
    match next {
        Next::Nothing => heard += "waits\n",
        Next::Calls(calls) => calls
            .iter()
            .for_each(|call| heard += &format!("calls: {} {}\n", call.name, call.arguments.text())),
        Next::Question(question) => heard += &format!("asks: {} {}\n", question.id, question.title),
        Next::Broken(why) => heard += &format!("broken: {why}\n"),
        _ => panic!("{next:?}"),
    }
    found.push((format!("heard {}", kit.name), settled(&heard)));
}

/// Replaces the codes and the proofs of questions, whose key is a new one in each process.
fn settled(text: &str) -> String {
    let mut settled = text.to_owned();
    for (mark, length) in [("reply: yes ", 6), (" cw", 19)] {
        let mut from = 0;
        while let Some(at) = settled[from..].find(mark) {
            let start = from + at + mark.len();
            let end = start + length;
            if settled.get(start..end).is_some_and(|it| {
                it.bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            }) {
                settled.replace_range(start..end, &"0".repeat(length));
            }
            from = start;
        }
    }
    settled
}

#[test]
fn cases_of_every_protocol() {
    let wrong = run("every", &kits());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cases_of_one_protocol() {
    let wrong = kits().into_iter().flat_map(|kit| match kit.name {
        "github" => run("github-copilot", &[kit]),
        name => run(name, &[kit]),
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
