//! The traits that users of the public types rely on.

#![cfg(all(
    feature = "ag_ui",
    feature = "anthropic",
    feature = "github",
    feature = "openai",
    feature = "openbb",
    feature = "responses",
    feature = "ui_stream"
))]

use std::error::Error;
use std::fmt::Debug;
use std::hash::Hash;

use copilot_wire::github::SessionInfo;
use copilot_wire::json::{Escape, Json, JsonError, Kind, Members, WriteError};
use copilot_wire::models::RelayError;
use copilot_wire::openai::FinishReason;
use copilot_wire::openbb::{OpenBb, OptionValue, Output, StateError, Url};
use copilot_wire::protocol::{
    AgentError, Capabilities, ChartKind, Env, EventDecoder, EventError, Level, Protocol, Refusal,
    Resumption, SendError, ToolCall, Turn,
};
use copilot_wire::router::MountError;
use copilot_wire::sse::{EventId, EventName, InvalidText, TooLarge};
use copilot_wire::{Body, Reply, Request, Router, ag_ui, anthropic, openai, responses};
use serde_json::json;

fn is_shared<T: Debug + Send + Sync + Unpin + 'static>() {}

fn is_error<T: Error + Clone + Eq + Send + Sync + Unpin + 'static>() {}

fn is_key<T: Clone + Debug + Eq + Hash + Send + Sync + 'static>() {}

#[test]
fn what_runs_a_turn_can_be_sent_and_shared() {
    is_shared::<Body>();
    is_shared::<Request<OpenBb>>();
    is_shared::<Reply<OpenBb>>();
    is_shared::<Router>();
    is_shared::<Env>();
    is_shared::<EventDecoder<OpenBb>>();
    is_shared::<AgentError>();
    is_shared::<Turn<'static>>();
    is_shared::<openai::Relay>();
    is_shared::<anthropic::Relay>();
    is_shared::<responses::Relay>();
}

#[test]
fn errors_can_be_compared_cloned_and_sent() {
    is_error::<TooLarge>();
    is_error::<EventError>();
    is_error::<InvalidText>();
    is_error::<JsonError>();
    is_error::<MountError>();
    is_error::<Refusal>();
    is_error::<SendError>();
    is_error::<StateError>();
    is_error::<WriteError>();
    is_error::<RelayError>();
}

#[test]
fn small_values_can_be_keys() {
    is_key::<Capabilities>();
    is_key::<ChartKind>();
    is_key::<Escape>();
    is_key::<EventId>();
    is_key::<EventName>();
    is_key::<Kind>();
    is_key::<Level>();
    is_key::<Resumption>();
}

#[test]
fn capabilities_are_printed_by_name() {
    assert_eq!(format!("{:?}", Capabilities::TEXT), "{}");
    assert_eq!(
        format!("{:?}", <openai::OpenAi as Protocol>::CAPABILITIES),
        r#"{"CALLS", "REASONING"}"#
    );
}

#[test]
fn texts_convert_borrowed_and_owned() {
    for name in ["stop", "length", "provider_reason"] {
        let reason = FinishReason::from(name);
        assert_eq!(FinishReason::from(name.to_owned()), reason);
        assert_eq!(name.parse(), Ok(reason.clone()));
        assert_eq!(reason.to_string(), name);
    }
    assert_eq!(OptionValue::from(String::new()), OptionValue::Off);
    assert_eq!(OptionValue::from("deep".to_owned()), "deep".into());
    assert_eq!(Output::from("word".to_owned()), Output::from("word"));
}

#[test]
fn a_url_is_its_text_and_hides_its_secrets_in_debug() {
    let url = Url::from("https://user:secret@host.example/a?key=secret");
    assert_eq!(url.to_string(), url.as_str());
    assert_eq!(AsRef::<str>::as_ref(&url), url.as_str());
    assert!(!format!("{url:?}").contains("secret"), "{url:?}");
    assert_eq!(Url::from(String::from(url.clone())), url);
}

#[test]
fn calls_of_models_convert_to_the_shared_vocabulary() {
    let arguments = json!({"city": "Brest"});
    let call = ToolCall::new("weather", &arguments).unwrap().id("1");
    let text = arguments.to_string();
    let openai = openai::ToolCall::new("1", "weather", &arguments).unwrap();
    assert_eq!(ToolCall::try_from(&openai), Ok(call.clone()));
    let item = responses::Item::call("1", "weather", text.clone());
    assert_eq!(ToolCall::try_from(&item), Ok(call.clone()));
    let ag_ui = ag_ui::ToolCall::new("1", "weather", text);
    assert_eq!(ToolCall::try_from(&ag_ui), Ok(call.clone()));
    let anthropic = anthropic::ToolUseBlock::new("1", "weather", &arguments).unwrap();
    assert_eq!(ToolCall::from(&anthropic), call);

    let invalid = ag_ui::ToolCall::new("1", "weather", "[1]");
    assert!(ToolCall::try_from(&invalid).is_err());
}

#[test]
fn collections_are_iterated_in_order() {
    let members = Members::from_iter([
        ("a", Json::encode(&1).unwrap()),
        ("b", Json::encode(&2).unwrap()),
    ]);
    let mut keys = Vec::new();
    for (key, _) in &members {
        keys.push(key);
    }
    assert_eq!(keys, ["a", "b"]);
    assert_eq!(members.iter().rev().len(), 2);
    assert_eq!(members.iter().next_back().map(|(key, _)| key), Some("b"));
    assert_eq!(members.clone().into_iter().collect::<Members>(), members);

    let mut set = members.clone();
    set.set("a", Json::parse("7").unwrap());
    assert_eq!(
        set.iter().next().map(|(key, value)| (key, value.text())),
        Some(("a", "7"))
    );
    assert_eq!(set.len(), 2);
    for line in &SessionInfo::parse("Current User's Login: gr2m") {
        assert_eq!(line, ("Current User's Login", "gr2m"));
    }
}

#[test]
fn levels_are_ordered_by_severity() {
    assert!(Level::Info < Level::Warning && Level::Warning < Level::Error);
    assert_eq!(
        [Level::Error, Level::Info].into_iter().max(),
        Some(Level::Error)
    );
}
