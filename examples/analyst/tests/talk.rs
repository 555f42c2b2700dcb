//! The agent's demonstration for each front end, without data.
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::time::Duration;

use analyst::Analyst;
use copilot_wire::json::Json;
use copilot_wire::openai::Function;
use copilot_wire::openbb::{Tier, Widget};
use copilot_wire_kit::github::CopilotChat;
use copilot_wire_kit::meilisearch::SearchChat;
use copilot_wire_kit::openai::OpenAiClient;
use copilot_wire_kit::openbb::Workspace;
use copilot_wire_kit::{FrontEnd, Harness, ToolOutcome, Transcript};

fn harness<F: FrontEnd>(front_end: F) -> Harness<F> {
    Harness::new(front_end, Analyst::new(None).pace(Duration::ZERO))
}

async fn asks_before_it_deletes(front_end: impl FrontEnd) {
    let mut harness = harness(front_end);
    let turn = harness
        .prompt("Delete the branch, but ask me first")
        .await
        .unwrap();
    assert!(turn.question().is_some(), "{turn}");
    let turn = harness.decide(true).await.unwrap();
    assert!(turn.text().contains("nothing was deleted"), "{turn}");
    harness.prompt("Remove it after all").await.unwrap();
    let turn = harness.decide(false).await.unwrap();
    assert!(turn.text().contains("stays as it was"), "{turn}");
    assert!(turn.faults().is_empty(), "{turn}");
}

/// Every answer that does not count is told why, and asked again with what is to be deleted.
#[tokio::test]
async fn an_answer_that_does_not_count_is_asked_again() {
    let mut harness = harness(OpenAiClient::new("analyst"));
    let turn = harness.prompt("Delete the branch").await.unwrap();
    let code = turn.question().unwrap().answers[0].clone();
    let turn = harness.prompt("yes 12345").await.unwrap();
    assert!(
        turn.text()
            .starts_with("Your answer does not have the code"),
        "{turn}"
    );
    assert!(
        turn.text()
            .contains("Delete it? Delete the branch To agree"),
        "{turn}"
    );
    // The code of the question before it.
    let turn = harness.prompt(&code).await.unwrap();
    assert!(
        turn.text()
            .starts_with("Your answer does not have the code"),
        "{turn}"
    );
    let turn = harness.decide(true).await.unwrap();
    assert!(turn.text().contains("nothing was deleted"), "{turn}");
    let turn = harness.prompt("Remove the log, please").await.unwrap();
    assert!(turn.question().is_some(), "{turn}");
    let turn = harness.prompt("Wait, what is the weather?").await.unwrap();
    assert!(turn.question().is_none(), "{turn}");
}

#[tokio::test]
async fn names_and_cells_are_plain_text() {
    let rows =
        serde_json::json!([{"<b>date": "*2024*", "[n](x)": 1}, {"<b>date": "|", "[n](x)": 2}]);
    let widget = Widget::new("Sample", "hostile", "<img src=x> **W**", "");
    let workspace = Workspace::new();
    let workspace = workspace.widget(Tier::Primary, widget, ToolOutcome::data(&rows).unwrap());
    let mut harness = harness(workspace);
    harness.prompt("What does it say?").await.unwrap();
    let turn = harness.answer_itself().await.unwrap();
    let text = turn.text();
    let expected = r"**\<img src=x\> \*\*W\*\*** has 2 rows, with the columns \<b\>date, \[n\](x). The rows run from \*2024\* to \|. The \[n\](x) lies between 1 and 2. Latest: \<b\>date \|, \[n\](x) 2.";
    assert_eq!(text.lines().next(), Some(expected), "{text}");
}

#[tokio::test]
async fn a_table_without_rows_is_no_text() {
    for (data, expected) in [
        ("[]", "**W** has no rows."),
        ("one", "**W** is a text of 1 word. It begins: “one”"),
        (
            "one two",
            "**W** is a text of 2 words. It begins: “one two”",
        ),
    ] {
        let widget = Widget::new("Sample", "w", "W", "");
        let workspace = Workspace::new();
        let workspace = workspace.widget(Tier::Primary, widget, ToolOutcome::text(data));
        let mut harness = harness(workspace);
        harness.prompt("What does it say?").await.unwrap();
        let turn = harness.answer_itself().await.unwrap();
        assert_eq!(turn.text().trim_end(), expected);
    }
}

