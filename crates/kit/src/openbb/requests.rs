//! The requests of the conformance kit: recorded ones of every era, and some with unusual text.

use super::rules::{LARGE_REQUEST, OTHER_REQUEST, REQUEST};
use crate::check::{Trial, recorded_files};

/// The size in bytes of a large widget result: nine megabytes in one request occur in practice.
const LARGE: usize = 9 * 1024 * 1024;

/// Returns all requests, the simplest first.
pub(super) fn all() -> Vec<Trial> {
    let (today, others) = (Some(&REQUEST), Some(&OTHER_REQUEST));
    // Includes a user's text in the form of a call, which is not a call.
    let own = include_str!("../../fixtures/openbb/requests.json");
    let mut all = Trial::list(&REQUEST, own);
    // Includes a widget with a parameter twice, as from a faulty backend.
    let odd = include_str!("../../fixtures/openbb/requests_of_others.json");
    all.extend(Trial::list(&OTHER_REQUEST, odd));
    let large = Trial::new(Some(&LARGE_REQUEST), "rows of nine megabytes", large());
    all.push(large);
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

/// Returns a table of nine megabytes, such as news with their full text.
fn large() -> String {
    const REQUEST: &str = r#"{"messages":[{"role":"human","content":"What do the rows say?"},{"role":"ai","content":"{\"function\":\"get_widget_data\",\"input_arguments\":{\"data_sources\":[]}}"},{"role":"tool","function":"get_widget_data","input_arguments":{"data_sources":[]},"data":[{"items":[{"content":"[ROWS]"}]}],"extra_state":{"large":true}}]}"#;
    const ROW: &str = r#"{\"date\":\"2024-10-15\",\"text\":\"TEXT\"}"#;
    let row = ROW.replace("TEXT", &"news ".repeat(2000));
    let rows = vec![row; LARGE / 10_000].join(",");
    REQUEST.replace("ROWS", &rows)
}
