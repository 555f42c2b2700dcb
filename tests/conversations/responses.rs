//! Responses that continue others by `previous_response_id`, and stored responses.

use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::protocol::{Confirmation, Conversation as _};
use copilot_wire::responses::{Model, Responses};
use copilot_wire::{Router, agent_fn};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{answered, bare, get, per_user, post, router, send_as, with};

const PATH: &str = "/v1/responses";

fn tools() -> Value {
    json!([{"type": "function", "name": "lookup", "parameters": {"type": "object"}}])
}

fn id(response: &Value) -> &str {
    response["id"].as_str().unwrap()
}

fn text(response: &Value) -> &str {
    let output = response["output"].as_array().unwrap();
    output.last().unwrap()["content"][0]["text"]
        .as_str()
        .unwrap()
}

fn say(router: &Router, previous: &Value, text: &str) -> Value {
    let request = json!({"input": text, "previous_response_id": id(previous)});
    answered(router, PATH, &request)
}

/// Returns the response in the last event of a stream.
fn streamed(router: &Router, request: &Value) -> Value {
    let (status, stream) = send_as(router, "", Method::POST, PATH, &request.to_string());
    assert_eq!(status, StatusCode::OK, "{stream}");
    let last = stream
        .lines()
        .rfind(|line| line.starts_with("data: {"))
        .unwrap();
    let event: Value = serde_json::from_str(&last["data: ".len()..]).unwrap();
    event["response"].clone()
}

#[test]
fn the_agent_sees_the_whole_conversation_of_a_request_with_the_new_part_only() {
    let router = router();
    let first = answered(
        &router,
        PATH,
        &json!({"instructions": "Be brief.", "input": "call", "tools": tools()}),
    );
    assert_eq!(first["store"], true);
    assert_eq!(first["previous_response_id"], Value::Null);
    let call = first["output"].as_array().unwrap().last().unwrap();
    let output =
        json!({"type": "function_call_output", "call_id": call["call_id"], "output": "high"});
    let second = streamed(
        &router,
        &json!({"stream": true, "input": [output], "tools": tools(), "previous_response_id": id(&first)}),
    );
    assert_eq!(second["previous_response_id"], first["id"]);
    assert_eq!(second["store"], true);
    // Instructions are those of each request.
    let told = "[user:call;call:lookup({\"key\":\"tide\"});result:high|lookup]";
    assert_eq!(text(&second), told);

    let third = say(&router, &second, "and now?");
    let told = "[user:call;call:lookup({\"key\":\"tide\"});result:high;assistant:[user:call;\
        call:lookup({\"key\":\"tide\"});result:high|lookup];user:and now?|]";
    assert_eq!(text(&third), told);
}

#[test]
fn a_native_agent_sees_a_request_without_an_id() {
    let agent = agent_fn(
        |request: copilot_wire::Request<Responses>, reply: copilot_wire::Reply<_>| async move {
            assert_eq!(request.previous_response_id, None);
            let text = format!("{} items", request.input.parts().len());
            Ok(reply.text(text).await?)
        },
    );
    let store = Conversations::single_user(MemoryConversationStore::new());
    let router = Router::new()
        .conversations(store)
        .mount(Model::new("m"), agent)
        .unwrap();
    let first = answered(&router, PATH, &json!({"input": "one"}));
    assert_eq!(text(&first), "0 items");
    let second = say(&router, &first, "two");
    assert_eq!(text(&second), "3 items");
}

#[test]
fn several_turns_may_continue_one() {
    let router = router();
    let first = answered(&router, PATH, &json!({"input": "root"}));
    let left = say(&router, &first, "left");
    let right = say(&router, &first, "right");
    assert!(text(&left).ends_with("user:left|]"));
    assert!(text(&right).ends_with("user:right|]"));
    assert!(!text(&right).contains("left"));
    assert!(text(&say(&router, &left, "on")).contains("user:left;"));
}