#[tokio::test]
async fn a_widget_without_an_id_does_not_cost_the_turn() {
    let rows = serde_json::json!([{"date": "2024-10-14", "close": 231.3}]);
    let odd = || {
        let mut widget = Widget::new("Sample", "", "Odd", "");
        widget.uuid = "c276369e-e469-4689-b5fe-3f8c76f7c45a".to_owned();
        Workspace::new().widget(Tier::Primary, widget, ToolOutcome::data(&rows).unwrap())
    };
    let widget = Widget::new("Sample", "prices", "Prices", "");
    let both = odd().widget(Tier::Primary, widget, ToolOutcome::data(&rows).unwrap());
    let turn = harness(both).prompt("What does it say?").await.unwrap();
    assert_eq!(turn.calls().len(), 1, "{turn}");
    assert!(turn.to_string().contains("prices"), "{turn}");
    // Nothing to ask for is no failure.
    let turn = harness(odd()).prompt("What does it say?").await.unwrap();
    assert!(turn.calls().is_empty(), "{turn}");
    assert!(turn.text().contains("the built-in analyst"), "{turn}");
}

fn prices() -> Workspace {
    let rows = serde_json::json!([{"date": "2024-10-14", "close": 231.3}]);
    let widget = |name: &str| Widget::new("Sample", name, name, "");
    Workspace::new()
        .widget(
            Tier::Primary,
            widget("AAPL prices"),
            ToolOutcome::data(&rows).unwrap(),
        )
        .widget(
            Tier::Secondary,
            widget("Company news"),
            ToolOutcome::data(&rows).unwrap(),
        )
}

#[tokio::test]
async fn every_front_end_is_asked_before_something_is_deleted() {
    asks_before_it_deletes(prices()).await;
    asks_before_it_deletes(CopilotChat::new("analyst")).await;
    asks_before_it_deletes(OpenAiClient::new("analyst")).await;
    asks_before_it_deletes(SearchChat::new("films")).await;
}

#[tokio::test]
async fn the_widget_that_is_named_is_asked_for() {
    for (prompt, asked, other) in [
        ("Summarise the company news", "Company news", "AAPL"),
        ("What do the AAPL prices say?", "AAPL prices", "news"),
        ("Anything new?", "AAPL prices", "news"),
    ] {
        let turn = harness(prices()).prompt(prompt).await.unwrap();
        assert_eq!(turn.calls().len(), 1, "{turn}");
        assert!(turn.to_string().contains(asked), "{prompt}: {turn}");
        assert!(!turn.to_string().contains(other), "{prompt}: {turn}");
    }
}

