//! The whole conversation: several calls at once, their results, and what a model is given.

use std::sync::{Arc, Mutex};

use copilot_wire::json::Wire as _;
use copilot_wire::openai::{self, Content, Function};
use copilot_wire::openbb::{OpenBb, QueryRequest, Tier, Widget};
use copilot_wire::protocol::{
    AgentError, AttachmentContent, Call, Conversation, Document, HistoryItem, Message, Protocol,
    RawMessage, Role, ToolCall, ToolResult, ToolRun, Usage,
};
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_kit::openai::OpenAiClient;
use copilot_wire_kit::openbb::Workspace;
use copilot_wire_kit::{Clock, FrontEnd, Harness, Script, Step, ToolOutcome};
use futures::executor::block_on;
use serde_json::{Value, json};

/// Calls every tool once, then hands the conversation to a model and says what it was given.
#[derive(Clone, Default)]
struct Clerk {
    given: Arc<Mutex<Vec<Value>>>,
}

#[async_trait]
impl<P: Protocol> Agent<P> for Clerk {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let first = request.results().next().is_none();
        if first && request.prompt().as_deref() == Some("compare") {
            let tools: Vec<_> = request.tools().map(|tool| tool.name.into_owned()).collect();
            let calls = tools.iter().map(|name| ToolCall::new(name, &json!({})));
            let calls = calls.collect::<Result<Vec<_>, _>>()?;
            return Ok(reply.calls(&calls)?);
        }
        let prompt = openai::ChatRequest::from_conversation(&*request);
        let prompt = serde_json::from_slice(&prompt.to_json()).unwrap();
        self.given.lock().unwrap().push(prompt);
        Ok(reply.text("Compared.").await?)
    }
}

/// Plays two calls, their results and a further question; returns what the model was given last.
fn compare<F: FrontEnd>(front: F, itself: bool) -> Vec<Value> {
    let clerk = Clerk::default();
    let mut harness = Harness::new(front, clerk.clone());
    block_on(async {
        let mut turn = harness.prompt("compare").await.unwrap();
        let mut made = Vec::new();
        while !turn.calls().is_empty() {
            assert!(turn.faults().is_empty(), "{turn}");
            let calls: Vec<_> = turn.calls().iter().map(|call| call.name.clone()).collect();
            turn = match itself {
                true => harness.answer_itself().await.unwrap(),
                false => {
                    let answers = calls
                        .iter()
                        .map(|name| ToolOutcome::text(format!("of {name}")));
                    harness.answer(answers.collect::<Vec<_>>()).await.unwrap()
                }
            };
            made.extend(calls);
        }
        assert_eq!(made.len(), 2);
        assert_eq!(turn.text(), "Compared.");
        assert_eq!(
            harness.prompt("and then?").await.unwrap().text(),
            "Compared."
        );
    });
    let given = clerk.given.lock().unwrap();
    assert_eq!(given.len(), 2);
    given[1]["messages"].as_array().unwrap().clone()
}

#[test]
fn a_model_is_given_both_calls_with_their_results() {
    let tools = ["a", "b"].map(|name| Function::new(name, ""));
    let messages = compare(OpenAiClient::new("m").tools(tools), false);
    let roles: Vec<_> = messages
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    let all = ["user", "assistant", "tool", "tool", "assistant", "user"];
    assert_eq!(roles, all);
    assert_eq!(
        messages[1]["tool_calls"][0]["id"],
        messages[2]["tool_call_id"]
    );
    assert_eq!(
        messages[1]["tool_calls"][1]["id"],
        messages[3]["tool_call_id"]
    );
    assert_eq!(messages[3]["content"], "of b");
    assert_eq!(messages[5]["content"], "and then?");
}

#[test]
fn calls_wait_for_each_other_where_a_reply_holds_one() {
    let widget = |id: &str| Widget::new("Tides", id, id, "High and low water");
    let front = Workspace::new()
        .widget(Tier::Primary, widget("brest"), ToolOutcome::text("calm"))
        .widget(Tier::Primary, widget("tokyo"), ToolOutcome::text("rough"));
    let messages = compare(front, true);
    let roles: Vec<_> = messages
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    let all = [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
        "user",
    ];
    assert_eq!(roles, all, "{messages:#?}");
    for (call, result, content) in [(1, 2, "calm"), (3, 4, "rough")] {
        let id = &messages[call]["tool_calls"][0]["id"];
        assert_eq!(*id, messages[result]["tool_call_id"]);
        let said = messages[result]["content"].as_str().unwrap();
        assert!(said.contains(content), "{said}");
    }
    assert_ne!(messages[2]["tool_call_id"], messages[4]["tool_call_id"]);
}

