//! Requests as the clients send them, and as an agent sees them.

use std::path::PathBuf;

use copilot_wire::anthropic::{Anthropic, MessagesRequest};
use copilot_wire::protocol::{
    Attachment, AttachmentContent, AttachmentKind, Call, Conversation, HistoryItem, Message,
    Protocol, Role, ToolResult,
};
use copilot_wire::{Reply, Request};
use serde_json::{Value, json};

use crate::strict::read;
use crate::support::{agent, router, send, whole};

fn fixture(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/anthropic");
    serde_json::from_slice(&std::fs::read(path.join(name)).unwrap()).unwrap()
}

fn request(body: &Value) -> MessagesRequest {
    let (parts, ()) = http::Request::post("/").body(()).unwrap().into_parts();
    Anthropic::read(&parts, body.to_string().into()).unwrap()
}

fn messages(request: &MessagesRequest) -> Vec<(Role, String)> {
    let messages = request.messages();
    messages
        .map(|message| (message.role, message.text.into_owned()))
        .collect()
}

#[test]
fn recorded_requests_are_answered() {
    let said = |name: &str| {
        let recorded = fixture(name);
        let mut request = http::Request::post(recorded["path"].as_str().unwrap());
        for (header, value) in recorded["headers"].as_object().unwrap() {
            if !["content-type", "content-length"].contains(&header.as_str()) {
                request = request.header(header, value.as_str().unwrap());
            }
        }
        let tells = agent(
            |request: Request<Anthropic>, reply: Reply<Anthropic>| async move {
                let said = format!(
                    "{:?} {} {:?}",
                    request.prompt().map(|prompt| prompt.len()),
                    request.tools().count(),
                    request.conversation_id(),
                );
                Ok(reply.text(said).await?)
            },
        );
        let response = send(&router(tells), request, recorded["body"].to_string());
        assert_eq!(response.status(), 200);
        read(&whole(response.into_body())).text()
    };
    // In the recording the reminder is blanked, and looks like what the user says.
    let reminder = fixture("claude-code.json")["body"]["messages"][0]["content"][0]["text"].clone();
    let length = reminder.as_str().unwrap().len() + "\nsay hi with a shell".len();
    assert_eq!(
        said("claude-code.json"),
        format!("Some({length}) 24 Some(\"11a86ac4-e677-47e0-87de-8b06afdc8549\")")
    );
    let text = fixture("copilot-cli.json")["body"]["messages"][0]["content"][0]["text"].clone();
    let length = text.as_str().unwrap().len();
    assert_eq!(said("copilot-cli.json"), format!("Some({length}) 17 None"));
}

#[test]
fn recorded_requests_are_written_again_as_they_were() {
    for name in ["claude-code.json", "copilot-cli.json"] {
        let body = &fixture(name)["body"];
        let again = request(body).to_json();
        assert_eq!(
            serde_json::from_slice::<Value>(&again).unwrap(),
            *body,
            "{name}"
        );
    }
}

#[test]
fn the_prompt_is_what_the_user_typed() {
    let body = json!({
        "model": "m", "system": [{"type": "text", "text": "Be"}, {"type": "text", "text": "kind."}],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "<system-reminder>\nToday is Sunday.\n</system-reminder>\n"},
                {"type": "text", "text": "say hi", "cache_control": {"type": "ephemeral"}},
            ]},
            // In Claude Code's first turn the last message is not the user's.
            {"role": "system", "content": "Be brief."},
        ],
    });
    let request = request(&body);
    assert_eq!(request.prompt().unwrap(), "say hi");
    let reminder = "<system-reminder>\nToday is Sunday.\n</system-reminder>\n";
    assert_eq!(
        messages(&request),
        [
            (Role::System, "Be\nkind.".into()),
            (Role::Other, reminder.into()),
            (Role::User, "say hi".into()),
            (Role::System, "Be brief.".into()),
        ]
    );
}

