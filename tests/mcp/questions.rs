//! Questions: in the result, on the open stream, and in text.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use copilot_wire::Router;
use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::mcp::Mount;
use copilot_wire::protocol::{AgentError, Confirmation, Verdict, find_question};
use serde_json::{Value, json};

use crate::support::{
    agent, call, empty, in_virtual_time, json_of, messages, mount, new, new_call, post, post_new,
    read, read_until, result, seconds, text,
};

/// A router whose agent deletes something after a yes, and the number of times.
fn asking() -> (Router, Arc<AtomicUsize>) {
    let done = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&done);
    let asks = || {
        let count = Arc::clone(&count);
        agent(move |request, reply| {
            let count = Arc::clone(&count);
            async move {
                let question = Confirmation::new("delete", "Delete it?", "All 3 rows.");
                match request.decision() {
                    Some(answer) if answer.accepts("delete") => {
                        count.fetch_add(1, Ordering::SeqCst);
                        reply.text("It is deleted.").await?;
                    }
                    Some(answer) if answer.verdict == Verdict::Refused => {
                        reply.text("It stays.").await?;
                    }
                    Some(answer) if answer.verdict != Verdict::Other => {
                        reply.ask_again(answer.verdict, question).await?;
                    }
                    _ => reply.confirm(question)?,
                }
                Ok(())
            }
        })
    };
    let router = empty().mount(mount(), asks()).unwrap();
    let router = router
        .mount(Mount::new("other", "Another."), asks())
        .unwrap();
    (router, done)
}

async fn new_result(router: &Router, user: &str, call: &Value) -> Value {
    let response = post_new(router, &[("x-user", user)], call).await;
    result(&read(response.into_body()).await)
}

fn retry(state: &str, action: &str) -> Value {
    let mut call = new_call("delete");
    call["params"]["requestState"] = state.into();
    call["params"]["inputResponses"] = json!({"confirm": {"action": action, "content": {}}});
    call
}

