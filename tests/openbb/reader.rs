//! Tests of the reader in `workspace.rs`: it accepts valid streams, and rejects every mutation.

use crate::workspace::{Fault, read};
use crate::{fixture, fixtures};

/// A turn with every kind of event.
const TURN: &str = "event: copilotStatusUpdate\ndata: {\"eventType\":\"INFO\",\"message\":\"m\",\"group\":\"reasoning\",\"details\":[],\"hidden\":false}\n\n\
: ping\n\n\
event: copilotMessageChunk\ndata: {\"delta\":\"one\\u2028two\"}\n\n\
event: copilotMessageArtifact\ndata: {\"type\":\"table\",\"name\":\"T\",\"description\":\"d\",\"uuid\":\"u\",\"content\":[]}\n\n\
event: copilotFunctionCall\ndata: {\"function\":\"get_widget_data\",\"input_arguments\":{\"data_sources\":[{\"origin\":\"o\",\"id\":\"i\",\"input_args\":{}}]}}\n\n";

const CALL: &str =
    "event: copilotFunctionCall\ndata: {\"function\":\"save_skill\",\"input_arguments\":{}}\n\n";

#[test]
fn a_whole_turn_is_read_whole() {
    let turn = read(TURN.as_bytes()).unwrap();
    assert_eq!(
        turn.text,
        "one\u{2028}two<|start_artifact_id|>T<|end_artifact_id|>"
    );
    assert_eq!((turn.steps.len(), turn.artifacts.len()), (1, 1));
    assert_eq!(turn.call.unwrap()["function"], "get_widget_data");
    for end in ["\r\n", "\r"] {
        let other = TURN.replace('\n', end);
        assert!(read(other.as_bytes()).is_ok());
    }
}

#[test]
fn every_mutation_is_caught() {
    let with = |from: &str, to: &str| {
        assert!(TURN.contains(from), "{from}");
        read(TURN.replacen(from, to, 1).as_bytes()).unwrap_err()
    };
    let behind = |more: &str| read((TURN.to_owned() + more).as_bytes()).unwrap_err();
    assert!(matches!(with("\\u2028", "\u{2028}"), Fault::NotJson(_)));
    assert!(matches!(with("\\u2028", "\u{2029}"), Fault::NotJson(_)));
    assert_eq!(behind(CALL), Fault::SecondCall);
    let cut = &TURN[..TURN.len() - 1];
    assert!(matches!(read(cut.as_bytes()).unwrap_err(), Fault::Lost(_)));
    assert!(matches!(behind("data: [DONE]\n\n"), Fault::NotJson(_)));
    let chunk = "event: copilotMessageChunk\ndata: {\"delta\":\"x\"}\n\n";
    assert_eq!(
        behind(chunk),
        Fault::AfterCall("copilotMessageChunk".into())
    );
    assert_eq!(with("event: copilotMessageChunk\n", ""), Fault::NoName);
    assert!(matches!(with(": ping", ":data: ping"), Fault::Comment(_)));
    assert!(matches!(with("\"delta\"", "'delta'"), Fault::NotJson(_)));
    assert!(matches!(with("\"delta\"", "\"text\""), Fault::Shape(_)));
    assert!(matches!(
        with("get_widget_data", "create_widget"),
        Fault::Function(_)
    ));
    assert!(matches!(
        with("\"input_args\":{}", "\"input_args\":[]"),
        Fault::Function(_)
    ));
    assert!(matches!(
        with("\"content\":[]", "\"content\":{}"),
        Fault::Shape(_)
    ));
    assert!(matches!(
        with(
            "event: copilotMessageChunk",
            "\u{feff}event: copilotMessageChunk"
        ),
        Fault::NoName
    ));
    let artifact = TURN
        .split("\n\n")
        .find(|block| block.contains("Artifact"))
        .unwrap();
    let twin = artifact.replace("\"u\"", "\"v\"");
    assert_eq!(
        read(format!("{artifact}\n\n{twin}\n\n").as_bytes()).unwrap_err(),
        Fault::Name("T".into()),
    );
    let mut broken = TURN.as_bytes().to_vec();
    broken[10] = 0xff;
    assert_eq!(read(&broken).unwrap_err(), Fault::NotUtf8);
}

/// The reader accepts the output of the Python package, except where the package has a bug.
#[test]
fn recorded_streams() {
    for name in fixtures("streams/", ".sse") {
        let outcome = read(&fixture(&name));
        match name.as_str() {
            "streams/escapes.sse" | "streams/legacy_python_repr_NOT_JSON.sse" => {
                assert!(matches!(outcome, Err(Fault::NotJson(_))), "{name}");
            }
            _ => assert!(outcome.is_ok(), "{name}: {outcome:?}"),
        }
    }
}
