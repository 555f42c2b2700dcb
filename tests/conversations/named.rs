//! Conversations with an id of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::protocol::{Conversation as _, Env};
use copilot_wire::responses::{Model, Responses};
use copilot_wire::{Reply, Request, Router, agent_fn};
use futures::executor::block_on;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::exchange;
use crate::support::{
    Clock, HOUR, answered, bare, get, per_user, post, router, send_as, waiting, with,
};

const PATH: &str = "/v1/responses";
const ALL: &str = "/v1/conversations";

fn id(of: &Value) -> &str {
    of["id"].as_str().unwrap()
}

fn text(response: &Value) -> &str {
    let output = response["output"].as_array().unwrap();
    output.last().unwrap()["content"][0]["text"]
        .as_str()
        .unwrap()
}

fn create(router: &Router) -> String {
    id(&answered(router, ALL, &json!({}))).to_owned()
}

fn say(router: &Router, conversation: &str, input: &str) -> Value {
    let request = json!({"conversation": conversation, "input": input});
    answered(router, PATH, &request)
}

fn delete(router: &Router, path: &str) -> (StatusCode, Value) {
    let (status, text) = send_as(router, "", Method::DELETE, path, "");
    (status, serde_json::from_str(&text).unwrap())
}

/// Returns the texts and types of all items, in order.
fn items(router: &Router, conversation: &str) -> Vec<String> {
    let (status, list) = get(
        router,
        &format!("{ALL}/{conversation}/items?order=asc&limit=100"),
    );
    assert_eq!(status, StatusCode::OK, "{list}");
    let items = list["data"].as_array().unwrap().iter();
    let items = items.map(|item| match item["content"][0]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => item["type"].as_str().unwrap().to_owned(),
    });
    items.collect()
}

#[test]
fn a_turn_continues_its_conversation_and_is_added_to_it() {
    let router = router();
    let metadata = json!({"topic": "tides"});
    let begin = json!({"metadata": metadata, "items": [{"role": "user", "content": "first"}]});
    let conversation = answered(&router, ALL, &begin);
    assert_eq!(conversation["object"], "conversation");
    assert_eq!(conversation["metadata"], metadata);
    assert!(conversation["created_at"].is_u64());
    let name = id(&conversation);
    assert!(name.starts_with("conv_"));

    let tools = json!([{"type": "function", "name": "lookup", "parameters": {"type": "object"}}]);
    let called = answered(
        &router,
        PATH,
        &json!({"conversation": {"id": name}, "input": "call", "tools": tools}),
    );
    assert_eq!(called["conversation"], json!({"id": name}));
    assert_eq!(called["previous_response_id"], Value::Null);
    let call = called["output"].as_array().unwrap().last().unwrap();
    let output =
        json!({"type": "function_call_output", "call_id": call["call_id"], "output": "high"});
    let told = answered(
        &router,
        PATH,
        &json!({"conversation": name, "input": [output]}),
    );
    let seen = "[user:first;user:call;call:lookup({\"key\":\"tide\"});result:high|]";
    assert_eq!(text(&told), seen);
    let more = say(&router, name, "and now?");
    assert!(text(&more).ends_with(";user:and now?|]"));
    assert_eq!(
        items(&router, name),
        [
            "first",
            "call",
            "reasoning",
            "function_call",
            "function_call_output",
            seen,
            "and now?",
            text(&more)
        ]
    );
    assert_eq!(
        get(&router, &format!("{ALL}/{name}")),
        (StatusCode::OK, conversation.clone())
    );
    // A response of a conversation can be read, and continued beside the conversation.
    assert_eq!(
        get(&router, &format!("{PATH}/{}", id(&told))),
        (StatusCode::OK, told.clone())
    );
    let beside = json!({"previous_response_id": id(&told), "input": "beside"});
    let beside = answered(&router, PATH, &beside);
    assert!(text(&beside).starts_with("[user:first;user:call;"));
    assert!(text(&beside).ends_with(";user:beside|]"));
    assert_eq!(items(&router, name).len(), 8);
}

