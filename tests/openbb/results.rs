//! Results in the forms of all eras, with the arguments of their calls.

use copilot_wire::json::Json;
use copilot_wire::openbb::{Arguments, CallOutcome, CallResult, OpenBb};
use copilot_wire::protocol::{Conversation, Protocol as _};
use serde::Deserialize;

use crate::{read, request};

#[derive(Debug, Deserialize, PartialEq)]
struct Price {
    date: String,
    close: f64,
}

fn last(name: &str) -> CallResult {
    request(name).last_result().unwrap()
}

#[test]
fn rows_in_every_era() {
    for name in [
        "e3_tool_result_data_object",
        "e4_widget_uuids_tool_data_list",
    ] {
        let rows: Vec<Price> = last(name).rows().unwrap();
        assert_eq!((rows.len(), rows[0].close), (2, 233.85), "{name}");
    }
    let e2: Vec<serde_json::Value> = last("e2_tool_result_rows_in_data").rows().unwrap();
    assert_eq!(e2[0]["open"], "...");
    let e5: Vec<serde_json::Value> = last("e5_tiers_tool_data_content").rows().unwrap();
    assert_eq!(e5[1]["rate"], 0.0435);
    let v1: Vec<Price> = last("v1_tool_result_formats_and_errors").rows().unwrap();
    assert_eq!(v1.len(), 2);
    let repost = request("v2_repost_as_sent_by_workspace").call_results();
    let rows: Vec<Price> = repost[0].rows().unwrap();
    assert_eq!(rows[1].date, "2024-10-14T00:00:00-04:00");
    // Values that are not tables, or do not match the type, are errors and not panics.
    assert!(
        last("e2_tool_result_content_string")
            .rows::<Price>()
            .is_err()
    );
    assert!(last("e5_tiers_tool_data_content").rows::<Price>().is_err());
    assert!(last("v2_skill_content_result").rows::<Price>().is_err());
}

#[test]
fn text_and_arguments() {
    let e2 = last("e2_tool_result_content_string");
    assert_eq!(
        e2.outcomes[0].text(),
        "The weather in London is 10 degrees Celsius."
    );
    assert_eq!(
        e2.data_sources()[0].widget_uuid.as_deref(),
        Some("38181a68-9650-4940-84fb-a3f29c8869f3")
    );
    assert!(e2.call.unwrap().copilot_function_call_arguments.is_some());
    // This result does not repeat the arguments: they are those of the call.
    let e3 = last("e3_tool_result_data_object");
    assert_eq!(e3.function, "get_widget_data");
    assert_eq!(e3.data_sources().len(), 1);

    let e4 = last("e4_widget_uuids_tool_data_list");
    let pairs: Vec<_> = e4.by_source().collect();
    assert_eq!(pairs.len(), 2);
    let (source, outcome) = &pairs[1];
    assert_eq!(
        source.as_ref().unwrap().widget_uuid.as_deref(),
        Some("c276369e-e469-4689-b5fe-3f8c76f7c45a")
    );
    assert_eq!(outcome.text(), "plain text result");
    assert_eq!(outcome.items().next().unwrap().parse_as(), "text");

    let v1 = last("v1_tool_result_items");
    let source = &v1.data_sources()[0];
    assert_eq!(
        (source.origin.as_str(), source.id.as_str()),
        ("openbb", "company_news")
    );
    assert_eq!(
        source.input_args.get("symbol").unwrap().string().unwrap(),
        "AAPL"
    );
    assert_eq!(
        v1.outcomes[0].text(),
        "Record quarterly earnings\nSupply chain disruption"
    );
    let state = v1.extra_state.unwrap();
    assert_eq!(
        state
            .get("_locally_bound_function")
            .unwrap()
            .string()
            .unwrap(),
        "get_widget_data"
    );
}

#[test]
fn files() {
    let e6 = last("e6_file_reference");
    let items: Vec<_> = e6.outcomes.iter().flat_map(CallOutcome::items).collect();
    assert_eq!(
        items[0].reference(),
        Some("https://files.example.com/openbb_story.pdf")
    );
    assert_eq!(items[1].bytes().unwrap(), b"%PDF-1.4\n");
    assert_eq!(
        items[1].data_format.as_ref().unwrap().filename,
        "inline.pdf"
    );
    assert_eq!(
        items[2].reference(),
        Some("6f1f6a0e-5a55-4f1b-8a3c-0f8a7c1d2e3f")
    );
    assert_eq!(
        e6.extra_state
            .unwrap()
            .get("note")
            .unwrap()
            .string()
            .unwrap(),
        "kept"
    );
}

