//! Connections and sessions that end while a turn runs: what the user saw is kept.

use std::sync::Arc;

use copilot_wire::conversations::MemoryConversationStore;
use copilot_wire_acp::{EmulatedEditor, Server};
use serde_json::{Value, json};

use crate::support::{Player, block_on};

type Store = Arc<MemoryConversationStore>;

fn server(store: &Store) -> Server<Player> {
    Server::new(Player).store(Arc::clone(store))
}

fn prompt(session: &str, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
}

fn folders(session: &str) -> Value {
    json!({"sessionId": session, "cwd": "/work", "mcpServers": []})
}

/// Begins a turn that waits for ever, and reads what it says.
async fn hang(editor: &mut EmulatedEditor, session: &str) -> i64 {
    let id = editor.request("session/prompt", prompt(session, "hang"));
    let id = id.await.unwrap();
    loop {
        let message = editor.next().await.unwrap().unwrap();
        if message.pointer("/params/update/status").is_some() {
            return id;
        }
    }
}

/// Returns the prompts and the answers of a session, as another process shows them.
async fn shown(store: &Store, session: &str) -> Vec<String> {
    let mut editor = EmulatedEditor::start(server(store)).await.unwrap();
    let loaded = editor.call("session/load", folders(session)).await.unwrap();
    assert!(loaded.response["result"].is_object(), "{}", loaded.response);
    let said = |it: &Value| {
        Some(
            it.pointer("/params/update/content/text")?
                .as_str()?
                .to_owned(),
        )
    };
    loaded.messages.iter().filter_map(said).collect()
}

#[test]
fn a_turn_that_the_end_of_the_connection_ends_is_kept() {
    block_on(async {
        for closes_output in [false, true] {
            let store = Store::default();
            let mut editor = EmulatedEditor::start(server(&store)).await.unwrap();
            let session = editor.new_session().await.unwrap();
            let id = hang(&mut editor, &session).await;
            if closes_output {
                drop(editor);
                // The server is a task of this thread.
                for _ in 0..1000 {
                    tokio::task::yield_now().await;
                }
            } else {
                let rest = editor.close().await.unwrap();
                let response = rest.iter().find(|it| it["id"] == id).unwrap();
                assert_eq!(response["result"]["stopReason"], "cancelled");
            }
            assert_eq!(shown(&store, &session).await, ["hang", "half"]);
        }
    });
}

#[test]
fn a_session_that_is_closed_in_a_turn_has_the_turn() {
    block_on(async {
        let store = Store::default();
        let mut editor = EmulatedEditor::start(server(&store)).await.unwrap();
        let session = editor.new_session().await.unwrap();
        hang(&mut editor, &session).await;
        let id = json!({"sessionId": session});
        editor.request("session/close", id).await.unwrap();
        // Without waiting for the response.
        let resumed = editor.call("session/resume", folders(&session));
        assert!(resumed.await.unwrap().response["result"].is_object());
        let turn = editor.prompt(&session, "history").await.unwrap();
        assert!(
            turn.text().starts_with("[u:hang][a:half]"),
            "{}",
            turn.text()
        );
        assert_eq!(shown(&store, &session).await.first().unwrap(), "hang");
    });
}

#[test]
fn turns_of_two_processes_in_one_session_are_kept() {
    block_on(async {
        let store = Store::default();
        let mut one = EmulatedEditor::start(server(&store)).await.unwrap();
        let session = one.new_session().await.unwrap();
        let mut two = EmulatedEditor::start(server(&store)).await.unwrap();
        two.call("session/resume", folders(&session)).await.unwrap();
        for (editor, text) in [(&mut one, "a1"), (&mut two, "b1")] {
            editor.prompt(&session, text).await.unwrap();
        }
        one.prompt(&session, "a2").await.unwrap();
        let all = shown(&store, &session).await;
        let prompts: Vec<_> = all.iter().step_by(2).collect();
        assert_eq!(prompts, ["a1", "b1", "a2"]);
    });
}

#[test]
fn an_agent_names_its_session() {
    block_on(async {
        let store = Store::default();
        let mut editor = EmulatedEditor::start(server(&store)).await.unwrap();
        let session = editor.new_session().await.unwrap();
        let turn = editor.prompt(&session, "title").await.unwrap();
        let titles: Vec<_> = turn
            .updates("session_info_update")
            .map(|it| &it["title"])
            .collect();
        assert_eq!(titles, ["title", "The tides"]);
        for list in 0..2 {
            if list == 1 {
                editor.prompt(&session, "hi").await.unwrap();
            }
            let list = editor.call("session/list", json!({})).await.unwrap();
            let first = &list.response["result"]["sessions"][0];
            assert_eq!(first["title"], "The tides");
        }
    });
}
