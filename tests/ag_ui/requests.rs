//! Requests that the official clients sent, and odd ones.

use bytes::Bytes;
use copilot_wire::Request;
use copilot_wire::ag_ui::{AgUi, Mount, ResumeEntry, RunAgentInput};
use copilot_wire::json::Json;
use copilot_wire::protocol::{
    Attachment, AttachmentContent, Confirmation, Conversation, HistoryItem, Protocol, Refusal,
    Verdict,
};
use serde_json::{Value, json};

use crate::support::{agent, ask, post, read, router};

fn parse(body: impl Into<Bytes>) -> Result<RunAgentInput, Refusal> {
    let (parts, ()) = http::Request::post("/agui").body(()).unwrap().into_parts();
    AgUi::read(&parts, body.into())
}

fn recorded(name: &str) -> RunAgentInput {
    let path = format!(
        "{}/fixtures/ag-ui/req-{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    parse(std::fs::read(path).unwrap()).unwrap()
}

/// The history in words.
fn history(input: &RunAgentInput) -> Vec<String> {
    let items = input.history().map(|item| match item {
        HistoryItem::Message(message) => format!("{:?}: {}", message.role, message.text),
        HistoryItem::Attachment(file) => match file.content {
            AttachmentContent::Url(url) => format!("file at {url}"),
            AttachmentContent::Base64(data) => format!("file {data}"),
            AttachmentContent::Id(id) => format!("file of id {id}"),
            _ => unreachable!(),
        },
        HistoryItem::Call(call) => {
            format!("{}: {} {}", call.id.unwrap(), call.name, call.arguments)
        }
        HistoryItem::Result(result) => {
            let failed = if result.failed { "failed " } else { "" };
            format!("{}: {failed}{}", result.call_id.unwrap(), result.content)
        }
        _ => unreachable!(),
    });
    items.collect()
}

#[test]
fn the_first_request_of_a_conversation() {
    for version in ["0.0.59", "1.0.0"] {
        let input = recorded(&format!("text-{version}"));
        assert_eq!((&*input.thread_id, &*input.run_id), ("thread-1", "run-1"));
        assert_eq!(input.protocol_version.is_some(), version == "1.0.0");
        assert_eq!(history(&input), ["User: Hi"]);
        assert_eq!(input.prompt().unwrap(), "Hi");
        let tool = input.tools().next().unwrap();
        assert_eq!(
            (&*tool.name, &*tool.description),
            ("getLocation", "Where the user is.")
        );
        let schema = r#"{"type":"object","properties":{"exact":{"type":"boolean"}}}"#;
        assert_eq!(tool.parameters.unwrap().text(), schema);
        let document = input.documents().next().unwrap();
        assert_eq!(
            (&*document.id, &*document.name),
            ("Current page", "Current page")
        );
        assert_eq!(document.content, r#"{"page":7}"#);
        assert_eq!(input.state.text(), "{}");
        assert_eq!(input.forwarded_props.text(), r#"{"locale":"en"}"#);
        assert!(input.dialog_decision().is_none() && input.results().next().is_none());
        let (parts, ()) = http::Request::post("/").body(()).unwrap().into_parts();
        let id = AgUi::conversation_id(&input, &parts.headers);
        assert_eq!(id.unwrap(), "thread-1");
    }
}

#[test]
fn parts_are_text_and_files() {
    for version in ["0.0.59", "1.0.0"] {
        let input = recorded(&format!("parts-{version}"));
        assert_eq!(
            history(&input),
            [
                "User: What is this?",
                "file at https://example.com/a.png",
                "file VGlkZXMgdHVybi4=",
                "file R0lGODlhAQABAAAAACw=",
            ]
        );
        let files: Vec<Attachment<'_>> = input
            .history()
            .filter_map(|item| match item {
                HistoryItem::Attachment(file) => Some(file),
                _ => None,
            })
            .collect();
        let types: Vec<_> = files
            .iter()
            .map(|file| file.media_type.as_deref().unwrap())
            .collect();
        assert_eq!(types, ["image/png", "text/plain", "image/gif"]);
        // 1.0.0 moves the name of a file into metadata.
        assert_eq!(files[2].name.as_deref(), Some("dot.gif"));
    }
}

#[test]
fn calls_come_back_with_their_results() {
    for version in ["0.0.59", "1.0.0"] {
        let input = recorded(&format!("results-{version}"));
        assert_eq!(
            history(&input),
            [
                "User: Where am I?",
                r#"c0: search {"q":"tides"}"#,
                // The agent's own tool, which failed: its metadata came back.
                r#"c0: failed ["a page"]"#,
                "Assistant: One moment.",
                r#"c1: getLocation {"exact":true}"#,
                "c2: getLocation {}",
                r#"c1: {"place":"Brest"}"#,
                "c2: failed no permission",
            ]
        );
        let results: Vec<_> = input.results().collect();
        assert_eq!(results.len(), 3);
        assert_eq!(results[1].name, "getLocation");
        assert_eq!(
            results[1].arguments.as_ref().unwrap().text(),
            r#"{"exact":true}"#
        );
        assert_eq!(input.state.text(), r#"{"count":2}"#);
    }
}

#[test]
fn an_interrupt_is_answered() {
    for version in ["0.0.59", "1.0.0"] {
        for (name, accepted) in [("yes", true), ("no", false), ("cancelled", false)] {
            let input = recorded(&format!("interrupt-{name}-{version}"));
            let answer = input.dialog_decision().unwrap();
            assert_eq!(answer.id, "q1", "{name}");
            assert_eq!(answer.accepts("q1"), accepted, "{name}");
        }
    }
    let resume = |entry: &str| {
        let body = format!(r#"{{"messages":[],"resume":[{entry}]}}"#);
        let input = parse(body).unwrap();
        let answer = input.dialog_decision().unwrap();
        (
            answer.accepts("q"),
            answer.data.map(|data| data.text().to_owned()),
        )
    };
    let data =
        r#"{"interruptId":"q","status":"resolved","payload":{"accepted":true,"data":{"a":1}}}"#;
    assert_eq!(resume(data), (true, Some(r#"{"a":1}"#.to_owned())));
    assert!(resume(r#"{"interruptId":"q","status":"resolved","payload":true}"#).0);
    for refused in [
        r#"{"interruptId":"q","status":"resolved","payload":null}"#,
        r#"{"interruptId":"q","status":"resolved","payload":{"accepted":"true"}}"#,
        r#"{"interruptId":"q","status":"cancelled","payload":{"accepted":true}}"#,
        r#"{"interruptId":"q","status":"tomorrow","payload":{"accepted":true}}"#,
        r#"{"interruptId":"q","payload":{"accepted":true}}"#,
    ] {
        assert!(!resume(refused).0, "{refused}");
    }
}

#[test]
fn a_cancelled_interrupt_is_refused() {
    let mut input = recorded("text-1.0.0");
    input.resume = vec![ResumeEntry::cancelled("q")].into();
    let answer = input.dialog_decision().unwrap();
    assert_eq!((&*answer.id, answer.verdict), ("q", Verdict::Refused));
}

#[test]
fn a_question_counts_in_its_own_conversation_only() {
    let asks = agent(|request, reply| async move {
        match request.decision() {
            Some(answer) => reply.text(format!("{:?}", answer.verdict)).await?,
            None => reply.confirm(Confirmation::new("del-1", "Delete?", "All of it."))?,
        }
        Ok(())
    });
    let router = router(Mount::new(), asks);
    let said = |body: &Value| read(&post(&router, &body.to_string()).1).texts().concat();
    let mut body: Value = serde_json::from_str(&ask("Delete it")).unwrap();
    let question = said(&body);
    let (_, code) = question.rsplit_once("reply: yes ").unwrap();
    let yes = format!("yes {}", &code[..6]);
    body["messages"] = json!([
        {"id": "u1", "role": "user", "content": "Delete it"},
        {"id": "a1", "role": "assistant", "content": question},
        {"id": "u2", "role": "user", "content": yes},
    ]);
    for (thread, verdict) in [("th2", "NoProof"), ("", "NoProof"), ("th1", "Accepted")] {
        body["threadId"] = json!(thread);
        assert_eq!(said(&body), verdict, "{thread}");
    }
}

/// Recorded from clients that answered a question which another server had asked.
#[test]
fn a_yes_to_a_question_of_another_server_has_no_proof() {
    for version in ["0.0.59", "1.0.0"] {
        let input = recorded(&format!("question-{version}"));
        assert_eq!(input.dialog_decision(), None);
        let request = Request::<AgUi>::new(input);
        let answer = request.decision().unwrap();
        assert_eq!((&*answer.id, answer.verdict), ("q1", Verdict::NoProof));
    }
}

#[test]
fn nulls_and_invalid_elements_do_not_affect_others() {
    let input = recorded("odd");
    assert_eq!(
        history(&input),
        [
            r#"Assistant: table: {"rows":[]}"#,
            "System: Be brief.",
            "Other: ?",
            "c1: getLocation ",
            "c1: Brest",
            r#"Other: {"type":"hologram","value":1}"#,
            r#"Other: {"type":"image","source":null}"#,
            "User: one\ntwo",
            "file at https://example.com/a.png",
            "file of id f1",
            "file of id f2",
        ]
    );
    assert_eq!(input.prompt().unwrap(), "one\ntwo");
    assert_eq!(input.tools().count(), 1);
    assert!(input.tools().next().unwrap().parameters.is_none());
    assert!(input.state.is_null() && input.resume.is_empty());
    // What is not understood is kept in its place.
    let body = input.to_json();
    assert_eq!(RunAgentInput::from_json(&body).unwrap(), input);
    let text = String::from_utf8(body.to_vec()).unwrap();
    for kept in [
        "oracle",
        "hologram",
        "null,7]",
        "encryptedValue",
        r#""later":{"x":null}"#,
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn a_request_of_older_apps_is_written_as_it_was() {
    for name in ["text", "parts", "results", "interrupt-yes", "question"] {
        for version in ["0.0.59", "1.0.0"] {
            let input = recorded(&format!("{name}-{version}"));
            let path = format!("fixtures/ag-ui/req-{name}-{version}.json");
            let sent = std::fs::read(path).unwrap();
            let sent: Value = serde_json::from_slice(&sent).unwrap();
            let written: Value = serde_json::from_slice(&input.to_json()).unwrap();
            assert_eq!(written, sent, "{name}-{version}");
        }
    }
}

#[test]
fn what_is_missing_reads_as_empty() {
    let input = parse(r#"{"messages":[]}"#).unwrap();
    assert_eq!(
        input.history().count() + input.tools().count() + input.documents().count(),
        0
    );
    assert!(input.prompt().is_none() && input.dialog_decision().is_none());
    let input = parse(r#"{"messages":[{"role":"user","content":"Hi"}],"tools":7,"context":{}}"#);
    assert_eq!(input.unwrap().prompt().unwrap(), "Hi");
}

#[test]
fn a_request_without_a_list_of_messages_is_refused() {
    for body in [
        "{}",
        r#"{"messages":null}"#,
        r#"{"messages":"Hi"}"#,
        r#"{"messages":{}}"#,
    ] {
        let refusal = parse(body).unwrap_err();
        assert_eq!(
            (refusal.status().as_u16(), refusal.path()),
            (400, "messages"),
            "{body}"
        );
    }
    for body in ["", "[]", "7", "{", r#"{"messages":[{"role":}]}"#] {
        assert_eq!(parse(body).unwrap_err().status(), 400, "{body}");
    }
    let refusal = parse(r#"{"messages":[{},{"role":}]}"#).unwrap_err();
    assert_eq!(refusal.path(), "messages[1].role");
}

#[test]
fn neither_texts_nor_data_are_shown() {
    let secret = "s3cr3t";
    let body = format!(
        r#"{{"messages":[{{"role":"user","content":"{secret}"}},{{"role":"user","content":[
            {{"type":"text","text":"{secret}"}},{{"type":"binary","data":"{secret}","url":"{secret}"}},
            {{"type":"image","source":{{"type":"url","value":"{secret}"}}}}]}}],
            "state":"{secret}","forwardedProps":"{secret}","resume":[{{"payload":"{secret}"}}]}}"#
    );
    let shown = format!("{:?}", parse(body).unwrap());
    assert!(!shown.contains(secret), "{shown}");
}

#[test]
fn state_is_anything() {
    for state in ["{}", "[1]", "7", r#""x""#, "1.50"] {
        let body = format!(r#"{{"messages":[],"state":{state}}}"#);
        assert_eq!(
            parse(body).unwrap().state,
            Json::parse(state.to_owned()).unwrap()
        );
    }
}
