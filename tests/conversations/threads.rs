//! Threads of Messages.

use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{answered, bare, per_user, post, router, send_as, with};

const PATH: &str = "/v1/messages";

fn create(content: &str) -> Value {
    json!({
        "model": "m", "max_tokens": 100, "system": "Be brief.", "thread": {"type": "create"},
        "tools": [{"name": "lookup", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": content}],
    })
}

fn on(previous: &Value, messages: Value) -> Value {
    json!({
        "model": "m", "max_tokens": 100, "messages": messages,
        "thread": {"type": "continue", "previous_message_id": previous},
    })
}

fn say(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

fn text(message: &Value) -> &str {
    let content = message["content"].as_array().unwrap();
    content.last().unwrap()["text"].as_str().unwrap()
}

fn code(error: &Value) -> &str {
    error["error"]["details"]["error_code"].as_str().unwrap()
}

#[test]
fn a_thread_keeps_messages_tools_and_system_prompt() {
    let router = router();
    let first = answered(&router, PATH, &create("call"));
    let call = first["content"].as_array().unwrap().last().unwrap();
    let result = json!([{"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": call["id"], "content": "high"}
    ]}]);
    // With and without a stream.
    let mut request = on(&first["id"], result);
    request["stream"] = json!(true);
    let (status, stream) = send_as(&router, "", Method::POST, PATH, &request.to_string());
    assert_eq!(status, StatusCode::OK);
    let start = stream
        .lines()
        .find(|line| line.contains("message_start"))
        .unwrap();
    let start = stream
        .lines()
        .skip_while(|line| *line != start)
        .nth(1)
        .unwrap();
    let start: Value = serde_json::from_str(&start["data: ".len()..]).unwrap();
    let seen = "[system:Be brief.;user:call;call:lookup({\"key\":\"tide\"});result:high|lookup]";
    assert!(stream.contains(&json!(seen).to_string()[1..20]), "{stream}");

    let third = answered(&router, PATH, &on(&start["message"]["id"], say("and now?")));
    let prefix = "[system:Be brief.;user:call;call:lookup({\"key\":\"tide\"});result:high";
    assert_eq!(
        text(&third),
        format!("{prefix};assistant:{seen};user:and now?|lookup]")
    );
}

#[test]
fn an_answer_may_be_continued_more_than_once() {
    let router = router();
    let first = answered(&router, PATH, &create("root"));
    for branch in ["left", "right"] {
        let answer = answered(&router, PATH, &on(&first["id"], say(branch)));
        assert!(text(&answer).ends_with(&format!("user:{branch}|lookup]")));
        let answer = answered(&router, PATH, &on(&answer["id"], json!([])));
        assert!(text(&answer).contains(&format!("user:{branch};assistant:")));
    }
}

#[test]
fn an_unknown_thread_is_refused_so_that_clients_begin_a_new_one() {
    let router = per_user(MemoryConversationStore::new());
    let post = |user: &str, body: &Value| {
        let (status, text) = send_as(&router, user, Method::POST, PATH, &body.to_string());
        (status, serde_json::from_str::<Value>(&text).unwrap())
    };
    let (_, first) = post("ann", &create("mine"));
    let (_, failed) = post("ann", &create("fail"));
    assert_eq!(failed["type"], "error");
    let ordinary = json!({"model": "m", "max_tokens": 100, "messages": say("hi")});
    let (_, ordinary) = post("ann", &ordinary);
    for (user, id) in [
        ("ann", &json!("msg_1")),
        ("ann", &json!("")),
        ("ann", &ordinary["id"]),
        ("bob", &first["id"]),
    ] {
        let (status, error) = post(user, &on(id, say("on")));
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert_eq!(code(&error), "thread_not_found");
        assert_eq!(error["error"]["type"], "not_found_error");
    }
    assert_eq!(post("ann", &on(&first["id"], say("on"))).0, StatusCode::OK);
    // Without a user there is no store.
    let (status, error) = post("", &on(&first["id"], say("on")));
    assert_eq!(
        (status, code(&error)),
        (StatusCode::BAD_REQUEST, "thread_unsupported_request")
    );
}

#[test]
fn without_a_store_and_beyond_the_limit_clients_go_on_without_a_thread() {
    let store = MemoryConversationStore::new();
    let short = with(Conversations::single_user(store).limit(2, 1 << 20));
    let first = answered(&short, PATH, &create("0"));
    let second = answered(&short, PATH, &on(&first["id"], say("1")));
    let (bare, request) = (bare(), on(&second["id"], say("2")));
    for (router, request) in [(&short, &request), (&bare, &request), (&bare, &create("0"))] {
        let (status, error) = post(router, PATH, request);
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(code(&error), "thread_unsupported_request");
        assert_eq!(error["error"]["details"]["unsupported"], json!(["thread"]));
    }
}

#[test]
fn what_a_thread_keeps_cannot_be_changed() {
    let router = router();
    let first = answered(&router, PATH, &create("root"));
    for (member, value) in [
        ("system", json!("Be long.")),
        (
            "tools",
            json!([{"name": "other", "input_schema": {"type": "object"}}]),
        ),
    ] {
        let mut request = on(&first["id"], say("on"));
        request[member] = value;
        let (status, error) = post(&router, PATH, &request);
        assert_eq!(
            (status, code(&error)),
            (StatusCode::BAD_REQUEST, "thread_fingerprint_mismatch")
        );
    }
    let mut same = on(&first["id"], say("on"));
    same["system"] = json!("Be brief.");
    answered(&router, PATH, &same);
    for thread in [
        json!({"type": "continue"}),
        json!({"type": "lose"}),
        json!(7),
        json!("x"),
    ] {
        let mut request = create("root");
        request["thread"] = thread;
        assert_eq!(post(&router, PATH, &request).0, StatusCode::BAD_REQUEST);
    }
    let mut none = create("root");
    none["messages"] = json!([]);
    assert_eq!(post(&router, PATH, &none).0, StatusCode::BAD_REQUEST);
}

#[cfg(all(feature = "resumable", feature = "tokio"))]
#[test]
fn an_answer_that_was_cancelled_is_no_part_of_a_thread() {
    use copilot_wire::anthropic::{Anthropic, Model};
    use copilot_wire::replies::{MemoryReplyStore, Replies};
    use copilot_wire::{Reply, Router, agent_fn};
    use futures::StreamExt as _;

    let agent = agent_fn(async |_, reply: Reply<Anthropic>| {
        reply.text("So far").await?;
        std::future::pending().await
    });
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let second = std::time::Duration::from_secs(1);
        let replies = Replies::single_user(MemoryReplyStore::new(), tokio::spawn);
        let store = std::sync::Arc::new(MemoryConversationStore::new());
        let router = Router::new()
            .conversations(Conversations::single_user(std::sync::Arc::clone(&store)))
            .resumable(replies.join(true).abandoned(second))
            .mount(Model::new("m"), agent)
            .unwrap();
        let mut request = create("hi");
        request["stream"] = json!(true);
        let chunk = Ok::<_, std::convert::Infallible>(bytes::Bytes::from(request.to_string()));
        let post = http::Request::post(PATH).header("content-type", "application/json");
        let post = post.body(futures::stream::iter([chunk])).unwrap();
        let mut body = router.handle(post).await.into_body();
        assert!(body.next().await.is_some());
        drop(body);
        // Nobody reads any more.
        tokio::time::sleep(second * 10).await;
        assert!(store.is_empty());
    });
}