#[test]
fn a_long_conversation_is_whole_and_takes_space_in_proportion() {
    let store = std::sync::Arc::new(MemoryConversationStore::new());
    let agent = agent_fn(
        |request: copilot_wire::Request<Responses>, reply: copilot_wire::Reply<_>| async move {
            Ok(reply.text(request.history().count().to_string()).await?)
        },
    );
    let router = Router::new()
        .conversations(Conversations::single_user(std::sync::Arc::clone(&store)))
        .mount(Model::new("m"), agent)
        .unwrap();
    let mut sizes = Vec::new();
    let mut last = answered(&router, PATH, &json!({"input": "0"}));
    for turn in 1..100 {
        let before = store.size();
        last = say(&router, &last, "more");
        assert_eq!(text(&last), (2 * turn + 1).to_string());
        sizes.push(store.size() - before);
    }
    // From the 32nd turn on all are alike, but for the digits of a number.
    assert!(sizes[95] < sizes[40] + 4, "{} {}", sizes[40], sizes[95]);
}

#[test]
fn a_turn_that_failed_or_is_not_to_be_stored_cannot_be_continued() {
    let router = router();
    let unstored = answered(&router, PATH, &json!({"input": "hi", "store": false}));
    assert_eq!(unstored["store"], false);
    let failed = streamed(&router, &json!({"input": "fail", "stream": true}));
    assert_eq!(failed["status"], "failed");
    for response in [unstored, failed] {
        let request = json!({"input": "on", "previous_response_id": id(&response)});
        let (status, error) = post(&router, PATH, &request);
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(error["error"]["code"], "previous_response_not_found");
        let (status, _) = get(&router, &format!("{PATH}/{}", id(&response)));
        assert_eq!(status, StatusCode::NOT_FOUND);
    }
    // One that is not stored may continue one that is.
    let first = answered(&router, PATH, &json!({"input": "stored"}));
    let request = json!({"input": "on", "store": false, "previous_response_id": id(&first)});
    assert!(text(&answered(&router, PATH, &request)).contains("user:stored;"));
}

#[test]
fn ids_that_are_unknown_are_refused_without_running_the_agent() {
    let router = router();
    let huge = "resp_".to_owned() + &"7".repeat(1 << 20);
    let ids = [
        "resp_1",
        "",
        "resp_\u{0}\n",
        "msg_00000000000000000000000000000000o0",
        &huge,
    ];
    let ids = ids.iter().map(|id| json!(id));
    for id in ids.chain([json!(7), json!({"id": "resp_1"})]) {
        let request = json!({"input": "hi", "previous_response_id": id});
        let (status, error) = post(&router, PATH, &request);
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(error["error"]["code"], "previous_response_not_found");
        assert_eq!(error["error"]["param"], "previous_response_id");
        assert!(error.to_string().len() < 400);
    }
}

#[test]
fn a_response_of_another_user_is_unknown() {
    let router = per_user(MemoryConversationStore::new());
    let post = |user: &str, body: Value| {
        let (status, text) = send_as(&router, user, Method::POST, PATH, &body.to_string());
        (status, serde_json::from_str::<Value>(&text).unwrap())
    };
    let (_, first) = post("ann", json!({"input": "mine"}));
    assert_eq!(first["store"], true);
    let on = json!({"input": "on", "previous_response_id": id(&first)});
    let one = format!("{PATH}/{}", id(&first));
    let items = format!("{one}/input_items");
    // Without a user there is no store.
    for user in ["bob", ""] {
        let (status, error) = post(user, on.clone());
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(error["error"]["code"], "previous_response_not_found");
        for (method, path) in [
            (Method::GET, &one),
            (Method::GET, &items),
            (Method::DELETE, &one),
        ] {
            let (status, _) = send_as(&router, user, method, path, "");
            assert_eq!(status, StatusCode::NOT_FOUND);
        }
    }
    assert_eq!(post("", json!({"input": "hi"})).1["store"], false);
    assert_eq!(post("ann", on).0, StatusCode::OK);
}

