//! Large inputs: time is linear in the length, and depth does not use the stack.
//!
//! The sizes are such that quadratic work takes minutes.

use copilot_wire::github::{ChatRequest, ChunkForm, GitHub};
use copilot_wire::protocol::{Citation, Conversation, Env, Part, Protocol};

const MANY: usize = 50_000;
const LONG: usize = 4 * 1024 * 1024;

/// Returns the content of an array or object with `many` elements, each created from its index.
fn list(many: usize, element: impl Fn(usize) -> String) -> String {
    let all: Vec<_> = (0..many).map(element).collect();
    all.join(",")
}

fn read(messages: &str) -> ChatRequest {
    let body = format!(r#"{{"messages":[{messages}]}}"#);
    ChatRequest::from_json(body).unwrap()
}

/// Calls all accessors of a conversation.
fn exercise(request: &ChatRequest) {
    let texts: usize = request.messages().map(|message| message.text.len()).sum();
    assert!(request.prompt().unwrap_or_default().len() <= texts);
    assert_eq!(request.tools().count(), 0);
    assert!(request.results().count() <= request.messages.len());
    let references = request
        .messages
        .iter()
        .map(|message| message.references.len());
    assert!(request.documents().count() <= references.sum());
    assert_eq!(request.dialog_answer(), None);
}

fn call(id: usize, name: &str) -> String {
    format!(r#"{{"id":"call_{id:06}","function":{{"name":"{name}","arguments":"{{}}"}}}}"#)
}

fn result(id: usize) -> String {
    format!(r#"{{"role":"tool","content":"r","tool_call_id":"call_{id:06}"}}"#)
}

#[test]
fn large_conversations_are_read_in_linear_time() {
    let long = "x".repeat(LONG);
    let calls = |calls: &str| format!(r#"{{"role":"assistant","tool_calls":[{calls}]}}"#);
    let user = |content: &str, references: &str| {
        format!(r#"{{"role":"user","content":{content},"copilot_references":[{references}]}}"#)
    };
    for messages in [
        list(MANY, |_| user("\"x\"", "")),
        // Parts after a long one.
        user(
            &format!(
                r#"[{{"text":"{long}"}},{}]"#,
                list(MANY, |_| r#"{"text":""}"#.into())
            ),
            "",
        ),
        // Results of other calls, and of one with a long name.
        format!(
            "{},{}",
            calls(&list(MANY, |at| call(at, "f"))),
            list(MANY, |at| result(at + MANY))
        ),
        format!("{},{}", calls(&call(0, &long)), list(MANY, |_| result(0))),
        user(
            "\"x\"",
            &list(MANY, |at| {
                format!(
                    r#"{{"type":"client.selection","id":"{at}","data":{{"start":{{"line":1}},"content":"x"}}}}"#
                )
            }),
        ),
    ] {
        exercise(&read(&messages));
    }
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
            let _ = request.dialog_answer();
        }
    }
}

#[test]
fn citations_are_written_in_linear_time() {
    const ALL: usize = 100_000;
    let request = ChatRequest::from_json(r#"{"messages":[]}"#).unwrap();
    let mut session = GitHub::session(&request, &ChunkForm::Short, &Env::default());
    let mut out = Vec::new();
    for at in 0..ALL {
        let citation = Citation::new("The same long title of every source")
            .url(format!("https://a.example/{at}"));
        // Each is cited twice, and shown once.
        for _ in 0..2 {
            session.part(Part::Cite(&citation), &mut out).unwrap();
        }
    }
    session.finish(&mut out);
    let text = String::from_utf8(out).unwrap();
    let places: Vec<usize> = [0, 1, ALL / 2, ALL - 1]
        .map(|at| text.find(&format!("\"https://a.example/{at}\"")).unwrap())
        .to_vec();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(text.matches("\"type\":\"citation\"").count(), ALL);
}
