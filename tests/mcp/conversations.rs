//! Conversations by a handle.

use copilot_wire::Router;
use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::mcp::Mount;
use copilot_wire::protocol::{Conversation as _, Role};
use serde_json::{Value, json};

use crate::support::{
    agent, call, empty, in_virtual_time, json_of, mount, new, post, post_new, read, result, text,
};

/// A router whose agent repeats the conversation.
fn repeating() -> Router {
    let repeat = || {
        agent(|request, reply| async move {
            let id = request.conversation_id().map(|id| id.into_owned());
            assert_eq!(id.unwrap().len(), 21);
            let said = request.messages().map(|message| {
                let who = if message.role == Role::User {
                    "user"
                } else {
                    "agent"
                };
                format!("{who}: {}", message.text)
            });
            let said: Vec<_> = said.collect();
            Ok(reply.text(said.join("; ")).await?)
        })
    };
    let store = MemoryConversationStore::new();
    let router = empty().conversations(Conversations::per_user(store));
    let router = router.mount(mount(), repeat()).unwrap();
    router
        .mount(Mount::new("other", "Another."), repeat())
        .unwrap()
}

/// Asks, and returns the text without the handle, and the handle.
async fn ask(router: &Router, user: &str, question: &str, handle: &str) -> (String, String) {
    let mut body = call(question);
    if !handle.is_empty() {
        body["params"]["arguments"]["conversation"] = handle.into();
    }
    let response = post(router, &[("x-user", user)], &body).await;
    let kind = response.headers()["content-type"].clone();
    let all = read(response.into_body()).await;
    let result = match kind == "application/json" {
        true => serde_json::from_str::<Value>(&all).unwrap()["result"].clone(),
        false => result(&all),
    };
    let text = text(&result);
    match text.rsplit_once("\n\nTo ask more about this, call again with `conversation`: \"") {
        Some((text, rest)) => (text.to_owned(), rest.trim_end_matches("\".").to_owned()),
        None => (text.to_owned(), String::new()),
    }
}

#[test]
fn an_answer_without_text_says_so_before_its_handle() {
    in_virtual_time(async {
        let store = MemoryConversationStore::new();
        let router = empty().conversations(Conversations::per_user(store));
        let router = router
            .mount(mount(), agent(|_, _| async { Ok(()) }))
            .unwrap();
        let (said, handle) = ask(&router, "a", "one", "").await;
        assert_eq!(said, "There is no answer.");
        assert!(!handle.is_empty());
    });
}

#[test]
fn a_handle_continues_a_conversation() {
    in_virtual_time(async {
        let router = repeating();
        let (first, one) = ask(&router, "a", "one", "").await;
        assert_eq!(first, "user: one");
        let (second, two) = ask(&router, "a", "two", &one).await;
        assert_eq!(second, "user: one; agent: user: one; user: two");
        assert_eq!(one[..21], two[..21]);
        // From the first turn again.
        let (branch, three) = ask(&router, "a", "three", &one).await;
        assert_eq!(branch, "user: one; agent: user: one; user: three");
        assert_ne!(two, three);
        let (third, _) = ask(&router, "a", "four", &two).await;
        assert!(
            third.ends_with("user: four") && third.contains("user: two"),
            "{third}"
        );
    });
}

#[test]
fn a_handle_belongs_to_its_user_and_its_tool() {
    in_virtual_time(async {
        let router = repeating();
        let (_, handle) = ask(&router, "a", "one", "").await;
        for (user, handle) in [
            ("b", &*handle),
            ("", &handle),
            ("a", "x"),
            ("a", &handle.replace("conv_", "")),
            ("a", &format!("{handle}0")),
            ("a", "conv_00000000000000000000000000000000"),
        ] {
            let (text, _) = ask(&router, user, "two", handle).await;
            assert!(
                text.contains("no such conversation"),
                "{user} {handle}: {text}"
            );
        }
        let mut other = call("two");
        other["params"]["name"] = "other".into();
        other["params"]["arguments"]["conversation"] = handle.into();
        let answer = json_of(post(&router, &[("x-user", "a")], &other).await).await;
        assert_eq!(answer["result"]["isError"], true);
    });
}

#[test]
fn tools_take_a_handle_where_there_is_a_store_for_the_caller() {
    in_virtual_time(async {
        let has = async |router: &Router, user: &str| {
            let headers = [("x-user", user)];
            let headers = if user.is_empty() {
                &headers[..0]
            } else {
                &headers
            };
            let list = post_new(router, headers, &new("tools/list", json!({}))).await;
            let list = json_of(list).await;
            let properties = &list["result"]["tools"][0]["inputSchema"]["properties"];
            properties.get("conversation").is_some()
        };
        let router = repeating();
        assert!(has(&router, "a").await);
        assert!(!has(&router, "").await);
        assert!(!has(&crate::support::quiet(), "a").await);
    });
}

#[test]
fn a_failed_turn_cannot_be_continued() {
    in_virtual_time(async {
        let store = MemoryConversationStore::new();
        let router = empty().conversations(Conversations::single_user(store));
        let failing = agent(|_, _| async { Err(copilot_wire::protocol::AgentError::new("no")) });
        let router = router.mount(mount(), failing).unwrap();
        let (text, handle) = ask(&router, "", "one", "").await;
        assert_eq!((&*text, &*handle), ("no", ""));
    });
}