#[test]
fn the_conversation_is_a_key_for_the_agent_unless_there_is_another() {
    let agent = agent_fn(|request: Request<Responses>, reply: Reply<_>| async move {
        assert_eq!(request.conversation, None);
        let key = request.conversation_id().unwrap_or_default().into_owned();
        Ok(reply.text(key).await?)
    });
    let store = Conversations::single_user(MemoryConversationStore::new());
    let router = Router::new().conversations(store);
    let router = router.mount(Model::new("m"), agent).unwrap();
    let name = create(&router);
    assert_eq!(text(&say(&router, &name, "hi")), name);
    let request = json!({"conversation": {"id": name}, "input": "hi", "prompt_cache_key": "k"});
    assert_eq!(text(&answered(&router, PATH, &request)), "k");
}

#[test]
fn items_are_added_read_and_deleted() {
    let router = router();
    let name = create(&router);
    let path = format!("{ALL}/{name}/items");
    let added = answered(
        &router,
        &path,
        &json!({"items": [
            {"role": "user", "content": "one"},
            {"type": "message", "role": "assistant", "id": "msg_own", "content": [{"type": "output_text", "text": "two"}]},
        ]}),
    );
    assert_eq!(added["object"], "list");
    assert_eq!(added["last_id"], "msg_own");
    let first = &added["data"][0];
    // Clients expect parts, a type and a status.
    assert_eq!(
        first["content"],
        json!([{"type": "input_text", "text": "one"}])
    );
    assert_eq!(
        (&first["type"], &first["status"]),
        (&json!("message"), &json!("completed"))
    );
    let one = format!("{path}/{}", id(first));
    assert_eq!(get(&router, &one), (StatusCode::OK, first.clone()));

    assert_eq!(
        text(&say(&router, &name, "on")),
        "[user:one;assistant:two;user:on|]"
    );
    let (status, conversation) = delete(&router, &format!("{path}/msg_own"));
    assert_eq!((status, id(&conversation)), (StatusCode::OK, &*name));
    assert_eq!(
        delete(&router, &format!("{path}/msg_own")).0,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        get(&router, &format!("{path}/msg_own")).0,
        StatusCode::NOT_FOUND
    );
    let last = say(&router, &name, "again");
    assert!(
        text(&last).starts_with("[user:one;user:on;assistant:"),
        "{last}"
    );
    // The last one can be taken back.
    let (_, list) = get(&router, &format!("{path}?limit=1"));
    assert_eq!(list["data"][0]["id"], last["output"][0]["id"]);
    delete(
        &router,
        &format!("{path}/{}", list["last_id"].as_str().unwrap()),
    );
    assert_eq!(items(&router, &name).last().unwrap(), "again");

    for body in [
        json!({}),
        json!({"items": []}),
        json!({"items": "hi"}),
        json!({"items": [7]}),
        json!({"items": [{}]}),
        json!({"items": [{"type": "item_reference", "id": "msg_own"}]}),
        json!({"items": [first]}),
        json!([]),
    ] {
        let (status, error) = post(&router, &path, &body);
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        assert_eq!(error["error"]["type"], "invalid_request_error");
    }
    assert_eq!(items(&router, &name).len(), 4);
}

#[test]
fn an_item_may_be_added_again_after_it_was_deleted_and_not_before() {
    let router = router();
    let name = create(&router);
    let path = format!("{ALL}/{name}/items");
    let item = json!({"role": "user", "content": "one"});
    let added = answered(&router, &path, &json!({"items": [item]}));
    let listed = added["data"][0].clone();
    // Its id comes from this server: said again it is refused, as at the official service.
    let request = json!({"conversation": &name, "input": [listed]});
    assert_eq!(post(&router, PATH, &request).0, StatusCode::BAD_REQUEST);
    delete(&router, &format!("{path}/{}", id(&listed)));
    assert_eq!(items(&router, &name), [""; 0]);
    answered(&router, &path, &json!({"items": [listed]}));
    assert_eq!(items(&router, &name), ["one"]);
    delete(&router, &format!("{path}/{}", id(&listed)));
    assert_eq!(items(&router, &name), [""; 0]);
}

