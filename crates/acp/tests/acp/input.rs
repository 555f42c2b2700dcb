//! Bad input: an error that names the place, and the session lives on.

use copilot_wire_acp::{EmulatedEditor, Server};
use serde_json::{Value, json};

use crate::support::{Player, block_on, start};

#[test]
fn bad_messages_are_answered_and_the_session_lives_on() {
    block_on(async {
        let (mut editor, session) = start().await;
        for (line, id, code, message) in [
            ("[]", json!(null), -32600, "batches are not supported"),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"session/list"}]"#,
                json!(null),
                -32600,
                "batches are not supported",
            ),
            ("nonsense", json!(null), -32700, "Parse error"),
            ("17", json!(null), -32600, "Invalid request"),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":1}"#,
                json!(7),
                -32600,
                "Invalid request",
            ),
            (
                r#"{"jsonrpc":"1.0","id":7,"method":"initialize"}"#,
                json!(7),
                -32600,
                "Invalid request",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"session/list"}"#,
                json!(null),
                -32600,
                "Invalid request",
            ),
            (
                r#"{"jsonrpc":"2.0","id":{},"method":"session/list"}"#,
                json!(null),
                -32600,
                "Invalid request",
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"_x/y"}"#,
                json!("a"),
                -32601,
                "unknown method: _x/y",
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
                json!(null),
                -32601,
                "unknown method: x",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"mcpServers":[]}}"#,
                json!(1),
                -32602,
                "params: missing field `cwd`",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"w","mcpServers":[]}}"#,
                json!(1),
                -32602,
                "cwd: expected an absolute path",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[],"additionalDirectories":["/a","b"]}}"#,
                json!(1),
                -32602,
                "additionalDirectories[1]: expected an absolute path",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"x","prompt":[]}}"#,
                json!(1),
                -32002,
                "sessionId: unknown session",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"x","prompt":[{"type":"secret"}]}}"#,
                json!(1),
                -32602,
                "params.prompt[0].type: a member is missing or has another type",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt"}"#,
                json!(1),
                -32602,
                "params: missing field `sessionId`",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":"x"}}"#,
                json!(1),
                -32602,
                "methodId: no authentication is needed",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":[]}}"#,
                json!(1),
                -32602,
                "params.protocolVersion: a member is missing or has another type",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":7}}"#,
                json!(1),
                -32602,
                "params.cwd: a member is missing or has another type",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":["/w",[]]}"#,
                json!(1),
                -32602,
                "params: a member is missing or has another type",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":"x"}"#,
                json!(1),
                -32600,
                "Invalid request",
            ),
            (
                r#"{"jsonrpc":"2.0","id":-9,"method":"session/cancel","params":{"sessionId":"x"}}"#,
                json!(-9),
                -32601,
                "unknown method: session/cancel",
            ),
            (
                r#"{"jsonrpc":"2.0","id":"","method":""}"#,
                json!(""),
                -32601,
                "unknown method: ",
            ),
            (
                r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"session/list"}"#,
                json!(null),
                -32600,
                "Invalid request",
            ),
            (
                r#"{"jsonrpc":"2.0","id":true,"method":"session/list"}"#,
                json!(null),
                -32600,
                "Invalid request",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"cursor":"18446744073709551615"}}"#,
                json!(1),
                -32602,
                "cursor: not one of this agent",
            ),
        ] {
            editor
                .send_raw(format!("{line}\n").as_bytes())
                .await
                .unwrap();
            let answer = editor.next().await.unwrap().unwrap();
            assert_eq!(answer["id"], id, "{line}");
            assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
            assert_eq!(answer["error"]["message"], message, "{line}");
            assert!(answer["error"].get("data").is_none(), "{line}: {answer}");
        }
        for line in [
            "",
            "   \r",
            r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"x"}}"#,
            r#"{"jsonrpc":"2.0","method":"session/cancel"}"#,
            r#"{"jsonrpc":"2.0","method":"_unknown"}"#,
            r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":{}}}"#,
            r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}"#,
            r#"{"id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":17}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":1}}"#,
            r#"{"jsonrpc":"2.0","method":"session/prompt","params":{"sessionId":"x","prompt":[]}}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"x"}}"#,
        ] {
            editor
                .send_raw(format!("{line}\n").as_bytes())
                .await
                .unwrap();
        }
        editor.send_raw(b"\xff\n").await.unwrap();
        assert_eq!(
            editor.next().await.unwrap().unwrap()["error"]["code"],
            -32700
        );
        assert_eq!(
            editor.prompt(&session, "hi").await.unwrap().text(),
            "You said: hi"
        );
    });
}

