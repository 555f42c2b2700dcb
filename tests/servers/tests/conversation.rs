//! The conversations of the protocol's primary documents, end to end on both servers.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::time::Duration;

use analyst::Analyst;
use copilot_wire::openbb::{Event, OpenBb, Output};
use copilot_wire::protocol::EventDecoder;
use serde_json::{Value, json};
use server_tests::{Client, SERVERS, Server, Start};

fn serve(start: Start) -> Server {
    start(analyst::routes(Analyst::new(None).pace(Duration::ZERO)).unwrap())
}

fn fixture(name: &str) -> Value {
    let path = format!(
        "{}/../../fixtures/openbb/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Posts a request and reads the answer to its end.
fn ask(client: &mut Client, request: &Value) -> Vec<Event> {
    client.post("/v1/query", request.to_string()).unwrap();
    let (head, body) = client.response().unwrap();
    assert_eq!(head.status, 200, "{body}");
    let mut input = body.as_bytes();
    let mut decoder = EventDecoder::<OpenBb>::new();
    let mut events = Vec::new();
    while let Some(event) = decoder.next(&mut input).unwrap() {
        events.push(event.clone());
    }
    events
}

fn text(events: &[Event]) -> String {
    let deltas = events.iter().filter_map(|event| match event {
        Event::Output(Output::MessageChunk(delta)) => Some(delta.as_str()),
        _ => None,
    });
    deltas.collect()
}

/// A question about AAPL, the call for the widget's data, and the answer from it: October 2024.
#[test]
fn a_widget_is_requested_and_its_rows_are_sent() {
    let first = fixture("req_e2_flat_widgets_all_flags");
    for (name, start) in SERVERS {
        let server = serve(start);
        let mut client = Client::connect(server.address).unwrap();
        for (second, facts) in [
            ("req_e2_tool_result_rows_in_data", ["1 row", "2024-10-14"]),
            ("req_e3_tool_result_data_object", ["233.85", "231.3"]),
        ] {
            let events = ask(&mut client, &first);
            let Some(Event::FunctionCall(call)) = events.last() else {
                panic!("{name}: no call in {events:?}");
            };
            assert_eq!(call.function, "get_widget_data");
            let arguments = call.input_arguments.decode::<Value>().unwrap();
            let uuid = "38181a68-9650-4940-84fb-a3f29c8869f3";
            assert_eq!(
                arguments,
                json!({"widget_uuid": uuid}),
                "{name}: the form of the era"
            );

            let said = text(&ask(&mut client, &fixture(second)));
            assert!(said.contains("Historical Stock Price"), "{name}: {said}");
            for fact in facts {
                assert!(said.contains(fact), "{name}: {fact} is not in {said}");
            }
        }
    }
}

/// Every request of every era gets an answer.
#[test]
fn every_recorded_request_is_answered() {
    let folder = format!("{}/../../fixtures/openbb", env!("CARGO_MANIFEST_DIR"));
    for (name, start) in SERVERS {
        let server = serve(start);
        let mut client = Client::connect(server.address).unwrap();
        let mut count = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_stem().unwrap().to_str().unwrap();
            if !file.starts_with("req_") {
                continue;
            }
            let events = ask(&mut client, &fixture(file));
            assert!(!events.is_empty(), "{name}: {file}");
            count += 1;
        }
        assert!(count > 20, "{name}: only {count} requests");
    }
}

/// Rows become a table and a chart, and every widget is cited.
#[test]
fn rows_become_a_table_a_chart_and_a_citation() {
    let mut request = fixture("req_v1_tool_result_items");
    let rows: Vec<Value> = (1..=9)
        .map(|day| json!({"date": format!("2024-10-0{day}"), "close": 230 + day}))
        .collect();
    let messages = request["messages"].as_array_mut().unwrap();
    let tool = messages.last_mut().unwrap();
    assert_eq!(tool["role"], "tool");
    let rows = Value::from(rows).to_string();
    tool["data"] = json!([{"items": [{"content": rows}]}]);
    for (name, start) in SERVERS {
        let server = serve(start);
        let mut client = Client::connect(server.address).unwrap();
        let events = ask(&mut client, &request);
        let said = text(&events);
        assert!(
            said.contains("9 rows") && said.contains("close 239"),
            "{name}: {said}"
        );
        let count = |wanted: fn(&Output) -> bool| {
            let says = events.iter().filter_map(|event| match event {
                Event::Output(output) => Some(output),
                _ => None,
            });
            says.filter(|output| wanted(output)).count()
        };
        assert_eq!(
            count(|output| matches!(output, Output::MessageArtifact(_))),
            2,
            "{name}"
        );
        assert_eq!(
            count(|output| matches!(output, Output::CitationCollection(_))),
            1,
            "{name}"
        );
        assert_eq!(
            count(|output| matches!(output, Output::PromptSuggestions(_))),
            1,
            "{name}"
        );
        assert!(
            count(|output| matches!(output, Output::StatusUpdate(_))) > 0,
            "{name}"
        );
    }
}
