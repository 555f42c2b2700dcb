//! Conversations of any front end, as requests to models.

use copilot_wire::Request;
use copilot_wire::anthropic::{Anthropic, MessagesRequest};
use copilot_wire::json::Wire as _;
use copilot_wire::models::{Profile, Prompt as _};
use copilot_wire::openai::{ChatRequest, OpenAi};
use copilot_wire::protocol::{
    Attachment, AttachmentContent, Call, Conversation, Document, HistoryItem, Message, RawMessage,
    Role, ToolResult,
};
use copilot_wire::responses::{Responses, ResponsesRequest};
use serde_json::{Value, json};

/// A conversation that a front end may send.
struct Odd(Vec<HistoryItem<'static>>);

impl Conversation for Odd {
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        self.0.iter().cloned()
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        std::iter::empty()
    }

    fn each_string(&self, _: &mut dyn FnMut(&str)) {}

    fn documents(&self) -> impl Iterator<Item = Document<'_>> + Send {
        [Document::new("1", "Notes", "Low water at six.")].into_iter()
    }
}

fn said(role: Role, text: &'static str) -> HistoryItem<'static> {
    HistoryItem::Message(Message::new(role, text))
}

fn file(content: AttachmentContent<'static>, media_type: &'static str) -> HistoryItem<'static> {
    HistoryItem::Attachment(Attachment::new(content).media_type(media_type).name("a"))
}

fn odd() -> Odd {
    let base64 = |data: &'static str| AttachmentContent::Base64(data.into());
    let mut failed = ToolResult::new("", "no wind").call_id("1");
    failed.failed = true;
    Odd(vec![
        said(Role::Assistant, "Hello! "),
        said(Role::System, "Be brief."),
        said(Role::User, "What is this?"),
        file(base64("AAAA"), "image/png"),
        file(base64("CCCC"), "audio/wav"),
        said(Role::User, "  "),
        said(Role::Assistant, "I look it up."),
        HistoryItem::Call(Call::new("look", "{}").id("1")),
        HistoryItem::Call(Call::new("look", "no json")),
        HistoryItem::Result(failed),
        file(base64("BBBB"), "application/pdf"),
        // The same id again, and one that not every provider accepts.
        HistoryItem::Call(Call::new("late", "{\"a\":1}").id("1")),
        HistoryItem::Call(Call::new("late", "").id("a/b")),
        HistoryItem::Result(ToolResult::new("late", "b").call_id("a/b")),
        HistoryItem::Result(ToolResult::new("late", "a").call_id("1")),
        said(Role::System, "Be kind."),
        said(Role::User, "And now?"),
        HistoryItem::Result(ToolResult::new("late", "too late").call_id("2")),
    ])
}

fn value(bytes: impl AsRef<[u8]>) -> Value {
    serde_json::from_slice(bytes.as_ref()).unwrap()
}

#[test]
fn a_message_is_what_the_dialect_accepts() {
    let request = MessagesRequest::from_conversation(&odd());
    let text = |text: &str| json!({"type": "text", "text": text});
    let call = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let result = |id: &str, content: Value| json!({"type": "tool_result", "tool_use_id": id, "content": content});
    let mut failed = result(
        "1",
        json!([text("no wind"), {"type": "document", "title": "a",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "BBBB"}}]),
    );
    failed["is_error"] = true.into();
    let expected = json!([
        {"role": "user", "content": [text("(The beginning of the conversation is missing.)")]},
        {"role": "assistant", "content": [text("Hello!")]},
        {"role": "user", "content": [text("What is this?"),
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
            text("[The file a (audio/wav) cannot be shown to this model.]")]},
        {"role": "assistant", "content": [text("I look it up."), call("1", "look", json!({})),
            call("unnamed_1", "look", json!({"invalid_json": "no json"}))]},
        {"role": "user", "content": [failed, result("unnamed_1", json!("The call has no result."))]},
        {"role": "assistant", "content": [call("unnamed_2", "late", json!({"a": 1})), call("unnamed_3", "late", json!({}))]},
        {"role": "user", "content": [result("unnamed_2", json!("a")), result("unnamed_3", json!("b")),
            text("Documents in context:\n\n# Notes\n\nLow water at six."), text("And now?")]},
        {"role": "assistant", "content": [call("2", "late", json!({}))]},
        {"role": "user", "content": [result("2", json!("too late"))]},
    ]);
    let json = value(request.to_json());
    assert_eq!(json["messages"], expected, "{json:#}");
    assert_eq!(json["system"], "Be brief.\n\nBe kind.");
    assert_eq!(json["max_tokens"], 8192);
    // Calls need their tools, which may not be called any more.
    assert_eq!(json["tool_choice"], json!({"type": "none"}));
    assert_eq!(
        json["tools"][1],
        json!({"name": "late", "input_schema": {"type": "object"}})
    );
}

