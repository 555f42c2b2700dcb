//! The content of each recorded request.

use copilot_wire::openbb::{Era, Piece, Role, Tier, pieces, strip_markers};
use copilot_wire::protocol::{self, Conversation};

use crate::{fixtures, read, request};

/// Name, era, prompt, number of messages for a model, number of documents, and number of widgets by
/// tier.
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
        Era::Unpublished,
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
        Era::Unpublished,
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
        Era::Unpublished,
        "Analyse AAPL",
        1,
        0,
        [0, 0, 0],
    ));
    let mut names = fixtures("req_", ".json");
    for (name, era, prompt, messages, documents, widgets) in facts {
        names.retain(|other| *other != format!("req_{name}.json"));
        let request = request(name);
        assert_eq!(Era::from_request(&request), era, "{name}");
        assert_eq!(request.prompt().unwrap(), prompt, "{name}");
        assert_eq!(request.messages().count(), messages, "{name}");
        let has_state = usize::from(request.workspace_state.is_some());
        let has_urls = usize::from(!request.urls.is_empty());
        assert_eq!(
            Conversation::documents(&request).count(),
            documents + has_state + has_urls,
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
    // The prompt of January 2024 is last; calls, results and markers are omitted.
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

/// A message without a role but with a function is a result, as in Python.
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
