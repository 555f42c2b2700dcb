//! A session that outlives its program, in any store. The tests of other stores compile this file too.

use copilot_wire::conversations::ConversationStore;
use copilot_wire::protocol::{AgentError, Conversation as _, Protocol};
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_acp::{EmulatedEditor, Server};
use serde_json::{Value, json};

/// Says what the user has said so far.
struct Memory;

#[async_trait]
impl<P: Protocol> Agent<P> for Memory {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let said = request.messages().map(|message| message.text.into_owned());
        let said: Vec<_> = said.collect();
        Ok(reply.text(said.join("|")).await?)
    }
}

/// Loads, resumes, lists and deletes a session, each in a program of its own with a store that `open` opens.
pub(crate) async fn sessions_survive<S: ConversationStore + 'static>(open: impl AsyncFn() -> S) {
    let start = async || EmulatedEditor::start(Server::new(Memory).store(open().await)).await;
    let mut editor = start().await.unwrap();
    let session = editor.new_session().await.unwrap();
    let other = editor.new_session().await.unwrap();
    assert_eq!(editor.prompt(&session, "a").await.unwrap().text(), "a");
    editor.close().await.unwrap();

    let folders = json!({"sessionId": session, "cwd": "/work", "mcpServers": []});
    let mut editor = start().await.unwrap();
    let loaded = editor.call("session/load", folders.clone()).await.unwrap();
    let asked: Vec<_> = loaded.updates("user_message_chunk").collect();
    assert_eq!(asked[0]["content"]["text"], "a");
    assert_eq!((asked.len(), loaded.text()), (1, "a".to_owned()));
    let turn = editor.prompt(&session, "b").await.unwrap();
    assert_eq!(turn.text(), "a|a|b");
    editor.close().await.unwrap();

    let mut editor = start().await.unwrap();
    let resumed = editor.call("session/resume", folders).await.unwrap();
    assert!(resumed.response["result"].is_object() && resumed.messages.is_empty());
    let turn = editor.prompt(&session, "c").await.unwrap();
    assert_eq!(turn.text(), "a|a|b|a|a|b|c");
    let ids = async |editor: &mut EmulatedEditor| {
        let list = editor.call("session/list", json!({})).await.unwrap();
        let sessions = list.response.pointer("/result/sessions").unwrap();
        let sessions = sessions.as_array().unwrap().iter();
        sessions
            .map(|it| it["sessionId"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&mut editor).await, [&*other, &*session]);
    let deleted = editor.call("session/delete", json!({"sessionId": session}));
    assert_eq!(deleted.await.unwrap().response.get("error"), None::<&Value>);
    editor.close().await.unwrap();

    let mut editor = start().await.unwrap();
    assert_eq!(ids(&mut editor).await, [&*other]);
    editor.close().await.unwrap();
}