#[test]
fn unknown_sessions_are_refused_by_every_method() {
    block_on(async {
        let (mut editor, session) = start().await;
        for (method, more) in [
            ("session/load", json!({"cwd": "/w", "mcpServers": []})),
            ("session/resume", json!({"cwd": "/w", "mcpServers": []})),
            ("session/prompt", json!({"prompt": []})),
            ("session/close", json!({})),
            ("session/delete", json!({})),
            (
                "session/set_config_option",
                json!({"configId": "model", "value": "x"}),
            ),
        ] {
            for id in ["x", "", "../x", "list/0", &format!("{session}/info")] {
                let mut params = more.clone();
                params["sessionId"] = json!(id);
                let turn = editor.call(method, params).await.unwrap();
                let error = turn.error();
                assert_eq!(error, Some("sessionId: unknown session"), "{method} {id}");
                assert_eq!(turn.response["error"]["code"], -32002);
            }
        }
        let turn = editor.prompt(&session, "hi").await.unwrap();
        assert_eq!(turn.text(), "You said: hi");
    });
}

#[test]
fn versions_are_negotiated() {
    block_on(async {
        for version in [0, 1, 2, 99] {
            let mut editor = EmulatedEditor::connect(Server::new(Player));
            let params = json!({"protocolVersion": version, "_meta": {"x": 1}, "later": true});
            let turn = editor.call("initialize", params).await.unwrap();
            assert_eq!(turn.response["result"]["protocolVersion"], 1);
            let capabilities = &turn.response["result"]["agentCapabilities"];
            assert_eq!(capabilities["loadSession"], true);
            assert_eq!(capabilities["promptCapabilities"]["embeddedContext"], true);
            assert_eq!(capabilities["sessionCapabilities"]["resume"], json!({}));
        }
    });
}

#[test]
fn a_session_cut_at_every_byte_ends_quietly() {
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": {"sessionId": "x", "prompt": []}}),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    block_on(async {
        for end in 0..=input.len() {
            let mut editor = EmulatedEditor::connect(Server::new(Player));
            editor.send_raw(&input.as_bytes()[..end]).await.unwrap();
            let answers = editor.close().await.unwrap();
            let good = |it: &&Value| it.get("result").is_some();
            let whole = input[..end].matches('\n').count();
            assert!(
                answers.iter().filter(good).count() <= whole + 1,
                "{end}: {answers:?}"
            );
        }
    });
}

#[test]
fn a_long_line_is_skipped() {
    block_on(async {
        let (mut editor, session) = start().await;
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..100 {
            editor.send_raw(&piece).await.unwrap();
        }
        editor.send_raw(b"\n").await.unwrap();
        let answer = editor.next().await.unwrap().unwrap();
        assert_eq!(
            answer["error"]["message"],
            "a message has at most 33554432 bytes"
        );
        assert_eq!(
            editor.prompt(&session, "hi").await.unwrap().text(),
            "You said: hi"
        );
    });
}

#[test]
fn the_end_of_the_input_ends_running_turns() {
    block_on(async {
        for prompt in ["hang", "delete"] {
            let (mut editor, session) = start().await;
            let params =
                json!({"sessionId": session, "prompt": [{"type": "text", "text": prompt}]});
            editor.request("session/prompt", params).await.unwrap();
            editor.next().await.unwrap();
            editor.close().await.unwrap();
        }
    });
}