#[test]
fn a_question_is_a_result_that_the_client_answers_with_the_same_call() {
    in_virtual_time(async {
        let (router, done) = asking();
        let asked = new_result(&router, "a", &new_call("delete")).await;
        assert_eq!(asked["resultType"], "input_required");
        assert_eq!(
            asked["inputRequests"],
            json!({"confirm": {"method": "elicitation/create", "params": {
                "mode": "form", "message": "Delete it?\n\nAll 3 rows.",
                "requestedSchema": {"type": "object", "properties": {}},
            }}})
        );
        assert!(asked.get("content").is_none(), "{asked}");
        let state = asked["requestState"].as_str().unwrap();
        let yes = new_result(&router, "a", &retry(state, "accept")).await;
        assert_eq!(
            (text(&yes), done.load(Ordering::SeqCst)),
            ("It is deleted.", 1)
        );
        // A yes counts once.
        let again = new_result(&router, "a", &retry(state, "accept")).await;
        assert_eq!(again["resultType"], "input_required");
        assert_eq!(done.load(Ordering::SeqCst), 1);
        for action in ["decline", "cancel", "ACCEPT", ""] {
            let asked = new_result(&router, "a", &new_call("delete")).await;
            let state = asked["requestState"].as_str().unwrap();
            let no = new_result(&router, "a", &retry(state, action)).await;
            assert_eq!(text(&no), "It stays.");
        }
        assert_eq!(done.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_state_is_bound_to_user_tool_arguments_and_time() {
    in_virtual_time(async {
        let (router, done) = asking();
        let state = async || {
            let asked = new_result(&router, "a", &new_call("delete")).await;
            asked["requestState"].as_str().unwrap().to_owned()
        };
        let refused = async |user: &str, call: Value| {
            let result = new_result(&router, user, &call).await;
            assert_ne!(result["content"][0]["text"], "It is deleted.", "{call}");
            assert_eq!(done.load(Ordering::SeqCst), 0, "{call}");
        };
        refused("b", retry(&state().await, "accept")).await;
        refused("", retry(&state().await, "accept")).await;
        let mut other = retry(&state().await, "accept");
        other["params"]["name"] = "other".into();
        refused("a", other).await;
        for question in ["delete all", "-delete", "Delete"] {
            let mut other = retry(&state().await, "accept");
            other["params"]["arguments"]["question"] = question.into();
            refused("a", other).await;
        }
        let real = state().await;
        let (_, code) = find_question(&real).unwrap();
        for forged in [
            real.replace(&code, "000000"),
            real.replace("(", "(x"),
            real.replace("3 rows", "30 rows"),
        ] {
            refused("a", retry(&forged, "accept")).await;
        }
        let (one, two) = (state().await, state().await);
        let (nonce, _) = one.split_once('|').unwrap();
        let (_, proof) = two.split_once('|').unwrap();
        refused("a", retry(&format!("{nonce}|{proof}"), "accept")).await;
        let stale = state().await;
        seconds(2 * 60 * 60).await;
        refused("a", retry(&stale, "accept")).await;
        // Without an answer the question is asked again.
        let mut none = retry(&state().await, "accept");
        none["params"]["inputResponses"] = json!({});
        refused("a", none).await;
    });
}

#[test]
fn a_state_that_is_not_of_this_server_is_an_error() {
    in_virtual_time(async {
        let (router, done) = asking();
        let asked = new_result(&router, "a", &new_call("delete")).await;
        let real = asked["requestState"].as_str().unwrap();
        let (_, proof) = real.split_once('|').unwrap();
        for (state, action) in [
            ("st4te", "accept"),
            ("yes", "accept"),
            (proof, "accept"),
            (&real[..real.len() - 1], "accept"),
            (&format!("{real}-more"), "accept"),
            (&format!("{real}-more"), "decline"),
            (&format!("x{real}"), "accept"),
        ] {
            let call = retry(state, action);
            let response = post_new(&router, &[("x-user", "a")], &call).await;
            assert_eq!(response.status(), 400, "{state}");
            assert_eq!(json_of(response).await["error"]["code"], -32602, "{state}");
        }
        assert_eq!(done.load(Ordering::SeqCst), 0);
        let yes = new_result(&router, "a", &retry(real, "accept")).await;
        assert_eq!(text(&yes), "It is deleted.");
    });
}

#[test]
fn calls_with_the_same_arguments_ask_questions_of_their_own() {
    in_virtual_time(async {
        let (router, done) = asking();
        let mut states = Vec::new();
        for _ in 0..3 {
            let asked = new_result(&router, "a", &new_call("delete")).await;
            states.push(asked["requestState"].as_str().unwrap().to_owned());
        }
        for (count, state) in states.iter().enumerate() {
            let yes = new_result(&router, "a", &retry(state, "accept")).await;
            assert_eq!(text(&yes), "It is deleted.");
            assert_eq!(done.load(Ordering::SeqCst), count + 1);
        }
    });
}

/// Begins a session of a client that asks questions.
async fn session(router: &Router, capabilities: Value) -> String {
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities});
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let response = post(router, &[], &body).await;
    let session = response.headers()["mcp-session-id"].to_str().unwrap();
    session.to_owned()
}

async fn answer(router: &Router, user: &str, id: &Value, action: &str) {
    let body = json!({"jsonrpc": "2.0", "id": id, "result": {"action": action}});
    let response = post(router, &[("x-user", user)], &body).await;
    assert_eq!(response.status(), 202);
}

#[test]
fn in_a_session_a_question_is_answered_while_the_stream_is_open() {
    in_virtual_time(async {
        let (router, done) = asking();
        let session = session(&router, json!({"elicitation": {}})).await;
        let headers = [("mcp-session-id", &*session), ("x-user", "a")];
        for (action, expected, count) in [
            ("accept", "It is deleted.", 1),
            ("decline", "It stays.", 1),
            ("cancel", "It stays.", 1),
            ("accept", "It is deleted.", 2),
        ] {
            let mut body = post(&router, &headers, &call("delete")).await.into_body();
            let begun = read_until(&mut body, "elicitation/create").await;
            let question = messages(&begun).pop().unwrap();
            assert_eq!(question["params"]["message"], "Delete it?\n\nAll 3 rows.");
            let id = &question["id"];
            assert!(id.as_str().unwrap().len() >= 32, "{id}");
            // Somebody else, and another question.
            answer(&router, "b", id, "accept").await;
            answer(&router, "a", &json!("cw-0"), "accept").await;
            assert!(done.load(Ordering::SeqCst) < count || action != "accept");
            answer(&router, "a", id, action).await;
            // Once more: it is over.
            answer(&router, "a", id, "accept").await;
            let stream = begun + &read(body).await;
            assert_eq!(text(&result(&stream)), expected, "{stream}");
            assert_eq!(messages(&stream).last().unwrap()["id"], 1);
            assert_eq!(done.load(Ordering::SeqCst), count);
        }
    });
}

#[test]
fn a_client_that_fails_to_ask_has_refused() {
    in_virtual_time(async {
        let (router, done) = asking();
        let session = session(&router, json!({"elicitation": {"form": {}}})).await;
        let headers = [("mcp-session-id", &*session)];
        let mut body = post(&router, &headers, &call("delete")).await.into_body();
        let begun = read_until(&mut body, "elicitation/create").await;
        let id = messages(&begun).pop().unwrap()["id"].clone();
        let failed = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": ""}});
        post(&router, &[], &failed).await;
        assert_eq!(text(&result(&read(body).await)), "It stays.");
        assert_eq!(done.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn an_agent_that_fails_after_its_question_waits_for_no_answer() {
    in_virtual_time(async {
        let fails = agent(|_, reply| async move {
            reply.confirm(Confirmation::new("delete", "Delete it?", "All 3 rows."))?;
            Err(AgentError::new("It is broken."))
        });
        let router = empty().mount(mount(), fails).unwrap();
        let session = session(&router, json!({"elicitation": {}})).await;
        let headers = [("mcp-session-id", &*session)];
        let body = post(&router, &headers, &call("delete")).await.into_body();
        let stream = tokio::time::timeout(Duration::from_secs(1), read(body)).await;
        assert_eq!(messages(&stream.unwrap()).last().unwrap()["id"], 1);
    });
}

#[test]
fn a_question_that_nobody_answers_ends_with_the_server() {
    in_virtual_time(async {
        let (router, done) = asking();
        let session = session(&router, json!({"elicitation": {}})).await;
        let headers = [("mcp-session-id", &*session)];
        let mut body = post(&router, &headers, &call("delete")).await.into_body();
        let begun = read_until(&mut body, "elicitation/create").await;
        let (stream, ()) = futures::join!(read(body), router.drain(seconds(40)));
        assert!(stream.contains("notifications/progress"), "{stream}");
        let result = result(&stream);
        assert_eq!(result["isError"], true, "{begun}{stream}");
        assert_eq!(done.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn a_client_that_left_is_not_asked_any_more() {
    in_virtual_time(async {
        let (router, done) = asking();
        let session = session(&router, json!({"elicitation": {}})).await;
        let headers = [("mcp-session-id", &*session)];
        let mut body = post(&router, &headers, &call("delete")).await.into_body();
        let begun = read_until(&mut body, "elicitation/create").await;
        let id = messages(&begun).pop().unwrap()["id"].clone();
        drop(body);
        answer(&router, "", &id, "accept").await;
        assert_eq!(done.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn without_dialogs_and_conversations_nothing_is_done() {
    in_virtual_time(async {
        let (router, done) = asking();
        let session = session(&router, json!({"elicitation": {"url": {}}})).await;
        for headers in [vec![], vec![("mcp-session-id", &*session)]] {
            let response = post(&router, &headers, &call("delete")).await;
            let result = result(&read(response.into_body()).await);
            let text = text(&result);
            assert!(
                text.contains("Delete it?") && text.contains("nothing was done"),
                "{text}"
            );
            assert!(find_question(text).is_none());
        }
        let mut unable = new_call("delete");
        unable["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let result = new_result(&router, "a", &unable).await;
        assert!(text(&result).contains("nothing was done"));
        assert_eq!(done.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn with_conversations_a_question_in_text_is_answered_by_the_next_call() {
    in_virtual_time(async {
        let (router, done) = asking();
        let store = MemoryConversationStore::new();
        let router = router.conversations(Conversations::single_user(store));
        let asked = post(&router, &[], &call("delete")).await;
        let asked = result(&read(asked.into_body()).await);
        let (id, code) = find_question(text(&asked)).unwrap();
        assert_eq!(id, "delete");
        let (_, rest) = text(&asked).split_once("`conversation`: \"").unwrap();
        let handle = rest.split('"').next().unwrap();
        let mut yes = call(&format!("yes {code}"));
        yes["params"]["arguments"]["conversation"] = handle.into();
        let answered = post(&router, &[], &yes).await;
        let answered = result(&read(answered.into_body()).await);
        assert!(text(&answered).starts_with("It is deleted."), "{answered}");
        assert_eq!(done.load(Ordering::SeqCst), 1);
        let again = post(&router, &[], &yes).await;
        read(again.into_body()).await;
        assert_eq!(done.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_list_of_tools_needs_no_capability() {
    in_virtual_time(async {
        let (router, _) = asking();
        let listed = post_new(&router, &[], &new("tools/list", json!({}))).await;
        let listed = json_of(listed).await;
        assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 2);
    });
}

#[test]
fn a_question_shows_every_character_of_its_text() {
    in_virtual_time(async {
        let asks = agent(|_, reply| async move {
            let message = "ls\u{1b}[8m\u{202e}\n\n<b>rm</b>";
            Ok(reply.confirm(Confirmation::new("q", "Run?", message))?)
        });
        let router = empty().mount(mount(), asks).unwrap();
        let asked = new_result(&router, "a", &new_call("delete")).await;
        let message = &asked["inputRequests"]["confirm"]["params"]["message"];
        assert_eq!(
            message,
            "Run?\n\nls（U＋001B）［8m（U＋202E）\n＜b＞rm＜/b＞"
        );
    });
}

#[test]
fn the_call_with_the_answer_is_of_the_same_conversation() {
    for stores in [false, true] {
        in_virtual_time(async {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let ids = Arc::clone(&seen);
            let asks = agent(move |request, reply| {
                let id = request.conversation_id().map(|id| id.into_owned());
                ids.lock().unwrap().push(id.unwrap());
                async move {
                    match request.decision() {
                        None => reply.confirm(Confirmation::new("go", "Go on?", ""))?,
                        Some(_) => reply.text("Gone.").await?,
                    }
                    Ok(())
                }
            });
            let mut router = empty().mount(mount(), asks).unwrap();
            if stores {
                let store = MemoryConversationStore::new();
                router = router.conversations(Conversations::per_user(store));
            }
            for _ in 0..2 {
                let asked = new_result(&router, "a", &new_call("delete")).await;
                let state = asked["requestState"].as_str().unwrap();
                let yes = new_result(&router, "a", &retry(state, "accept")).await;
                assert!(text(&yes).starts_with("Gone."), "{yes}");
            }
            let seen = seen.lock().unwrap();
            let [one, answered, two, again] = &**seen else {
                panic!("{seen:?}");
            };
            assert_eq!((one, two), (answered, again));
            assert_ne!(one, two);
        });
    }
}
