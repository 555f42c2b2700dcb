//! A conversation that has only what it must have: its history.

use std::borrow::Cow;

use copilot_wire::protocol::{
    Call, Conversation, HistoryItem, Message, RawMessage, Role, ToolResult,
};

struct Told(Vec<HistoryItem<'static>>);

impl Conversation for Told {
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        self.0.iter().cloned()
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        std::iter::empty()
    }

    fn each_string(&self, _: &mut dyn FnMut(&str)) {}
}

fn call(name: &'static str, arguments: &'static str) -> HistoryItem<'static> {
    HistoryItem::Call(Call::new(name, arguments))
}

fn result(name: &'static str) -> HistoryItem<'static> {
    HistoryItem::Result(ToolResult::new(name, ""))
}

#[test]
fn a_result_without_an_id_belongs_to_the_first_call_that_has_none() {
    let named = |id: &'static str, item| match item {
        HistoryItem::Call(call) => HistoryItem::Call(call.id(id)),
        HistoryItem::Result(result) => HistoryItem::Result(result.call_id(id)),
        other => other,
    };
    let told = Told(vec![
        HistoryItem::Message(Message::new(Role::User, "go")),
        call("f", "[1]"),
        call("g", r#"{"n":2}"#),
        named("3", call("f", r#"{"n":3}"#)),
        call("f", r#"{"n":4}"#),
        named("3", result("")),
        result("f"),
        result("f"),
        result("g"),
        result("f"),
        result("h"),
    ]);
    let results: Vec<_> = told.results().collect();
    let names: Vec<_> = results.iter().map(|result| &*result.name).collect();
    assert_eq!(names, ["f", "f", "f", "g", "f", "h"]);
    let arguments = |result: &ToolResult<'_>| result.arguments.as_ref()?.get("n")?.as_u64();
    let arguments: Vec<_> = results.iter().map(arguments).collect();
    // The call `[1]` has no object, and the last two results have no call.
    assert_eq!(arguments, [Some(3), None, Some(4), Some(2), None, None]);
}

/// Each result would copy the name.
#[test]
fn a_long_name_of_a_call_is_not_copied() {
    const LONG: &str = "0123456789abcdef";
    let owned = |length: usize| {
        let name = LONG.repeat(17)[..length].to_owned();
        Call::new(name, "{}").id("1")
    };
    let borrowed: &'static str = Box::leak(LONG.repeat(17).into_boxed_str());
    for (call, length) in [
        (owned(256), 256),
        (owned(257), 0),
        (owned(258), 0),
        (Call::new(Cow::Borrowed(borrowed), "{}").id("1"), 272),
    ] {
        let result = HistoryItem::Result(ToolResult::new("", "").call_id("1"));
        let told = Told(vec![HistoryItem::Call(call), result]);
        let lengths: Vec<_> = told.results().map(|result| result.name.len()).collect();
        assert_eq!(lengths, [length]);
    }
}