#[test]
fn content_comes_in_every_form() {
    let body = json!({
        "system": "Be kind.", "tomorrow": {"x": [1]}, "thinking": {"type": "adaptive"},
        "messages": [
            {"role": "user", "content": "a text"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "x"},
                {"type": "redacted_thinking", "data": "x"},
                {"id": "s", "input": {}, "name": "web_search", "type": "server_tool_use"},
                {"type": "text", "text": "Yes", "citations": [{"type": "char_location"}]},
            ]},
            7, null, {"role": "ghost", "content": [{"type": "text"}, {"type": 3}, 9, {}]},
            {"role": "user", "content": null}, {"role": "user"}, {"role": "user", "content": 5},
            {"role": "user", "content": [
                {"type": "text", "text": "What is"},
                {"type": "image", "source": {"type": "url", "url": "https://a.example"}},
                {"text": "x", "type": "mid_conv_system"},
                {"type": "text", "text": "this?"},
                {"type": "document", "title": "Notes", "source": {"type": "text", "media_type": "text/plain", "data": "Once."}},
                {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "x"}},
                {"type": "document", "source": {"type": "text", "data": "Twice."}},
            ]},
        ],
    });
    let found = request(&body);
    assert_eq!(
        messages(&found),
        [
            (Role::System, "Be kind.".into()),
            (Role::User, "a text".into()),
            (
                Role::Assistant,
                r#"{"id":"s","input":{},"name":"web_search","type":"server_tool_use"}"#.into(),
            ),
            (Role::Assistant, "Yes".into()),
            (Role::Other, r#"{"type":3}"#.into()),
            (Role::Other, "9".into()),
            (Role::User, "5".into()),
            (
                Role::Other,
                r#"{"text":"x","type":"mid_conv_system"}"#.into(),
            ),
            (Role::User, "What is\nthis?".into()),
        ]
    );
    let texts = found.history().filter_map(|item| match item {
        HistoryItem::Attachment(file) => {
            Some((file.name.clone()?.into_owned(), file.text()?.into_owned()))
        }
        _ => None,
    });
    let texts: Vec<_> = texts.collect();
    assert_eq!(texts, [("Notes".to_owned(), "Once.".to_owned())]);
    // Nothing of it is lost. What was `null` may be absent.
    let again: Value = serde_json::from_slice(&found.to_json()).unwrap();
    assert_eq!(again["tomorrow"], body["tomorrow"]);
    assert_eq!(again["messages"][1], body["messages"][1]);
    assert_eq!(again["messages"][8], body["messages"][8]);
}