#[test]
fn a_branch_keeps_no_part_of_a_conversation() {
    let clock = Clock::new();
    let store = MemoryConversationStore::new().env(Env::new(clock.clone()));
    let router = with(Conversations::single_user(store).keep(HOUR));
    let name = create(&router);
    let first = say(&router, &name, "one");
    say(&router, &name, "two");
    clock.advance(HOUR / 2);
    // The branch has entries of the conversation before it, and so have reads of its responses.
    let request = json!({"previous_response_id": id(&first), "input": "branch"});
    answered(&router, PATH, &request);
    get(&router, &format!("{PATH}/{}", id(&first)));
    clock.advance(HOUR / 2);
    // It has expired as a whole, and has not lost its end.
    let request = json!({"conversation": &name, "input": "three"});
    assert_eq!(post(&router, PATH, &request).0, StatusCode::NOT_FOUND);
}

#[test]
fn metadata_are_replaced_as_a_whole_or_not_at_all() {
    let router = router();
    let name = create(&router);
    let one = format!("{ALL}/{name}");
    let update = |metadata: Value| post(&router, &one, &json!({"metadata": metadata}));
    assert_eq!(update(json!({"a": "1"})).1["metadata"], json!({"a": "1"}));
    assert_eq!(update(json!({"b": "2"})).1["metadata"], json!({"b": "2"}));
    let many: serde_json::Map<_, _> = (0..17).map(|at| (at.to_string(), json!("x"))).collect();
    for odd in [
        json!(7),
        json!({"a": 1}),
        json!({"a": "x".repeat(513)}),
        json!(many),
    ] {
        let (status, error) = update(odd.clone());
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(error["error"]["param"], "metadata");
        let (status, _) = post(&router, ALL, &json!({"metadata": odd}));
        assert_eq!(status, StatusCode::BAD_REQUEST);
    }
    assert_eq!(get(&router, &one).1["metadata"], json!({"b": "2"}));
    assert_eq!(update(Value::Null).1["metadata"], json!({}));
}

#[test]
fn a_deleted_conversation_is_unknown_and_its_responses_are_not() {
    let router = router();
    let name = create(&router);
    let said = say(&router, &name, "hi");
    let one = format!("{ALL}/{name}");
    let deleted = json!({"id": name, "object": "conversation.deleted", "deleted": true});
    assert_eq!(delete(&router, &one), (StatusCode::OK, deleted));
    assert_eq!(delete(&router, &one).0, StatusCode::NOT_FOUND);
    assert_eq!(get(&router, &one).0, StatusCode::NOT_FOUND);
    let (status, error) = post(&router, PATH, &json!({"conversation": name, "input": "on"}));
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(error["error"]["code"], "conversation_not_found");
    assert_eq!(
        get(&router, &format!("{PATH}/{}", id(&said))),
        (StatusCode::OK, said)
    );
}

#[test]
fn a_second_turn_in_a_conversation_is_refused_until_the_first_has_ended() {
    let waits = Arc::new(AtomicBool::new(true));
    let router = waiting(Arc::default(), Arc::clone(&waits), Arc::default());
    let name = create(&router);
    let begin = |input: &str| {
        let request = http::Request::builder().method(Method::POST).uri(PATH);
        let body = json!({"conversation": name, "input": input, "stream": true}).to_string();
        exchange::send(&router, request, body).into_body()
    };
    let mut running = begin("one");
    assert!(block_on(futures::StreamExt::next(&mut running)).is_some());
    let second = json!({"conversation": name, "input": "two"});
    let (status, error) = post(&router, PATH, &second);
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(error["error"]["code"], "conversation_locked");
    assert_eq!(error["error"]["param"], "conversation");
    // Counting its tokens is no turn.
    let count = |router| answered(router, &format!("{PATH}/input_tokens"), &second);
    assert!(count(&router)["input_tokens"].is_u64());
    waits.store(false, Ordering::Relaxed);
    // Another conversation is not concerned.
    say(&router, &create(&router), "hi");
    exchange::whole(running);
    let answer = answered(&router, PATH, &second);
    assert!(text(&answer).contains("user:one;assistant:"), "{answer}");
    // Neither is one whose client has left: its turn adds nothing.
    waits.store(true, Ordering::Relaxed);
    drop(begin("gone"));
    waits.store(false, Ordering::Relaxed);
    assert!(!text(&say(&router, &name, "three")).contains("gone"));
    // Nor one whose turn has failed.
    let request = json!({"conversation": name, "input": "fail"});
    assert_eq!(post(&router, PATH, &request).0, StatusCode::BAD_REQUEST);
    assert!(!text(&say(&router, &name, "four")).contains("fail"));
}

