//! `wire sse`.

use std::io::{BufRead, BufReader, Write};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::program::{Running, fixture, run, wire};

fn text(value: &Value, key: &str) -> String {
    match &value[key] {
        Value::String(text) => text.clone(),
        _ => {
            let parts = value[format!("{key}_parts")].as_array();
            let parts = parts.into_iter().flatten().map(|part| {
                let repeat = part["repeat"].as_u64().unwrap();
                part["text"]
                    .as_str()
                    .unwrap()
                    .repeat(usize::try_from(repeat).unwrap())
            });
            parts.collect()
        }
    }
}

#[test]
fn every_conformance_case_in_pieces_of_any_size() {
    let file = std::fs::read(fixture("sse/conformance.json")).unwrap();
    let file: Value = serde_json::from_slice(&file).unwrap();
    let cases = file["parse"].as_array().unwrap();
    assert_eq!(cases.len(), 115);
    for case in cases {
        let input = match &case["input_b64"] {
            Value::String(base64) => BASE64_STANDARD.decode(base64).unwrap(),
            _ => text(case, "input").into_bytes(),
        };
        let events = case["expected"]["events"].as_array().unwrap();
        // To the byte: the order of the members is part of it.
        let expected: String = events
            .iter()
            .map(|event| {
                let json = |text: &str| serde_json::to_string(text).unwrap();
                let (name, data) = (text(event, "type"), text(event, "data"));
                let id = event["last_event_id"].as_str().unwrap();
                let (name, data, id) = (json(&name), json(&data), json(id));
                format!("{{\"event\":{name},\"data\":{data},\"id\":{id}}}\n")
            })
            .collect();
        for args in [
            &["sse", "--chunk", "1"][..],
            &["sse", "--chunk", "3"],
            &["sse"],
        ] {
            let run = run(args, &input);
            assert_eq!(run.out, expected, "{} {args:?}", case["name"]);
            // Bytes without any event are told, whatever they are.
            let nothing = events.is_empty() && !input.is_empty();
            assert_eq!(run.status, i32::from(nothing), "{}", case["name"]);
            assert_eq!(!run.err.is_empty(), nothing, "{}", case["name"]);
        }
    }
}

#[test]
fn events_are_there_before_the_stream_ends() {
    let mut running = Running::new(&["sse"]);
    let mut stdin = running.child.stdin.take().unwrap();
    for number in 0..3 {
        write!(stdin, "data: {number}\n\ndata: not yet").unwrap();
        stdin.flush().unwrap();
        let line = running.line();
        assert!(line.contains(&format!("{number}\"")), "{line}");
        writeln!(stdin).unwrap();
    }
    drop(stdin);
    assert_eq!(running.end(), (Some(0), String::new()));
}

#[test]
fn a_reader_that_has_enough_is_no_failure() {
    let mut child = wire(&["sse"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(b"data: first\n\n").unwrap();
    stdout.read_line(&mut String::new()).unwrap();
    drop(stdout);
    // Until it notices; it may be gone before it has read all.
    while stdin.write_all(b"data: more\n\n").is_ok() {}
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stderr, b"");
}

#[test]
fn an_event_beyond_the_limit_is_refused() {
    let input = format!("data: ok\n\ndata: {}\n\n", "x".repeat(100));
    let run = run(&["sse", "--limit", "50"], input);
    assert_eq!(run.status, 1);
    assert_eq!(
        run.out,
        "{\"event\":\"message\",\"data\":\"ok\",\"id\":\"\"}\n"
    );
    assert!(run.err.contains("50 bytes"), "{}", run.err);
}

#[test]
fn a_body_that_is_no_event_stream_is_reported() {
    let page = format!("<html>\x1b[2J{}", "x".repeat(100));
    for args in [
        &["sse"][..],
        &["sse", "--chunk", "1"],
        &["decode", "-p", "openbb"],
    ] {
        let seen = run(args, &page);
        assert_eq!(seen.status, 1, "{args:?}: {}", seen.out);
        let told = "wire: no event in 110 bytes: is this an event stream? it begins with ";
        let (_, beginning) = seen.err.split_once(told).unwrap();
        assert!(beginning.starts_with("<html>\\u{1b}[2Jxx"), "{beginning}");
        assert!(beginning.ends_with("xx…\n") && beginning.len() < 100);
        assert!(!seen.out.contains("nothing wrong"), "{}", seen.out);
    }
    for args in [&["sse"][..], &["decode", "-p", "openbb"]] {
        let seen = run(args, "");
        assert_eq!((seen.status, &*seen.err), (0, ""), "{args:?}");
    }
}

#[test]
fn usage_errors_have_an_exit_status_of_their_own() {
    for args in [
        &["sse", "--chunk", "0"][..],
        &["sse", "/no/such/file"],
        &["nothing"],
    ] {
        let run = run(args, "");
        assert_eq!((run.status, &*run.out), (2, ""), "{args:?}");
        assert!(!run.err.is_empty());
    }
}
