//! `wire decode`.

use crate::program::{fixture, run};

const FRONTS: [&str; 7] = [
    "openbb",
    "github",
    "openai",
    "responses",
    "meilisearch",
    "anthropic",
    "ag-ui",
];

/// A stream of AG-UI may have several runs.
#[test]
fn the_end_of_a_run_is_not_the_end_of_the_stream() {
    let run_of = |id: &str| {
        let event = |kind: &str| {
            format!("data: {{\"type\":\"{kind}\",\"threadId\":\"t\",\"runId\":\"{id}\"}}\n\n")
        };
        event("RUN_STARTED") + &event("RUN_FINISHED")
    };
    let two = run_of("r1") + &run_of("r2");
    let seen = run(&["decode", "-p", "ag-ui"], &two);
    assert_eq!((seen.status, &*seen.err), (0, ""), "{}", seen.out);
    let after = run_of("r1") + "data: {\"type\":\"CUSTOM\",\"name\":\"n\",\"value\":1}\n\n";
    let seen = run(&["decode", "-p", "ag-ui"], &after);
    assert!(seen.out.contains("ag-ui/after-end"), "{}", seen.out);
}

#[test]
fn golden_streams_are_clean() {
    for front in FRONTS {
        let file = fixture(&format!("golden/{front}.sse"));
        let seen = run(&["decode", "-p", front, &file], "");
        assert_eq!(seen.status, 0, "{}", seen.out);
        assert!(seen.out.contains("You asked: "), "{}", seen.out);
        assert!(
            seen.out.ends_with("events, nothing wrong\n"),
            "{}",
            seen.out
        );
        // Without a terminal there is no colour.
        assert!(!seen.out.contains('\x1b'));

        let seen = run(&["decode", "-p", front, &file, "--json"], "");
        let text: String = seen
            .json()
            .iter()
            .filter(|line| line["kind"] == "text")
            .map(|line| line["text"].as_str().unwrap())
            .collect();
        assert!(text.contains("\u{2028} separator"), "{text}");
    }
}

#[test]
fn deltas_are_shown_below_their_event() {
    let stream =
        "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n";
    let seen = run(&["decode", "-p", "openai", "--deltas"], stream);
    let deltas = ["+ Model(\"m\")", "+ Text(\"Hel\")"];
    let mut lines = seen.out.lines().map(str::trim);
    assert!(lines.next().unwrap().ends_with("\"Hel\""), "{}", seen.out);
    assert!(
        lines.filter(|it| deltas.contains(it)).eq(deltas),
        "{}",
        seen.out
    );
    let seen = run(&["decode", "-p", "openai"], stream);
    assert!(!seen.out.contains("+ "), "{}", seen.out);
    for front in FRONTS {
        let file = fixture(&format!("golden/{front}.sse"));
        let seen = run(&["decode", "-p", front, "--deltas", &file], "");
        assert!(seen.out.contains("+ Text("), "{front}: {}", seen.out);
    }
}