#[test]
fn a_response_is_asked_for_in_items() {
    let json = value(ResponsesRequest::from_conversation(&odd()).to_json());
    let message =
        |role: &str, content: Value| json!({"type": "message", "role": role, "content": content});
    let call = |id: &str, name: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments});
    let output = |id: &str, output: Value| json!({"type": "function_call_output", "call_id": id, "output": output});
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let expected = json!([
        message("assistant", json!("Hello! ")),
        message("developer", json!("Be brief.")),
        message(
            "user",
            json!([text("What is this?"),
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
            text("[The file a (audio/wav) cannot be shown to this model.]")])
        ),
        message("user", json!("  ")),
        message("assistant", json!("I look it up.")),
        call("1", "look", "{}"),
        call("unnamed_1", "look", "no json"),
        output(
            "1",
            json!([text("The call failed: no wind"),
            {"type": "input_file", "file_data": "data:application/pdf;base64,BBBB", "filename": "a"}])
        ),
        output("unnamed_1", json!("The call has no result.")),
        call("unnamed_2", "late", "{\"a\":1}"),
        call("unnamed_3", "late", ""),
        output("unnamed_2", json!("a")),
        output("unnamed_3", json!("b")),
        message("developer", json!("Be kind.")),
        message(
            "user",
            json!("Documents in context:\n\n# Notes\n\nLow water at six.")
        ),
        message("user", json!("And now?")),
        call("2", "late", "{}"),
        output("2", json!("too late")),
    ]);
    assert_eq!(json["input"], expected, "{json:#}");
    assert_eq!(json["store"], false);
}

fn chat_request() -> ChatRequest {
    let body = json!({"model": "m", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"properties": {}}}}],
        "tool_choice": {"type": "function", "function": {"name": "look"}}, "parallel_tool_calls": false,
        "max_completion_tokens": 99, "temperature": 1.7, "top_p": 0.50, "stop": ["END", " "], "seed": 7,
        "reasoning_effort": "low", "user": "u1", "metadata": {"a": "b"}, "n": 1,
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": {"type": "object"}}}});
    ChatRequest::from_json(body.to_string().as_bytes()).unwrap()
}

