//! Tests of the conversations that front ends store and send again.

use bytes::Bytes;
use copilot_wire::ag_ui::AgUi;
use copilot_wire::github::GitHub;
use copilot_wire::json::Wire as _;
use copilot_wire::openbb::{GetWidgetData, OpenBb, QueryRequest, Tier, Widget};
use copilot_wire::protocol::{AgentError, Confirmation, Conversation, Protocol};
use copilot_wire::ui_stream::UiStream;
use copilot_wire::{Agent, Reply, Request, async_trait, github, meilisearch, openai};
use copilot_wire_kit::ag_ui::App;
use copilot_wire_kit::github::CopilotChat;
use copilot_wire_kit::meilisearch::SearchChat;
use copilot_wire_kit::openai::OpenAiClient;
use copilot_wire_kit::openbb::Workspace;
use copilot_wire_kit::ui_stream::ChatPage;
use copilot_wire_kit::{FrontEnd, Harness, HarnessError, Next, Setup, ToolOutcome, Toolkit};
use futures::executor::block_on;
use http::{HeaderName, HeaderValue};

/// Asks before it deletes, stops half-way, and tells what it was sent.
struct Clerk;

#[async_trait]
impl<P: Protocol> Agent<P> for Clerk {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default().into_owned();
        match &*prompt {
            "delete" => Ok(reply.confirm(Confirmation::new("1", "Delete?", "For ever."))?),
            "half" => {
                reply.text("Half an ").await?;
                std::future::pending().await
            }
            "messages" => {
                for message in request.messages() {
                    let line = format!("{:?}: {}; ", message.role, message.text);
                    reply.text(&line).await?;
                }
                Ok(())
            }
            "id" => {
                let id = request.conversation_id().unwrap_or_default().into_owned();
                Ok(reply.text(&id).await?)
            }
            "workspace" => {
                let workspace = request.param("workspace").unwrap_or_default().to_owned();
                Ok(reply.text(&workspace).await?)
            }
            "headers" => {
                let values = request.headers().get_all("x-user").iter();
                let values: Vec<_> = values.map(|value| value.to_str().unwrap()).collect();
                Ok(reply.text(&values.join(", ")).await?)
            }
            prompt => Ok(reply.text(&format!("{prompt}!")).await?),
        }
    }
}

fn ask<F: FrontEnd>(front: F, prompt: &str) -> String {
    let mut harness = Harness::new(front, Clerk);
    block_on(harness.prompt(prompt)).unwrap().text()
}

/// Tests run side by side in one process, often with the same words.
#[test]
fn a_question_of_one_harness_is_not_closed_by_another() {
    let mut one = Harness::new(OpenAiClient::new("m"), Janitor);
    let mut other = Harness::new(OpenAiClient::new("m"), Janitor);
    block_on(async {
        assert!(one.prompt("delete").await.unwrap().question().is_some());
        assert!(other.prompt("delete").await.unwrap().question().is_some());
        let turn = one.decide(true).await.unwrap();
        assert_eq!(turn.to_string(), "text: Deleted.\n");
        let turn = other.decide(true).await.unwrap();
        assert_eq!(turn.to_string(), "text: Deleted.\n");
    });
}

/// Deletes when the user has agreed.
struct Janitor;

#[async_trait]
impl<P: Protocol> Agent<P> for Janitor {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        match request.decision() {
            Some(answer) if answer.accepts("1") => Ok(reply.text("Deleted.").await?),
            Some(answer) => Ok(reply.text(&format!("{:?}", answer.verdict)).await?),
            None => Ok(reply.confirm(Confirmation::new("1", "Delete?", "For ever."))?),
        }
    }
}

