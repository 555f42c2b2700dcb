//! Turns: the shared vocabulary, questions, failures and cancelling.

use serde_json::{Value, json};

use crate::support::{block_on, start};

fn kinds(messages: &[Value]) -> Vec<String> {
    let kind = |message: &Value| {
        let update = message.pointer("/params/update/sessionUpdate");
        let name = update.or_else(|| message.get("method"));
        name.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    messages.iter().map(kind).collect()
}

#[test]
fn every_part_has_its_form() {
    block_on(async {
        let (mut editor, session) = start().await;
        let turn = editor.prompt(&session, "everything").await.unwrap();
        let mut kinds = kinds(&turn.messages);
        kinds.dedup();
        assert_eq!(
            kinds,
            [
                "session_info_update",
                "agent_thought_chunk",
                "tool_call",
                "tool_call_update",
                "agent_message_chunk",
                "tool_call",
                "tool_call_update",
                "agent_message_chunk",
            ]
        );
        let text = turn.text();
        assert!(text.starts_with("Hello, world\u{2028}\"\n"), "{text}");
        assert!(text.contains("| a |"), "{text}");
        assert!(text.contains("**Error:** half of it"), "{text}");
        assert!(text.contains("[Source](https://a.example)"), "{text}");
        let calls: Vec<_> = turn.updates("tool_call").collect();
        assert_eq!(calls[0]["kind"], "think");
        assert_eq!(calls[0]["status"], "in_progress");
        assert_eq!(calls[1]["rawInput"], json!({"symbol": "A"}));
        assert_eq!(calls[1]["rawOutput"], json!({"price": 1}));
        assert_eq!(
            (&calls[1]["kind"], &calls[1]["status"]),
            (&json!("read"), &json!("completed"))
        );
        assert_eq!(
            (&calls[2]["kind"], &calls[2]["status"]),
            (&json!("search"), &json!("failed"))
        );
        assert!(
            turn.updates("tool_call_update")
                .all(|it| it["status"] == "completed")
        );
        let ids: Vec<_> = turn
            .updates("agent_message_chunk")
            .map(|it| it["messageId"].clone())
            .collect();
        assert_eq!(ids[0], ids[1]);
        assert_ne!(ids[0], ids[2]);
        assert_eq!(turn.stop_reason(), Some("end_turn"));
        assert_eq!(turn.response["result"]["usage"]["thoughtTokens"], 2);
        assert_eq!(turn.response["result"]["usage"]["totalTokens"], 15);
    });
}

#[test]
fn ends_have_their_reason() {
    block_on(async {
        let (mut editor, session) = start().await;
        for (prompt, reason) in [
            ("cut", "max_tokens"),
            ("filter", "refusal"),
            ("hi", "end_turn"),
        ] {
            let turn = editor.prompt(&session, prompt).await.unwrap();
            assert_eq!(turn.stop_reason(), Some(reason), "{prompt}");
        }
        for (prompt, text) in [("fail", ""), ("fail late", "half")] {
            let turn = editor.prompt(&session, prompt).await.unwrap();
            assert_eq!(turn.error(), Some("The market is closed."));
            assert_eq!(turn.response["error"]["code"], -32603);
            assert_eq!(turn.text(), text);
            assert!(
                turn.updates("tool_call_update")
                    .all(|it| it["status"] == "failed")
            );
        }
        for prompt in ["panic", "call"] {
            let turn = editor.prompt(&session, prompt).await.unwrap();
            assert_eq!(
                turn.error(),
                Some("Sorry, something went wrong and the answer is incomplete.")
            );
        }
    });
}

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

#[test]
fn a_question_is_a_permission() {
    block_on(async {
        let (mut editor, session) = start().await;
        for (answer, text, status) in [
            (selected("yes"), "First. deleted", "completed"),
            (selected("no"), "First. kept", "failed"),
            (selected("something else"), "First. kept", "failed"),
            (
                json!({"outcome": {"outcome": "cancelled"}}),
                "First. The question was not answered, so nothing was done.",
                "failed",
            ),
            (
                json!("nonsense"),
                "First. The question was not answered, so nothing was done.",
                "failed",
            ),
        ] {
            editor.will_answer(answer.clone());
            let turn = editor.prompt(&session, "delete").await.unwrap();
            assert_eq!(turn.text(), text, "{answer}");
            let asked = turn
                .messages
                .iter()
                .find(|it| it["method"] == "session/request_permission");
            let asked = &asked.unwrap()["params"];
            assert_eq!(asked["toolCall"]["title"], "Delete ＊＊it＊＊? For ever.");
            let kinds: Vec<_> = asked["options"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| &it["kind"])
                .collect();
            assert_eq!(kinds, ["allow_once", "reject_once"]);
            let changed = turn.updates("tool_call_update").next().unwrap();
            assert_eq!(changed["status"], status, "{answer}");
            assert_eq!(changed["toolCallId"], asked["toolCall"]["toolCallId"]);
            assert_eq!(turn.stop_reason(), Some("end_turn"));
        }
        // The conversation has the question with its answer.
        let turn = editor.prompt(&session, "history").await.unwrap();
        assert!(
            turn.text().contains(
                "[u:delete][a:First. ][a:Delete ＊＊it＊＊? For ever.][u:yes][a:deleted]"
            ),
            "{}",
            turn.text()
        );
    });
}

#[test]
fn a_question_with_answers_is_a_form() {
    block_on(async {
        let (mut editor, session) = start().await;
        for (answer, text) in [
            (
                json!({"action": "accept", "content": {"answer": "yes"}}),
                "First. deleted",
            ),
            (
                json!({"action": "accept", "content": {"answer": "a"}}),
                "First. a Other",
            ),
            (json!({"action": "decline"}), "First. kept"),
            (
                json!({"action": "cancel"}),
                "First. The question was not answered, so nothing was done.",
            ),
        ] {
            editor.will_answer(answer);
            let turn = editor.prompt(&session, "choose").await.unwrap();
            assert_eq!(turn.text(), text);
            let asked = turn
                .messages
                .iter()
                .find(|it| it["method"] == "elicitation/create");
            let asked = &asked.unwrap()["params"];
            assert_eq!(asked["mode"], "form");
            assert_eq!(asked["message"], "Delete ＊＊it＊＊? For ever.");
            let options = asked
                .pointer("/requestedSchema/properties/answer/oneOf")
                .unwrap();
            let values: Vec<_> = options
                .as_array()
                .unwrap()
                .iter()
                .map(|it| &it["const"])
                .collect();
            assert_eq!(values, ["yes", "a", "no"]);
        }
        let turn = editor.prompt(&session, "history").await.unwrap();
        assert!(
            turn.text()
                .contains("[u:choose][a:First. ][u:a][a:a Other]"),
            "{}",
            turn.text()
        );
    });
}

#[test]
fn a_turn_is_cancelled() {
    block_on(async {
        let (mut editor, session) = start().await;
        for withdraw in [false, true] {
            let params =
                json!({"sessionId": session, "prompt": [{"type": "text", "text": "hang"}]});
            let id = editor.request("session/prompt", params).await.unwrap();
            loop {
                let message = editor.next().await.unwrap().unwrap();
                if message.pointer("/params/update/status").is_some() {
                    break;
                }
            }
            match withdraw {
                true => editor
                    .notify("$/cancel_request", json!({"requestId": id}))
                    .await
                    .unwrap(),
                false => editor
                    .notify("session/cancel", json!({"sessionId": session}))
                    .await
                    .unwrap(),
            }
            let turn = editor.response(id).await.unwrap();
            assert_eq!(
                turn.updates("tool_call_update").next().unwrap()["status"],
                "failed"
            );
            match withdraw {
                true => assert_eq!(turn.response["error"]["code"], -32800),
                false => assert_eq!(turn.stop_reason(), Some("cancelled")),
            }
        }
        // What the user saw is a part of the conversation.
        let turn = editor.prompt(&session, "history").await.unwrap();
        assert!(
            turn.text().starts_with("[u:hang][a:half]"),
            "{}",
            turn.text()
        );
        // A cancelled question ends the turn as well.
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "delete"}]});
        let id = editor.request("session/prompt", params).await.unwrap();
        let asked = loop {
            let message = editor.next().await.unwrap().unwrap();
            if message["method"] == "session/request_permission" {
                break message["id"].clone();
            }
        };
        editor
            .notify("session/cancel", json!({"sessionId": session}))
            .await
            .unwrap();
        let late = json!({"jsonrpc": "2.0", "id": asked, "result": selected("yes")});
        editor.send(&late).await.unwrap();
        editor.send(&late).await.unwrap();
        let turn = editor.response(id).await.unwrap();
        assert_eq!(turn.stop_reason(), Some("cancelled"));
        assert_eq!(turn.text(), "");
    });
}

#[test]
fn a_busy_session_refuses_a_prompt_and_others_go_on() {
    block_on(async {
        let (mut editor, session) = start().await;
        let other = editor.new_session().await.unwrap();
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "hang"}]});
        let id = editor.request("session/prompt", params).await.unwrap();
        let turn = editor.prompt(&session, "hi").await.unwrap();
        assert_eq!(
            turn.error(),
            Some("sessionId: a prompt of this session is running")
        );
        let turn = editor.prompt(&other, "hi").await.unwrap();
        assert!(turn.text().ends_with("You said: hi"));
        editor
            .notify("session/cancel", json!({"sessionId": session}))
            .await
            .unwrap();
        let turn = editor.response(id).await.unwrap();
        assert_eq!(turn.stop_reason(), Some("cancelled"));
    });
}