#[test]
fn a_stored_response_is_read_and_deleted() {
    let router = router();
    let first = answered(
        &router,
        PATH,
        &json!({"input": [{"role": "user", "content": "one"}, {"role": "user", "content": "two", "id": "msg_own"}]}),
    );
    let one = format!("{PATH}/{}", id(&first));
    assert_eq!(get(&router, &one), (StatusCode::OK, first.clone()));

    let (_, list) = get(&router, &format!("{one}/input_items?order=asc"));
    assert_eq!(list["object"], "list");
    assert_eq!(list["data"][0]["content"][0]["text"], "one");
    assert_eq!(list["data"][0]["type"], "message");
    assert_eq!(list["data"][1]["id"], "msg_own");
    assert_eq!(
        (&list["has_more"], &list["last_id"]),
        (&json!(false), &json!("msg_own"))
    );
    let (_, page) = get(&router, &format!("{one}/input_items?limit=1"));
    assert_eq!(
        (&page["data"][0]["id"], &page["has_more"]),
        (&json!("msg_own"), &json!(true))
    );
    let (_, rest) = get(&router, &format!("{one}/input_items?limit=1&after=msg_own"));
    assert_eq!(rest["data"][0], list["data"][0]);
    for query in ["limit=0", "limit=101", "limit=x", "after=no"] {
        let (status, _) = get(&router, &format!("{one}/input_items?{query}"));
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
    }

    let second = say(&router, &first, "on");
    let (status, text) = send_as(&router, "", Method::DELETE, &one, "");
    let deleted: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        deleted,
        json!({"id": id(&first), "object": "response", "deleted": true})
    );
    assert_eq!(
        send_as(&router, "", Method::DELETE, &one, "").0,
        StatusCode::NOT_FOUND
    );
    assert_eq!(get(&router, &one).0, StatusCode::NOT_FOUND);
    // What was deleted is no part of an answer any more.
    let request = json!({"input": "on", "previous_response_id": id(&second)});
    assert_eq!(post(&router, PATH, &request).0, StatusCode::BAD_REQUEST);
}

#[test]
fn a_question_is_answered_in_a_request_with_the_answer_only() {
    let agent = agent_fn(
        |request: copilot_wire::Request<Responses>, reply: copilot_wire::Reply<_>| async move {
            match request.decision() {
                Some(answer) if answer.accepts("wipe") => Ok(reply.text("Wiped.").await?),
                _ => Ok(reply.confirm(Confirmation::new("wipe", "Wipe?", "All of it."))?),
            }
        },
    );
    let store = Conversations::single_user(MemoryConversationStore::new());
    let router = Router::new()
        .conversations(store)
        .mount(Model::new("m"), agent)
        .unwrap();
    let asked = answered(&router, PATH, &json!({"input": "wipe it"}));
    let (_, code) = text(&asked).split_once("reply: yes ").unwrap();
    let yes = format!("yes {}", &code[..6]);
    assert_eq!(text(&say(&router, &asked, &yes)), "Wiped.");
}

#[test]
fn a_conversation_beyond_its_limit_is_refused_in_words() {
    let store = MemoryConversationStore::new();
    let router = with(Conversations::single_user(store).limit(3, 1 << 20));
    let mut last = answered(&router, PATH, &json!({"input": "0"}));
    for _ in 1..3 {
        last = say(&router, &last, "more");
    }
    let request = json!({"input": "on", "previous_response_id": id(&last)});
    let (status, error) = post(&router, PATH, &request);
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(error["error"]["code"], "previous_response_not_found");
    let message = error["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("too long: send the whole conversation"),
        "{message}"
    );
}

#[test]
fn a_request_that_is_larger_than_a_conversation_is_answered_and_says_that_it_is_not_stored() {
    let store = std::sync::Arc::new(MemoryConversationStore::new());
    let conversations = Conversations::single_user(std::sync::Arc::clone(&store));
    let router = with(conversations.limit(100, 1000));
    let long = "x".repeat(1000);
    let first = answered(&router, PATH, &json!({"input": long}));
    assert_eq!(first["store"], false);
    assert!(store.is_empty());
    let thread = json!({
        "model": "m", "max_tokens": 100, "thread": {"type": "create"},
        "messages": [{"role": "user", "content": long}],
    });
    let (status, error) = post(&router, "/v1/messages", &thread);
    let code = &error["error"]["details"]["error_code"];
    assert_eq!(
        (status, code),
        (
            StatusCode::BAD_REQUEST,
            &json!("thread_unsupported_request")
        )
    );
}

