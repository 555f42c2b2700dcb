//! Responses over a WebSocket.

use std::sync::atomic::Ordering;

use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::router::socket::SocketMessage;
use serde_json::{Value, json};

use crate::support::{Client, answer, continued, create, id, keys, kinds, open, router};

fn fixture(name: &str) -> Value {
    let path = format!("{}/fixtures/websocket/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_turn_is_the_data_of_the_events_without_an_end_mark() {
    let (router, _) = router();
    let mut client = Client::responses(&router);
    let messages = client.ask(&create("hi"));
    assert_eq!(
        kinds(&messages),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ],
    );
    let numbers: Vec<_> = messages
        .iter()
        .map(|it| it["sequence_number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (0..9).collect::<Vec<_>>());
    assert_eq!(answer(&messages), "[user:hi]");
    assert_eq!(messages[8]["response"]["store"], false);
    // The connection goes on.
    assert_eq!(answer(&client.ask(&create("again"))), "[user:again]");
}

#[test]
fn frames_of_codex_are_answered_and_the_warm_up_runs_no_agent() {
    let (router, agent) = router();
    let frames = fixture("ws-02-codex-frames.json");
    let mut client = Client::responses(&router);
    let frame = |number: usize, previous: Option<&str>| {
        let mut frame = frames["frames"][number].clone();
        frame["model"] = "m".into();
        // The lists are numbers in the fixture.
        frame["tools"] = json!([{"type": "function", "name": "lookup", "parameters": {}}]);
        if let Some(previous) = previous {
            frame["previous_response_id"] = previous.into();
        }
        frame
    };
    let prepared = client.ask(&frame(0, None));
    assert_eq!(
        kinds(&prepared),
        [
            "response.created",
            "response.in_progress",
            "response.completed"
        ],
    );
    assert_eq!(prepared[2]["response"]["output"], json!([]));
    assert_eq!(agent.runs.load(Ordering::Relaxed), 0);
    // The user says `call`.
    let first = client.ask(&frame(1, Some(id(&prepared))));
    let response = &first.last().unwrap()["response"];
    assert_eq!(response["output"][0]["name"], "lookup");
    assert_eq!(response["previous_response_id"], *id(&prepared));
    let mut result = frame(2, Some(id(&first)));
    result["input"][0]["call_id"] = response["output"][0]["call_id"].clone();
    let second = client.ask(&result);
    let seen = answer(&second);
    assert!(
        seen.starts_with("[system:<16979 characters>;system:<"),
        "{seen}"
    );
    assert!(seen.contains(";user:call;call:lookup;result:"), "{seen}");
    assert_eq!(agent.runs.load(Ordering::Relaxed), 2);
}

#[test]
fn a_chain_goes_on_over_a_tool_call() {
    let (router, _) = router();
    let mut client = Client::responses(&router);
    let mut call = create("call");
    call["store"] = false.into();
    call["tools"] = json!([{"type": "function", "name": "lookup", "parameters": {}}]);
    let called = client.ask(&call);
    let item = called.last().unwrap()["response"]["output"][0].clone();
    assert_eq!(item["type"], "function_call");
    let output =
        json!([{"type": "function_call_output", "call_id": item["call_id"], "output": "high"}]);
    let messages = client.ask(&continued(id(&called), output));
    assert_eq!(answer(&messages), "[user:call;call:lookup;result:high]");
    // Two turns may continue the same one.
    let fork = client.ask(&continued(id(&called), "never mind"));
    assert_eq!(answer(&fork), "[user:call;call:lookup;user:never mind]");
}

#[test]
fn a_chain_ends_with_its_connection() {
    let (router, _) = router();
    let mut client = Client::responses(&router);
    let first = client.ask(&create("one"));
    let unknown = continued(id(&first), "two");
    let other = Client::responses(&router);
    drop(client);
    for mut client in [other, Client::responses(&router)] {
        let messages = client.ask(&unknown);
        assert_eq!(kinds(&messages), ["error"]);
        assert_eq!(messages[0]["status"], 400);
        assert_eq!(messages[0]["error"]["code"], "previous_response_not_found");
        assert_eq!(messages[0]["error"]["param"], "previous_response_id");
        assert_eq!(answer(&client.ask(&create("go on"))), "[user:go on]");
    }
}

#[test]
fn stored_turns_are_continued_on_other_connections_of_the_same_user() {
    let (router, _) = router();
    let store = MemoryConversationStore::new();
    let router = router
        .conversations(Conversations::per_user(store))
        .guard(keys);
    let ann = [("authorization", "Bearer ann")];
    let mut client = open(&router, "/v1/responses", &ann).unwrap();
    let first = client.ask(&create("one"));
    assert_eq!(first.last().unwrap()["response"]["store"], true);
    let mut unstored = continued(id(&first), "two");
    unstored["store"] = false.into();
    let second = client.ask(&unstored);
    assert_eq!(second.last().unwrap()["response"]["store"], false);
    // Both the stored one and the one that only this connection has.
    let third = client.ask(&continued(id(&second), "three"));
    assert_eq!(
        answer(&third),
        "[user:one;assistant:[user:one];user:two;assistant:[user:one;assistant:[user:one];user:two];user:three]",
    );
    drop(client);
    let mut again = open(&router, "/v1/responses", &ann).unwrap();
    let messages = again.ask(&continued(id(&first), "later"));
    assert_eq!(
        answer(&messages),
        "[user:one;assistant:[user:one];user:later]"
    );
    assert_eq!(
        kinds(&again.ask(&continued(id(&second), "later"))),
        ["error"]
    );
    let mut other = open(&router, "/v1/responses", &[("authorization", "Bearer bob")]).unwrap();
    assert_eq!(
        kinds(&other.ask(&continued(id(&first), "mine?"))),
        ["error"]
    );
}

#[test]
fn a_turn_that_failed_is_not_continued() {
    let (router, _) = router();
    let mut client = Client::responses(&router);
    let late = client.ask(&create("late"));
    assert_eq!(late.last().unwrap()["type"], "response.failed");
    assert_eq!(
        late.last().unwrap()["response"]["error"]["code"],
        "invalid_prompt"
    );
    let messages = client.ask(&continued(id(&late), "and?"));
    assert_eq!(messages[0]["error"]["code"], "previous_response_not_found");
}

#[test]
fn a_failure_before_the_first_output_is_an_error() {
    let (router, _) = router();
    let mut client = Client::responses(&router);
    for (prompt, status, code) in [
        ("fail", 400, "agent_failed"),
        ("retry", 503, "overloaded"),
        ("panic", 400, "agent_failed"),
    ] {
        let messages = client.ask(&create(prompt));
        assert_eq!(kinds(&messages), ["error"], "{prompt}");
        assert_eq!(messages[0]["status"], status, "{prompt}");
        assert_eq!(messages[0]["error"]["code"], code, "{prompt}");
        let wait = messages[0]["headers"]["retry-after"].as_str();
        assert_eq!(wait, (status == 503).then_some("5"), "{prompt}");
    }
}

#[test]
fn a_title_is_known_as_one() {
    let (router, _) = router();
    let frames = fixture("ws-08-codex-terminal-title.json");
    let mut client = Client::responses(&router);
    let mut warm_up = frames["frames"][0].clone();
    warm_up["model"] = "m".into();
    warm_up["tools"] = json!([]);
    assert_eq!(kinds(&client.ask(&warm_up)).len(), 3);
    let mut frame = frames["frames"][1].clone();
    frame["model"] = "m".into();
    frame["tools"] = json!([]);
    let turn = json!({"thread_source": "thread_title"}).to_string();
    frame["client_metadata"]["x-codex-turn-metadata"] = turn.into();
    assert_eq!(answer(&client.ask(&frame)), r#"{"title":"Tides"}"#);
}

#[test]
fn lanes_are_answered_at_the_same_time_and_each_in_order() {
    let (router, agent) = router();
    let mut client = Client::responses(&router);
    let lane = |name: &str, input: &str| {
        let mut message = create(input);
        message["stream_id"] = name.into();
        message
    };
    client.send(&lane("a", "wait"));
    client.send(&lane("a", "next"));
    client.send(&lane("b\"", "hi"));
    let messages = client.messages();
    let of = |lane: &str, messages: &[Value]| -> Vec<Value> {
        let messages = messages.iter().filter(|it| it["stream_id"] == lane);
        messages.cloned().collect()
    };
    assert_eq!(answer(&of("b\"", &messages)), "[user:hi]");
    assert_eq!(of("a", &messages).last().unwrap()["delta"], "Begun");
    agent.gate.notify_one();
    let messages = client.messages();
    let completed: Vec<_> = messages
        .iter()
        .filter(|it| it["type"] == "response.completed")
        .collect();
    assert_eq!(completed.len(), 2);
    assert_eq!(answer(&messages), "[user:next]");
    // The first is whole before the second begins.
    let created = messages
        .iter()
        .position(|it| it["type"] == "response.created");
    let ended = messages
        .iter()
        .position(|it| it["type"] == "response.completed");
    assert!(ended < created);
}

#[test]
fn what_is_no_request_is_an_error_and_the_connection_goes_on() {
    let (router, agent) = router();
    let mut client = Client::responses(&router);
    let steer =
        json!({"type": "response.steer", "previous_response_id": "resp_1", "input": "left"});
    let mut background = create("hi");
    background["background"] = true.into();
    let mut lane = create("hi");
    lane["stream_id"] = 7.into();
    for (text, param) in [
        (steer.to_string(), json!("type")),
        (background.to_string(), json!("background")),
        (lane.to_string(), json!("stream_id")),
        (
            json!({"type": "response.create", "model": "m"}).to_string(),
            json!("input"),
        ),
        (
            json!({"type": "response.create", "model": 7, "input": []}).to_string(),
            json!("input"),
        ),
        ("[]".to_owned(), Value::Null),
        ("{".to_owned(), Value::Null),
        ("".to_owned(), Value::Null),
        ("\u{0}".to_owned(), Value::Null),
    ] {
        client.text(&text);
        let messages = client.messages();
        assert_eq!(kinds(&messages), ["error"], "{text}");
        assert_eq!(messages[0]["status"], 400, "{text}");
        assert_eq!(messages[0]["error"]["type"], "invalid_request_error");
        assert_eq!(messages[0]["error"]["param"], param, "{text}");
    }
    client.0.receive(SocketMessage::Binary);
    assert_eq!(kinds(&client.messages()), ["error"]);
    let mut unknown = create("hi");
    unknown["model"] = "nobody".into();
    assert_eq!(client.ask(&unknown)[0]["status"], 404);
    assert_eq!(agent.runs.load(Ordering::Relaxed), 0);
    assert_eq!(answer(&client.ask(&create("hi"))), "[user:hi]");
}

#[test]
fn a_post_may_prepare_too() {
    let (router, agent) = router();
    let router = router.conversations(Conversations::single_user(MemoryConversationStore::new()));
    let mut client = Client::responses(&router);
    let mut prepare = create("the rules");
    prepare["generate"] = false.into();
    let prepared = client.ask(&prepare);
    assert_eq!(agent.runs.load(Ordering::Relaxed), 0);
    let mut other = Client::responses(&router);
    let messages = other.ask(&continued(id(&prepared), "hi"));
    assert_eq!(answer(&messages), "[user:the rules;user:hi]");
}
