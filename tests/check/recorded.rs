//! Streams that were recorded.

use copilot_wire::protocol::plain_text;
use copilot_wire_kit::check::{self, Report, Trial};

use crate::FRONTS;
use crate::script::Front;
use crate::streams::{self, FAILURE, HELLO, OPENAI, STOP};

fn recorded(front: Front, stream: &[u8]) -> Report {
    check::recorded(front.kit(), stream)
}

const FAILED: &str = "data: {\"type\":\"RUN_ERROR\",\"message\":\"away\"}\n\n";

/// Two runs, the second of which has chunks: each begins, continues and ends messages and calls.
const TWO_RUNS: &str = r#"data: {"type":"RUN_STARTED","threadId":"t","runId":"r1"}

data: {"type":"STATE_SNAPSHOT","snapshot":{"a":{"b":1}}}

data: {"type":"STATE_DELTA","delta":[{"op":"replace","path":"/a/b","value":2}]}

data: {"type":"RUN_FINISHED","threadId":"t","runId":"r1"}

data: {"type":"RUN_STARTED","threadId":"t","runId":"r2"}

data: {"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"a"}

data: {"type":"TEXT_MESSAGE_CHUNK","delta":"b"}

data: {"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"{"}

data: {"type":"TOOL_CALL_CHUNK","delta":"}"}

data: {"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}

data: {"type":"TEXT_MESSAGE_END","messageId":"m"}

data: {"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a/b"}]}

data: {"type":"RUN_FINISHED","threadId":"t","runId":"r2"}

"#;

#[test]
fn nothing_is_found_in_a_stream_that_is_right() {
    let searches = streams::searches();
    let streams = [
        streams::OPENBB,
        streams::GITHUB,
        OPENAI,
        streams::MEILISEARCH,
    ];
    for (front, stream) in FRONTS.into_iter().zip(streams) {
        let report = recorded(front, stream.as_bytes());
        assert!(report.is_clean(), "{front:?}\n{report}");
        assert!(report.passed.contains(&"sse/utf8"));
        // Nobody knows when it came.
        assert!(report.unseen.contains(&"http/late-head"));
    }
    // Nor what was asked.
    for (front, stream) in [
        (Front::Meilisearch, &*searches),
        (Front::OpenAi, streams::OPENAI_CALL),
        (Front::AgUi, streams::AG_UI),
        // A failure leaves things open.
        (Front::AgUi, &*format!("{}{FAILED}", streams::RUN_STARTED)),
        (Front::AgUi, FAILED),
        (Front::AgUi, TWO_RUNS),
        (Front::UiStream, streams::UI_STREAM),
    ] {
        let report = recorded(front, stream.as_bytes());
        assert!(report.is_clean(), "{front:?}\n{report}");
    }
}

/// The stream of one text.
fn text(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    OPENAI.replace("\"Hello\"", &text)
}

const QUESTION: &str = "Careful.\n\nQuestion: Delete it? rm -rf ～/x（U＋200B） a（U＋200B x4） \
    To agree, reply: yes 482193. To refuse, reply: no. (d-1 cw00rh68634v5ff7z2pdq)";

#[test]
fn a_question_in_text_is_one_plain_line_at_the_end() {
    let report = recorded(Front::OpenAi, text(QUESTION).as_bytes());
    assert!(report.is_clean(), "{report}");
    for rule in ["question/line", "question/plain", "question/proof"] {
        assert!(report.passed.contains(&rule), "{report}");
    }
    // No code, no question.
    let report = recorded(Front::OpenAi, text("To agree, reply: yes 12.").as_bytes());
    assert!(report.is_clean(), "{report}");
    assert!(report.unseen.contains(&"question/line"), "{report}");
    for (rule, from, to) in [
        ("question/line", "pdq)", "pdq)\n\nAnd more."),
        ("question/line", "pdq)", "pdq) And more."),
        ("question/line", "Careful.", "Reply 482193."),
        ("question/line", "Careful.", "Reply 48 21 93."),
        ("question/line", "it? rm", "it?\nrm"),
        ("question/line", "\n\nQuestion", " Question"),
        ("question/plain", "rm", "`rm`"),
        ("question/plain", "rm", "<b>rm"),
        ("question/plain", "rm", "[rm](x)"),
        ("question/plain", "rm", "r+m"),
        ("question/plain", "rm", "r\tm"),
        ("question/proof", "d-1 ", ""),
        ("question/proof", "d-1", "D-1"),
        ("question/proof", "pdq)", "pdo)"),
        ("question/proof", "pdq)", "pd)"),
        ("question/proof", " (d-1", "\u{A0}(d-1"),
        ("question/proof", "reply: no.", "reply: **no**."),
    ] {
        assert!(QUESTION.contains(from));
        let stream = text(&QUESTION.replacen(from, to, 1));
        let report = recorded(Front::OpenAi, stream.as_bytes());
        assert!(report.rules().any(|id| id == rule), "{from} {to}: {report}");
    }
}

#[test]
fn rule_check_and_library_name_the_same_punctuation() {
    let mut rules = Front::OpenAi.kit().rules();
    let rule = rules.find(|rule| rule.id == "question/plain").unwrap();
    for mark in ('!'..='~').filter(char::is_ascii_punctuation) {
        let stream = text(&QUESTION.replacen("rm", &format!("r{mark}m"), 1));
        let is_fault = recorded(Front::OpenAi, stream.as_bytes())
            .rules()
            .any(|id| id == "question/plain");
        // Alone, because a full stop before a letter is replaced too.
        let is_replaced = plain_text(&mark.to_string()) != mark.to_string();
        assert_eq!(is_fault, is_replaced, "{mark}");
        assert_eq!(
            is_fault,
            !rule.says.contains(&format!("`{mark}`")),
            "{mark}"
        );
    }
}

#[test]
fn a_finding_says_where_it_is() {
    let bare = HELLO.replace("\"object\":\"chat.completion.chunk\",", "");
    let stream = OPENAI.replace(HELLO, &format!("{HELLO}{bare}"));
    let report = recorded(Front::OpenAi, stream.as_bytes());
    assert!(report.rules().eq(["chunk/complete"]), "{report}");
    assert_eq!(report.findings[0].offset, stream.find(&bare));

    let report = recorded(Front::OpenAi, OPENAI.replace(STOP, "").as_bytes());
    assert!(report.rules().eq(["chunk/finish-reason"]), "{report}");
    assert_eq!(report.findings[0].offset, None);

    let failed = format!("{FAILURE}{STOP}");
    let report = recorded(Front::OpenAi, failed.as_bytes());
    assert!(report.rules().eq(["openai/after-error"]), "{report}");
    assert_eq!(report.findings[0].offset, Some(FAILURE.len()));
}

#[test]
fn only_an_object_gets_a_model() {
    for (body, expected) in [
        (r#"{"a":1}"#, r#"{"a":1,"model":"m"}"#),
        ("[1, 2]", "[1, 2]"),
        ("half {", "half {"),
    ] {
        let request = Trial::new(None, "a request", body).model("m");
        assert_eq!(request.body, expected);
    }
}
