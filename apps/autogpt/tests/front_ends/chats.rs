//! The requests of one conversation are recognized.

use std::collections::HashSet;

use serde_json::json;

use crate::bench::Bench;
use crate::chat::{Chat, FRONTS, Front};
use crate::scripted::command;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.replies((0..9).map(|number| command("effect", &format!(r#"{{"number":{number}}}"#))));
    bench
}

#[tokio::test]
async fn another_user_cannot_approve() {
    for front in FRONTS {
        let bench = bench();
        let mut chat = Chat::new(&bench, front).with_key("Bearer one");
        chat.say("make an effect").await;
        for other in ["Bearer two", "Bearer "] {
            let mut other = chat.clone().with_key(other);
            let said = other.decide(true).await;
            assert!(said.contains("no question to answer"), "{front:?}: {said}");
        }
        assert_eq!(bench.runs(), 0, "{front:?}");
        // Their answers have not used the question up.
        chat.decide(true).await;
        assert_eq!(bench.runs(), 1, "{front:?}");
    }
}

/// Checks that chats of two front ends differ. Chat ids come from the client, so each front end has
/// its own.
#[tokio::test]
async fn front_ends_share_no_chat() {
    let bench = bench();
    let mut questions = HashSet::new();
    for front in FRONTS {
        let mut chat = Chat::new(&bench, front);
        chat.say("make an effect").await;
        questions.insert(chat.question());
    }
    assert_eq!(questions.len(), FRONTS.len());
}

/// Checks clients without chat ids: two chats with the same start are one, and the later has the
/// run.
#[tokio::test]
async fn a_chat_that_begins_anew_has_a_run_of_its_own() {
    for front in FRONTS {
        let bench = bench();
        let mut old = Chat::new(&bench, front);
        old.say("make an effect").await;
        old.say("make it small").await;
        let mut new = Chat::new(&bench, front);
        new.say("make an effect").await;
        assert!(new.question().starts_with("run1."), "{front:?}");
        let said = match front {
            Front::GitHub => old.decide(true).await,
            _ => old.say(&format!("{} -2", old.yes())).await,
        };
        assert!(said.contains("no longer open"), "{front:?}: {said}");
        assert_eq!(bench.runs(), 0, "{front:?}");
        new.decide(true).await;
        assert_eq!(bench.runs(), 1, "{front:?}");
    }
}

/// Instructions before the first message, which clients change at will, are no part of a chat.
#[tokio::test]
async fn a_chat_of_openai_is_known_by_its_first_message() {
    let bench = bench();
    let mut chat = Chat::new(&bench, Front::OpenAi);
    chat.messages
        .push(json!({"role": "system", "content": "It is noon."}));
    chat.say("make an effect").await;
    chat.messages[0] = json!({"role": "system", "content": "It is one."});
    chat.decide(true).await;
    assert_eq!(bench.runs(), 1);
}

/// Checks a single user message after a summary, which the Workspace makes of long chats. It does
/// not open a chat.
#[tokio::test]
async fn a_summary_is_no_beginning() {
    let bench = bench();
    let mut chat = Chat::new(&bench, Front::OpenBb);
    chat.say("make an effect").await;
    let asked = chat.question();
    chat.messages = vec![json!({"role": "summary", "content": "The user wants an effect."})];
    chat.say("what was the question?").await;
    assert!(chat.question().starts_with("run0."));
    assert_ne!(chat.question(), asked, "it was feedback");
}

/// Checks that a client that does not stream gets the same reply.
#[tokio::test]
async fn a_client_that_does_not_stream_is_answered() {
    let bench = bench();
    let body = json!({"model": "autogpt", "messages": [{"role": "user", "content": "go"}]});
    let headers = http::HeaderMap::new();
    let path = "/v1/chat/completions";
    let response = bench.post(path, &headers, &body.to_string()).await;
    let body = crate::chat::read(response.into_body()).await;
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    let said = body["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(said.contains(" (run0.0."), "{said}");
}

/// Checks that GitHub's route rejects unsigned requests.
#[tokio::test]
async fn a_request_without_a_signature_is_refused() {
    let bench = bench();
    let mut headers = http::HeaderMap::new();
    headers.insert("x-github-public-key-signature", "".parse().unwrap());
    let body = json!({"messages": [{"role": "user", "content": "go"}]}).to_string();
    let response = bench.post("/github?x", &headers, &body).await;
    assert_eq!(response.status(), http::StatusCode::UNAUTHORIZED);
}
