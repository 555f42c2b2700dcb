//! One agent on every stage: what each front end perceives, asks and sends.

use copilot_wire::anthropic::testing::AnthropicClient;
use copilot_wire::github::testing::CopilotChat;
use copilot_wire::json::Json;
use copilot_wire::meilisearch::testing::SearchChat;
use copilot_wire::openai::Function;
use copilot_wire::openai::testing::OpenAiClient;
use copilot_wire::openbb::testing::Workspace;
use copilot_wire::openbb::{GetWidgetData, OpenBb, QueryRequest, Tier, Tiers, Widget, Widgets};
use copilot_wire::protocol::{
    AgentError, Citation, Confirmation, Conversation, Protocol, Table, ToolCall,
};
use copilot_wire::testing::{Answer, FrontEnd, Heard, Stage, StageError};
use copilot_wire::{Agent, Reply, Request, async_trait};
use futures::executor::block_on;
use serde_json::json;

/// Says every word that all front ends share; asks before it tidies up.
struct Librarian;

#[async_trait]
impl<P: Protocol> Agent<P> for Librarian {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        if let Some(decision) = request.decision() {
            assert_eq!(decision.id, "tidy-1");
            let word = if decision.accepted { "Done" } else { "Left" };
            return Ok(reply.text(&format!("{word}.")).await?);
        }
        let prompt = request.prompt().unwrap_or_default().into_owned();
        if prompt == "tidy up" {
            let question = Confirmation::new("tidy-1", "Tidy up?", "Old pages go.");
            return Ok(reply.confirm(question)?);
        }
        reply.status("Looking it up").await?;
        reply.text("There is ").await?;
        reply.text("a page.\n").await?;
        reply
            .table(Table::new("Pages", &json!([{"page": 1}]))?)
            .await?;
        let citation = Citation::new("The page").url("https://example.com/page");
        reply.cite(citation).await?;
        Ok(())
    }
}

const TABLE: &str = r"\n\n**Pages**\n\n| page |\n| --- |\n| 1 |\n\n";

fn look_up<F: FrontEnd>(front: F, expected: &str) {
    let mut stage = Stage::new(front, Librarian);
    let turn = block_on(stage.say("find it")).unwrap();
    assert_eq!(turn.to_string(), expected);
    assert!(turn.faults().is_empty());
    assert!(!turn.events().is_empty());
}

#[test]
fn each_front_end_hears_its_own_form_of_the_words() {
    look_up(
        Workspace::continuing(modern()),
        "status: Looking it up\n\
         text: There is a page.\\n\n\
         table: Pages [{\"page\":1}]\n\
         citation: https://example.com/page\n",
    );
    let sources = r"\n\nSources:\n\n- [The page](https://example.com/page)\n";
    for_text(OpenAiClient::new("m"), sources);
    for_text(SearchChat::new("films"), sources);
    look_up(
        AnthropicClient::new("m"),
        &format!(
            "reasoning: Looking it up\\n\n\
             text: There is a page.\\n{TABLE}\\n\\n**Sources**\\n\\n\
             - [The page](https://example.com/page)\\n\n"
        ),
    );
    look_up(
        CopilotChat::new("librarian"),
        &format!(
            "text: There is a page.\\n{TABLE}\ncitation: The page <https://example.com/page>\n"
        ),
    );
}

fn for_text<F: FrontEnd>(front: F, _: &str) {
    let mut stage = Stage::new(front, Librarian);
    let turn = block_on(stage.say("find it")).unwrap();
    let text = turn.text();
    assert!(text.starts_with("There is a page.\n"), "{text}");
    assert!(
        text.contains("[The page](https://example.com/page)"),
        "{text}"
    );
    assert_eq!(turn.to_string().lines().count(), 1, "{turn}");
}

/// A request of today: its front end knows artifacts.
fn modern() -> QueryRequest {
    let body = include_bytes!("../../fixtures/openbb/req_v2_full.json");
    let mut request = QueryRequest::from_json(body).unwrap();
    request.messages = Default::default();
    request
}

