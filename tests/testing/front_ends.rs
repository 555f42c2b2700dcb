//! One agent on every harness: what each front end perceives, asks and sends.

use copilot_wire::ag_ui::RunAgentInput;
use copilot_wire::anthropic::MessagesRequest;
use copilot_wire::json::{Json, Wire as _};
use copilot_wire::openai::Function;
use copilot_wire::openbb::{GetWidgetData, OpenBb, QueryRequest, Tier, Tiers, Widget, Widgets};
use copilot_wire::protocol::{AgentError, Confirmation, Conversation, Protocol, ToolCall};
use copilot_wire::ui_stream::ChatRequest;
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_kit::ag_ui::App;
use copilot_wire_kit::anthropic::AnthropicClient;
use copilot_wire_kit::github::CopilotChat;
use copilot_wire_kit::meilisearch::SearchChat;
use copilot_wire_kit::openai::OpenAiClient;
use copilot_wire_kit::openbb::Workspace;
use copilot_wire_kit::ui_stream::ChatPage;
use copilot_wire_kit::{Effect, FrontEnd, Harness, HarnessError, ToolOutcome};
use futures::executor::block_on;
use serde_json::json;

/// Says every word that all front ends share; asks before it tidies up.
struct Librarian;

#[async_trait]
impl<P: Protocol> Agent<P> for Librarian {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        if let Some(answer) = request.decision() {
            assert_eq!(answer.id, "tidy-1");
            let word = if answer.accepts("tidy-1") {
                "Done"
            } else {
                "Left"
            };
            return Ok(reply.text(&format!("{word}.")).await?);
        }
        let prompt = request.prompt().unwrap_or_default().into_owned();
        if prompt == "tidy up" {
            let question = Confirmation::new("tidy-1", "Tidy up?", "Old pages go.");
            return Ok(reply.confirm(question)?);
        }
        Ok(reply.text("There is a page.").await?)
    }
}

fn decide<F: FrontEnd>(front: F) {
    let mut harness = Harness::new(front, Librarian);
    block_on(async {
        assert!(matches!(
            harness.decide(true).await,
            Err(HarnessError::NoQuestion)
        ));
        let turn = harness.prompt("tidy up").await.unwrap();
        assert_eq!(turn.question().unwrap().id, "tidy-1", "{turn}");
        let turn = harness.decide(true).await.unwrap();
        assert_eq!(turn.to_string(), "text: Done.\n");
        // What was answered is not asked any more.
        let again = harness.decide(true).await;
        assert!(matches!(again, Err(HarnessError::NoQuestion)));
        harness.prompt("tidy up").await.unwrap();
        let turn = harness.decide(false).await.unwrap();
        assert_eq!(turn.to_string(), "text: Left.\n");
    });
}

#[test]
fn a_question_is_answered_on_every_front_end() {
    decide(Workspace::new());
    decide(CopilotChat::new("librarian"));
    decide(OpenAiClient::new("m"));
    decide(AnthropicClient::new("m"));
    decide(SearchChat::new("films"));
    decide(ChatPage::new());
    decide(App::new());
}

/// Reads the first widget and says what came back.
struct Reader;

#[async_trait]
impl Agent<OpenBb> for Reader {
    async fn answer(
        &self,
        request: Request<OpenBb>,
        reply: Reply<OpenBb>,
    ) -> Result<(), AgentError> {
        if let Some(result) = request.results().last() {
            let verdict = if result.failed { "failed" } else { "read" };
            return Ok(reply
                .text(&format!("{verdict}: {}", result.content))
                .await?);
        }
        let Some((_, widget)) = request.widgets().next() else {
            return Err(AgentError::new("nothing on the dashboard"));
        };
        let call = GetWidgetData::new([widget]);
        reply.text("Let me look.").await?;
        Ok(reply.end(call)?)
    }
}

fn dashboard() -> Workspace {
    let widget = Widget::new("Tides", "tide_table", "Brest", "High and low water");
    let data = ToolOutcome::data(&json!([{"hour": 3, "metres": 6.1}])).unwrap();
    Workspace::new().widget(Tier::Primary, widget, data)
}

#[test]
fn a_workspace_answers_from_its_widgets() {
    let mut harness = Harness::new(dashboard(), Reader);
    block_on(async {
        let turn = harness.prompt("How high?").await.unwrap();
        let [call] = turn.calls() else {
            panic!("{turn}");
        };
        assert_eq!(call.name, "get_widget_data");
        let turn = harness.answer_itself().await.unwrap();
        assert_eq!(
            turn.to_string(),
            "text: read: [{\"hour\":3,\"metres\":6.1}]\n"
        );
        // The text before the call, the call, its result and the answer are all in the history.
        let request = harness.front_end().request();
        let query = QueryRequest::from_json(request.body()).unwrap();
        let roles: Vec<_> = query.messages.iter().map(|m| m.role().clone()).collect();
        assert_eq!(format!("{roles:?}"), "[Human, Ai, Ai, Tool, Ai]",);
    });
}

#[test]
fn an_answer_may_be_anything() {
    let cases = [
        (ToolOutcome::text("calm"), "text: read: calm\n"),
        (
            ToolOutcome::failed("no tide"),
            "text: failed: unexpected_error: no tide\n",
        ),
    ];
    for (answer, expected) in cases {
        let mut harness = Harness::new(dashboard(), Reader);
        let turn = block_on(async {
            harness.prompt("How high?").await.unwrap();
            harness.answer([answer]).await.unwrap()
        });
        assert_eq!(turn.to_string(), expected);
    }
}

