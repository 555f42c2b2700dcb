//! The requests of the conformance kit: recorded ones of every era, and some with unusual text.

use serde_json::{Value, json};

use super::rules::{LARGE_REQUEST, OTHER_REQUEST, REQUEST};
use crate::check::{HAZARDS, Recorded, recorded_files};

/// The size in bytes of a large widget result: nine megabytes in one request occur in practice.
const LARGE: usize = 9 * 1024 * 1024;

/// Returns all requests, the simplest first.
pub(super) fn all() -> Vec<Recorded> {
    let (today, others) = (Some(&REQUEST), Some(&OTHER_REQUEST));
    let human = |name, content: &str| {
        let body = json!({"messages": [{"role": "human", "content": content}]});
        Recorded::new(today, name, body.to_string())
    };
    let mut all = vec![
        human("one message", "Hello"),
        human("text that breaks lines", HAZARDS),
        // A user's text in the form of a call is text: the agent did not write it.
        human(
            "a text that looks like a call",
            r#"{"function":"get_widget_data","input_arguments":{}}"#,
        ),
        Recorded::new(
            others,
            "a widget with a parameter twice",
            twice().to_string(),
        ),
        Recorded::new(Some(&LARGE_REQUEST), "rows of nine megabytes", large()),
    ];
    all.extend(recorded_files! {
        today, "openbb": "req_v2_full" "req_v2_repost_as_sent_by_workspace"
            "req_v2_execute_agent_tool_result" "req_v2_skill_content_result"
            "req_v2_orchestrated_by_other_agent" "req_v2_bridge_result_and_documents"
    });
    all.extend(recorded_files! {
        others, "openbb": "req_e0_query_string_context" "req_e1_context_inline_content"
            "req_e1_context_plain_string" "req_e2_context_content_null"
            "req_e2_flat_widgets_all_flags" "req_e2_tool_result_content_string"
            "req_e2_tool_result_rows_in_data" "req_e3_context_data_content"
            "req_e3_tool_result_data_object" "req_e4_widget_uuids_tool_data_list"
            "req_e5_tiers_all_three" "req_e5_tiers_tool_data_content" "req_e6_file_reference"
            "req_v1_context_items" "req_v1_tool_result_formats_and_errors"
            "req_v1_tool_result_items" "req_v17_options_list_tools_state"
            "req_v2_bridge_result_raw_ok_shape" "req_draft_summary_message"
    });
    all
}

/// Returns a request with a widget whose parameter is listed twice, as a faulty backend describes it.
fn twice() -> Value {
    let symbol = json!({
        "name": "symbol", "type": "ticker", "description": "Ticker", "current_value": "AAPL",
    });
    let widget = json!({
        "uuid": "91ae1153-7b4d-451c-adc5-49856e90a0e6", "origin": "OpenBB API",
        "widget_id": "stock_price", "name": "Stock Price", "description": "Prices",
        "params": [symbol, symbol], "metadata": {},
    });
    json!({
        "messages": [{"role": "human", "content": "What is the price?"}],
        "widgets": {"primary": [widget], "secondary": [], "extra": []},
    })
}

/// Returns a table of nine megabytes, such as news with their full text.
fn large() -> String {
    const REQUEST: &str = r#"{"messages":[{"role":"human","content":"What do the rows say?"},{"role":"ai","content":"{\"function\":\"get_widget_data\",\"input_arguments\":{\"data_sources\":[]}}"},{"role":"tool","function":"get_widget_data","input_arguments":{"data_sources":[]},"data":[{"items":[{"content":"[ROWS]"}]}],"extra_state":{"large":true}}]}"#;
    const ROW: &str = r#"{\"date\":\"2024-10-15\",\"text\":\"TEXT\"}"#;
    let row = ROW.replace("TEXT", &"news ".repeat(2000));
    let rows = vec![row; LARGE / 10_000].join(",");
    REQUEST.replace("ROWS", &rows)
}
