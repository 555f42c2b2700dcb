//! The requests that are sent: recorded ones of every era, and some that hold all that text can.

use bytes::Bytes;
use serde_json::{Value, json};

/// A request body and what it is called.
pub(super) struct Recorded {
    pub(super) name: String,
    pub(super) body: Bytes,
    pub(super) kind: Kind,
}

/// Who sends a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The front end of today.
    Today,
    /// Front ends of earlier years, drafts, and other programs.
    Others,
    /// The front end of today, with as much as there ever was.
    Large,
}

impl Recorded {
    fn new(kind: Kind, name: &str, body: impl Into<Bytes>) -> Self {
        Self {
            name: name.to_owned(),
            body: body.into(),
            kind,
        }
    }

    fn today(name: &str, body: impl Into<Bytes>) -> Self {
        Self::new(Kind::Today, name, body)
    }
}

/// Names a file and holds what is in it.
macro_rules! recorded {
    ($($folder:literal: $($name:literal)+;)+) => {
        [$($((
            $name,
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/", $folder, "/", $name, ".json")).as_slice(),
        ),)+)+]
    };
}

/// What breaks readers and writers when it is repeated: separators, quotes, characters of four
/// bytes, and what looks like framing.
const HAZARDS: &str =
    "Repeat: \u{2028}\u{2029} \"q\" \\ é 🦀\r\n\r\ndata: [DONE]\n\nevent: x\n\n: y";

/// How large the results of widgets get: nine megabytes in one request are real.
const LARGE: usize = 9 * 1024 * 1024;

const OPENBB_TODAY: [(&str, &[u8]); 6] = recorded! {
    "openbb": "req_v2_full" "req_v2_repost_as_sent_by_workspace" "req_v2_execute_agent_tool_result"
        "req_v2_skill_content_result" "req_v2_orchestrated_by_other_agent"
        "req_v2_bridge_result_and_documents";
};

const OPENBB_OTHERS: [(&str, &[u8]); 19] = recorded! {
    "openbb": "req_e0_query_string_context" "req_e1_context_inline_content"
        "req_e1_context_plain_string" "req_e2_context_content_null" "req_e2_flat_widgets_all_flags"
        "req_e2_tool_result_content_string" "req_e2_tool_result_rows_in_data"
        "req_e3_context_data_content" "req_e3_tool_result_data_object"
        "req_e4_widget_uuids_tool_data_list" "req_e5_tiers_all_three"
        "req_e5_tiers_tool_data_content" "req_e6_file_reference" "req_v1_context_items"
        "req_v1_tool_result_formats_and_errors" "req_v1_tool_result_items"
        "req_v17_options_list_tools_state" "req_v2_bridge_result_raw_ok_shape"
        "req_draft_summary_message";
};

const GITHUB: [(&str, &[u8]); 12] = recorded! {
    "github-copilot": "req-docs-minimal" "req-web-genuine" "req-web-session-history"
        "req-vscode-editor-context" "req-exclusion-markers" "req-redacted" "req-gh-debug-cli"
        "req-confirmation-accepted" "req-confirmation-dismissed" "req-tool-messages" "req-nulls"
        "req-unknown-extras";
};

const MEILISEARCH: [(&str, &[u8]); 4] = recorded! {
    "meilisearch": "request_minimal" "request_all_tools" "request_follow_up"
        "request_follow_up_with_nulls";
};

/// How many requests [`openai`] has.
pub(super) const OPENAI: usize = 9;