#[tokio::test]
async fn a_tool_that_fits_is_called_and_its_result_is_told() {
    let schema = serde_json::json!({"type": "object", "properties": {"place": {"type": "string"}}});
    let tool = Function::new("get_weather", "The weather at a place");
    let tool = tool.parameters(Json::encode(&schema).unwrap());
    let mut harness = harness(OpenAiClient::new("analyst").tools([tool]));
    let turn = harness
        .prompt("What is the weather in Lisbon?")
        .await
        .unwrap();
    let call = &turn.calls()[0];
    assert_eq!(call.arguments.text(), r#"{"place":"Lisbon"}"#);
    let turn = harness
        .answer([ToolOutcome::text("19 degrees")])
        .await
        .unwrap();
    assert!(
        turn.text().contains("**get_weather** says: 19 degrees"),
        "{turn}"
    );
    let turn = harness.prompt("Say hello").await.unwrap();
    assert!(
        turn.calls().is_empty() && turn.text().contains("Say hello"),
        "{turn}"
    );
}

#[tokio::test]
async fn tools_are_called_as_told_and_no_other() {
    let tools = ["bash", "view", "get_weather"].map(|name| Function::new(name, ""));
    let client = || OpenAiClient::new("analyst").tools(tools.clone());
    let mut talk = harness(client());
    let turn = talk
        .prompt("Please:\n  call bash {\"command\":\"ls\"}\ncall view {}")
        .await
        .unwrap();
    let calls: Vec<_> = turn
        .calls()
        .iter()
        .map(|call| (&*call.name, call.arguments.text()))
        .collect();
    assert_eq!(calls, [("bash", r#"{"command":"ls"}"#), ("view", "{}")]);
    let results = [
        ToolOutcome::text("a.txt"),
        ToolOutcome::failed("no such file"),
    ];
    let turn = talk.answer(results).await.unwrap();
    assert!(turn.text().contains("**bash** says: a.txt"), "{turn}");
    assert!(turn.text().contains("**view**"), "{turn}");
    for prompt in [
        "Run bash and view it",
        "call rm {}",
        "call bash ls",
        "call bash [1]",
    ] {
        let turn = harness(client()).prompt(prompt).await.unwrap();
        assert!(turn.calls().is_empty(), "{prompt}: {turn}");
        assert!(
            !turn.text().is_empty() && turn.faults().is_empty(),
            "{turn}"
        );
    }
}

#[tokio::test]
async fn the_guide_answers_questions_and_is_cited() {
    let turn: Transcript<_> = harness(Workspace::new())
        .prompt("What happens when a client disconnects?")
        .await
        .unwrap();
    assert!(turn.to_string().contains("src/guide/concepts.md"), "{turn}");
    assert!(turn.to_string().contains("Looking it up"), "{turn}");
}

/// Work that grows with the square of a row, or with tools times words, would take many minutes here.
#[tokio::test]
async fn wide_rows_and_long_prompts_are_answered() {
    let row: std::collections::BTreeMap<_, _> = (0..50_000).map(|n| (format!("c{n}"), n)).collect();
    let widget = Widget::new("Sample", "wide", "Wide", "");
    let workspace = Workspace::new();
    let workspace = workspace.widget(Tier::Primary, widget, ToolOutcome::data(&[row]).unwrap());
    let mut harness = harness(workspace);
    harness.prompt("What does Wide say?").await.unwrap();
    let turn = harness.answer_itself().await.unwrap();
    assert!(turn.text().contains("1 row"), "{:.500}", turn.text());

    let tools = (0..5_000).map(|n| Function::new(format!("tool_{n}_none"), ""));
    let client = OpenAiClient::new("analyst").tools(tools);
    let prompt: String = (0..20_000).map(|n| format!("word{n} ")).collect();
    let mut harness = self::harness(client);
    let turn = harness.prompt(&prompt).await.unwrap();
    assert!(turn.calls().is_empty(), "{:.500}", turn.text());
}

fn dashboard(widgets: usize) -> Workspace {
    let rows = serde_json::json!([{"n": 1}]);
    (0..widgets).fold(Workspace::new(), |workspace, number| {
        let name = format!("Widget {number}");
        let widget = Widget::new("Sample", &name, &name, "");
        workspace.widget(Tier::Primary, widget, ToolOutcome::data(&rows).unwrap())
    })
}

/// Work that grows with widgets times words would take many minutes here.
#[tokio::test]
async fn a_widget_is_found_among_many_by_a_long_prompt() {
    let mut harness = harness(dashboard(50_000));
    let prompt = format!("Widget 77: {}", "what does it say? ".repeat(150_000));
    let turn = harness.prompt(&prompt).await.unwrap();
    let [call] = turn.calls() else {
        panic!("{:.500}", turn.to_string())
    };
    let arguments = call.arguments.text();
    assert_eq!(arguments.matches("Widget ").count(), 1, "{arguments}");
    assert!(arguments.contains("Widget 77"), "{arguments}");
}

#[tokio::test]
async fn the_data_of_many_widgets_is_told() {
    let mut harness = harness(dashboard(2_000));
    let turn = harness.prompt("What do they say?").await.unwrap();
    assert_eq!(turn.calls().len(), 1, "{:.500}", turn.to_string());
    let turn = harness.answer_itself().await.unwrap();
    assert_eq!(turn.text().matches("has 1 row").count(), 2_000);
    assert!(turn.text().contains("**Widget 1999** has"));
}
