//! Sessions, their store, and options.

use std::sync::Arc;

use copilot_wire::conversations::MemoryConversationStore;
use copilot_wire_acp::{EmulatedEditor, Server};
use serde_json::json;

use crate::support::{Player, block_on, start};

#[test]
fn a_session_is_loaded_and_resumed_after_a_restart() {
    block_on(async {
        let store = Arc::new(MemoryConversationStore::new());
        let server = || Server::new(Player).store(Arc::clone(&store));
        let mut editor = EmulatedEditor::start(server()).await.unwrap();
        let session = editor.new_session().await.unwrap();
        let first = editor.prompt(&session, "everything").await.unwrap();
        editor.prompt(&session, "tokens").await.unwrap();
        editor.close().await.unwrap();

        let mut editor = EmulatedEditor::start(server()).await.unwrap();
        let unknown = editor.prompt(&session, "hi").await.unwrap();
        assert_eq!(unknown.error(), Some("sessionId: unknown session"));
        let params = json!({"sessionId": session, "cwd": "/work", "mcpServers": []});
        let loaded = editor.call("session/load", params.clone()).await.unwrap();
        assert!(loaded.response["result"].is_object(), "{}", loaded.response);
        let tokens: String = (0..50).map(|token| format!("{token} ")).collect();
        assert_eq!(loaded.text(), first.text() + &tokens);
        assert_eq!(loaded.updates("user_message_chunk").count(), 2);
        // Pieces of a message are one; steps are complete.
        assert!(loaded.messages.len() < 12, "{}", loaded.messages.len());
        assert!(
            loaded
                .updates("tool_call")
                .all(|it| it["status"] != "in_progress")
        );
        let turn = editor.prompt(&session, "history").await.unwrap();
        let call = r#"[call:get_price:{"symbol":"A"}][result:{"price":1}][call:search:{}][result:not found]"#;
        assert!(turn.text().contains(call), "{}", turn.text());
        editor.close().await.unwrap();

        let mut editor = EmulatedEditor::start(server()).await.unwrap();
        let resumed = editor.call("session/resume", params.clone()).await.unwrap();
        assert!(resumed.messages.is_empty());
        let turn = editor.prompt(&session, "history").await.unwrap();
        assert!(turn.text().starts_with("[u:everything]"));
        let list = editor.call("session/list", json!({})).await.unwrap();
        let sessions = &list.response["result"]["sessions"];
        assert_eq!(sessions[0]["title"], "everything");
        assert_eq!(sessions[0]["cwd"], "/work");
        assert!(sessions[0]["updatedAt"].is_string());
        let id = json!({"sessionId": session});
        editor.call("session/close", id.clone()).await.unwrap();
        let turn = editor.prompt(&session, "hi").await.unwrap();
        assert_eq!(turn.error(), Some("sessionId: unknown session"));
        let deleted = editor.call("session/delete", id.clone()).await.unwrap();
        assert!(deleted.response["result"].is_object());
        for method in ["session/delete", "session/close"] {
            let again = editor.call(method, id.clone()).await.unwrap();
            assert_eq!(again.error(), Some("sessionId: unknown session"));
        }
        let again = editor.call("session/load", params).await.unwrap();
        assert_eq!(again.error(), Some("sessionId: unknown session"));
        let list = editor.call("session/list", json!({})).await.unwrap();
        assert_eq!(list.response["result"]["sessions"], json!([]));
        assert!(
            store.is_empty() || store.len() == 1,
            "only the entry of the list remains"
        );
    });
}

#[test]
fn sessions_survive_a_restart() {
    let store = Arc::new(MemoryConversationStore::new());
    block_on(crate::restart::sessions_survive(async || {
        Arc::clone(&store)
    }));
}

#[test]
fn the_list_has_pages() {
    block_on(async {
        let (mut editor, _) = start().await;
        for _ in 0..120 {
            editor.new_session().await.unwrap();
        }
        let first = editor.call("session/list", json!({})).await.unwrap();
        let result = &first.response["result"];
        assert_eq!(result["sessions"].as_array().unwrap().len(), 100);
        let params = json!({"cursor": result["nextCursor"], "cwd": "/work"});
        let second = editor.call("session/list", params).await.unwrap();
        let result = &second.response["result"];
        assert_eq!(result["sessions"].as_array().unwrap().len(), 21);
        assert!(result.get("nextCursor").is_none());
        let wrong = editor
            .call("session/list", json!({"cursor": "x"}))
            .await
            .unwrap();
        assert_eq!(wrong.error(), Some("cursor: not one of this agent"));
    });
}

