//! The shared parts of a reply in this protocol.

use copilot_wire::json::Json;
use copilot_wire::openbb::{Artifact, Descriptor, Event, Message, OpenBb, Output, QueryRequest};
use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Citation, Confirmation, Conversation, EventDecoder, Failure,
    Level, Notice, Part, Protocol, Question, SendError, Status, Table, ToolCall,
};
use copilot_wire::{Reply, Request, Router, agent_fn};
use serde_json::json;

use crate::workspace::{self, Turn};
use crate::{env, read, request};

fn write(request: &QueryRequest, words: &[Part<'_>]) -> Result<String, SendError> {
    let mut session = OpenBb::session(request, &(), &env());
    let mut out = Vec::new();
    for word in words {
        session.part(*word, &mut out)?;
    }
    session.finish(&mut out);
    workspace::read(&out).unwrap();
    Ok(String::from_utf8(out).unwrap())
}

fn turn(request: &QueryRequest, words: &[Part<'_>]) -> Turn {
    workspace::read(write(request, words).unwrap().as_bytes()).unwrap()
}

fn old() -> QueryRequest {
    request("e2_flat_widgets_all_flags")
}

fn new() -> QueryRequest {
    request("v2_repost_as_sent_by_workspace")
}

#[test]
fn status() {
    let status = Status::new("Working")
        .detail("Rows", "3")
        .detail("id", "hidden");
    let text = write(&new(), &[Part::Status(&status)]).unwrap();
    assert_eq!(
        text,
        "event: copilotStatusUpdate\ndata: {\"eventType\":\"INFO\",\"message\":\"Working\",\"group\":\"reasoning\",\"details\":[{\"Rows\":\"3\"}],\"hidden\":false}\n\n",
    );
    let plain = write(&new(), &[Part::Status(&"Plain".into())]).unwrap();
    assert!(plain.contains("\"details\":[]"));
    assert_eq!(write(&old(), &[Part::Status(&status)]).unwrap(), "");
}

/// No part becomes an `ERROR` step, on which the Workspace deletes the latest call and its result
/// from the chat.
#[test]
fn nothing_becomes_an_error_step() {
    let mut failed = Status::new("Failed");
    failed.level = Level::Error;
    let notice = Notice::new("The search failed")
        .code("timeout")
        .identifier("news");
    let text = write(&new(), &[Part::Status(&failed), Part::Error(&notice)]).unwrap();
    assert_eq!(text.matches("\"eventType\":\"WARNING\"").count(), 2);
    assert!(text.contains(r#""details":[{"Code":"timeout","Concerns":"news"}]"#));
    let text = write(&old(), &[Part::Error(&notice)]).unwrap();
    assert!(text.contains("**Error:** The search failed"));
}

#[test]
fn tables_and_charts() {
    let rows = json!([{"x": 1, "y": 2}]);
    let table = Table::new("Prices", &rows).unwrap().description("of today");
    let kind = ChartKind::Bar {
        x: "x".into(),
        y: vec!["y".into()],
    };
    let chart = Chart::new("Prices", kind, &rows).unwrap();
    let words = [
        Part::Table(&table),
        Part::Chart(&chart),
        Part::Table(&table),
    ];
    let shown = turn(&new(), &words);
    let names: Vec<_> = shown
        .artifacts
        .iter()
        .map(|artifact| artifact["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Prices", "Prices 2", "Prices 3"]);
    assert_eq!(
        shown.artifacts[0]["uuid"],
        "00000000-0000-4000-8000-000000000000"
    );
    assert_eq!(shown.artifacts[0]["description"], "of today");
    assert_eq!(shown.artifacts[1]["description"], "A bar chart of data");
    assert_eq!(
        shown.artifacts[1]["chart_params"],
        json!({"chartType": "bar", "xKey": "x", "yKey": ["y"]})
    );
    let shown = turn(&old(), &words);
    assert_eq!(shown.text.matches("| x | y |").count(), 3);
    // A chart that the Workspace cannot draw is an error of the agent.
    let none = Chart::new(
        "c",
        ChartKind::Line {
            x: "x".into(),
            y: vec![],
        },
        &rows,
    )
    .unwrap();
    assert!(matches!(
        write(&new(), &[Part::Chart(&none)]),
        Err(SendError::Invalid(_))
    ));
}

#[test]
fn citations() {
    let request = new();
    let uuid = "91ae1153-7b4d-451c-adc5-49856e90a0e6";
    let cite = |citation: Citation| turn(&request, &[Part::Cite(&citation)]).citations.remove(0);
    for document in [uuid, "openbb_widget_stock_price"] {
        let widget = cite(Citation::new("Prices").document(document).excerpt("close"));
        let source = &widget["source_info"];
        assert_eq!(source["type"], "widget");
        assert_eq!(
            (&source["uuid"], &source["widget_id"]),
            (&json!(uuid), &json!("stock_price"))
        );
        assert!(source["metadata"]["input_args"]["symbol"].is_array());
        assert_eq!(
            widget["details"],
            json!([{"Name": "Prices", "Excerpt": "close"}])
        );
        assert_eq!(widget["id"], "00000000-0000-4000-8000-000000000000");
    }
    let artifact =
        cite(Citation::new("Table_1a2b").document("3fa85f64-5717-4562-b3fc-2c963f66afa6"));
    assert_eq!(artifact["source_info"]["type"], "artifact");
    assert_eq!(artifact.get("details"), None);
    let web = cite(Citation::new("Example").url("https://example.com/a"));
    assert_eq!(web["source_info"]["type"], "web");
    assert_eq!(web["source_info"]["name"], "https://example.com/a");
    let other = cite(Citation::new("A book"));
    assert_eq!(other["source_info"]["name"], "A book");
    let text = turn(
        &old(),
        &[Part::Cite(&Citation::new("E").url("https://example.com"))],
    )
    .text;
    assert_eq!(text, "\n\n**Sources**\n\n- [E](https://example.com)\n");
}

/// Citations as text are together at the end, before a part that must be last.
#[test]
fn sources_as_text() {
    let (one, two) = (Citation::new("A"), Citation::new("B"));
    let question = Confirmation::new("q", "Go on?", "Really.");
    let text = turn(&old(), &[Part::Cite(&one), Part::Cite(&two)]).text;
    assert_eq!(text, "\n\n**Sources**\n\n- A\n- B\n");
    let text = turn(
        &old(),
        &[Part::Cite(&one), Part::Confirm(&asked(&question))],
    )
    .text;
    assert!(
        text.starts_with("\n\n**Sources**") && text.ends_with("\n\nGo on?"),
        "{text}"
    );
    let call = ToolCall::new("openbb_widget_Historical_Stock_Price", &json!({})).unwrap();
    let shown = turn(
        &old(),
        &[Part::Cite(&one), Part::Calls(std::slice::from_ref(&call))],
    );
    assert!(shown.text.ends_with("- A\n") && shown.call.is_some());
}

/// Returns a question whose text is its title.
fn asked(confirmation: &Confirmation) -> Question<'_> {
    Question::new(confirmation, &|confirmation| {
        Ok(format!("\n\n{}", confirmation.title))
    })
}

/// The question and the suggested answers, of which none agrees: that needs the code of the question.
#[test]
fn confirmations() {
    let question = Confirmation::new("q-1", "Delete it?", "This cannot be undone.");
    for (request, suggestions) in [(new(), vec!["No"]), (old(), vec![])] {
        let shown = turn(&request, &[Part::Confirm(&asked(&question))]);
        assert_eq!(shown.text, "\n\nDelete it?");
        assert_eq!(shown.suggestions, suggestions);
    }
    let question = question.answers(["n", "Tell me more"]);
    let shown = turn(&new(), &[Part::Confirm(&asked(&question))]);
    assert_eq!(shown.suggestions, ["n", "Tell me more"]);
}

/// The answer in the next request.
#[test]
fn a_question_is_answered_in_the_next_turn() {
    async fn careful(request: Request<OpenBb>, reply: Reply<OpenBb>) -> Result<(), AgentError> {
        match request.decision() {
            Some(answer) => Ok(reply
                .text(format!("{:?} {}", answer.verdict, answer.id))
                .await?),
            None => Ok(reply.confirm(Confirmation::new("q-1", "Delete it?", "For good."))?),
        }
    }
    let descriptor = Descriptor::new("a", "A", "Asks");
    let router = Router::new().mount(descriptor, agent_fn(careful)).unwrap();
    for (answer, expected) in [
        ("Yes CODE", "Accepted q-1"),
        ("no.", "Refused q-1"),
        ("Yes", "WrongCode q-1"),
        ("What?", "Other q-1"),
    ] {
        let mut request = new();
        let asked = said(&router, &request);
        let (_, code) = asked.rsplit_once("reply: yes ").unwrap();
        request.messages.push(Message::ai(&asked));
        request
            .messages
            .push(Message::human(&answer.replace("CODE", &code[..6])));
        assert_eq!(said(&router, &request), expected);
        // An answer to an earlier question is none.
        request.messages.push(Message::ai("Done."));
        request.messages.push(Message::human("yes"));
        assert!(said(&router, &request).contains("To agree"));
    }
}

/// Returns the text of the answer to a request.
fn said(router: &Router, request: &QueryRequest) -> String {
    let head = http::Request::post("/v1/query");
    let response = crate::exchange::send(router, head, request.to_json());
    let stream = crate::exchange::whole(response.into_body());
    let mut decoder = EventDecoder::<OpenBb>::new();
    let mut input = stream.as_bytes();
    let mut text = String::new();
    while let Some(event) = decoder.next(&mut input).unwrap() {
        if let Event::Output(Output::MessageChunk(piece)) = event {
            text.push_str(piece);
        }
    }
    text
}

#[test]
fn calls_by_the_names_that_were_offered() {
    let request = new();
    let tools: Vec<_> = request.tools().map(|tool| tool.name.into_owned()).collect();
    assert_eq!(tools, ["tools_web_search", "openbb_widget_stock_price"]);
    let call = |name: &str, arguments: serde_json::Value| {
        let call = ToolCall::new(name, &arguments).unwrap();
        write(&request, &[Part::Calls(std::slice::from_ref(&call))])
    };
    let mcp = call("tools_web_search", json!({"query": "x"})).unwrap();
    assert!(mcp.contains(r#""input_arguments":{"server_id":"2","tool_name":"tools_web_search","parameters":{"query":"x"}}"#));
    let widget = call(
        "openbb_widget_stock_price",
        json!({"symbol": ["MSFT"], "series": "a"}),
    )
    .unwrap();
    assert!(widget.contains(r#""function":"get_widget_data""#));
    assert!(
        widget.contains(r#""symbol":["MSFT"]"#) && widget.contains(r#""view":"daily""#),
        "{widget}"
    );
    assert!(matches!(
        call("nobody", json!({})),
        Err(SendError::Unsupported(_))
    ));
    assert!(matches!(
        call(
            "openbb_widget_stock_price",
            json!({"symbol": {"a": 7}, "series": "a"})
        ),
        Err(SendError::Invalid(_))
    ));
    // Arguments that mean one value are sent as the widget expects them.
    for (arguments, expected) in [
        (
            json!({"symbol": "MSFT", "series": "a"}),
            r#""symbol":["MSFT"]"#,
        ),
        (json!({"symbol": 7, "series": "a"}), r#""symbol":["7"]"#),
        (
            json!({"symbol": "[\"A\",\"B\"]", "series": "a"}),
            r#""symbol":["A","B"]"#,
        ),
        (
            json!({"series": ["a"], "view": "Weekly"}),
            r#""view":"weekly""#,
        ),
        (json!({"series": 5, "view": null}), r#""view":"daily""#),
    ] {
        let sent = call("openbb_widget_stock_price", arguments.clone()).unwrap();
        assert!(sent.contains(expected), "{arguments}: {sent}");
    }
    assert!(matches!(
        call("tools_web_search", json!(7)),
        Err(SendError::Invalid(_))
    ));
    // The schema of a widget for models.
    let tool = request.tools().nth(1).unwrap();
    let schema: serde_json::Value = tool.parameters.as_ref().map(Json::decode).unwrap().unwrap();
    assert_eq!(schema["properties"]["symbol"]["type"], "array");
    assert_eq!(
        schema["properties"]["view"]["enum"],
        json!(["daily", "weekly"])
    );
    assert_eq!(schema["required"], json!(["series"]));
    assert_eq!(
        tool.description,
        "Gets the data of the widget \"Stock Price\": Real-time price"
    );
}

#[test]
fn a_widget_of_2024_is_a_tool_too() {
    let request = old();
    let tool = request.tools().next().unwrap();
    assert_eq!(tool.name, "openbb_widget_Historical_Stock_Price");
    let call = ToolCall::new(&*tool.name, &json!({})).unwrap();
    let text = write(&request, &[Part::Calls(std::slice::from_ref(&call))]).unwrap();
    assert!(
        text.ends_with("{\"widget_uuid\":\"38181a68-9650-4940-84fb-a3f29c8869f3\"}}\n\n"),
        "{text}"
    );
}

/// Two widgets of one kind get different tool names, which models accept.
#[test]
fn names_of_widget_tools() {
    let request = read(
        r#"{"messages":[{}],"widgets":{"primary":[{"origin":"o","widget_id":"a b/ü"},{"origin":"p","widget_id":"a b/ü"},
            {"origin":"o","widget_id":"tab_x"},{"name":"no id"}],"extra":[{"origin":"o","widget_id":"x"}]}}"#,
    );
    let names: Vec<_> = request.tools().map(|tool| tool.name.into_owned()).collect();
    assert_eq!(names, ["openbb_widget_a_b__", "openbb_widget_a_b___2"]);
    // A widget may have the name that another one would get with a number.
    let request = read(
        r#"{"messages":[{}],"widgets":[{"uuid":"1","name":"a"},{"uuid":"2","name":"a_2"},{"uuid":"3","name":"a"},
            {"uuid":"4","name":"a_2"},{"uuid":"5","name":"a"},{"uuid":"6","name":"a_2_2"}]}"#,
    );
    let names: Vec<_> = request.tools().map(|tool| tool.name.into_owned()).collect();
    let ends = ["a", "a_2", "a_3", "a_2_2", "a_4", "a_2_2_2"];
    assert_eq!(names, ends.map(|end| format!("openbb_widget_{end}")));
}

/// The arguments of a call follow those of the widget; of duplicates the last counts.
#[test]
fn arguments_of_a_call_and_of_its_widget() {
    let request = read(
        r#"{"messages":[{}],"widgets":{"primary":[{"origin":"o","widget_id":"w","params":[
            {"name":"a","current_value":1},{"name":"b","current_value":2},{"name":"c","current_value":3}]}]}}"#,
    );
    let arguments = crate::json(r#"{"b":"x","d":4,"b":"y"}"#);
    let call = ToolCall::new("openbb_widget_w", &arguments).unwrap();
    let text = write(&request, &[Part::Calls(std::slice::from_ref(&call))]).unwrap();
    assert!(
        text.contains(r#""input_args":{"a":1,"c":3,"d":4,"b":"y"}"#),
        "{text}"
    );
}

#[test]
fn a_failure_is_visible_text() {
    let mut session = OpenBb::session(&new(), &(), &env());
    let mut out = Vec::new();
    session.fail(&Failure::new("The database is away.\u{2028}"), &mut out);
    assert_eq!(
        workspace::read(&out).unwrap().text,
        // A paragraph of its own.
        "\n\nThe database is away.\u{2028}"
    );
}

/// The surrogates of a raw value as those of a text.
#[test]
fn an_unpaired_surrogate_in_a_cell_is_replaced() {
    let rows = r#"[{"a\udc00":"\ud83d \ud83d\ude00 \\ud83d","b":["\ude00"]}]"#;
    let rows = Json::parse(rows).unwrap();
    let expected = r#"[{"a\ufffd":"\ufffd \ud83d\ude00 \\ud83d","b":["\ufffd"]}]"#;
    let table = Table::new("T", &rows).unwrap();
    assert_eq!(table.rows.text(), expected);
    let kind = || ChartKind::Bar {
        x: "a".into(),
        y: vec!["c".into()],
    };
    assert_eq!(
        Chart::new("C", kind(), &rows).unwrap().rows.text(),
        expected
    );
    let artifact = Artifact::table(&rows).unwrap();
    assert_eq!(artifact.content.unwrap().text(), expected);
    let shown = write(&new(), &[Part::Table(&table)]).unwrap();
    assert!(
        shown.contains(r#""\ufffd \ud83d\ude00 \\ud83d""#),
        "{shown}"
    );
}

/// Parameters of type `text` whose choices are numbers: the schema names the type of the choices.
#[test]
fn the_choices_of_a_parameter_decide_its_type() {
    for (choices, kind) in [
        (
            json!([{"label": "Ten", "value": 10}, {"label": "Fifty", "value": 50}]),
            json!("number"),
        ),
        (json!([true, false]), json!("boolean")),
        (json!(["a", "b"]), json!("string")),
        (json!(["a", 1]), json!(null)),
    ] {
        let body = json!({
            "messages": [{"role": "human", "content": "q"}],
            "widgets": {"primary": [{
                "uuid": "44444444-7b4d-451c-adc5-49856e90a0e6", "origin": "Acme", "widget_id": "w", "name": "W",
                "params": [{"name": "limit", "type": "text", "options": choices, "current_value": choices[0]}],
            }], "secondary": [], "extra": []},
        });
        let request = QueryRequest::from_json(body.to_string()).unwrap();
        let tool = request.tools().next().unwrap();
        let schema: serde_json::Value =
            tool.parameters.as_ref().map(Json::decode).unwrap().unwrap();
        assert_eq!(schema["properties"]["limit"]["type"], kind);
    }
}
