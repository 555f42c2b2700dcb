//! The tools of the front end beside those of the agent.

use copilot_wire::ag_ui::AgUi;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::json::Json;
use copilot_wire::models::{AgentTool, Toolset};
use copilot_wire::openai::OpenAi;
use copilot_wire::responses::Responses;
use copilot_wire_kit::{ToolOutcome, Toolkit};
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::stub::{Chat, Model, Said, Script, chat};

/// Returns a request that offers the tools `open` and `both`.
fn request<P: Toolkit>() -> Value {
    let schema = json!({"properties": {}, "type": "object"});
    let tools = ["open", "both"].map(|name| match P::NAME {
        "anthropic" => json!({"name": name, "description": "theirs", "input_schema": schema}),
        "openai" => {
            let function = json!({"name": name, "description": "theirs", "parameters": schema});
            json!({"type": "function", "function": function})
        }
        "ag-ui" => json!({"name": name, "description": "theirs", "parameters": schema}),
        _ => {
            json!({"type": "function", "name": name, "description": "theirs", "parameters": schema})
        }
    });
    match P::NAME {
        "ag-ui" => json!({
            "threadId": "t", "runId": "r", "state": {}, "messages": [], "tools": tools, "context": [], "forwardedProps": {},
        }),
        "responses" => {
            json!({"model": "m", "input": [{"role": "user", "content": "a"}], "tools": tools, "tool_choice": "required"})
        }
        _ => {
            json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "a"}], "tools": tools})
        }
    }
}

fn tools() -> Toolset<'static> {
    let tool = |name| {
        let tool = AgentTool::new(name, "ours", &json!({}), |_: Json| async { Ok("done") });
        tool.unwrap()
    };
    Toolset::new().with(tool("own")).with(tool("both"))
}

fn each_dialect<P: Toolkit>() {
    with::<P, OpenAi>();
    with::<P, Responses>();
    with::<P, Anthropic>();
}

fn with<P: Toolkit, U: Model>() {
    let place = format!("{} with {}", P::NAME, U::NAME);
    let script = Script::new([
        Said::calls([("a", "own", "{}"), ("b", "open", "{}"), ("c", "both", "{}")]),
        Said::calls([("d", "open", "{}")]),
    ]);
    let mut chat: Chat<P> = chat::<U, P>(tools(), &script, Some(request::<P>()));
    let turn = block_on(chat.prompt("Open it")).unwrap();
    assert_eq!(turn.faults(), [""; 0], "{place}");
    // The agent's tool is offered in place of the other of its name.
    let offered = &script.requests()[0];
    assert_eq!(
        offered.matches(r#""theirs""#).count(),
        1,
        "{place}: {offered}"
    );
    assert_eq!(
        offered.matches(r#""ours""#).count(),
        2,
        "{place}: {offered}"
    );
    let results = [
        "a = done",
        "b = failed: Not run: call this tool again, without other calls.",
        "c = done",
    ];
    assert_eq!(script.calls::<U>()[3..], results, "{place}");
    // What the client chose has had its effect in the first answer.
    let is_required: Vec<_> = script
        .requests()
        .iter()
        .map(|request| request.contains(r#""required""#) || request.contains(r#""any""#))
        .collect();
    let choice = P::NAME == "responses";
    assert_eq!(is_required, [choice, false], "{place}");
    let calls = turn.calls();
    assert_eq!(calls.len(), 1, "{place}: {turn}");
    assert_eq!(calls[0].name, "open", "{place}");

    script.extend([Said::text("It is open.")]);
    let turn = block_on(chat.answer([ToolOutcome::text("opened")])).unwrap();
    assert_eq!(turn.text(), "It is open.", "{place}");
    let calls = script.calls::<U>();
    assert!(
        calls.last().unwrap().ends_with("= opened"),
        "{place}: {calls:?}"
    );
}

#[test]
fn a_call_of_the_front_end_ends_the_turn() {
    each_dialect::<OpenAi>();
    each_dialect::<Responses>();
    each_dialect::<Anthropic>();
    each_dialect::<AgUi>();
}

/// A model of any dialect calls a tool with free text as a function, and the client gets a call of its tool.
#[test]
fn a_tool_with_free_text_is_a_function_for_the_model() {
    fn with<P: Toolkit, U: Model>(stream: bool) {
        let place = format!("{} with {}", P::NAME, U::NAME);
        let script = Script::new([Said::calls([("a", "patch", r#"{"input":"*** Begin"}"#)])]);
        let grammar = json!({"syntax": "lark", "definition": "start: LINE+"});
        let request = match P::NAME {
            "openai" => json!({"model": "m", "stream": stream, "messages": [
                {"role": "user", "content": "Patch it"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "z", "type": "custom", "custom": {"name": "patch", "input": "*** First"}}]},
                {"role": "tool", "tool_call_id": "z", "content": "failed"}],
                "tools": [{"type": "custom", "custom": {"name": "patch", "description": "Patches.",
                    "format": {"type": "grammar", "grammar": grammar}}}]}),
            _ => json!({"model": "m", "stream": stream, "input": [
                {"role": "user", "content": "Patch it"},
                {"type": "custom_tool_call", "call_id": "z", "name": "patch", "input": "*** First"},
                {"type": "custom_tool_call_output", "call_id": "z", "output": "failed"}],
                "tools": [{"type": "custom", "name": "patch", "description": "Patches.",
                    "format": {"type": "grammar", "syntax": "lark", "definition": "start: LINE+"}}]}),
        };
        let mut chat: Chat<P> = chat::<U, P>(Toolset::new(), &script, None);
        let request = http::Request::post("/")
            .body(request.to_string().into())
            .unwrap();
        let turn = block_on(chat.send(request)).unwrap();
        let calls = script.calls::<U>();
        assert_eq!(
            calls,
            [r#"z patch {"input":"*** First"}"#, "z = failed"],
            "{place}"
        );
        let asked = &script.requests()[0];
        assert!(
            asked.contains("Patches.") && asked.contains("start: LINE+"),
            "{place}: {asked}"
        );
        let bytes = String::from_utf8_lossy(turn.bytes());
        let call = match P::NAME {
            "openai" => r#""type":"custom","custom":{"name":"patch","input":"*** Begin"}"#,
            _ => {
                r#""type":"custom_tool_call","status":"completed","call_id":"a","name":"patch","input":"*** Begin"}"#
            }
        };
        assert!(bytes.contains(call), "{place}: {bytes}");
    }
    for stream in [true, false] {
        with::<OpenAi, OpenAi>(stream);
        with::<OpenAi, Responses>(stream);
        with::<OpenAi, Anthropic>(stream);
        with::<Responses, OpenAi>(stream);
        with::<Responses, Responses>(stream);
        with::<Responses, Anthropic>(stream);
    }
}