#[test]
fn settings_go_from_dialect_to_dialect() {
    let chat = chat_request();
    let json = value(MessagesRequest::from_conversation(&chat).to_json());
    let expected = json!({"model": "", "max_tokens": 99, "system": "Be brief.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        "tools": [{"name": "look", "description": "Looks.", "input_schema": {"properties": {}, "type": "object"}}],
        "tool_choice": {"type": "tool", "name": "look", "disable_parallel_tool_use": true},
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        "metadata": {"user_id": "u1"}, "temperature": 1, "top_p": 0.50, "stop_sequences": ["END"]});
    assert_eq!(json, expected, "{json:#}");

    let json = value(ResponsesRequest::from_conversation(&chat).to_json());
    let expected = json!({"model": "", "instructions": "Be brief.",
        "input": [{"type": "message", "role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "name": "look", "description": "Looks.", "parameters": {"properties": {}}, "strict": false}],
        "tool_choice": {"type": "function", "name": "look"},
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": true}},
        "store": false, "parallel_tool_calls": false, "max_output_tokens": 99, "temperature": 1.7, "top_p": 0.50,
        "safety_identifier": "u1", "metadata": {"a": "b"}});
    assert_eq!(json, expected, "{json:#}");

    // And back.
    let message = MessagesRequest::from_conversation(&chat);
    let json = value(ChatRequest::from_conversation(&message).to_json());
    assert_eq!(
        json["tool_choice"],
        json!({"type": "function", "function": {"name": "look"}})
    );
    assert_eq!(json["parallel_tool_calls"], false);
    assert_eq!(json["max_completion_tokens"], 99);
    assert_eq!(json["stop"], json!(["END"]));
    assert_eq!(json["user"], "u1");
    let response = ResponsesRequest::from_conversation(&chat);
    let json = value(MessagesRequest::from_conversation(&response).to_json());
    assert_eq!(json["tool_choice"]["name"], "look");
    assert_eq!(json["metadata"]["user_id"], "u1");

    let names: Vec<_> = chat.answer_options().names().collect();
    assert_eq!(
        names,
        [
            "tool_choice",
            "parallel_calls",
            "max_tokens",
            "temperature",
            "top_p",
            "seed",
            "stop",
            "effort",
            "user",
            "metadata"
        ]
    );
}

#[test]
fn a_json_object_is_asked_for_in_words_where_there_is_no_other_way() {
    let body = br#"{"messages":[{"role":"user","content":"Hi"}],"response_format":{"type":"json_object"}}"#;
    let chat = ChatRequest::from_json(&body[..]).unwrap();
    let json = value(
        MessagesRequest::from_conversation(&chat)
            .instructions("Be brief.")
            .to_json(),
    );
    assert_eq!(
        json["system"],
        "Be brief.\n\nAnswer with one JSON object and nothing else."
    );
    let json = value(ResponsesRequest::from_conversation(&chat).to_json());
    assert_eq!(json["text"]["format"], json!({"type": "json_object"}));
}

#[test]
fn a_request_of_the_same_dialect_is_sent_as_it_is() {
    let chat = chat_request();
    let mut again = Profile::default().ask::<OpenAi, _>(&Request::<OpenAi>::new(chat.clone()));
    assert_eq!(again, chat);
    let json = value(again.body(true));
    assert_eq!(
        (&json["stream"], &json["stream_options"]["include_usage"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(json["reasoning_effort"], "low");

    let thinking =
        |signature: &str| json!({"type": "thinking", "thinking": "Hm", "signature": signature});
    let body = json!({"model": "m", "max_tokens": 9, "thinking": {"type": "enabled", "budget_tokens": 1024}, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": [thinking("c2lnbmVk"), {"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "Yes?"}]},
        {"role": "user", "content": "Go on."},
        // What this crate has signed itself.
        {"role": "assistant", "content": [thinking("Y29waWxvdC13aXJl")]},
        {"role": "user", "content": "And?"}]});
    let request = MessagesRequest::from_json(body.to_string().as_bytes()).unwrap();
    let mut again = Profile::default().ask::<Anthropic, _>(&Request::<Anthropic>::new(request));
    let json = value(again.body(true));
    let mut expected = body;
    expected["stream"] = true.into();
    expected["messages"].as_array_mut().unwrap().remove(3);
    assert_eq!(json, expected);

    let body = json!({"model": "m", "previous_response_id": "resp_1", "conversation": "c", "store": true, "background": true,
        "reasoning": {"effort": "low"}, "include": ["web_search_call.results"], "input": [
        {"type": "message", "id": "msg_1", "role": "user", "content": "Hi"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"},
        {"type": "reasoning", "id": "rs_2", "summary": []},
        {"type": "message", "id": "msg_0123456789abcdef0123456789abcdef", "role": "assistant", "content": "ours"},
        {"type": "message", "id": "msg_0123456789abcdef0123456789abcdefo12", "role": "assistant", "content": "stored"},
        {"type": "mcp_approval_request", "id": "mcpr_0123456789abcdef0123456789abcdef", "name": "t"},
        {"type": "custom_tool_call", "id": "ct_1", "call_id": "c1", "name": "apply_patch", "input": "*"}]});
    let request = ResponsesRequest::from_json(body.to_string().as_bytes()).unwrap();
    let mut again = Profile::default().ask::<Responses, _>(&Request::<Responses>::new(request));
    let json = value(again.body(true));
    let expected = json!({"model": "m", "stream": true, "store": false, "reasoning": {"effort": "low"},
        "include": ["web_search_call.results", "reasoning.encrypted_content"], "input": [
        {"type": "message", "id": "msg_1", "role": "user", "content": "Hi"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"},
        // Ids that this crate has assigned are unknown to the server. An answer names that of an approval.
        {"type": "message", "role": "assistant", "content": "ours"},
        {"type": "message", "role": "assistant", "content": "stored"},
        {"type": "mcp_approval_request", "id": "mcpr_0123456789abcdef0123456789abcdef", "name": "t"},
        {"type": "custom_tool_call", "id": "ct_1", "call_id": "c1", "name": "apply_patch", "input": "*"}]});
    assert_eq!(json, expected);
    // Without reasoning there is nothing to ask for.
    let request = ResponsesRequest::from_json(&br#"{"input":"Hi"}"#[..]).unwrap();
    let json = value(
        Profile::default()
            .ask::<Responses, _>(&Request::<Responses>::new(request))
            .to_json(),
    );
    assert_eq!(json, json!({"model": "", "input": "Hi", "store": false}));
}