#[cfg(feature = "resumable")]
#[test]
fn a_response_of_the_background_can_be_continued_when_it_has_ended() {
    use copilot_wire::replies::{MemoryReplyStore, Replies};

    let replies = Replies::single_user(MemoryReplyStore::new(), |task| {
        std::thread::spawn(move || futures::executor::block_on(task))
    });
    let router = router().resumable(replies);
    let request = json!({"input": "root", "background": true});
    let begun = answered(&router, PATH, &request);
    assert_eq!(begun["store"], true);
    let one = format!("{PATH}/{}", id(&begun));
    // At most a minute.
    let ended = (0..60_000).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        let (_, response) = get(&router, &one);
        (response["status"] == "completed").then_some(response)
    });
    assert_eq!(ended.as_ref().map(text), Some("[user:root|]"));
    assert_eq!(
        text(&say(&router, &begun, "on")),
        "[user:root;assistant:[user:root|];user:on|]"
    );
    let (_, items) = get(&router, &format!("{one}/input_items"));
    assert_eq!(items["data"][0]["content"][0]["text"], "root");
    let (status, _) = send_as(&router, "", Method::GET, &format!("{one}?stream=true"), "");
    assert_eq!(status, StatusCode::OK);
    deleted(&router, id(&begun));
}

/// Deletes a response of the background, and checks that nothing is left of it.
#[cfg(feature = "resumable")]
fn deleted(router: &Router, id: &str) {
    let one = format!("{PATH}/{id}");
    let (status, text) = send_as(router, "", Method::DELETE, &one, "");
    assert_eq!(status, StatusCode::OK, "{text}");
    for (method, path) in [
        (Method::GET, one.clone()),
        (Method::GET, format!("{one}?stream=true")),
        (Method::GET, format!("{one}/input_items")),
        (Method::POST, format!("{one}/cancel")),
        (Method::DELETE, one),
    ] {
        let (status, text) = send_as(router, "", method, &path, "");
        assert_eq!(status, StatusCode::NOT_FOUND, "{path} {text}");
    }
    let request = json!({"input": "on", "previous_response_id": id});
    assert_eq!(post(router, PATH, &request).0, StatusCode::BAD_REQUEST);
}

#[cfg(feature = "resumable")]
#[test]
fn a_response_that_is_deleted_while_it_runs_is_cancelled_and_never_stored() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use copilot_wire::replies::{MemoryReplyStore, Replies};

    let replies = Replies::single_user(MemoryReplyStore::new(), |task| {
        std::thread::spawn(move || futures::executor::block_on(task))
    });
    let (store, dropped) = (
        Arc::new(MemoryConversationStore::new()),
        Arc::new(AtomicBool::new(false)),
    );
    let router = crate::support::waiting(
        Arc::clone(&store),
        Arc::new(AtomicBool::new(true)),
        Arc::clone(&dropped),
    );
    let router = router.resumable(replies);
    let begun = answered(&router, PATH, &json!({"input": "root", "background": true}));
    // A response that runs cannot be continued.
    let request = json!({"input": "on", "previous_response_id": id(&begun)});
    let (status, error) = post(&router, PATH, &request);
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(error["error"]["code"], "previous_response_not_found");
    deleted(&router, id(&begun));
    // At most a minute.
    for _ in 0..60_000 {
        if dropped.load(Ordering::Relaxed) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(dropped.load(Ordering::Relaxed));
    assert_eq!(
        get(&router, &format!("{PATH}/{}", id(&begun))).0,
        StatusCode::NOT_FOUND
    );
    assert_eq!(post(&router, PATH, &request).0, StatusCode::BAD_REQUEST);
}

#[test]
fn without_a_store_nothing_is_stored_and_nothing_can_be_read() {
    let router = bare();
    let first = answered(&router, PATH, &json!({"input": "hi", "store": true}));
    assert_eq!(first["store"], false);
    let one = format!("{PATH}/{}", id(&first));
    for (method, path) in [
        (Method::GET, one.clone()),
        (Method::GET, format!("{one}/input_items")),
        (Method::DELETE, one),
    ] {
        assert_eq!(
            send_as(&router, "", method, &path, "").0,
            StatusCode::NOT_FOUND
        );
    }
}

#[test]
fn without_a_store_an_id_of_any_type_is_refused_in_the_same_words() {
    let refused = |id: Value| {
        post(
            &bare(),
            PATH,
            &json!({"input": "hi", "previous_response_id": id}),
        )
    };
    assert_eq!(refused(json!(7)), refused(json!("resp_1")));
}
