//! Tests of the emulated Workspace: options, tools, files, and parameters of widgets.

use copilot_wire::json::{Json, Members, Wire as _};
use copilot_wire::openbb::{
    ExecuteAgentTool, GetParamsOptions, OpenBb, OptionValue, Param, ParamOptions,
    ParamOptionsQuery, QueryRequest, Tier, Tool, Widget,
};
use copilot_wire::protocol::{AgentError, AttachmentContent, Conversation, HistoryItem};
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_kit::openbb::Workspace;
use copilot_wire_kit::{FrontEnd, Harness, ToolOutcome};
use futures::executor::block_on;
use serde_json::json;

fn sent(workspace: &Workspace) -> serde_json::Value {
    serde_json::from_slice(workspace.request().body()).unwrap()
}

fn continuing(request: serde_json::Value) -> Workspace {
    Workspace::continuing(QueryRequest::from_json(request.to_string()).unwrap())
}

#[test]
fn options_are_sent_as_the_workspace_sends_them() {
    let front = Workspace::new()
        .option("web-search", true)
        .option("deep", true)
        .option("style", "brief")
        .option("deep", false)
        .option("style", "long");
    let set = json!({"web-search": true, "style": "long"});
    assert_eq!(sent(&front)["workspace_options"], set);
    // In a request of an earlier version they are a list.
    let front = continuing(json!({"workspace_options": ["a", "style=brief", "styles=x"]}))
        .option("style", "a=b")
        .option("a", OptionValue::Off)
        .option("b", true);
    let set = json!(["styles=x", "style=a=b", "b"]);
    assert_eq!(sent(&front)["workspace_options"], set);
}

/// Says what came with a request, or has the tool run that it is told to.
struct Reader;

#[async_trait]
impl Agent<OpenBb> for Reader {
    async fn answer(&self, r: Request<OpenBb>, reply: Reply<OpenBb>) -> Result<(), AgentError> {
        if let Some(result) = r.last_result() {
            let text = result.outcomes[0].text().into_owned();
            return Ok(reply.text(&text).await?);
        }
        let prompt = r.prompt().unwrap_or_default().into_owned();
        if let Some(tool) = r.tools.iter().find(|tool| tool.name == prompt) {
            return Ok(reply.end(ExecuteAgentTool::new(tool, &json!({"query": "x"}))?)?);
        }
        for document in r.documents() {
            let line = format!("{}: {}; ", document.name, document.content);
            reply.text(&line).await?;
        }
        for item in r.history() {
            let HistoryItem::Attachment(file) = item else {
                continue;
            };
            let AttachmentContent::Base64(content) = &file.content else {
                continue;
            };
            let line = format!("{:?} {content}", file.media_type);
            reply.text(&line).await?;
        }
        Ok(())
    }
}

#[test]
fn tools_answer_their_calls_and_no_others() {
    let schema = json!({"type": "object", "required": ["query"]});
    let tool = Tool::new("2", "web_search")
        .description("Search the web")
        .input_schema(Json::encode(&schema).unwrap());
    let twin = Tool::new("3", "web_search");
    let front = Workspace::new()
        .tool(tool, ToolOutcome::text("three results"))
        .tool(twin, ToolOutcome::text("of the twin"))
        .tool(Tool::new("2", "web_fetch"), ToolOutcome::failed("no route"));
    let tools = &sent(&front)["tools"];
    let first = json!({"server_id": "2", "name": "web_search", "description": "Search the web",
        "input_schema": schema});
    assert_eq!(tools[0], first);
    let mut harness = Harness::new(front, Reader);
    block_on(async {
        harness.prompt("web_search").await.unwrap();
        let turn = harness.answer_itself().await.unwrap();
        assert_eq!(turn.text(), "three results");
        harness.prompt("web_fetch").await.unwrap();
        let turn = harness.answer_itself().await.unwrap();
        assert!(turn.text().contains("no route"), "{turn}");
    });
}

#[test]
fn files_reach_the_agent_by_text_and_by_bytes() {
    let front = Workspace::new()
        .file("notes.md", b"# Notes")
        .file("scan.PDF", b"%PDF-1.4\n");
    let documents = sent(&front)["documents"].clone();
    let scan = json!({"id": "file-2", "name": "scan.PDF", "format": "pdf",
        "content_b64": "JVBERi0xLjQK"});
    assert_eq!(documents[1], scan);
    let turn = block_on(Harness::new(front, Reader).prompt("read")).unwrap();
    assert_eq!(
        turn.text(),
        "notes.md: # Notes; Some(\"application/pdf\") JVBERi0xLjQK"
    );
}

/// Asks what may be chosen.
struct Chooser;

#[async_trait]
impl Agent<OpenBb> for Chooser {
    async fn answer(&self, r: Request<OpenBb>, reply: Reply<OpenBb>) -> Result<(), AgentError> {
        if let Some(result) = r.last_result() {
            let found: ParamOptions = serde_json::from_str(&result.outcomes[0].text())?;
            let choices = found.param_options.iter().flat_map(|found| &found.options);
            let labels: Vec<_> = choices.map(|choice| choice.label.as_str()).collect();
            return Ok(reply.text(&labels.join(", ")).await?);
        }
        let asked = r.prompt().unwrap_or_default().into_owned();
        let (_, widget) = r.widgets().next().unwrap();
        let query = ParamOptionsQuery::new(widget, asked, &Members::new());
        Ok(reply.end(GetParamsOptions::new([query]))?)
    }
}

#[test]
fn parameters_have_the_values_that_were_selected_and_say_what_may_be_chosen() {
    let port = Param::new("port", "text", "Port").choices(["Brest", "Cork"]);
    let day = Param::new("day", "date", "Day");
    let widget = Widget::new("Tides", "tide_table", "Tides", "High and low water")
        .params([port.selected("Cork").unwrap(), day]);
    assert_eq!(widget.arguments().get("port").unwrap().text(), "\"Cork\"");
    let front = Workspace::new().widget(Tier::Primary, widget, ToolOutcome::text("calm"));
    let mut harness = Harness::new(front, Chooser);
    block_on(async {
        harness.prompt("port").await.unwrap();
        let turn = harness.answer_itself().await.unwrap();
        assert_eq!(turn.text(), "Brest, Cork");
        // What the parameter does not say is the test's to answer.
        harness.prompt("day").await.unwrap();
        assert!(harness.answer_itself().await.is_err());
    });
}