#[test]
fn every_format_and_errors() {
    let result = last("v1_tool_result_formats_and_errors");
    assert_eq!(result.outcomes.len(), 4);
    assert_eq!(
        result
            .by_source()
            .filter(|(source, _)| source.is_some())
            .count(),
        4
    );
    let tables: Vec<_> = result.outcomes[0].items().collect();
    assert_eq!(
        (tables[0].parse_as(), tables[1].parse_as()),
        ("table", "chart")
    );
    assert!(tables[0].citable != Some(false) && tables[1].citable == Some(false));
    let pdf = result.outcomes[1].items().next().unwrap();
    assert_eq!(pdf.reference(), Some("https://files.example.com/a.pdf"));
    assert_eq!(
        result.outcomes[1]
            .extra_citations()
            .next()
            .unwrap()
            .source_info
            .widget_id,
        "company_news"
    );
    let inline: Vec<_> = result.outcomes[2].items().collect();
    assert_eq!(inline[0].bytes().unwrap(), b"a,b\n1,2\n");
    assert_eq!(inline[1].bytes().unwrap(), b"# Title");
    assert_eq!(inline[2].bytes().unwrap(), b"\x89PNG\r\n\x1a\n");
    let CallOutcome::Error(error) = &result.outcomes[3] else {
        panic!()
    };
    assert_eq!(
        (error.error_type.as_str(), error.content.as_str()),
        ("DataSourceError", "Widget backend returned HTTP 500")
    );
    assert!(result.outcomes[3].failed() && !result.failed());
}

#[test]
fn commands_and_skills() {
    let result = last("v2_bridge_result_and_documents");
    let CallOutcome::Command(command) = &result.outcomes[0] else {
        panic!()
    };
    assert_eq!(command.status, "success");
    assert_eq!(command.bridge().unwrap().command, "create_widget");
    assert_eq!(command.widget_uuid().as_deref(), Some("w-9"));

    let bare = last("v2_bridge_result_raw_ok_shape");
    let CallOutcome::Bridge(bridge) = &bare.outcomes[0] else {
        panic!()
    };
    assert!(bridge.ok && bridge.error.is_none() && bridge.request_id.is_empty());
    assert!(bare.call.is_none());

    let skill = last("v2_skill_content_result");
    let CallOutcome::Command(command) = &skill.outcomes[0] else {
        panic!()
    };
    assert_eq!(
        command.skill().unwrap().content_markdown,
        "# Steps\n1. Read"
    );
    let Arguments::GetSkillContent(asked) = skill.call.unwrap().arguments() else {
        panic!()
    };
    assert_eq!(asked.slug, "financial-analysis");
}

#[test]
fn mcp_tools() {
    let result = last("v2_execute_agent_tool_result");
    let text = result.outcomes[0].text();
    assert!(text.contains("463,000 deliveries in Q3") && text.contains("$rita_kind"));

    let request = request("v2_execute_agent_tool_result");
    let shared: Vec<_> = request.results().collect();
    assert_eq!(shared[0].name, "web_search");
    let arguments = shared[0].arguments.as_ref().unwrap();
    assert_eq!(
        arguments.get("query").unwrap().string().unwrap(),
        "TSLA deliveries"
    );
    assert!(shared[0].content.starts_with("463,000 deliveries in Q3\n"));
    let failed = read(
        r#"{"messages":[{"role":"tool","function":"execute_agent_tool","input_arguments":{"tool_name":"a_b","parameters":{}},
            "data":[{"items":[{"content":"{\"isError\":true,\"content\":[]}"}]}]}]}"#,
    );
    assert!(failed.results().next().unwrap().failed);
}

/// An agent for every protocol finds results under the names of the tools.
#[test]
fn shared_results() {
    let request = request("v2_repost_as_sent_by_workspace");
    let results: Vec<_> = request
        .results()
        .map(|result| result.name.into_owned())
        .collect();
    assert_eq!(results, ["openbb_widget_stock_price", "tools_web_search"]);
    // Only results after the latest message of the user are returned.
    let mut later = request;
    later
        .messages
        .push(copilot_wire::openbb::Message::human("Thanks"));
    assert_eq!(later.results().count(), 0);
    assert!(later.last_result().is_none());
    let first = crate::request("v1_tool_result_formats_and_errors");
    let failed: Vec<_> = first.results().map(|result| result.failed).collect();
    assert_eq!(failed, [false, false, false, true]);
}