#[test]
fn results_are_matched_by_their_ids() {
    let call = |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name, "input": {"of": id}});
    let result = |id: &str, content: Value| json!({"type": "tool_result", "tool_use_id": id, "content": content});
    let mut body = json!({"messages": [
        {"role": "user", "content": "Before"},
        {"role": "assistant", "content": [call("old", "get_tide")]},
        {"role": "user", "content": [result("old", json!("low"))]},
        {"role": "user", "content": "Now"},
        {"role": "assistant", "content": [{"type": "text", "text": "One moment."}, call("a", "get_tide"), call("b", "get_wind")]},
        // In the order of completion, with blocks and without content.
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "b", "is_error": true, "content": [
                {"type": "text", "text": "no"}, {"source": {}, "type": "image"}, {"type": "text", "text": "wind"},
            ]},
            {"type": "tool_result", "tool_use_id": "a"},
            result("unknown", json!("?")),
            {"type": "text", "text": "<system-reminder>Go on.</system-reminder>"},
        ]},
    ]});
    let results = |body: &Value| -> Vec<(String, String, bool, Option<String>, String)> {
        let request = request(body);
        let results = request.results().map(|result| {
            (
                result.name.into_owned(),
                result.content.into_owned(),
                result.failed,
                result.arguments.map(|json| json.text().to_owned()),
                result.call_id.unwrap().into_owned(),
            )
        });
        results.collect()
    };
    let of = |name: &str, content: &str, failed, arguments: Option<&str>, id: &str| {
        (
            name.to_owned(),
            content.to_owned(),
            failed,
            arguments.map(str::to_owned),
            id.to_owned(),
        )
    };
    let expected = [
        of(
            "get_wind",
            "no\n{\"source\":{},\"type\":\"image\"}\nwind",
            true,
            Some(r#"{"of":"b"}"#),
            "b",
        ),
        of("get_tide", "", false, Some(r#"{"of":"a"}"#), "a"),
        of("", "?", false, None, "unknown"),
    ];
    assert_eq!(results(&body), expected);
    // What the user says beside the results is newer.
    let content = body["messages"][5]["content"].as_array_mut().unwrap();
    content.push(json!({"type": "text", "text": "Never mind."}));
    assert_eq!(results(&body), []);
    let request = request(&body);
    assert_eq!(request.prompt().unwrap(), "Never mind.");
    let items: Vec<_> = request.history().collect();
    let results = items
        .iter()
        .filter(|item| matches!(item, HistoryItem::Result(_)));
    assert_eq!(results.count(), 4);
}

#[test]
fn the_history_is_in_order() {
    let image = |data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
    let body = json!({"messages": [
        {"role": "user", "content": [image("A"), {"type": "text", "text": "What is this?"}]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "look", "input": {"n": 1}},
            {"type": "text", "text": "I look."},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "A cat."}, image("B")]},
            {"type": "document", "title": "Notes", "source": {"type": "url", "url": "https://a.example"}},
            {"type": "document", "source": {"type": "file", "file_id": "f"}},
        ]},
    ]});
    let png = |data: &'static str| {
        let file = Attachment::new(AttachmentContent::Base64(data.into()));
        let file = file.media_type("image/png");
        HistoryItem::Attachment(file.declared(AttachmentKind::Image))
    };
    let said = |role, text: &'static str| HistoryItem::Message(Message::new(role, text));
    let url = AttachmentContent::Url("https://a.example".into());
    let id = AttachmentContent::Id("f".into());
    let document = |content| Attachment::new(content).declared(AttachmentKind::Document);
    assert_eq!(
        request(&body).history().collect::<Vec<_>>(),
        [
            said(Role::User, "What is this?"),
            png("A"),
            said(Role::Assistant, "I look."),
            HistoryItem::Call(Call::new("look", r#"{"n":1}"#).id("a")),
            HistoryItem::Result(ToolResult::new("", "A cat.").call_id("a")),
            png("B"),
            said(Role::User, ""),
            HistoryItem::Attachment(document(url).name("Notes")),
            HistoryItem::Attachment(document(id)),
        ]
    );
}

#[test]
fn no_text_is_shown_by_debug() {
    let body = json!({
        "system": "SECRET", "metadata": {"user_id": "SECRET"},
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "SECRET"}, {"type": "thinking", "thinking": "SECRET", "signature": "SECRET"},
            {"type": "tool_use", "id": "a", "name": "n", "input": {"k": "SECRET"}},
            {"type": "tool_result", "tool_use_id": "a", "content": "SECRET"}, {"type": "image", "source": "SECRET"},
        ]}],
    });
    let shown = format!("{:?}", request(&body));
    assert!(
        shown.contains("6 bytes") && !shown.contains("SECRET"),
        "{shown}"
    );
}

/// A member of data is never taken for the signature of a provider.
#[test]
fn the_data_of_a_result_is_whole() {
    let content = json!([{"kind": "f", "signature": "fn f()", "type": "symbol"}]);
    let body = json!({"messages": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": content}]},
    ]});
    let request = request(&body);
    let result = request.results().next().unwrap();
    assert!(result.content.contains("fn f()"), "{}", result.content);
}
