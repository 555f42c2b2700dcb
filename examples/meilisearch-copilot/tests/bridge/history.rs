//! Tests of the stored turns of a conversation.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use copilot_wire::meilisearch::{ChatRequest, Message, ToolCall};
use meilisearch_copilot::replay::{Recordings, Step};
use meilisearch_copilot::{Memory, Store, Turn};
use serde_json::Value;

use crate::support::*;

#[tokio::test]
async fn what_was_found_survives_the_next_turn() {
    let (script, asked) = listening();
    let setup = Setup::new(script).await;
    let first = "Which films are about robots?";
    let shown = setup.openbb("one", &[("human", first)]).await;
    assert_eq!(setup.store.len(), 1);
    let next = [
        ("human", first),
        ("ai", &*shown),
        ("human", "Which is the oldest?"),
    ];
    setup.openbb("one", &next).await;
    // The store of another conversation has nothing.
    setup.openbb("two", &next).await;
    // What the user changed is another turn.
    let edited = [
        ("human", "Which films are about dreams?"),
        ("ai", &*shown),
        ("human", "Which is the oldest?"),
    ];
    setup.openbb("one", &edited).await;

    let asked = asked.lock().unwrap();
    assert_eq!(roles(&asked[0]), ["user"]);
    assert_eq!(
        roles(&asked[1]),
        ["user", "assistant", "tool", "assistant", "user"]
    );
    assert_eq!(roles(&asked[2]), ["user", "assistant", "user"]);
    assert_eq!(asked[2][1]["content"], shown);
    assert_eq!(roles(&asked[3]), ["user", "assistant", "user"]);
    let mut recorded: Value = serde_json::from_str(include_str!(
        "../../../../fixtures/meilisearch/request_follow_up.json"
    ))
    .unwrap();
    // The recorded client joined the rounds without a break.
    let text = recorded["messages"][3]["content"].as_str().unwrap();
    recorded["messages"][3]["content"] = text.replace("now.Here", "now.\n\nHere").into();
    for place in 0..4 {
        assert_eq!(asked[1][place], recorded["messages"][place]);
    }
}

#[tokio::test]
async fn a_turn_that_broke_off_leaves_a_sound_history() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    let script = move |chat: &ChatRequest| {
        heard
            .lock()
            .unwrap()
            .push(serde_json::to_value(&chat.messages).unwrap());
        // Ends behind the assistant's call, before its result.
        let frames =
            Recordings::frames(Recordings::stream("search_all_tools").unwrap(), chat.tools);
        Ok(frames.take(8).map(Step::Send).collect())
    };
    let setup = Setup::new(script).await;
    let shown = setup.openbb("one", &[("human", "a")]).await;
    setup
        .openbb("one", &[("human", "a"), ("ai", &shown), ("human", "b")])
        .await;
    let asked = asked.lock().unwrap();
    assert_eq!(roles(&asked[1]), ["user", "assistant", "user"]);
    assert_eq!(asked[1][1]["content"], "I'll search for robots now.");
}

#[tokio::test]
async fn a_store_forgets() {
    let store = Memory::new(Duration::ZERO, 10_000, 10_000);
    assert!(store.is_empty());
    store.save("a", Vec::new()).await;
    tokio::time::sleep(Duration::from_millis(2)).await;
    assert!(store.load("a").await.is_empty());
}

/// Returns the turns of a conversation with a search of `bytes` bytes in each.
fn turns(count: usize, bytes: usize) -> Vec<Turn> {
    let call = ToolCall::new("c", "f", "{}");
    let result = Message::tool("c", &"r".repeat(bytes));
    let messages = vec![Message::calls([&call]), result, Message::assistant("Said.")];
    let turn = |at| Turn::new(format!("question {at}"), messages.clone());
    (0..count).map(turn).collect()
}

#[tokio::test]
async fn a_store_has_a_limit_in_bytes_for_all_conversations() {
    let store = Memory::new(Duration::from_secs(3600), 100_000, 50_000);
    store.save("used", turns(1, 10_000)).await;
    for name in 0..1000 {
        store.save(&name.to_string(), turns(1, 10_000)).await;
        assert_eq!(store.load("used").await.len(), 1);
        assert!(store.bytes() <= 100_000, "{}", store.bytes());
    }
    assert!((5..10).contains(&store.len()), "{}", store.len());
    // The least recently used ones are gone.
    assert_eq!(store.load("999").await.len(), 1);
    assert!(store.load("500").await.is_empty());
    // Names count as well: clients choose them.
    store.save(&"n".repeat(60_000), Vec::new()).await;
    assert_eq!(store.load("999").await.len(), 1);
    assert!(store.bytes() <= 100_000);
}

#[tokio::test]
async fn a_conversation_over_its_limit_loses_its_oldest_searches() {
    let store = Memory::new(Duration::from_secs(3600), 100_000, 50_000);
    store.save("long", turns(10, 10_000)).await;
    assert!(store.bytes() <= 50_000, "{}", store.bytes());
    let kept = store.load("long").await;
    assert_eq!(kept.len(), 10);
    let is_whole = |turn: &Turn| turn.messages.len() == 3;
    assert!(kept[..6].iter().all(|turn| !is_whole(turn)));
    assert!(kept[9..].iter().all(is_whole));
    // What was said stays.
    let said = |turn: &Turn| turn.messages.last().unwrap().text();
    assert!(
        kept.iter()
            .all(|turn| said(turn).as_deref() == Some("Said."))
    );
    // One that says too much is not stored: the front end has it.
    store.save("long", turns(1000, 1)).await;
    assert!(store.load("long").await.is_empty());
    assert_eq!(store.bytes(), 0);
}
