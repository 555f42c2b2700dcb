//! Streams that were recorded.

use copilot_wire::testing::check::{self, Report};

use crate::FRONTS;
use crate::script::Front;
use crate::streams::{self, FAILURE, HELLO, OPENAI, STOP};

fn recorded(front: Front, stream: &[u8]) -> Report {
    check::recorded(front.kit(), stream)
}

const FAILED: &str = "data: {\"type\":\"RUN_ERROR\",\"message\":\"away\"}\n\n";

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
        (Front::UiStream, streams::UI_STREAM),
    ] {
        let report = recorded(front, stream.as_bytes());
        assert!(report.is_clean(), "{front:?}\n{report}");
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