fn decide<F: FrontEnd>(front: F) {
    let mut stage = Stage::new(front, Librarian);
    block_on(async {
        assert!(matches!(
            stage.decide(true).await,
            Err(StageError::NoQuestion)
        ));
        let turn = stage.say("tidy up").await.unwrap();
        assert_eq!(turn.question().unwrap().id, "tidy-1", "{turn}");
        let turn = stage.decide(true).await.unwrap();
        assert_eq!(turn.to_string(), "text: Done.\n");
        // What was answered is not asked any more.
        let again = stage.decide(true).await;
        assert!(matches!(again, Err(StageError::NoQuestion)));
        stage.say("tidy up").await.unwrap();
        let turn = stage.decide(false).await.unwrap();
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
        let call = GetWidgetData::of([widget]);
        reply.text("Let me look.").await?;
        Ok(reply.end(call)?)
    }
}

fn dashboard() -> Workspace {
    let widget = Widget::new("Tides", "tide_table", "Brest", "High and low water");
    let data = Answer::data(&json!([{"hour": 3, "metres": 6.1}])).unwrap();
    Workspace::new().widget(Tier::Primary, widget, data)
}

#[test]
fn a_workspace_answers_from_its_widgets() {
    let mut stage = Stage::new(dashboard(), Reader);
    block_on(async {
        let turn = stage.say("How high?").await.unwrap();
        let [call] = turn.calls() else {
            panic!("{turn}");
        };
        assert_eq!(call.name, "get_widget_data");
        let turn = stage.answer_itself().await.unwrap();
        assert_eq!(
            turn.to_string(),
            "text: read: [{\"hour\":3,\"metres\":6.1}]\n"
        );
        // The text before the call, the call, its result and the answer are all in the history.
        let request = stage.front_end().request();
        let query = QueryRequest::from_json(request.body()).unwrap();
        let roles: Vec<_> = query.messages.iter().map(|m| m.role().clone()).collect();
        assert_eq!(format!("{roles:?}"), "[Human, Ai, Ai, Tool, Ai]",);
    });
}

#[test]
fn an_answer_may_be_anything() {
    let cases = [
        (Answer::text("calm"), "text: read: calm\n"),
        (Answer::failed("no tide"), "text: failed: no tide\n"),
    ];
    for (answer, expected) in cases {
        let mut stage = Stage::new(dashboard(), Reader);
        let turn = block_on(async {
            stage.say("How high?").await.unwrap();
            stage.answer([answer]).await.unwrap()
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
        let mut stage = Stage::new(Workspace::continuing(request), Reader);
        let none = stage.answer([]).await;
        assert!(matches!(none, Err(StageError::Calls { calls: 0, .. })));
        stage.say("How high?").await.unwrap();
        let own = stage.answer_itself().await.unwrap_err();
        assert_eq!(
            own.to_string(),
            "the front end has no answer of its own to get_widget_data"
        );
        let two = stage.answer([Answer::text("1"), Answer::text("2")]).await;
        let two = two.unwrap_err();
        assert_eq!(two.to_string(), "the turn before made 1 calls, not 2");
        // The call is still open.
        let turn = stage.answer([Answer::text("calm")]).await.unwrap();
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

#[test]
fn an_openai_client_runs_tools() {
    let schema = json!({"type": "object", "properties": {"place": {"type": "string"}}});
    let tool = Function::new("get_tide", "The tide").parameters(Json::encode(&schema).unwrap());
    let mut stage = Stage::new(
        OpenAiClient::new("m").system("Be brief.").tools([tool]),
        Caller,
    );
    block_on(async {
        let turn = stage.say("The tide?").await.unwrap();
        assert_eq!(turn.to_string(), "call: get_tide {\"place\":\"Brest\"}\n");
        let answer = Answer::data(&json!({"metres": 6})).unwrap();
        let turn = stage.answer([answer]).await.unwrap();
        assert_eq!(turn.to_string(), "text: It says {\"metres\":6}\n");
    });
}

#[test]
fn an_anthropic_client_runs_tools() {
    let tools = || [copilot_wire::anthropic::Tool::new("get_tide", "The tide")];
    let client = AnthropicClient::new("m").system("Be brief.").tools(tools());
    let mut stage = Stage::new(client, Caller);
    block_on(async {
        let turn = stage.say("The tide?").await.unwrap();
        assert_eq!(turn.to_string(), "call: get_tide {\"place\":\"Brest\"}\n");
        let answer = Answer::data(&json!({"metres": 6})).unwrap();
        let turn = stage.answer([answer]).await.unwrap();
        assert_eq!(turn.to_string(), "text: It says {\"metres\":6}\n");
    });
}

#[test]
fn a_stream_that_breaks_off_is_noticed() {
    fn broken<F: FrontEnd>(mut front: F, mut stream: &[u8]) -> String {
        front.say("hello");
        let mut text = String::new();
        while let Some(event) = front.decode(&mut stream).unwrap() {
            for heard in front.hear(&event) {
                if let Heard::Text(piece) = heard {
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
    let done = [&finished[..], b"data: [DONE]\n\n"].concat();
    assert_eq!(broken(OpenAiClient::new("m"), &done), "Hi: Nothing");
    assert_eq!(broken(SearchChat::new("w"), &done), "Hi: Nothing");
    assert_eq!(broken(CopilotChat::new("a"), &done), "Hi: Nothing");
}
