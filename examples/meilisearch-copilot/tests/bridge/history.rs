//! Tests of the stored turns of a conversation.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use copilot_wire::meilisearch::ChatRequest;
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
    let turn = |_| Vec::<Turn>::new();
    let store = Memory::new(Duration::from_secs(3600), 2);
    for name in ["a", "b", "c"] {
        store.save(name, turn(name)).await;
    }
    assert_eq!(store.len(), 2);
    let store = Memory::new(Duration::ZERO, 2);
    assert!(store.is_empty());
    store.save("a", Vec::new()).await;
    tokio::time::sleep(Duration::from_millis(2)).await;
    assert!(store.load("a").await.is_empty());
}
