//! Editors that do not read, and the agent's own requests.

use std::sync::atomic::Ordering;

use serde_json::json;

use crate::support::{WRITTEN, block_on, start};

#[test]
fn an_editor_that_does_not_read_holds_the_agent() {
    block_on(async {
        let (mut editor, session) = start().await;
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "flood"}]});
        let id = editor.request("session/prompt", params).await.unwrap();
        // Until the agent has written nothing more for many turns of the runtime.
        let mut last = 0;
        let mut still = 0;
        while still < 10_000 {
            tokio::task::yield_now().await;
            let written = WRITTEN.load(Ordering::Relaxed);
            still = if written == last && written > 0 {
                still + 1
            } else {
                0
            };
            last = written;
        }
        // The queue, the pipe and the reply itself.
        assert!(last < 1000, "{last} pieces of 1 KB");
        // It goes on as soon as the editor reads, and can be cancelled.
        editor.next().await.unwrap();
        editor
            .notify("session/cancel", json!({"sessionId": session}))
            .await
            .unwrap();
        let turn = editor.response(id).await.unwrap();
        assert_eq!(turn.stop_reason(), Some("cancelled"));
    });
}

#[test]
fn an_agent_for_editors_reads_files_and_sends_plans() {
    block_on(async {
        let (mut editor, session) = start().await;
        editor.will_answer(json!({"content": "fn main() {}"}));
        let turn = editor.prompt(&session, "read").await.unwrap();
        let asked = turn
            .messages
            .iter()
            .find(|it| it["method"] == "fs/read_text_file");
        assert_eq!(asked.unwrap()["params"]["path"], "/work/a.rs");
        assert_eq!(turn.text(), "fn main() {}");
        assert_eq!(
            turn.updates("plan").next().unwrap()["entries"][0]["priority"],
            "high"
        );
        assert_eq!(turn.stop_reason(), Some("max_turn_requests"));
        editor.will_answer(json!("nonsense"));
        let turn = editor.prompt(&session, "read").await.unwrap();
        assert!(
            turn.text().starts_with("the editor refused the request"),
            "{}",
            turn.text()
        );
    });
}