#[test]
fn a_question_is_gone_when_the_user_types_on() {
    fn type_on<F: FrontEnd>(front: F) {
        let mut harness = Harness::new(front, Clerk);
        block_on(async {
            let turn = harness.prompt("delete").await.unwrap();
            assert!(turn.question().is_some(), "{turn}");
            let turn = harness.prompt("hello").await.unwrap();
            assert_eq!(turn.to_string(), "text: hello!\n");
            let stale = harness.decide(true).await;
            assert!(matches!(stale, Err(HarnessError::NoQuestion)));
        });
    }
    type_on(Workspace::new());
    type_on(CopilotChat::new("clerk"));
    type_on(OpenAiClient::new("m"));
    type_on(SearchChat::new("films"));
    type_on(ChatPage::new());
    type_on(App::new());

    // Played by hand: what was typed stands, and there is nothing to decide.
    let mut front = CopilotChat::new("clerk");
    let mut asks: &[u8] = b"event: copilot_confirmation\ndata: {\"type\":\"action\",\
        \"title\":\"Delete?\",\"message\":\"\",\"confirmation\":{\"id\":\"1\"}}\n\n\
        data: [DONE]\n\n";
    while let Some(event) = front.decode(&mut asks).unwrap() {
        front.receive(&event);
    }
    let Next::Question(question) = front.next() else {
        panic!("no question");
    };
    front.prompt("hello");
    let typed = front.request();
    front.decide(&question, true);
    assert_eq!(front.request().body(), typed.body());
}

/// Reads the first widget, unless the user says hello.
struct Reader;

#[async_trait]
impl Agent<OpenBb> for Reader {
    async fn answer(&self, r: Request<OpenBb>, reply: Reply<OpenBb>) -> Result<(), AgentError> {
        if r.prompt().as_deref() == Some("hello") {
            return Ok(reply.text("hello!").await?);
        }
        let call = GetWidgetData::new(r.widgets().map(|(_, widget)| widget));
        Ok(reply.end(call)?)
    }
}

#[test]
fn a_call_is_gone_when_the_user_types_on() {
    let widget = Widget::new("Tides", "tide_table", "Brest", "High and low water");
    let front = || {
        let data = ToolOutcome::text("calm");
        Workspace::new().widget(Tier::Primary, widget.clone(), data)
    };
    let mut harness = Harness::new(front(), Reader);
    block_on(async {
        let turn = harness.prompt("read").await.unwrap();
        assert_eq!(turn.calls().len(), 1);
        let turn = harness.prompt("hello").await.unwrap();
        assert_eq!(turn.to_string(), "text: hello!\n");
        assert!(harness.answer_itself().await.is_err());
        // Nor is it that of a request from elsewhere.
        harness.prompt("read").await.unwrap();
        let mut recorded = front();
        recorded.prompt("hello");
        let turn = harness.send(recorded.request()).await.unwrap();
        assert_eq!(turn.to_string(), "text: hello!\n");
    });

    // Played by hand.
    let mut front = front();
    let mut calls: &[u8] = b"event: copilotFunctionCall\ndata: {\"function\":\"ask\",\
        \"input_arguments\":{}}\n\n";
    while let Some(event) = front.decode(&mut calls).unwrap() {
        front.receive(&event);
    }
    assert!(matches!(front.next(), Next::Calls(_)));
    front.prompt("hello");
    let typed = front.request();
    front.answer(vec![ToolOutcome::text("calm")]);
    assert_eq!(front.request().body(), typed.body());
}

#[test]
fn a_turn_that_is_dropped_half_way_is_over() {
    fn leave<F: FrontEnd>(front: F) {
        let mut harness = Harness::new(front, Clerk);
        block_on(async {
            {
                let mut say = Box::pin(harness.prompt("half"));
                for _ in 0..3 {
                    assert!(futures::poll!(&mut say).is_pending());
                }
            }
            assert!(matches!(
                harness.decide(true).await,
                Err(HarnessError::NoQuestion)
            ));
            let turn = harness.prompt("messages").await.unwrap();
            assert_eq!(
                turn.text(),
                "User: half; Assistant: Half an ; User: messages; "
            );
            // Nothing of the half turn is said again, and the stream of the next is read afresh.
            let turn = harness.prompt("messages").await.unwrap();
            assert_eq!(turn.text().matches("Half an").count(), 2, "{turn}");
            assert!(turn.faults().is_empty());
        });
    }
    leave(Workspace::new());
    leave(CopilotChat::new("clerk"));
    leave(OpenAiClient::new("m"));
    leave(SearchChat::new("films"));
    leave(ChatPage::new());
    leave(App::new());
}

