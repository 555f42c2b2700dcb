//! Mutations: no part of a request is lost, and one invalid value never affects the others.

use std::collections::HashSet;

use copilot_wire::json::{Json, Kind, Wire as _};
use copilot_wire::openbb::{AttachedContext, Era, OpenBb, QueryRequest};
use copilot_wire::protocol::{Conversation, Protocol};

use crate::tree::{Tree, difference};
use crate::{env, fixture, fixtures, read};

/// Reads a request and writes it; both must be equal.
fn check(body: &str, what: &str) {
    let request = QueryRequest::from_json(body.as_bytes())
        .unwrap_or_else(|refusal| panic!("{what}: {refusal}\n{body}"));
    visit(&request);
    let written = request.to_json();
    let one = Tree::of(&Json::parse(body.to_owned()).unwrap());
    let other = Tree::of(&Json::parse(written).unwrap());
    if let Some(difference) = difference(&one, &other, "") {
        panic!("{what}{difference}\n{body}");
    }
}

/// Calls all accessors of a request.
fn visit(request: &QueryRequest) {
    let _ = Era::from_request(request);
    let _ = (
        request.prompt(),
        request.dialog_decision(),
        request.delegation(),
    );
    let _ = (
        request.messages().count(),
        request.documents().count(),
        request.tools().count(),
    );
    let _ = (
        request.results().count(),
        request.extra_citations(),
        request.extra_state(),
    );
    for (_, widget) in request.widgets() {
        let _ = (widget.id(), widget.arguments(), widget.schema());
    }
    for result in request.call_results() {
        for (source, outcome) in result.by_source() {
            let _ = (source, outcome.text(), outcome.rows::<serde_json::Value>());
            let _ = (outcome.param_options(), outcome.failed());
            for item in outcome.items() {
                let _ = (
                    item.text(),
                    item.json(),
                    item.bytes(),
                    item.reference(),
                    item.parse_as(),
                );
            }
        }
    }
    for entry in request.context.iter().flat_map(AttachedContext::entries) {
        let _ = entry.items();
    }
    let options = request.workspace_options.iter();
    let _ = options.flat_map(|options| options.iter()).count();
    let _ = OpenBb::session(request, &(), &env());
    let _ = format!("{request:?}");
}

#[test]
fn every_request_survives_reading_and_writing() {
    for name in fixtures("req_", ".json") {
        let body = String::from_utf8(fixture(&name).to_vec()).unwrap();
        check(&body, &name);
        // A request that was written once is written without changes.
        let written = read(body).to_json();
        assert_eq!(read(written.clone()).to_json(), written, "{name}");
    }
}

/// Returns the invalid values to try at a position: all of them if no earlier request had such a
/// position, else one.
fn odd_for(seen: &mut HashSet<String>, whole: &Tree, place: &[usize]) -> Vec<String> {
    let mut values = odd();
    if !seen.insert(whole.form(place)) {
        let turn = seen.len() + place.iter().sum::<usize>();
        values = vec![values.swap_remove(turn % values.len())];
    }
    values
}

fn odd() -> Vec<String> {
    let deep = format!("{}{}", "[".repeat(150), "]".repeat(150));
    let odd = [
        "null",
        "7",
        "1e400",
        "123456789012345678901234567890",
        "\"no such kind\"",
        r#""a\ud800\u0000""#,
        r#"[null,{"x":1}]"#,
        r#"{"type":"no such kind","data_type":7,"items":null,"status":[]}"#,
    ];
    odd.map(str::to_owned).into_iter().chain([deep]).collect()
}

/// An invalid value at any position of any request is accepted and retained, and so are all others.
#[test]
fn an_odd_value_in_any_place() {
    let mut count = 0;
    let mut seen = HashSet::new();
    for name in fixtures("req_", ".json") {
        let whole = Tree::of(&Json::parse(fixture(&name)).unwrap());
        let Tree::Object(members) = &whole else {
            panic!()
        };
        let required = if name.contains("_e0_") {
            "query"
        } else {
            "messages"
        };
        let required = members.iter().position(|(key, _)| key == required).unwrap();
        for place in whole.different_places() {
            // The request itself and its messages are required.
            if place.is_empty() || place == [required] {
                continue;
            }
            for value in odd_for(&mut seen, &whole, &place) {
                let mut changed = whole.clone();
                *changed.at(&place) = Tree::Raw(value.clone());
                check(&changed.text(), &format!("{name} {place:?} "));
                count += 1;
            }
        }
    }
    assert!(count > 3_000, "{count}");
}

/// An additional unknown member in every object and an additional invalid element in every array
/// are retained.
#[test]
fn an_odd_value_more_anywhere() {
    let mut seen = HashSet::new();
    for name in fixtures("req_", ".json") {
        let whole = Tree::of(&Json::parse(fixture(&name)).unwrap());
        for place in whole.different_places() {
            for value in odd_for(&mut seen, &whole, &place) {
                let mut changed = whole.clone();
                let value = Tree::Raw(value.clone());
                match changed.at(&place) {
                    Tree::Array(elements) => elements.insert(elements.len() / 2, value),
                    Tree::Object(members) => members.push(("a new member".into(), value)),
                    _ => break,
                }
                check(&changed.text(), &format!("{name} {place:?} "));
            }
        }
    }
}

/// Of a member that occurs twice the last one counts, as in JavaScript.
#[test]
fn the_last_of_two_members_counts() {
    let request = read(
        r#"{"messages":[],"timezone":"UTC","messages":[{"role":"ai","role":"human","content":"a","content":"b"}],
            "timezone":null,"urls":["x"],"urls":["y","z"]}"#,
    );
    assert_eq!(request.prompt().unwrap(), "b");
    assert_eq!(request.timezone, "");
    assert_eq!(request.urls.len(), 2);
}

/// A value that is set after reading replaces an invalid value that was read.
#[test]
fn what_is_set_wins() {
    let mut request =
        read(r#"{"messages":[{"role":"human","content":"a"}],"timezone":null,"urls":[]}"#);
    request.timezone = "UTC".into();
    request.urls.push("https://example.com".into());
    let written = Json::parse(request.to_json()).unwrap();
    let keys: Vec<_> = written.members().map(|(key, _)| key.into_owned()).collect();
    assert_eq!(keys, ["messages", "urls", "timezone"]);
    assert_eq!(written.get("timezone").unwrap().kind(), Kind::String);
}

/// `Debug` prints no secret.
#[test]
fn secrets_are_not_shown() {
    let request = read(
        r#"{"messages":[{"role":"human","content":"hi"}],
            "api_keys":{"openai_api_key":"hunter2","other_key":"hunter2","third":["hunter2"]},
            "tools":[{"server_id":"1","name":"a_b","url":"u","auth_token":"hunter2"},"hunter2"],
            "api_urls":{"x":"hunter2"}}"#,
    );
    let shown = format!("{request:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    let keys = request.api_keys.unwrap();
    assert_eq!(keys.openai_api_key.unwrap().expose(), "hunter2");
    assert_eq!(
        request
            .tools
            .first()
            .unwrap()
            .auth_token
            .as_ref()
            .unwrap()
            .expose(),
        "hunter2"
    );
}