#[test]
fn nothing_is_called_when_one_of_several_calls_cannot_be_made() {
    struct Careless(Vec<&'static str>);
    #[async_trait]
    impl<P: Protocol> Agent<P> for Careless {
        async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
            let calls = self.0.iter().map(|name| ToolCall::new(*name, &json!({})));
            let calls = calls.collect::<Result<Vec<_>, _>>()?;
            Ok(reply.calls(&calls)?)
        }
    }
    for names in [vec!["a", "unknown"], vec!["unknown", "a"], vec![]] {
        let client = OpenAiClient::new("m").tools([Function::new("a", "")]);
        let turn = block_on(Harness::new(client, Careless(names)).prompt("go")).unwrap();
        assert!(turn.calls().is_empty(), "{turn}");
        assert!(turn.to_string().contains("error: "), "{turn}");
    }
}

#[test]
fn a_person_who_speaks_stops_the_calls_that_wait() {
    let call = r#"{"function":"get_widget_data","input_arguments":{"data_sources":[]}}"#;
    let body = |last: &str| {
        let state = format!(r#"{{"pending_bridge_calls":[{call}]}}"#);
        let result = format!(
            r#"{{"role":"tool","function":"get_widget_data","data":[],"extra_state":{state}}}"#
        );
        format!(r#"{{"messages":[{{"role":"human","content":"go"}},{result}{last}]}}"#)
    };
    let next = |last: &str| {
        (OpenBb::EXTRAS.next_call)(&QueryRequest::from_json(body(last).as_bytes()).unwrap())
    };
    assert!(next("").is_some());
    assert!(next(r#",{"role":"human","content":"stop"}"#).is_none());
}

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

#[test]
fn what_a_models_server_would_refuse_is_mended() {
    use copilot_wire::protocol::Attachment;
    let image = AttachmentContent::Base64("AAAA".into());
    let pdf = AttachmentContent::Base64("BBBB".into());
    let odd = Odd(vec![
        said(Role::System, "Be brief."),
        said(Role::User, "What is this?"),
        HistoryItem::Attachment(Attachment::new(image).media_type("image/png")),
        said(Role::Assistant, "I look it up."),
        HistoryItem::Call(Call::new("look", "{}").id("1")),
        HistoryItem::Call(Call::new("look", "no json")),
        HistoryItem::Result(ToolResult::new("", "found").call_id("1")),
        HistoryItem::Attachment(
            Attachment::new(pdf)
                .media_type("application/pdf")
                .name("a.pdf"),
        ),
        HistoryItem::Call(Call::new("late", "{}").id("2")),
        said(Role::User, "And now?"),
        HistoryItem::Result(ToolResult::new("late", "too late").call_id("2")),
    ]);
    let request = openai::ChatRequest::from_conversation(&odd);
    let json: Value = serde_json::from_slice(&request.to_json()).unwrap();
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let expected = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ]},
        {"role": "assistant", "content": "I look it up.",
         "tool_calls": [call("1", "look", "{}"), call("unnamed_1", "look", "no json")]},
        {"role": "tool", "tool_call_id": "1", "content": "found"},
        {"role": "tool", "tool_call_id": "unnamed_1", "content": "The call has no result."},
        {"role": "user", "content": [
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,BBBB", "filename": "a.pdf"}},
        ]},
        {"role": "assistant", "content": null, "tool_calls": [call("2", "late", "{}")]},
        {"role": "tool", "tool_call_id": "2", "content": "too late"},
        {"role": "user", "content": "Documents in context:\n\n# Notes\n\nLow water at six."},
        {"role": "user", "content": "And now?"},
    ]);
    assert_eq!(json["messages"], expected, "{json:#}");
}

#[test]
fn a_request_of_this_dialect_is_the_same_conversation() {
    let request = openai::ChatRequest::new(
        "m",
        vec![
            openai::ChatMessage::system("Be brief."),
            openai::ChatMessage::user(Content::from(vec![
                openai::Part::new("What is this?"),
                openai::Part::image("https://example.com/a.png"),
            ])),
            openai::ChatMessage::calls([
                openai::ToolCall::new("1", "look", &json!({"at": 1})).unwrap()
            ]),
            openai::ChatMessage::result("1", "found"),
            openai::ChatMessage::assistant("A cat."),
            openai::ChatMessage::user("Sure?"),
        ],
    );
    let mut again = openai::ChatRequest::from_conversation(&request);
    again.model = "m".to_owned();
    assert_eq!(
        String::from_utf8(again.to_json().to_vec()),
        String::from_utf8(request.to_json().to_vec())
    );
}

