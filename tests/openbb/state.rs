//! State of the agent: typed, versioned, and untrusted.

use copilot_wire::openbb::{
    DataSource, FunctionCall, GetWidgetData, QueryRequest, State, StateError, TurnState,
};
use copilot_wire::protocol::Usage;
use serde::{Deserialize, Serialize};

use crate::{called, plain, read};

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Steps {
    done: Vec<String>,
    left: u32,
}

const STEPS: State = State::new("steps", 2);

/// Returns a request with a state.
fn back(state: &str) -> QueryRequest {
    read(format!(
        r#"{{"messages":[{{"role":"tool","function":"get_widget_data","data":[],"extra_state":{state}}}]}}"#
    ))
}

#[test]
fn there_and_back() {
    let steps = Steps {
        done: vec!["a".into()],
        left: 2,
    };
    let call = GetWidgetData::new([DataSource::new("o", "i")]);
    let call = STEPS.put(call, &steps).unwrap();
    let state = called(&plain(), call).unwrap().get("extra_state").unwrap();
    assert_eq!(
        state.text(),
        r#"{"steps":{"version":2,"value":{"done":["a"],"left":2}}}"#
    );
    let taken = STEPS.take::<Steps>(&back(state.text())).unwrap().unwrap();
    assert_eq!(taken.verify(|steps| steps.left < 5), Some(steps));
    let taken = STEPS.take::<Steps>(&back(state.text())).unwrap().unwrap();
    assert_eq!(taken.verify(|steps| steps.left > 5), None);
    assert_eq!(
        STEPS
            .take::<Steps>(&back(state.text()))
            .unwrap()
            .unwrap()
            .trust()
            .left,
        2
    );
}

/// Copied state follows the call's own state, which has precedence.
#[test]
fn what_is_carried_on() {
    let request = back(
        r#"{"a":1,"copilot_function_call_arguments":{},"b":[2],"pending_bridge_calls":[],"c":3}"#,
    );
    let call = FunctionCall::raw("f", crate::json("{}"));
    let state = |call: FunctionCall| call.state_from(&request).extra_state;
    let own = |state: &str| call.clone().extra_state(crate::json(state));
    let carried = |text: &str| Some(crate::json(text));
    assert_eq!(state(call.clone()), carried(r#"{"a":1,"b":[2],"c":3}"#));
    assert_eq!(
        state(own(r#"{"b":0,"x":{ }}"#)),
        carried(r#"{"b":0,"x":{ },"a":1,"c":3}"#)
    );
    // Without a state to copy nothing is added.
    let all = r#"{ "a":0, "b":0, "c":0 }"#;
    assert_eq!(state(own(all)), carried(all));
    assert_eq!(call.clone().state_from(&plain()).extra_state, None);
}

#[test]
fn what_comes_back_may_be_anything() {
    let take = |state: &str| STEPS.take::<Steps>(&back(state));
    for none in ["{}", "null", "7", "[]", r#"{"other":{"version":2}}"#] {
        assert!(matches!(take(none), Ok(None)), "{none}");
    }
    assert!(matches!(STEPS.take::<Steps>(&plain()), Ok(None)));
    assert_eq!(
        take(r#"{"steps":{"version":1,"value":{}}}"#).unwrap_err(),
        StateError::Version { found: Some(1) }
    );
    for odd in [
        "7",
        "null",
        "{}",
        r#"{"version":"2"}"#,
        r#"{"version":1e400}"#,
    ] {
        let error = take(&format!(r#"{{"steps":{odd}}}"#)).unwrap_err();
        assert_eq!(error, StateError::Version { found: None }, "{odd}");
    }
    for odd in ["null", r#"{"done":7,"left":2}"#, r#"{"done":[],"left":-1}"#] {
        let error = take(&format!(r#"{{"steps":{{"version":2,"value":{odd}}}}}"#)).unwrap_err();
        assert!(matches!(error, StateError::Type(_)), "{odd}");
    }
    let large = format!(
        r#"{{"steps":{{"version":2,"value":{{"done":["{}"],"left":1}}}}}}"#,
        "x".repeat(300_000)
    );
    assert!(matches!(take(&large), Err(StateError::Size { .. })));
    assert!(
        STEPS
            .limit(1_000_000)
            .take::<Steps>(&back(&large))
            .unwrap()
            .is_some()
    );
}

/// A state beside another one, and the state of the previous call.
#[test]
fn states_side_by_side() {
    const OTHER: State = State::new("other", 1);
    let before = back(
        r#"{"steps":{"version":2,"value":{"done":[],"left":1}},"copilot_function_call_arguments":{"summary":"old"}}"#,
    );
    let call =
        FunctionCall::from(GetWidgetData::new([DataSource::new("o", "i")])).state_from(&before);
    let call = OTHER.put(call, &7).unwrap();
    let call = OTHER.put(call, &8).unwrap();
    assert_eq!(
        call.extra_state.unwrap().text(),
        r#"{"steps":{"version":2,"value":{"done":[],"left":1}},"other":{"version":1,"value":8}}"#,
    );
}

/// The state of a turn goes with every call of it, and a new turn begins without.
#[test]
fn the_state_of_a_turn() {
    let first = read(r#"{"messages":[{"role":"human","content":"a"}],"timezone":"Asia/Tokyo"}"#);
    let mut turn = first.turn_state();
    assert!(turn.timezone == "Asia/Tokyo" && turn.turn_usage.is_none());
    turn.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".into();
    turn.add_usage(Usage::new(10, 2).cached_input_tokens(4));
    turn.add_usage(Usage::new(20, 3));
    let call = FunctionCall::from(GetWidgetData::new([DataSource::new("o", "i")]));
    let call = call.turn_state(&turn);
    let sent = called(&plain(), call).unwrap().get("extra_state").unwrap();
    assert_eq!(
        sent.text(),
        r#"{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","timezone":"Asia/Tokyo","turn_usage":{"inputTokens":30,"cachedInputTokens":4,"cacheWriteTokens":0,"outputTokens":5,"totalTokens":35,"postCount":2}}"#
    );
    assert_eq!(back(sent.text()).turn_state(), turn);
    // Counters that an earlier version left out are zero; what is of another type is absent.
    let usage = back(r#"{"turn_usage":{"inputTokens":3},"timezone":7}"#).turn_state();
    assert_eq!(usage.turn_usage.unwrap().input_tokens, 3);
    assert_eq!(usage.timezone, "");
    assert_eq!(
        back(r#"{"turn_usage":"x"}"#).turn_state(),
        TurnState::default()
    );
    // A person spoke since: this is another turn.
    let next = read(format!(
        r#"{{"messages":[{{"role":"tool","function":"f","data":[],"extra_state":{}}},{{"role":"human","content":"b"}}],"timezone":"Europe/Paris"}}"#,
        sent.text()
    ));
    let turn = next.turn_state();
    assert!(turn.timezone == "Europe/Paris" && turn.traceparent.is_empty());
    assert_eq!(turn.turn_usage, None);
}