#[test]
fn what_may_be_chosen() {
    let content = serde_json::to_string(r#"{"param_options":[{"param":"symbol","options":[{"label":"Tesla","value":"TSLA"},{"label":"One","value":1},{"label":"Yes","value":true}]}]}"#).unwrap();
    let request = read(format!(
        r#"{{"messages":[{{"role":"tool","function":"get_params_options","data":[{{"items":[{{"content":{content}}}]}}]}}]}}"#
    ));
    let options = request.last_result().unwrap().outcomes[0]
        .param_options()
        .unwrap();
    let choices = options.param_options.first().unwrap();
    assert_eq!(choices.param, "symbol");
    let values: Vec<_> = choices
        .options
        .iter()
        .map(|choice| choice.value.as_ref().unwrap().text())
        .collect();
    assert_eq!(values, ["\"TSLA\"", "1", "true"]);
}

/// Classification of the elements of `data`.
#[test]
fn the_sorting_rule() {
    let sort = |data: &str, content: &str| -> Vec<&'static str> {
        let request = read(format!(
            r#"{{"messages":[{{"role":"tool","function":"f"{content},"data":{data}}}]}}"#
        ));
        let outcomes = request.last_result().unwrap().outcomes;
        let kind = |outcome: &CallOutcome| match outcome {
            CallOutcome::Items(_) => "items",
            CallOutcome::Item(_) => "item",
            CallOutcome::Rows(_) => "rows",
            CallOutcome::Row(_) => "row",
            CallOutcome::Error(_) => "error",
            CallOutcome::Command(_) => "command",
            CallOutcome::Bridge(_) => "bridge",
            _ => "unknown",
        };
        outcomes.iter().map(kind).collect()
    };
    let plain = |data: &str| sort(data, "");
    assert_eq!(
        plain(
            r#"[{"error_type":"x","items":[]},{"items":[],"status":"x"},{"status":"x","ok":true}]"#
        ),
        ["error", "items", "command"]
    );
    assert_eq!(
        plain(
            r#"[{"ok":true,"command":"x"},{"ok":true},{"url":"u"},{"file_reference":"u"},{"content":1},7]"#
        ),
        ["bridge", "row", "item", "item", "item", "unknown"]
    );
    assert_eq!(plain(r#"[{"a":1},{"b":2}]"#), ["rows"]);
    assert_eq!(plain(r#"[{"a":1},{"items":[]}]"#), ["row", "items"]);
    assert_eq!(plain(r#"{"content":"x"}"#), ["item"]);
    assert_eq!(plain("[]"), Vec::<&str>::new());
    assert_eq!(plain("null"), Vec::<&str>::new());
    assert_eq!(plain("7"), ["unknown"]);
    // Rows of 2024 may have columns whose names have a meaning in later forms.
    assert_eq!(
        sort(
            r#"[{"url":"u","content":"c","status":"s"}]"#,
            r#","content":"""#
        ),
        ["rows"]
    );
    assert_eq!(sort(r#"[{"items":[]}]"#, r#","content":"""#), ["items"]);
}

/// Nine megabytes of data are not copied.
#[test]
fn data_stays_raw() {
    let rows = "{\\\"date\\\":\\\"2024-10-15\\\",\\\"close\\\":1.5},".repeat(20_000);
    let rows = rows.trim_end_matches(',');
    let body = format!(
        r#"{{"messages":[{{"role":"tool","function":"get_widget_data","data":[{{"items":[{{"content":"[{rows}]"}}]}}]}}]}}"#
    );
    let body = bytes::Bytes::from(body);
    let (parts, ()) = http::Request::new(()).into_parts();
    let request = OpenBb::read(&parts, body.clone()).unwrap();
    let data: &Json = request.messages.first().unwrap().data.as_ref().unwrap();
    let inside = body.as_ptr_range();
    assert!(inside.contains(&data.as_bytes().as_ptr()));
    let result = request.last_result().unwrap();
    let item = result.outcomes[0].items().next().unwrap();
    assert!(inside.contains(&item.content.as_ref().unwrap().as_bytes().as_ptr()));
    assert_eq!(result.rows::<Price>().unwrap().len(), 20_000);
}