#[test]
fn offsets_are_those_of_the_events() {
    for front in FRONTS {
        let file = fixture(&format!("golden/{front}.sse"));
        let bytes = std::fs::read(&file).unwrap();
        for line in run(&["decode", "-p", front, &file, "--json"], "").json() {
            let offset = usize::try_from(line["offset"].as_u64().unwrap()).unwrap();
            let before = &bytes[..offset];
            assert!(before.is_empty() || before.ends_with(b"\n\n"), "{line}");
            assert!(!bytes[offset..].starts_with(b"\n"), "{line}");
        }
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let wrong = [
        (
            "openbb",
            ": comment\n\nevent: copilotMessageChunk\ndata: {\"delta\":}\n\n",
            "1 11 expected a value delta 9",
        ),
        (
            "openbb",
            "event: copilotMessageChunk\r\ndata: {\"text\":\"x\"}\r\n\r\n",
            "1 0 a chunk needs a string `delta`",
        ),
        (
            "openbb",
            "event: copilotFunctionCall\ndata: {\"function\":\"f\",\"input_arguments\":{}}\n\n\
             event: copilotMessageChunk\ndata: {\"delta\":\"late\"}\n\n",
            "2 72 follows what ends the stream, where readers have stopped",
        ),
        (
            "openai",
            "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\
             \"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
            "2 133 breaks chunk/done: a stream ends with `[DONE]`",
        ),
        (
            "openai",
            "data: {\"error\":{\"message\":\"overloaded\"}}\n\n",
            "1 0 the answer failed",
        ),
        (
            "github",
            "data: [DONE]\n\ndata: {\"cho",
            "2 14 the stream ends inside an event",
        ),
        (
            "meilisearch",
            "data: [DONE]\n\n",
            "2 14 breaks chunk/finish-reason: every choice ends with a `finish_reason`",
        ),
    ];
    for (front, stream, expected) in wrong {
        let seen = run(&["decode", "-p", front, "--json"], stream);
        assert_eq!(seen.status, 1, "{stream}");
        let lines = seen.json();
        let line = lines.iter().find(|line| line["kind"] == "wrong").unwrap();
        let wrong = &line["wrong"];
        let mut found = format!("{} {}", line["number"], line["offset"]);
        for part in [&wrong["what"], &wrong["path"], &wrong["byte"]] {
            if !part.is_null() {
                found.push(' ');
                found.push_str(part.as_str().unwrap_or(&part.to_string()));
            }
        }
        assert_eq!(found, expected, "{stream}");
        let readable = run(&["decode", "-p", front], stream);
        assert_eq!(readable.status, 1);
        assert!(readable.out.contains("WRONG"), "{}", readable.out);
    }
}

const CHUNK: &str = r#"{"id":"1","object":"chat.completion.chunk","created":1,"model":"m","#;
const END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
                   data: [DONE]\n\n";

/// Runs it and gives what the conformance kit found: the rule, and where.
fn broken(front: &str, stream: impl AsRef<[u8]> + Send) -> (i32, Vec<String>) {
    let seen = run(&["decode", "-p", front, "--json"], stream);
    let lines = seen.json();
    let rules = lines.iter().filter_map(|line| {
        let rule = line["wrong"]["rule"].as_str()?;
        let (kind, number) = (line["kind"].as_str()?, &line["number"]);
        Some(format!("{kind} {rule} {number} {}", line["offset"]))
    });
    (seen.status, rules.collect())
}

#[test]
fn what_a_check_calls_an_error_is_wrong_here_too() {
    let cases: [(&str, Vec<u8>, &[&str]); 9] = [
        (
            "openai",
            format!("data: {CHUNK}\"choices\":[{{\"index\":0,\"delta\":{{}}}}]}}\n\ndata: [DONE]\n\n").into(),
            &["wrong chunk/finish-reason 3 END"],
        ),
        (
            "openai",
            format!(": hi\n\ndata: {CHUNK}\"x\":1}}\n\ndata: [DONE]\n\n").into(),
            &["wrong chunk/choices 1 6", "wrong chunk/finish-reason 3 END"],
        ),
        (
            "openbb",
            b"event: copilotMessageChunk\ndata: {\"delta\":\"\xff\"}\n\n".into(),
            &["wrong sse/utf8 1 0"],
        ),
        (
            "openbb",
            "\u{feff}event: copilotMessageChunk\ndata: {\"delta\":\"x\"}\n\n".into(),
            &["wrong sse/bom 1 0"],
        ),
        (
            "openbb",
            "event: copilotMessageChunk\ndata: {\"delta\":\"x\"}\n\nevent: copilotCitationCollection\n\
             data: {\"citations\":[{\"source_info\":{\"type\":\"web\"}}]}\n\n"
                .into(),
            &["wrong openbb/citation-id 2 48"],
        ),
        (
            "openbb",
            "<html>oops</html>\n\n".into(),
            &["wrong sse/field 1 0", "warning openbb/empty 1 0"],
        ),
        (
            "github",
            format!("event: copilot_references\ndata: [{{\"type\":\"a\",\"id\":\"b\",\"metadata\":{{\"display_name\":\"x\"}}}}]\n\n{END}").into(),
            &["wrong github/reference-data 4 END"],
        ),
        (
            "github",
            format!("event: copilot_confirmation\ndata: {{\"type\":\"action\",\"title\":1}}\n\n{END}").into(),
            &["wrong github/confirmation 1 0"],
        ),
        // What can be said without the kit is said once.
        ("openbb", b"event: copilotMessageChunk\ndata: {\n\n".into(), &[]),
    ];
    for (front, stream, expected) in cases {
        let shown = String::from_utf8_lossy(&stream).into_owned();
        let end = stream.len().to_string();
        let expected: Vec<_> = expected
            .iter()
            .map(|rule| rule.replace("END", &end))
            .collect();
        assert_eq!(broken(front, stream), (1, expected), "{shown}");
    }
}

#[test]
fn a_warning_is_not_wrong() {
    let stream = "event: copilotStatusUpdate\n\
                  data: {\"eventType\":\"ERROR\",\"message\":\"m\",\"group\":\"reasoning\"}\n\n";
    let rules = vec!["warning openbb/status-type 1 0".to_owned()];
    assert_eq!(broken("openbb", stream), (0, rules));
    let seen = run(&["decode", "-p", "openbb"], stream);
    assert!(
        seen.out
            .contains("  warning       breaks openbb/status-type: "),
        "{}",
        seen.out
    );
    assert!(
        seen.out.ends_with("1 event, nothing wrong\n"),
        "{}",
        seen.out
    );
}

#[test]
fn recorded_searches_are_clean() {
    // What the server itself sends is a warning at most.
    let file = fixture("meilisearch/recorded/search_all_tools/stream.sse");
    let seen = run(&["decode", "-p", "meilisearch", &file], "");
    assert_eq!(seen.status, 0, "{}", seen.out);

    let file = fixture("meilisearch/stream_documented_dialect.sse");
    let seen = run(&["decode", "-p", "meilisearch", &file], "");
    assert_eq!(seen.status, 0, "{}", seen.out);
    for kind in ["search", "sources", "finish"] {
        assert!(
            seen.out.contains(&format!("  {kind} ")) || seen.out.contains(&format!("  {kind}\n")),
            "{kind}: {}",
            seen.out
        );
    }
}

#[test]
fn text_of_others_does_not_reach_the_terminal() {
    let stream = "event: copilotMessageChunk\ndata: {\"delta\":\"\\u001b[2J\\u202e\\u0007\"}\n\n";
    let seen = run(&["decode", "-p", "openbb"], stream);
    assert_eq!(seen.status, 0);
    assert!(
        seen.out.contains("\\u{1b}[2J\\u{202e}\\u{7}"),
        "{}",
        seen.out
    );
}