#[test]
fn turns_of_two_servers_are_added_one_after_the_other() {
    let store = Arc::new(MemoryConversationStore::new());
    let other = with(Conversations::single_user(Arc::clone(&store)));
    let name = create(&other);
    let inner = (other, name.clone());
    let is_second = AtomicBool::new(false);
    let agent = agent_fn(move |request: Request<Responses>, reply: Reply<_>| {
        // While this turn runs, another server answers one.
        if !is_second.swap(true, Ordering::Relaxed) {
            let (router, name) = inner.clone();
            let said = std::thread::spawn(move || say(&router, &name, "between"));
            said.join().unwrap();
        }
        let count = request.history().count();
        async move { Ok(reply.text(count.to_string()).await?) }
    });
    let one = Router::new()
        .conversations(Conversations::single_user(store))
        .mount(Model::new("m"), agent)
        .unwrap();
    assert_eq!(text(&say(&one, &name, "outer")), "1");
    assert_eq!(
        items(&one, &name),
        ["between", "[user:between|]", "outer", "1"]
    );
    assert_eq!(text(&say(&one, &name, "after")), "5");
}

#[test]
fn conversations_of_others_and_without_a_store_are_unknown() {
    let router = per_user(MemoryConversationStore::new());
    let ask = |user: &str, method: Method, path: &str, body: &Value| {
        let (status, text) = send_as(&router, user, method, path, &body.to_string());
        (status, serde_json::from_str::<Value>(&text).unwrap())
    };
    let name = id(&ask("ann", Method::POST, ALL, &json!({})).1).to_owned();
    let one = format!("{ALL}/{name}");
    let turn = json!({"conversation": name, "input": "hi"});
    let answer = ask("ann", Method::POST, PATH, &turn).1;
    let items = format!("{one}/items");
    let item = format!("{items}/{}", answer["output"][0]["id"].as_str().unwrap());
    let list = json!({"items": [{"role": "user", "content": "x"}]});
    for user in ["bob", ""] {
        for (method, path) in [
            (Method::GET, &one),
            (Method::POST, &one),
            (Method::DELETE, &one),
            (Method::GET, &items),
            (Method::POST, &items),
            (Method::GET, &item),
            (Method::DELETE, &item),
        ] {
            let (status, _) = ask(user, method.clone(), path, &list);
            assert_eq!(status, StatusCode::NOT_FOUND, "{method} {path}");
        }
    }
    assert_eq!(
        ask("bob", Method::POST, PATH, &turn).0,
        StatusCode::NOT_FOUND
    );
    // Without a user there is no store, and its words are those of a server without one.
    let (status, error) = ask("", Method::POST, PATH, &turn);
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!((status, error), post(&bare(), PATH, &turn));
    assert_eq!(
        ask("", Method::POST, ALL, &json!({})).0,
        StatusCode::NOT_FOUND
    );
    assert_eq!(ask("ann", Method::GET, &item, &json!({})).0, StatusCode::OK);
}

#[test]
fn odd_ids_are_refused_without_running_the_agent() {
    let router = router();
    let name = create(&router);
    let huge = "conv_".to_owned() + &"7".repeat(1 << 20);
    for (odd, status) in [
        (json!("conv_1"), StatusCode::NOT_FOUND),
        (json!(""), StatusCode::NOT_FOUND),
        (json!(huge), StatusCode::NOT_FOUND),
        (json!(format!("{name}/0")), StatusCode::NOT_FOUND),
        (json!({"id": "conv_1"}), StatusCode::NOT_FOUND),
        (json!(7), StatusCode::BAD_REQUEST),
        (json!({}), StatusCode::BAD_REQUEST),
        (json!([name]), StatusCode::BAD_REQUEST),
    ] {
        let (found, error) = post(&router, PATH, &json!({"conversation": odd, "input": "hi"}));
        assert_eq!(found, status, "{error}");
        assert_eq!(error["error"]["param"], "conversation");
        assert!(error.to_string().len() < 400);
    }
    let both = json!({"conversation": name, "previous_response_id": "resp_1", "input": "hi"});
    let (status, error) = post(&router, PATH, &both);
    assert_eq!(
        (status, &error["error"]["param"]),
        (StatusCode::BAD_REQUEST, &json!("conversation"))
    );
    assert!(items(&router, &name).is_empty());
}