#[test]
fn a_conversation_goes_on_from_a_request() {
    fn request<R: Default>(read: impl Fn(&Bytes) -> Option<R>, front: impl FrontEnd) -> R {
        read(front.request().body()).unwrap()
    }
    fn said<F: FrontEnd>(mut front: F) -> F {
        front.prompt("before");
        front
    }
    let openbb = request(|b| QueryRequest::from_json(b).ok(), said(Workspace::new()));
    let github = said(CopilotChat::new("clerk").conversation_id("t-1"));
    let github = request(|b| github::ChatRequest::from_json(b).ok(), github);
    let warm = openai::ChatRequest::new("m", []).with("temperature", &0.5);
    let openai = said(OpenAiClient::continuing(warm.unwrap()));
    let openai = request(|b| openai::ChatRequest::from_json(b).ok(), openai);
    let sources = meilisearch::ChatRequest::new("m", []).tools(meilisearch::Tools::SOURCES);
    let meilisearch = said(SearchChat::continuing("films", sources));
    let meilisearch = request(|b| meilisearch::ChatRequest::read(b).ok(), meilisearch);
    let meilisearch = meilisearch.parameter("temperature", &0.5).unwrap();

    let seen = "User: before; User: messages; ";
    assert_eq!(ask(Workspace::continuing(openbb), "messages"), seen);
    assert_eq!(
        ask(CopilotChat::continuing(github.clone()), "messages"),
        seen
    );
    assert_eq!(ask(CopilotChat::continuing(github), "id"), "t-1");
    // What else is in it is sent again.
    let front = OpenAiClient::continuing(openai.clone());
    assert_eq!(front.request().body(), &openai.to_json());
    assert_eq!(ask(front, "messages"), seen);
    let whole = OpenAiClient::continuing(openai.stream(false));
    assert_eq!(ask(whole, "messages"), seen);
    let front = SearchChat::continuing("films", meilisearch.clone());
    assert_eq!(front.request().body(), &meilisearch.to_json());
    assert_eq!(ask(front, "messages"), seen);
}

#[test]
fn the_id_of_a_conversation_is_the_same_in_every_run() {
    fn sent<F: FrontEnd>(mut front: F) -> String {
        front.prompt("hello");
        format!("{:?}", front.request())
    }
    assert_eq!(sent(Workspace::new()), sent(Workspace::new()));
    assert_eq!(sent(CopilotChat::new("a")), sent(CopilotChat::new("a")));
    assert!(!ask(Workspace::new(), "id").is_empty());
    assert!(!ask(CopilotChat::new("a"), "id").is_empty());
    assert_eq!(ask(Workspace::new().conversation_id("mine"), "id"), "mine");
    let chat = CopilotChat::new("a").conversation_id("mine");
    assert_eq!(ask(chat, "id"), "mine");
}

#[test]
fn a_workspace_may_have_any_name() {
    for name in ["films", "films & más/50% ?#", ".", "{workspace}"] {
        assert_eq!(ask(SearchChat::new(name), "workspace"), name);
    }
}

#[test]
fn headers_add_up() {
    let name = HeaderName::from_static("x-user");
    let value = HeaderValue::from_static;
    let mut harness = Harness::new(Workspace::new(), Clerk)
        .header(name.clone(), value("ada"))
        .header(name, value("eve"))
        .header(HeaderName::from_static("x-trace-id"), value("mine"));
    block_on(async {
        assert_eq!(harness.prompt("headers").await.unwrap().text(), "ada, eve");
        assert_eq!(harness.prompt("id").await.unwrap().text(), "mine");
    });
}

#[test]
fn the_id_of_a_setup_replaces_the_recorded_one() {
    fn sent<P: Toolkit>(recorded: &'static str, id: Option<&str>) -> String {
        let mut setup = Setup::default();
        setup.request = Some(Bytes::from_static(recorded.as_bytes()));
        setup.conversation_id = id.map(str::to_owned);
        let front = P::front_end(&setup).unwrap();
        String::from_utf8(front.request().body().to_vec()).unwrap()
    }
    fn check<P: Toolkit>(recorded: &'static str) {
        assert!(sent::<P>(recorded, None).contains("c-1"));
        let other = sent::<P>(recorded, Some("c-2"));
        assert!(other.contains("c-2") && !other.contains("c-1"), "{other}");
    }
    check::<AgUi>(
        r#"{"threadId":"c-1","runId":"r","messages":[{"id":"1","role":"user","content":"hi"}]}"#,
    );
    check::<GitHub>(r#"{"copilot_thread_id":"c-1","messages":[{"role":"user","content":"hi"}]}"#);
    check::<UiStream>(
        r#"{"id":"c-1","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"hi"}]}]}"#,
    );
}
