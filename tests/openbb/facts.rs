//! What each recorded request says.

use copilot_wire::openbb::{
    DefaultValue, Era, OptionValue, Piece, Role, Tier, Widget, pieces, strip_markers,
};
use copilot_wire::protocol::{self, Conversation};

use crate::{fixtures, read, request};

/// Name, era, prompt, messages that a model reads, documents, and widgets by tier.
type Fact = (&'static str, Era, &'static str, usize, usize, [usize; 3]);

const FACTS: [Fact; 24] = [
    (
        "draft_summary_message",
        Era::V2,
        "new question",
        2,
        0,
        [0, 0, 0],
    ),
    (
        "e0_query_string_context",
        Era::E0,
        "What moved the market today?",
        3,
        1,
        [0, 0, 0],
    ),
    (
        "e1_context_inline_content",
        Era::E1,
        "What is the most recent close?",
        1,
        1,
        [0, 0, 0],
    ),
    (
        "e1_context_plain_string",
        Era::E1,
        "Summarise the note.",
        1,
        1,
        [0, 0, 0],
    ),
    (
        "e2_context_content_null",
        Era::E2,
        "What is the most recent OHLCV of AAPL?",
        1,
        1,
        [0, 0, 0],
    ),
    (
        "e2_flat_widgets_all_flags",
        Era::E2,
        "What is the latest price of AAPL?",
        1,
        0,
        [0, 1, 0],
    ),
    (
        "e2_tool_result_content_string",
        Era::E2,
        "what is the weather in London?",
        1,
        0,
        [0, 1, 0],
    ),
    (
        "e2_tool_result_rows_in_data",
        Era::E2,
        "What is the latest price of AAPL?",
        1,
        0,
        [0, 1, 0],
    ),
    (
        "e3_context_data_content",
        Era::E3,
        "What is my favourite food?",
        1,
        1,
        [0, 0, 0],
    ),
    (
        "e3_tool_result_data_object",
        Era::E3,
        "What is the current stock price of AAPL?",
        1,
        0,
        [0, 1, 0],
    ),
    (
        "e4_widget_uuids_tool_data_list",
        Era::E4,
        "Compare the two widgets.",
        1,
        0,
        [0, 2, 0],
    ),
    (
        "e5_tiers_all_three",
        Era::V2,
        "What's the stock price of TSLA?",
        1,
        0,
        [1, 1, 1],
    ),
    (
        "e5_tiers_tool_data_content",
        Era::E5,
        "Give me the yield curve.",
        1,
        0,
        [1, 0, 0],
    ),
    (
        "e6_file_reference",
        Era::E6,
        "Summarise the file.",
        1,
        0,
        [0, 0, 0],
    ),
    (
        "v17_options_list_tools_state",
        Era::V1,
        "Search the web for news.",
        1,
        0,
        [0, 0, 0],
    ),
    (
        "v1_context_items",
        Era::V1,
        "What did your table show?",
        1,
        1,
        [0, 0, 0],
    ),
    (
        "v1_tool_result_formats_and_errors",
        Era::V1,
        "Read everything.",
        1,
        0,
        [1, 0, 0],
    ),
    (
        "v1_tool_result_items",
        Era::V1,
        "Rate the sentiment.",
        1,
        0,
        [1, 0, 0],
    ),
    (
        "v2_bridge_result_and_documents",
        Era::Newest,
        "Add an options chain",
        1,
        0,
        [0, 0, 0],
    ),
    (
        "v2_bridge_result_raw_ok_shape",
        Era::V1,
        "Set value to 41",
        1,
        0,
        [0, 0, 0],
    ),
    (
        "v2_execute_agent_tool_result",
        Era::V1,
        "How many deliveries?",
        1,
        0,
        [0, 0, 0],
    ),
    ("v2_full", Era::V2, "Go on.", 3, 0, [1, 0, 0]),
    (
        "v2_orchestrated_by_other_agent",
        Era::V2,
        "Fetch the latest filings for AAPL.",
        2,
        0,
        [1, 0, 0],
    ),
    (
        "v2_repost_as_sent_by_workspace",
        Era::Newest,
        "Now fetch TSLA",
        3,
        1,
        [1, 0, 0],
    ),
];

