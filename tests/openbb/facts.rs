//! The content of each recorded request.

use copilot_wire::openbb::{Piece, Role, pieces, strip_markers};
use copilot_wire::protocol::Conversation;

use crate::{read, request};

#[test]
fn a_task_from_another_agent() {
    let request = request("v2_orchestrated_by_other_agent");
    let delegation = request.delegation().unwrap();
    assert_eq!(delegation.agent_id, "openbb-copilot");
    assert_eq!(delegation.task, "Fetch the latest filings for AAPL.");
    let own = read(r#"{"messages":[{"role":"ai","content":"text"}]}"#);
    assert!(own.delegation().is_none());
    let answered = crate::request("v2_full");
    assert!(answered.delegation().is_none());
}

/// A message without a role but with a function is a result, as in Python.
#[test]
fn a_result_without_a_role() {
    let request = read(r#"{"messages":[{"function":"f","data":[{"content":"x"}]}]}"#);
    assert_eq!(*request.messages.first().unwrap().role(), Role::Tool);
    assert_eq!(request.last_result().unwrap().outcomes[0].text(), "x");
    assert_eq!(request.messages().count(), 0);
}

#[test]
fn markers() {
    let text = "a <|start_artifact_id|>T<|end_artifact_id|><|start_citation_id|>u<|end_citation_id|> b\
                <|start_artifact_id|>open <|start_x|>";
    let found: Vec<_> = pieces(text).collect();
    assert_eq!(
        found,
        [
            Piece::Text("a "),
            Piece::Artifact("T"),
            Piece::Citation("u"),
            Piece::Text(" b<|start_artifact_id|>open <|start_x|>"),
        ],
    );
    assert_eq!(
        strip_markers(text),
        "a  b<|start_artifact_id|>open <|start_x|>"
    );
    assert_eq!(
        strip_markers("<|start_artifact_id|>T<|end_artifact_id|>"),
        ""
    );
    assert_eq!(strip_markers(""), "");
}

#[test]
fn a_call_in_a_message() {
    // The rule of all Python versions, for `ai` messages only.
    let call = |content: &str| {
        let body = format!(r#"{{"messages":[{{"role":"ai","content":{content}}}]}}"#);
        read(body)
            .messages
            .first()
            .unwrap()
            .call()
            .map(|call| call.function)
    };
    let string = |text: &str| serde_json::to_string(text).unwrap();
    let good = r#"{"function":"f","input_arguments":{}}"#;
    let f = || Some("f".to_owned());
    assert_eq!(call(good), f());
    assert_eq!(call(&string(good)), f());
    assert_eq!(call(&string(&string(good))), f());
    assert_eq!(call(&string(&format!("\n {good}"))), f());
    assert_eq!(call(&string(&string(&string(good)))), None);
    for text in [
        "42",
        "[1]",
        "null",
        "",
        "plain",
        r#"{"function":"x"}"#,
        r#"{"function":1,"input_arguments":{}}"#,
        r#"{"function":"f","input_arguments":[]}"#,
        r#"{"function":"f","input_arguments":{}"#,
    ] {
        assert_eq!(call(&string(text)), None, "{text}");
        let body = format!(
            r#"{{"messages":[{{"role":"ai","content":{}}}]}}"#,
            string(text)
        );
        assert_eq!(read(body).messages.first().unwrap().text().unwrap(), text);
    }
    let pasted = format!(
        r#"{{"messages":[{{"role":"human","content":{}}}]}}"#,
        string(good)
    );
    let pasted = read(pasted);
    assert_eq!(pasted.messages.first().unwrap().call(), None);
    assert_eq!(pasted.prompt().unwrap(), good);
}
