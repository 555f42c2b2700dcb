//! The bytes of a turn, as they were reviewed.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use copilot_wire::protocol::{Env, Environment};
use copilot_wire_acp::{EmulatedEditor, Server};
use serde_json::json;

use crate::support::{Player, block_on};

/// A clock that stands, and random bytes that count.
#[derive(Default)]
struct Fixed(AtomicU64);

impl Environment for Fixed {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600)
    }

    fn random(&self, bytes: &mut [u8]) {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        bytes.fill(0);
        if let Some(end) = bytes.last_chunk_mut::<8>() {
            *end = number;
        }
    }
}

#[test]
fn turns_are_as_recorded() {
    block_on(async {
        let server = Server::new(Player)
            .name("player", "Player", "1")
            .command("explain", "Explains a file", Some("path"))
            .env(Env::new(Fixed::default()));
        let mut editor = EmulatedEditor::connect(server);
        let mut lines = String::new();
        let mut record = |turn: copilot_wire_acp::EmulatedTurn| {
            for message in turn.messages.iter().chain([&turn.response]) {
                lines.push_str(&format!("{message}\n"));
            }
        };
        let forms = json!({"elicitation": {"form": {}}});
        let hello = json!({"protocolVersion": 1, "clientCapabilities": forms});
        record(editor.call("initialize", hello).await.unwrap());
        let folders = json!({"cwd": "/work", "mcpServers": []});
        let new = editor.call("session/new", folders).await.unwrap();
        let session = new.response["result"]["sessionId"].clone();
        record(new);
        let session = session.as_str().unwrap();
        for prompt in ["everything", "delete", "choose", "cut", "fail late"] {
            match prompt {
                "delete" => editor
                    .will_answer(json!({"outcome": {"outcome": "selected", "optionId": "yes"}})),
                "choose" => {
                    editor.will_answer(json!({"action": "accept", "content": {"answer": "a"}}));
                }
                _ => {}
            }
            record(editor.prompt(session, prompt).await.unwrap());
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acp/golden.jsonl");
        // To record it anew, delete the file.
        if !path.exists() {
            std::fs::write(&path, &lines).unwrap();
        }
        let golden = std::fs::read_to_string(path).unwrap();
        for (number, (found, expected)) in lines.lines().zip(golden.lines()).enumerate() {
            assert_eq!(found, expected, "line {}", number + 1);
        }
        assert_eq!(lines.len(), golden.len());
    });
}