/// The first one is the simplest there is; so it is for every front end.
pub(super) fn openbb() -> Vec<Recorded> {
    let human = |content: &str| json!({"role": "human", "content": content});
    let mut all = vec![
        Recorded::today(
            "one message",
            json!({"messages": [human("Hello")]}).to_string(),
        ),
        Recorded::today(
            "text that breaks lines",
            json!({"messages": [human(HAZARDS)]}).to_string(),
        ),
        // A user may say this, too: it is no call, because the agent did not say it.
        Recorded::today(
            "a text that looks like a call",
            json!({"messages": [human(r#"{"function":"get_widget_data","input_arguments":{}}"#)]})
                .to_string(),
        ),
        Recorded::new(
            Kind::Others,
            "a widget with a parameter twice",
            twice().to_string(),
        ),
        Recorded::new(Kind::Large, "rows of nine megabytes", large()),
    ];
    all.extend(OPENBB_TODAY.map(|(name, body)| Recorded::today(name, body)));
    all.extend(OPENBB_OTHERS.map(|(name, body)| Recorded::new(Kind::Others, name, body)));
    all
}

/// What a backend that describes its widget wrongly leads to.
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

/// A table of nine megabytes: news, say, with all of their text.
fn large() -> String {
    const REQUEST: &str = r#"{"messages":[{"role":"human","content":"What do the rows say?"},{"role":"ai","content":"{\"function\":\"get_widget_data\",\"input_arguments\":{\"data_sources\":[]}}"},{"role":"tool","function":"get_widget_data","input_arguments":{"data_sources":[]},"data":[{"items":[{"content":"[ROWS]"}]}],"extra_state":{"large":true}}]}"#;
    const ROW: &str = r#"{\"date\":\"2024-10-15\",\"text\":\"TEXT\"}"#;
    let row = ROW.replace("TEXT", &"news ".repeat(2000));
    let rows = vec![row; LARGE / 10_000].join(",");
    REQUEST.replace("ROWS", &rows)
}

pub(super) fn github() -> Vec<Recorded> {
    let mut all = Vec::from(GITHUB.map(|(name, body)| Recorded::today(name, body)));
    let hazards = json!({"messages": [{"role": "user", "content": HAZARDS}]});
    all.push(Recorded::today(
        "text that breaks lines",
        hazards.to_string(),
    ));
    all
}

pub(super) fn meilisearch(model: Option<&str>) -> Vec<Recorded> {
    let hazards = json!({
        "model": "gpt-4o-mini", "stream": true, "messages": [{"role": "user", "content": HAZARDS}],
    });
    let mut all = Vec::from(MEILISEARCH.map(|(name, body)| Recorded::today(name, body)));
    all.push(Recorded::today(
        "text that breaks lines",
        hazards.to_string(),
    ));
    // The server answers 501: it runs no tools of others.
    let [(name, body)] = recorded! { "meilisearch": "request_user_tool"; };
    all.push(Recorded::new(Kind::Others, name, body));
    if let Some(model) = model {
        for recorded in &mut all {
            let body: Value = serde_json::from_slice(&recorded.body).unwrap_or_default();
            recorded.body = with_model(body, model).into();
        }
    }
    all
}

pub(super) fn openai(model: &str) -> Vec<Recorded> {
    let user = |content: &str| json!({"role": "user", "content": content});
    let weather = json!({"type": "function", "function": {
        "name": "get_weather", "description": "The weather at a place",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    }});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{
        "id": "call_1", "type": "function",
        "function": {"name": "get_weather", "arguments": "{\"place\":\"Brest\"}"},
    }]});
    let requests: [_; OPENAI] = [
        (
            "one message",
            json!({"stream": true, "messages": [user("Hello")]}),
        ),
        (
            "usage",
            json!({
                "stream": true, "stream_options": {"include_usage": true}, "messages": [user("Hello")],
            }),
        ),
        (
            "text that breaks lines",
            json!({"stream": true, "messages": [user(HAZARDS)]}),
        ),
        (
            "every role, and content in parts",
            json!({"stream": true, "messages": [
                {"role": "developer", "content": "Be brief."},
                {"role": "system", "content": [{"type": "text", "text": "Be kind."}]},
                {"role": "user", "name": "ada", "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                ]},
                {"role": "assistant", "content": "A picture.", "refusal": null, "audio": null},
                user("Are you sure?"),
            ]}),
        ),
        (
            "a tool on offer",
            json!({
                "stream": true, "tools": [weather], "tool_choice": "auto", "parallel_tool_calls": true,
                "messages": [user("What is the weather in Brest?")],
            }),
        ),
        (
            "the result of a tool",
            json!({"stream": true, "tools": [weather], "messages": [
                user("What is the weather in Brest?"), call,
                {"role": "tool", "tool_call_id": "call_1", "content": "{\"sky\":\"rain\"}"},
            ]}),
        ),
        (
            "every parameter, and one from tomorrow",
            json!({
                "stream": true, "temperature": 0.5, "top_p": null, "n": 1, "stop": ["###"],
                "max_tokens": null, "max_completion_tokens": 256, "presence_penalty": 0,
                "frequency_penalty": 0.0, "logit_bias": null, "user": "ada", "seed": 1, "store": false,
                "metadata": {"a": "b"}, "response_format": {"type": "text"}, "reasoning_effort": "low",
                "service_tier": "auto", "stream_options": null, "tools": [], "tomorrow": {"x": [1]},
                "messages": [user("Hello")],
            }),
        ),
        (
            "no stream",
            json!({"stream": false, "messages": [user("Hello")]}),
        ),
        (
            "nothing said of a stream",
            json!({"messages": [user("Hello")]}),
        ),
    ];
    let named = requests.map(|(name, body)| Recorded::today(name, with_model(body, model)));
    named.into()
}

fn with_model(mut body: Value, model: &str) -> String {
    if let Some(body) = body.as_object_mut() {
        body.insert("model".to_owned(), model.into());
    }
    body.to_string()
}