#[test]
fn files_of_a_workspace_are_attachments_of_the_newest_message() {
    let body = br#"{"messages":[{"role":"human","content":"hi"},{"role":"ai","content":"yes?"},
        {"role":"human","content":"read"},
        {"role":"ai","content":"{\"function\":\"execute_agent_tool\",\"input_arguments\":{\"tool_name\":\"t\",\"parameters\":{\"x\":1}}}"},
        {"role":"tool","function":"execute_agent_tool","input_arguments":{"tool_name":"t","parameters":{"x":1}},"data":[]}],
        "documents":[{"id":"1","name":"a.pdf","format":"pdf","content_b64":"QUJD"},
                     {"id":"2","name":"b.txt","format":"txt","content_b64":"QUJD"}]}"#;
    let request = QueryRequest::from_json(body).unwrap();
    let items: Vec<_> = request.history().collect();
    let HistoryItem::Attachment(file) = &items[3] else {
        panic!("{items:?}")
    };
    assert_eq!(file.content, AttachmentContent::Base64("QUJD".into()));
    assert_eq!(file.media_type.as_deref(), Some("application/pdf"));
    let HistoryItem::Call(call) = &items[4] else {
        panic!("{items:?}")
    };
    assert_eq!((&*call.name, &*call.arguments), ("t", r#"{"x":1}"#));
    let HistoryItem::Result(result) = &items[5] else {
        panic!("{items:?}")
    };
    assert_eq!((&result.call_id, items.len()), (&call.id, 6));
    assert_eq!(request.documents().count(), 1);
}

#[test]
fn reasoning_runs_of_tools_and_usage_show_where_a_front_end_has_them() {
    fn played<F: FrontEnd>(front: F) -> String {
        let clock = Clock::new();
        let run = ToolRun::new("search", &json!({"q": "tides"}), &json!(["high"])).unwrap();
        let failed = ToolRun::failed("fetch", &json!({}), "no network").unwrap();
        let script = Script::new(&clock).turn([
            Step::Reasoning("I should ".into()),
            Step::Reasoning("look.".into()),
            Step::ToolRun(run),
            Step::ToolRun(failed),
            Step::text("High."),
            Step::Usage(Usage::new(3, 4)),
        ]);
        let turn = block_on(Harness::new(front, script).clock(&clock).prompt("tides?")).unwrap();
        assert!(turn.faults().is_empty(), "{turn}");
        turn.to_string()
    }
    assert_eq!(
        played(OpenAiClient::new("m")),
        "reasoning: I should look.\ntext: High.\nusage: 3 in, 4 out\n"
    );
    assert_eq!(
        played(Workspace::new()),
        "status: Ran search (Arguments: {\"q\":\"tides\"}, Result: [\"high\"])\n\
         warning: fetch failed (Arguments: {}, Error: no network)\n\
         text: High.\n"
    );
}

/// Copilot's command line puts the time before what its user types, in all its dialects.
#[test]
fn the_time_that_copilot_adds_is_no_part_of_the_prompt() {
    fn check<P: Protocol>(messages: &str, yes: &str) {
        let time = "<current_datetime>2026-11-22T08:03:51.095+00:00</current_datetime>";
        let asked = "Delete it?";
        let body = format!(
            r#"{{"model":"m","max_tokens":9,"{messages}":[{{"role":"user","content":"delete"}},{{"role":"assistant","content":"{asked}"}},{{"role":"user","content":"{time}\n\n{yes}"}}]}}"#
        );
        let (parts, ()) = http::Request::post("/").body(()).unwrap().into_parts();
        let request = P::read(&parts, body.into()).unwrap();
        assert_eq!(request.prompt().as_deref(), Some(yes), "{}", P::NAME);
        let added: Vec<_> = request
            .messages()
            .filter(|m| m.role == Role::Other)
            .collect();
        assert_eq!(added.len(), 1, "{}", P::NAME);
        assert_eq!(added[0].text, time);
    }
    for typed in ["yes", "<b>yes</b>", "tell me more"] {
        check::<openai::OpenAi>("messages", typed);
        #[cfg(feature = "responses")]
        check::<copilot_wire::responses::Responses>("input", typed);
        #[cfg(feature = "anthropic")]
        check::<copilot_wire::anthropic::Anthropic>("messages", typed);
    }
}
