//! The Rust part of `tests/interop/openbb/run`, in two halves. Both need the folder that the script
//! passes in `OPENBB_INTEROP`, so they are ignored otherwise.

use std::path::PathBuf;

use copilot_wire::json::{Json, Wire as _};
use copilot_wire::openbb::{
    Descriptor, Event, FunctionCall, GetWidgetData, Message, OpenBb, QueryRequest, Tiers, Tool,
    Widget, Widgets,
};
use copilot_wire::protocol::{
    Chart, ChartKind, Citation, Confirmation, Conversation, Notice, Part, Protocol, Question,
    Table, ToolCall,
};
use serde_json::json;

use crate::tree::{Tree, difference};
use crate::{calls, encode, env, events, read, request, router, workspace};

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(std::env::var_os("OPENBB_INTEROP").unwrap()).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the encoded form of every part of the shared vocabulary.
fn words() -> Vec<Vec<u8>> {
    let request = request("v2_repost_as_sent_by_workspace");
    let rows = json!([{"x": 1, "y": 2}]);
    let kind = ChartKind::Pie {
        angle: "y".into(),
        label: "x".into(),
    };
    let sure = Confirmation::new("1", "Sure?", "Really.");
    let asked = |confirmation: &Confirmation| Ok(format!("\n\n{}", confirmation.title));
    let words = [
        Part::Status(&"Working".into()),
        Part::Cite(&Citation::new("W").document("openbb_widget_stock_price")),
        Part::Cite(&Citation::new("E").url("https://example.com").excerpt("e")),
        Part::Table(&Table::new("T", &rows).unwrap()),
        Part::Chart(&Chart::new("C", kind, &rows).unwrap()),
        Part::Error(&Notice::new("away")),
        Part::Confirm(&Question::new(&sure, &asked)),
        Part::Calls(&[ToolCall::new("tools_web_search", &json!({"query": "x"})).unwrap()]),
        Part::Calls(&[
            ToolCall::new("openbb_widget_stock_price", &json!({"series": "a"})).unwrap(),
        ]),
    ];
    let write = |word: &Part<'_>| {
        let mut session = OpenBb::session(&request, &(), &env());
        let mut out = Vec::new();
        session.part(*word, &mut out).unwrap();
        out
    };
    words.iter().map(write).collect()
}

/// Returns requests that a client creates with this crate.
fn requests() -> Vec<QueryRequest> {
    let mut widget = Widget::new(
        "OpenBB API",
        "stock_price",
        "Stock Price",
        "Real-time price",
    );
    let mut first = QueryRequest::new([
        Message::human("hi"),
        Message::ai("hello"),
        Message::human("go on"),
    ]);
    let mut tiers = Tiers::default();
    tiers.primary.push(widget.clone());
    widget.uuid = "91ae1153-7b4d-451c-adc5-49856e90a0e6".into();
    tiers.secondary.push(widget);
    first.widgets = Some(Widgets::Tiers(tiers));
    first.timezone = "Europe/Lisbon".into();
    let mut tool = Tool::default();
    tool.server_id = "2".into();
    tool.name = "web_search".into();
    tool.url = "http://localhost:8787/mcp".into();
    first.tools.push(tool);
    let asked: Vec<_> = first.widgets().map(|(_, widget)| widget).collect();
    let Event::FunctionCall(call) = Event::from(FunctionCall::from(GetWidgetData::new(asked)))
    else {
        panic!()
    };
    let mut second = first.clone();
    second.messages.push(Message::ai_call(&call));
    let data =
        r#"[{"items":[{"content":"[{\"x\":1}]"}]},{"error_type":"not_found","content":"gone"}]"#;
    second
        .messages
        .push(Message::tool(&call, crate::json(data)));
    vec![first, second]
}

#[test]
#[ignore = "needs OPENBB_INTEROP: see tests/interop/openbb/run"]
fn emit() {
    let streams = folder("streams");
    let full_request = calls::full_request();
    let calls = calls::functions(&full_request).into_iter().map(Event::from);
    let events = events::constructors().into_iter().chain(calls);
    let single = events.map(|event| encode(&full_request, [event]).unwrap());
    for (index, stream) in single.chain(words()).enumerate() {
        std::fs::write(streams.join(format!("{index:03}.sse")), stream).unwrap();
    }
    let bodies = folder("requests");
    for (index, request) in requests().into_iter().enumerate() {
        std::fs::write(bodies.join(format!("{index:03}.json")), request.to_json()).unwrap();
    }
}

/// The router accepts requests that the Python models serialize, and retains all members.
#[test]
#[ignore = "needs OPENBB_INTEROP: see tests/interop/openbb/run"]
fn accept() {
    let router = router::router(Descriptor::new("a", "A", "d"));
    let (mut passed, mut failed) = (0, 0);
    for entry in std::fs::read_dir(folder("python")).unwrap() {
        let path = entry.unwrap().path();
        let body = std::fs::read(&path).unwrap();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let (status, text) = router::post(&router, "/v1/query", body.clone());
            assert_eq!(status, 200);
            workspace::read(text.as_bytes()).unwrap();
            let request = read(body.clone());
            assert!(request.prompt().is_some());
            // Python writes every id: this crate derives the same.
            for (_, widget) in request.widgets() {
                let mut without = widget.clone();
                without.uuid = String::new();
                assert!(without.id().is_some());
            }
            let before = Tree::of(&Json::parse(body.clone()).unwrap());
            let after = Tree::of(&Json::parse(request.to_json()).unwrap());
            assert_eq!(difference(&before, &after, ""), None);
        }));
        match outcome {
            Ok(()) => passed += 1,
            Err(_) => {
                failed += 1;
                eprintln!("failed: {}", path.display());
            }
        }
    }
    let counts = format!("{passed} {failed}\n");
    std::fs::write(folder("counts").join("accept"), counts).unwrap();
    assert!(passed > 0 && failed == 0);
}