#[test]
fn an_item_of_the_conversation_is_not_said_twice() {
    let router = router();
    let name = create(&router);
    let first = say(&router, &name, "hi");
    let item = first["output"].as_array().unwrap().last().unwrap();
    let reference = json!({"type": "item_reference", "id": item["id"]});
    let user = json!({"role": "user", "content": "on"});
    for link in [
        json!({"conversation": name}),
        json!({"previous_response_id": first["id"]}),
    ] {
        let request = |input: Value| {
            let mut request = link.clone();
            request["input"] = input;
            request
        };
        let (status, error) = post(&router, PATH, &request(json!([item, user])));
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(error["error"]["param"], "input[0]");
        let answer = answered(&router, PATH, &request(json!([reference, user])));
        assert_eq!(text(&answer).matches("assistant:").count(), 1);
    }
}

#[test]
fn a_turn_that_is_not_to_be_stored_is_added_but_not_found_by_its_own_id() {
    let router = router();
    let name = create(&router);
    let request = json!({"conversation": name, "input": "hi", "store": false});
    let said = answered(&router, PATH, &request);
    assert_eq!(said["store"], false);
    assert_eq!(
        get(&router, &format!("{PATH}/{}", id(&said))).0,
        StatusCode::NOT_FOUND
    );
    assert_eq!(items(&router, &name), ["hi", "[user:hi|]"]);
}

#[test]
fn a_conversation_is_bounded() {
    let store = Arc::new(MemoryConversationStore::new());
    let router = with(Conversations::single_user(Arc::clone(&store)).limit(6, 4000));
    let name = create(&router);
    let items = format!("{ALL}/{name}/items");
    let long = "x".repeat(5000);
    let size = store.size();
    for (path, body) in [
        (PATH, json!({"conversation": name, "input": long})),
        (
            &*items,
            json!({"items": [{"role": "user", "content": long}]}),
        ),
        (ALL, json!({"items": [{"role": "user", "content": long}]})),
    ] {
        let (status, error) = post(&router, path, &body);
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(error["error"]["code"], "context_length_exceeded");
    }
    assert_eq!(store.size(), size);
    let user = json!({"items": [{"role": "user", "content": "hi"}]});
    for _ in 0..5 {
        answered(&router, &items, &user);
    }
    let turn = json!({"conversation": name, "input": "on"});
    for (path, body) in [(&*items, &user), (PATH, &turn)] {
        let (status, error) = post(&router, path, body);
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(error["error"]["code"], "context_length_exceeded");
    }
    assert_eq!(delete(&router, &format!("{ALL}/{name}")).0, StatusCode::OK);
}

#[test]
fn a_long_conversation_is_read_whole() {
    let router = router();
    let name = create(&router);
    let path = format!("{ALL}/{name}/items");
    for at in 0..100 {
        let user = json!({"items": [{"role": "user", "content": at.to_string()}]});
        answered(&router, &path, &user);
    }
    let all: Vec<_> = (0..100).map(|at| at.to_string()).collect();
    assert_eq!(items(&router, &name), all);
    assert_eq!(
        text(&say(&router, &name, "on")).matches("user:").count(),
        101
    );
}

#[test]
fn a_conversation_that_has_lost_an_entry_is_unknown() {
    let mut unknown = 0;
    for others in (0..40).step_by(2) {
        // Records take the place of those that expire first.
        let store = MemoryConversationStore::new().user_limit(30_000);
        let router = with(Conversations::single_user(store));
        let name = create(&router);
        for at in 0..10 {
            let user = json!({"items": [{"role": "user", "content": at.to_string()}]});
            answered(&router, &format!("{ALL}/{name}/items"), &user);
        }
        for _ in 0..others {
            answered(&router, PATH, &json!({"input": "x".repeat(300)}));
        }
        match get(&router, &format!("{ALL}/{name}/items")) {
            // All of it or nothing.
            (StatusCode::OK, list) => assert_eq!(list["data"].as_array().unwrap().len(), 10),
            (status, error) => {
                assert_eq!(status, StatusCode::NOT_FOUND, "{error}");
                unknown += 1;
            }
        }
    }
    assert!((5..20).contains(&unknown), "{unknown}");
}