#[test]
fn what_cannot_be_answered_is_an_error() {
    block_on(async {
        let widget = Widget::new("Tides", "tide_table", "Brest", "High and low water");
        let mut request = QueryRequest::default();
        let mut tiers = Tiers::default();
        tiers.primary.push(widget);
        request.widgets = Some(Widgets::Tiers(tiers));
        let mut harness = Harness::new(Workspace::continuing(request), Reader);
        let none = harness.answer([]).await.unwrap_err();
        assert_eq!(none.to_string(), "the turn before ended without calls");
        let none = harness.answer_itself().await;
        assert!(matches!(none, Err(HarnessError::NoCalls)));
        harness.prompt("How high?").await.unwrap();
        let own = harness.answer_itself().await.unwrap_err();
        assert_eq!(
            own.to_string(),
            "the front end has no answer of its own to get_widget_data"
        );
        let two = harness
            .answer([ToolOutcome::text("1"), ToolOutcome::text("2")])
            .await;
        let two = two.unwrap_err();
        assert_eq!(two.to_string(), "the turn before made 1 calls, not 2");
        // The call is still open.
        let turn = harness.answer([ToolOutcome::text("calm")]).await.unwrap();
        assert_eq!(turn.text(), "read: calm");
    });
}

/// Calls the first tool on offer.
struct Caller;

#[async_trait]
impl<P: Protocol> Agent<P> for Caller {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        if let Some(result) = request.results().last() {
            return Ok(reply.text(&format!("It says {}", result.content)).await?);
        }
        let Some(tool) = request.tools().next() else {
            return Ok(reply.text("No tools.").await?);
        };
        let call = ToolCall::new(tool.name, &json!({"place": "Brest"}))?;
        Ok(reply.call(call)?)
    }
}

fn run_tools<F: FrontEnd>(front: F) {
    let mut harness = Harness::new(front, Caller);
    block_on(async {
        let turn = harness.prompt("The tide?").await.unwrap();
        assert_eq!(turn.to_string(), "call: get_tide {\"place\":\"Brest\"}\n");
        let answer = ToolOutcome::data(&json!({"metres": 6})).unwrap();
        let turn = harness.answer([answer]).await.unwrap();
        assert_eq!(turn.to_string(), "text: It says {\"metres\":6}\n");
    });
}

#[test]
fn clients_run_tools() {
    let schema = json!({"type": "object", "properties": {"place": {"type": "string"}}});
    let schema = Json::encode(&schema).unwrap();
    let tool = Function::new("get_tide", "The tide").parameters(schema);
    let request = copilot_wire::openai::ChatRequest::new("m", []);
    run_tools(OpenAiClient::continuing(request.instructions("Be brief.")).tools([tool]));
    let tool = copilot_wire::anthropic::Tool::new("get_tide", "The tide");
    let request = MessagesRequest::new("m", 4096, []);
    run_tools(AnthropicClient::continuing(request.system("Be brief.")).tools([tool]));
    let input = br#"{"messages":[],"tools":[{"name":"get_tide","description":"The tide"}]}"#;
    run_tools(App::continuing(RunAgentInput::from_json(input).unwrap()));
    let request = br#"{"messages":[],"tools":{"get_tide":{"description":"The tide"}}}"#;
    run_tools(ChatPage::continuing(
        ChatRequest::from_json(request).unwrap(),
    ));
}

#[test]
fn a_stream_that_breaks_off_is_noticed() {
    fn broken<F: FrontEnd>(mut front: F, mut stream: &[u8]) -> String {
        front.prompt("hello");
        let mut text = String::new();
        while let Some(event) = front.decode(&mut stream).unwrap() {
            for heard in front.receive(&event) {
                if let Effect::Text(piece) = heard {
                    text.push_str(&piece);
                }
            }
        }
        format!("{text}: {:?}", front.next())
    }
    let chunk = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let finish = b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let finished = [&chunk[..], finish].concat();
    let no_finish = "Hi: Broken(\"the stream ended without a finish_reason\")";
    let no_done = "Hi: Broken(\"the stream ended without [DONE]\")";
    assert_eq!(broken(OpenAiClient::new("m"), chunk), no_finish);
    assert_eq!(broken(OpenAiClient::new("m"), &finished), no_done);
    assert_eq!(broken(SearchChat::new("w"), &finished), no_done);
    assert_eq!(broken(CopilotChat::new("a"), &finished), no_done);
    let cut = b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n";
    let no_stop = "Hi: Broken(\"the stream ended without message_stop\")";
    assert_eq!(broken(AnthropicClient::new("m"), cut), no_stop);
    let cut = b"data: {\"type\":\"start\"}\n\ndata: {\"type\":\"text-start\",\"id\":\"1\"}\n\n\
        data: {\"type\":\"text-delta\",\"id\":\"1\",\"delta\":\"Hi\"}\n\n";
    let no_finish = "Hi: Broken(\"the stream ended without finish: it looks complete\")";
    assert_eq!(broken(ChatPage::new(), cut), no_finish);
    let cut = b"data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n\
        data: {\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m\"}\n\n\
        data: {\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"Hi\"}\n\n";
    let no_finish = "Hi: Broken(\"the stream ended without RUN_FINISHED: it looks complete\")";
    assert_eq!(broken(App::new(), cut), no_finish);
    let done = [&finished[..], b"data: [DONE]\n\n"].concat();
    assert_eq!(broken(OpenAiClient::new("m"), &done), "Hi: Nothing");
    assert_eq!(broken(SearchChat::new("w"), &done), "Hi: Nothing");
    assert_eq!(broken(CopilotChat::new("a"), &done), "Hi: Nothing");
}
