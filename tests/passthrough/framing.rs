//! The framing is that of this crate, whatever the server's is.

use serde_json::{Value, json};

use crate::streams::{CHAT, MESSAGES, RESPONSES, Sent, sent, stream};
use crate::{Gateway, data, request};

/// The same stream in other framings.
fn framings(stream: &str) -> Vec<String> {
    let pretty = |line: &str| match line
        .strip_prefix("data: ")
        .map(serde_json::from_str::<Value>)
    {
        Some(Ok(json)) => {
            let pretty = serde_json::to_string_pretty(&json).unwrap();
            let lines = pretty.lines().map(|line| format!("data:{line}\n"));
            lines.collect()
        }
        _ => format!("{line}\n"),
    };
    vec![
        stream.replace('\n', "\r\n"),
        stream.replace('\n', "\r"),
        format!("\u{feff}{stream}"),
        stream.replace("data: ", ": a comment\nid: 7\nretry: 10\ndata:"),
        stream.replace("\n\n", "\n\n\n\n: data: {}\n\n"),
        stream.lines().map(pretty).collect(),
    ]
}

#[test]
fn a_stream_of_any_framing_is_the_same() {
    for sent in sent() {
        let plain = Gateway::new(sent.path, stream(&sent)).ask(&request(sent.path, true));
        let framings = framings(&stream(&sent)).into_iter();
        for (framing, size) in framings.flat_map(|it| [(it.clone(), 3), (it, usize::MAX)]) {
            let (status, body) =
                Gateway::pieces(sent.path, &framing, size).ask(&request(sent.path, true));
            assert_eq!(status, 200, "{framing}");
            assert_eq!(data(&body), sent.events, "{framing}");
            // One line of data in each event, and no other field.
            let field = |line: &str| {
                line.is_empty() || line.starts_with("data: ") || line.starts_with("event: ")
            };
            assert!(body.split('\n').all(field), "{body}");
            assert_eq!(
                body.matches("\n\n").count(),
                plain.1.matches("\n\n").count()
            );
        }
    }
}

/// Answers with an event behind the first one.
fn with(sent: &Sent, event: &str) -> (u16, String) {
    let all = stream(sent);
    let (first, rest) = all.split_at(all.find("\n\n").unwrap() + 2);
    Gateway::new(sent.path, format!("{first}{event}{rest}")).ask(&request(sent.path, true))
}

#[test]
fn separators_at_which_clients_split_are_escaped() {
    let odd = "{\"new\": \"a\u{2028}b\u{2029}c\u{85}d\u{80}\u{2027}é€\"}";
    for sent in sent() {
        let (status, body) = with(&sent, &format!("event: a\u{2028}b\ndata: {odd}\n\n"));
        assert_eq!(status, 200);
        assert!(!body.contains(['\u{2028}', '\u{2029}', '\u{85}']), "{body}");
        assert_eq!(data(&body)[1], serde_json::from_str::<Value>(odd).unwrap());
    }
}

#[test]
fn objects_of_any_kind_are_passed_on_and_other_data_fails() {
    let new = json!({"type": ["no", "text"], "choices": 7, "index": "x", "delta": 5});
    for sent in sent() {
        let (status, body) = with(&sent, &format!("data: {new}\n\n"));
        assert_eq!((status, &data(&body)[1]), (200, &new), "{}", sent.path);
        for bad in ["no JSON", "{\"a\":", "{} {}"] {
            let (status, body) = with(&sent, &format!("data: {bad}\n\n"));
            assert!(
                status == 400 || status == 424 || sent.path == CHAT,
                "{bad}: {body}"
            );
            assert!(!body.contains(bad), "{bad}: {body}");
        }
    }
}

#[test]
fn pings_comments_and_ends_of_other_dialects_are_not_passed_on() {
    for sent in sent() {
        let (_, body) = with(&sent, ": hello\n\n:\n\n");
        assert_eq!(data(&body), sent.events);
        assert!(!body.contains("ping") && !body.contains(":\n"), "{body}");
    }
    let sent = sent().into_iter().filter(|sent| sent.path != CHAT);
    for sent in sent {
        let (_, body) = with(&sent, "data: [DONE]\n\n");
        assert_eq!(data(&body), sent.events);
        assert_eq!(body.contains("[DONE]"), sent.path == RESPONSES, "{body}");
    }
}

#[test]
fn results_of_a_provider_s_tools_may_be_large() {
    let large = "x".repeat(3 << 20);
    for path in [CHAT, MESSAGES, RESPONSES] {
        let sent = sent().into_iter().find(|it| it.path == path).unwrap();
        let (status, body) = with(&sent, &format!("data: {}\n\n", json!({"result": large})));
        assert_eq!((status, &data(&body)[1]["result"]), (200, &json!(large)));
        let endless = format!("data: {{\"result\": \"{}", large.repeat(12));
        let (status, body) = with(&sent, &endless);
        assert!(status != 200 || body.contains("error"), "{}", body.len());
    }
}
