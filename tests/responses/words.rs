//! The shared vocabulary on Responses, through the router.

use copilot_wire::protocol::SendError;
use copilot_wire::responses::{Ending, ErrorObject, Item};

use crate::rules::{End, check};
use crate::support::answer;

fn failed(stream: &str) -> (String, String) {
    let checked = check(stream, End::Failed);
    let error = |name: &str| {
        let text = checked.response["error"][name].as_str();
        text.unwrap().to_owned()
    };
    (error("code"), error("message"))
}

#[test]
fn endings_of_an_agents_own() {
    let stream = answer(|reply| async move {
        reply.text("Half").await?;
        Ok(reply.end(Ending::Incomplete("max_output_tokens".into()))?)
    });
    let checked = check(&stream, End::Incomplete);
    assert_eq!(
        checked.response["incomplete_details"]["reason"],
        "max_output_tokens"
    );
    assert_eq!(checked.items[0]["content"][0]["text"], "Half");

    let error = ErrorObject::new("context_length_exceeded", "Too long.");
    let stream = answer(move |reply| {
        let error = error.clone();
        async move { Ok(reply.end(error)?) }
    });
    assert_eq!(failed(&stream).0, "context_length_exceeded");

    let stream = answer(|reply| async move {
        let mut odd = Item::call("", "get_tide", "");
        odd.id = Some("fc_2".into());
        let calls = vec![Item::call("call_1", "get_tide", "{\"a\":1}"), odd];
        Ok(reply.end(Ending::Calls(calls))?)
    });
    let checked = check(&stream, End::Completed);
    assert_eq!(checked.items[0]["call_id"], "call_1");
    assert_eq!(checked.items[1]["id"], "fc_2");
    assert_eq!(checked.items[1]["arguments"], "{}");

    // One that cannot be written keeps the others from being written.
    let stream = answer(|reply| async move {
        let calls = vec![
            Item::call("call_1", "get_tide", "{}"),
            Item::call("", "two", "{}"),
        ];
        let ended = reply.end(Ending::Calls(calls));
        assert!(matches!(ended, Err(SendError::Unsupported(_))));
        Ok(())
    });
    let checked = check(&stream, End::Completed);
    assert_eq!(checked.items.len(), 1);
    assert_eq!(checked.items[0]["type"], "message");
}