#[test]
fn every_request_says_what_it_says() {
    let mut facts = FACTS.to_vec();
    facts.push((
        "v2_skill_content_result",
        Era::Newest,
        "Analyse AAPL",
        1,
        0,
        [0, 0, 0],
    ));
    let mut names = fixtures("req_", ".json");
    for (name, era, prompt, messages, documents, widgets) in facts {
        names.retain(|other| *other != format!("req_{name}.json"));
        let request = request(name);
        assert_eq!(Era::of(&request), era, "{name}");
        assert_eq!(request.prompt().unwrap(), prompt, "{name}");
        assert_eq!(request.messages().count(), messages, "{name}");
        assert_eq!(
            Conversation::documents(&request).count(),
            documents,
            "{name}"
        );
        let tiers = [Tier::Primary, Tier::Secondary, Tier::Extra];
        let count = |tier| request.widgets().filter(|(own, _)| *own == tier).count();
        assert_eq!(tiers.map(count), widgets, "{name}");
    }
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn messages_in_the_words_of_models() {
    let roles = |name: &str| -> Vec<(protocol::Role, String)> {
        let request = request(name);
        request
            .messages()
            .map(|message| (message.role, message.text.into_owned()))
            .collect()
    };
    let (system, user, assistant) = (
        protocol::Role::System,
        protocol::Role::User,
        protocol::Role::Assistant,
    );
    assert_eq!(
        roles("draft_summary_message"),
        [
            (
                system,
                "The user asked an old question and got an answer.".into()
            ),
            (user, "new question".into()),
        ],
    );
    // The prompt of January 2024 comes last; calls, results and markers are left out.
    assert_eq!(
        roles("e0_query_string_context")[2],
        (user, "What moved the market today?".into())
    );
    assert_eq!(
        roles("v2_repost_as_sent_by_workspace"),
        [
            (user, "Show me a table".into()),
            (assistant, "Here it is  ".into()),
            (user, "Now fetch TSLA".into()),
        ],
    );
    assert_eq!(roles("v2_orchestrated_by_other_agent")[1].0, user);
    assert_eq!(roles("v2_full")[1], (assistant, "Sure.".into()));
}

#[test]
fn a_task_from_another_agent() {
    let request = request("v2_orchestrated_by_other_agent");
    let delegation = request.delegation().unwrap();
    assert_eq!(delegation.agent_id, "openbb-copilot");
    assert_eq!(delegation.task, "Fetch the latest filings for AAPL.");
    let own = read(r#"{"messages":[{"role":"ai","content":"text"}]}"#);
    assert!(own.delegation().is_none());
    let answered = crate::request("v2_full");
    assert!(answered.delegation().is_none());
}

/// Python's default for the role of a result.
#[test]
fn a_result_without_a_role() {
    let request = read(r#"{"messages":[{"function":"f","data":[{"content":"x"}]}]}"#);
    assert_eq!(*request.messages.first().unwrap().role(), Role::Tool);
    assert_eq!(request.last_result().unwrap().outcomes[0].text(), "x");
    assert_eq!(request.messages().count(), 0);
}

#[test]
fn markers() {
    let text = "a <|start_artifact_id|>T<|end_artifact_id|><|start_citation_id|>u<|end_citation_id|> b\
                <|start_artifact_id|>open <|start_x|>";
    let found: Vec<_> = pieces(text).collect();
    assert_eq!(
        found,
        [
            Piece::Text("a "),
            Piece::Artifact("T"),
            Piece::Citation("u"),
            Piece::Text(" b<|start_artifact_id|>open <|start_x|>"),
        ],
    );
    assert_eq!(
        strip_markers(text),
        "a  b<|start_artifact_id|>open <|start_x|>"
    );
    assert_eq!(
        strip_markers("<|start_artifact_id|>T<|end_artifact_id|>"),
        ""
    );
    assert_eq!(strip_markers(""), "");
}

#[test]
fn a_call_in_a_message() {
    // The rule of all Python versions, for `ai` messages only.
    let call = |content: &str| {
        let body = format!(r#"{{"messages":[{{"role":"ai","content":{content}}}]}}"#);
        read(body)
            .messages
            .first()
            .unwrap()
            .call()
            .map(|call| call.function)
    };
    let string = |text: &str| serde_json::to_string(text).unwrap();
    let good = r#"{"function":"f","input_arguments":{}}"#;
    let f = || Some("f".to_owned());
    assert_eq!(call(good), f());
    assert_eq!(call(&string(good)), f());
    assert_eq!(call(&string(&string(good))), f());
    assert_eq!(call(&string(&format!("\n {good}"))), f());
    assert_eq!(call(&string(&string(&string(good)))), None);
    for text in [
        "42",
        "[1]",
        "null",
        "",
        "plain",
        r#"{"function":"x"}"#,
        r#"{"function":1,"input_arguments":{}}"#,
        r#"{"function":"f","input_arguments":[]}"#,
        r#"{"function":"f","input_arguments":{}"#,
    ] {
        assert_eq!(call(&string(text)), None, "{text}");
        let body = format!(
            r#"{{"messages":[{{"role":"ai","content":{}}}]}}"#,
            string(text)
        );
        assert_eq!(read(body).messages.first().unwrap().text().unwrap(), text);
    }
    let pasted = format!(
        r#"{{"messages":[{{"role":"human","content":{}}}]}}"#,
        string(good)
    );
    let pasted = read(pasted);
    assert_eq!(pasted.messages.first().unwrap().call(), None);
    assert_eq!(pasted.prompt().unwrap(), good);
}

#[test]
fn derived_ids() {
    let vectors = [
        (
            "OpenBB API",
            "stock_price",
            "4dd0de8d-50cc-ff0a-4dd0-de8d50ccff0a",
        ),
        (
            "OpenBB API",
            "company_news",
            "7bccd626-33db-4a2a-7bcc-d62633db4a2a",
        ),
        (
            "openbb",
            "company_news",
            "c0342601-8c97-9211-c034-26018c979211",
        ),
        ("é", "ü", "cc746548-3340-9405-cc74-654833409405"),
    ];
    for (origin, widget_id, uuid) in vectors {
        assert_eq!(Widget::new(origin, widget_id, "", "").id().unwrap(), uuid);
    }
    let request = request("e5_tiers_all_three");
    let ids: Vec<_> = request
        .widgets()
        .map(|(_, widget)| widget.id().unwrap().into_owned())
        .collect();
    assert_eq!(ids[0], vectors[0].2);
    assert_eq!(ids[1], "b2c45d67-8e9f-4a12-bc3d-123456789abc");
    assert_eq!(request.widget(vectors[0].2).unwrap().name, "Stock Price");
    // Ids need not look like UUIDs.
    let odd = read(
        r#"{"messages":[{}],"widgets":{"primary":[{"uuid":"global::B::x::h"},{"uuid":null,"origin":"","widget_id":"x"}]}}"#,
    );
    let ids: Vec<_> = odd
        .widgets()
        .map(|(_, widget)| widget.id().map(Into::into))
        .collect();
    assert_eq!(ids, [Some("global::B::x::h".to_owned()), None]);
}

#[test]
fn parameters_and_their_defaults() {
    let request = request("e5_tiers_all_three");
    let defaults: Vec<_> = request
        .widgets()
        .map(
            |(_, widget)| match widget.param("symbol").unwrap().default_value() {
                DefaultValue::Absent => "absent".to_owned(),
                DefaultValue::Null => "null".to_owned(),
                DefaultValue::Value(value) => value.text().to_owned(),
            },
        )
        .collect();
    assert_eq!(defaults, ["absent", "null", "\"AAPL\""]);
    let undefined = read(
        r#"{"messages":[{}],"widgets":{"extra":[{"params":[{"name":"a","default_value":"<<UNDEFINED>>"}]}]}}"#,
    );
    let (_, widget) = undefined.widgets().next().unwrap();
    assert_eq!(
        widget.param("a").unwrap().default_value(),
        DefaultValue::Absent
    );

    let full = crate::request("v2_full");
    let (_, widget) = full.widgets().next().unwrap();
    let symbol = widget.param("symbol").unwrap();
    assert!(symbol.multi_select && symbol.split_param_on_citation && !symbol.get_options);
    assert_eq!(symbol.current_value.as_ref().unwrap().elements().count(), 2);
    let series = widget.param("series").unwrap();
    assert!(series.get_options);
    assert_eq!(
        series.options_params.first().unwrap().inherit_value_from,
        "symbol"
    );
    assert_eq!(widget.param("code").unwrap().language, "python");
    assert_eq!(widget.columns.iter().collect::<Vec<_>>(), ["date", "close"]);
    let arguments = widget.arguments();
    let arguments: Vec<_> = arguments
        .iter()
        .map(|(name, value)| (name, value.elements().count()))
        .collect();
    assert_eq!(arguments, [("symbol", 2), ("view", 0), ("code", 0)]);
}

#[test]
fn options_in_both_forms() {
    let list = request("v17_options_list_tools_state");
    assert_eq!(list.option("web-search"), OptionValue::On);
    assert_eq!(list.option("model").text(), Some("gpt-4o"));
    assert_eq!(list.option("agent-name").text(), Some("My Bot = v2"));
    let map = request("v2_full");
    assert_eq!(map.option("web-search"), OptionValue::On);
    assert_eq!(map.option("deep-research"), OptionValue::Off);
    assert_eq!(map.option("model").text(), Some("gpt-4o"));
    for request in [list, map, crate::plain()] {
        assert!(!request.option("absent").is_on());
    }
    let empty = read(r#"{"messages":[{}],"workspace_options":{"agent-name":""}}"#);
    assert!(!empty.option("agent-name").is_on());
}

#[test]
fn everything_else_that_a_request_has() {
    let state = request("v17_options_list_tools_state");
    let tool = state.tools.first().unwrap();
    assert_eq!(
        (tool.server_id.as_str(), tool.name.as_str()),
        ("1", "search_docs")
    );
    let workspace = state.workspace_state.as_ref().unwrap();
    assert_eq!(workspace.current_page_context, "dashboard");
    assert_eq!(
        workspace.action_history.first().unwrap(),
        "opened dashboard"
    );
    assert_eq!(
        workspace.agents.first().unwrap().holder_url,
        "http://localhost:7777"
    );
    let dashboard = workspace.current_dashboard_info.as_ref().unwrap();
    let tab = dashboard.tabs.first().unwrap();
    assert_eq!(tab.widgets.first().unwrap().name, "Stock Price");
    assert_eq!(dashboard.tabs.len(), 2);

    let v1 = request("v1_context_items");
    assert_eq!(v1.timezone, "Europe/Lisbon");
    assert_eq!(v1.urls.first().unwrap(), "https://example.com/report");
    assert!(v1.force_web_search);
    assert_eq!(
        v1.api_keys.unwrap().openai_api_key.unwrap().expose(),
        "sk-test-not-a-key"
    );

    let e2 = request("e2_flat_widgets_all_flags");
    assert!(e2.allow_direct_retrieval);
    let endpoints = e2.direct_retrieval_endpoints();
    assert_eq!(
        endpoints
            .first()
            .unwrap()
            .get("category")
            .unwrap()
            .string()
            .unwrap(),
        "My Data"
    );
    let (_, widget) = e2.widgets().next().unwrap();
    assert_eq!(
        widget
            .metadata
            .as_ref()
            .unwrap()
            .get("symbol")
            .unwrap()
            .text(),
        "\"AAPL\""
    );

    let documents = request("v2_bridge_result_and_documents");
    assert_eq!(
        documents.documents.first().unwrap().bytes().unwrap(),
        b"%PDF-1.4\n"
    );
    assert_eq!(
        documents.documents.last().unwrap().url,
        "https://files.example.com/notes.md"
    );
    assert!(documents.workspace_state.unwrap().extra_widgets_slim);

    let skills = request("v2_skill_content_result");
    assert_eq!(
        skills.skills_catalog.first().unwrap().updated_at,
        "2026-03-22T12:00:00Z"
    );
    assert_eq!(
        skills.selected_skills.first().unwrap().content_markdown,
        "# Earnings"
    );

    let summary = request("draft_summary_message");
    let message = summary
        .messages
        .iter()
        .find(|message| message.role == Role::Summary)
        .unwrap();
    assert_eq!(message.covered_through_message_id, "m2");

    let repost = request("v2_repost_as_sent_by_workspace");
    assert_eq!(repost.messages.elements().len(), 7);
    assert_eq!(repost.tools.first().unwrap().name, "tools_web_search");
}

#[test]
fn documents() {
    let documents = |name: &str| -> Vec<(String, String)> {
        let request = request(name);
        Conversation::documents(&request)
            .map(|document| (document.id.into_owned(), document.content.into_owned()))
            .collect()
    };
    assert_eq!(
        documents("e1_context_plain_string")[0].1,
        "The note says: revenue grew 12%."
    );
    assert!(
        documents("e1_context_inline_content")[0]
            .1
            .starts_with("[{\"date\"")
    );
    assert_eq!(documents("e2_context_content_null")[0].1, "");
    assert_eq!(documents("e3_context_data_content")[0].1, "pizza");
    let (id, rows) = documents("v1_context_items").remove(0);
    assert_eq!(id, "3fa85f64-5717-4562-b3fc-2c963f66afa6");
    assert_eq!(rows, r#"[{"x":1,"y":2},{"x":2,"y":3}]"#);
    // An attached text is a document; a PDF is bytes, and a URL is for those who fetch.
    let files = read(
        r#"{"messages":[{}],"documents":[{"id":"1","name":"a.txt","format":"txt","content_b64":"aGk="},
            {"id":"2","name":"a.pdf","format":"pdf","content_b64":"JVBERi0xLjQK"}],
            "uploaded_files":[{"name":"b.csv","mime":"text/csv","data_base64":"YSxi"},{"name":"c.md","data_base64":"Yw=="}]}"#,
    );
    let found: Vec<_> = Conversation::documents(&files)
        .map(|document| document.content.into_owned())
        .collect();
    assert_eq!(found, ["hi", "a,b", "c"]);
}
