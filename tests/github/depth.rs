//! Depth needs no stack, and each result finds its call.

use copilot_wire::github::ChatRequest;
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::Conversation;

fn read(messages: &str) -> ChatRequest {
    let body = format!(r#"{{"messages":[{messages}]}}"#);
    ChatRequest::from_json(body).unwrap()
}

fn call(id: usize, name: &str) -> String {
    format!(r#"{{"id":"call_{id:06}","function":{{"name":"{name}","arguments":"{{}}"}}}}"#)
}

fn result(id: usize) -> String {
    format!(r#"{{"role":"tool","content":"r","tool_call_id":"call_{id:06}"}}"#)
}

#[test]
fn the_call_that_a_result_names_is_the_newest_before_it() {
    let calls = |calls: &[String]| {
        format!(
            r#"{{"role":"assistant","tool_calls":[{}]}}"#,
            calls.join(",")
        )
    };
    let request = read(
        &[
            calls(&[call(0, "first"), call(0, "second")]),
            r#"{"role":"user","content":"x"}"#.into(),
            calls(&[call(0, "late"), call(1, "other")]),
            result(0),
            result(1),
            result(2),
            r#"{"role":"tool","name":"own","content":"r","tool_call_id":"call_000000"}"#.into(),
            r#"{"role":"function","content":"r"}"#.into(),
        ]
        .join(","),
    );
    let names: Vec<_> = request.results().map(|result| result.name).collect();
    assert_eq!(names, ["late", "other", "", "own", ""]);
}

#[test]
fn the_last_line_that_there_can_be_has_a_number() {
    let last = u64::MAX;
    let request = read(&format!(
        r#"{{"role":"user","content":"x","copilot_references":[{{"type":"client.selection","id":"a","data":{{"start":{{"line":{last}}},"end":{{"line":{last}}},"content":"x"}}}}]}}"#
    ));
    let names: Vec<_> = request.documents().map(|document| document.name).collect();
    assert_eq!(names, [format!("a (lines {last}-{last})")]);
}

/// A depth that would overflow a thread's stack.
const DEEP: usize = 10_000;

#[test]
fn depth_needs_no_stack() {
    for key in [
        "x",
        "content",
        "data",
        "tool_calls",
        "function",
        "copilot_references",
    ] {
        let member = format!("{{\"{key}\":[");
        let value = member.repeat(DEEP) + &"]}".repeat(DEEP);
        for place in [
            "@",
            r#"{"role":"user","content":[@],"x":@}"#,
            r#"{"role":"assistant","tool_calls":[@]},{"role":"tool","tool_call_id":"a"}"#,
            r#"{"role":"user","content":"x","copilot_references":[@,{"type":"client.file","id":"a","data":@}]}"#,
            r#"{"role":"user","content":"x","copilot_confirmations":[@]}"#,
        ] {
            let request = read(&place.replace('@', &value));
            assert!(!format!("{request:?}").is_empty());
            assert!(request.messages().count() <= 1);
            let _ = request.prompt();
            assert!(request.results().count() <= 1);
            assert!(request.documents().count() <= 2);
            let _ = request.dialog_decision();
        }
    }
}