#[test]
fn a_model_is_chosen_and_commands_are_offered() {
    block_on(async {
        let server = Server::new(Player)
            .model("fast", "Fast")
            .model("deep", "Deep")
            .command("explain", "Explains a file", Some("path"));
        let mut editor = EmulatedEditor::start(server).await.unwrap();
        let params = json!({"cwd": "/work", "mcpServers": []});
        let new = editor.call("session/new", params).await.unwrap();
        let option = &new.response["result"]["configOptions"][0];
        assert_eq!(
            (&option["id"], &option["currentValue"]),
            (&json!("model"), &json!("fast"))
        );
        assert_eq!(option["category"], "model");
        let commands = editor.next().await.unwrap().unwrap();
        let command = &commands["params"]["update"]["availableCommands"][0];
        assert_eq!(
            (&command["name"], &command["input"]["hint"]),
            (&json!("explain"), &json!("path"))
        );
        let session = &new.response["result"]["sessionId"];
        let set = |value: &str| json!({"sessionId": session, "configId": "model", "value": value});
        let deep = editor
            .call("session/set_config_option", set("deep"))
            .await
            .unwrap();
        assert_eq!(
            deep.response["result"]["configOptions"][0]["currentValue"],
            "deep"
        );
        let none = editor
            .call("session/set_config_option", set("none"))
            .await
            .unwrap();
        assert_eq!(none.error(), Some("value: unknown model"));
        let mode = json!({"sessionId": session, "modeId": "x"});
        let mode = editor.call("session/set_mode", mode).await.unwrap();
        assert_eq!(mode.error(), Some("modeId: unknown mode"));
    });
}

#[test]
fn every_block_of_a_prompt_arrives() {
    block_on(async {
        let (mut editor, session) = start().await;
        let file = |text: &str| json!({"type": "resource", "resource": {"uri": "file:///w/a.rs", "text": text}});
        let first = json!({"sessionId": session, "prompt": [
            {"type": "text", "text": "Look at "},
            {"type": "resource_link", "name": "b.rs", "uri": "file:///w/b.rs"},
            {"type": "text", "text": " and "}, file("old"),
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///w/c.pdf", "blob": "aGk=", "mimeType": "application/pdf"}},
        ]});
        editor.call("session/prompt", first).await.unwrap();
        let turn = editor.prompt(&session, "history").await.unwrap();
        let text = turn.text();
        assert!(text.starts_with("[u:Look at [b.rs](file:///w/b.rs) and [a.rs](file:///w/a.rs)[c.pdf](file:///w/c.pdf)][file:image/png][file:audio/wav][file:application/pdf]"), "{text}");
        assert!(text.ends_with("[doc:a.rs:old]"), "{text}");
        let again =
            json!({"sessionId": session, "prompt": [file("new"), {"type": "text", "text": "x"}]});
        editor.call("session/prompt", again).await.unwrap();
        let turn = editor.prompt(&session, "history").await.unwrap();
        let text = turn.text();
        assert!(text.ends_with("[doc:a.rs:new]"), "{text}");
        assert!(!text.ends_with("[doc:a.rs:old][doc:a.rs:new]"), "{text}");
    });
}

#[test]
fn a_session_that_is_deleted_in_a_turn_leaves_nothing() {
    block_on(async {
        let store = Arc::new(MemoryConversationStore::new());
        let server = Server::new(Player).store(Arc::clone(&store));
        let mut editor = EmulatedEditor::start(server).await.unwrap();
        let session = editor.new_session().await.unwrap();
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "hang"}]});
        let turn = editor.request("session/prompt", params).await.unwrap();
        editor.next().await.unwrap();
        let id = json!({"sessionId": session});
        let deleted = editor.request("session/delete", id).await.unwrap();
        // The responses come in any order.
        let mut open = vec![turn, deleted];
        while !open.is_empty() {
            let message = editor.next().await.unwrap().unwrap();
            open.retain(|id| message["id"] != *id);
        }
        assert_eq!(store.len(), 1, "only the entry of the list remains");
    });
}
