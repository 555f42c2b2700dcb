//! The data of known servers, and profiles that are wrong.

use std::fs;

use copilot_wire::models::Profile;
use serde_json::{Value, json};

use crate::profiles::profile;

#[test]
fn unknown_servers_are_as_the_dialect_says() {
    for host in [
        "localhost",
        "127.0.0.1:8000",
        "[::1]:8080",
        "openai.com.example",
        "notapi.openai.com.evil",
        "",
    ] {
        assert_eq!(profile(host, "me"), Profile::default(), "{host}");
    }
    assert_eq!(
        profile("eu.api.openai.com:443", "me"),
        profile("API.OpenAI.com", "")
    );
}

/// Profiles with which no request would be valid, or which would have keys.
#[test]
fn a_profile_leaves_requests_whole() {
    for (fields, error) in [
        (
            json!({"only": ["temperature"]}),
            "only: a request needs `model`, `stream`, and `messages` or `input`",
        ),
        (
            json!({"rename": {"user": "model"}}),
            "drop: a request needs `model`",
        ),
        (
            json!({"rename": {"seed": "x", "user": "x"}}),
            "rename: two members would be `x`",
        ),
        (
            json!({"token-limit": "max_token"}),
            "token-limit: no dialect has `max_token`",
        ),
        (
            json!({"headers": {"X-Goog-Api-Key": "k"}}),
            "headers: `X-Goog-Api-Key` is the key's header",
        ),
        (
            json!({"headers": {"content-length": "1"}}),
            "headers: `content-length` is the client's own",
        ),
    ] {
        let profile: Profile = serde_json::from_value(fields).unwrap();
        assert_eq!(profile.check().unwrap_err(), error);
    }
}

#[test]
fn contradictions_are_named() {
    let check = |fields: Value| {
        let profile: Profile = serde_json::from_value(fields).unwrap();
        profile.check().unwrap_err()
    };
    assert_eq!(
        check(json!({"tool-names": 8})),
        "tool-names: must be at least 16"
    );
    assert_eq!(
        check(json!({"call-ids": 4})),
        "call-ids: must be from 8 to 64"
    );
    assert_eq!(
        check(json!({"max-tokens": 0})),
        "max-tokens: must be at least 1"
    );
    assert_eq!(
        check(json!({"drop": ["messages"]})),
        "drop: a request needs `messages`"
    );
    let needed = json!({"needs-reasoning": true});
    assert_eq!(
        check(needed),
        "needs-reasoning: `reasoning` must name the member"
    );
    let twice = json!({"drop": ["seed"], "rename": {"seed": "random_seed"}});
    assert_eq!(check(twice), "rename: `seed` is left out");
    let whole = ["messages", "model", "stream"];
    let lost = json!({"only": whole, "token-limit": "max_tokens"});
    assert_eq!(
        check(lost),
        "only: `max_tokens` is missing, the name of another member"
    );
    let key = json!({"headers": {"Authorization": "Bearer 1"}});
    assert_eq!(check(key), "headers: `Authorization` is the key's header");
    assert_eq!(
        check(json!({"headers": {"a b": "1"}})),
        "headers: `a b` is not a valid header"
    );
    let unknown = serde_json::from_value::<Profile>(json!({"stop": 4})).unwrap_err();
    assert!(
        unknown.to_string().contains("unknown field `stop`"),
        "{unknown}"
    );
}

/// Returns the table of known servers, from the data.
fn table() -> String {
    let servers = fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/models/profiles.json"
    ));
    let servers: Vec<Value> = serde_json::from_slice(&servers.unwrap()).unwrap();
    let mut table = "| server | known by | profile |\n|---|---|---|\n".to_owned();
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), |it| it.to_owned())
    };
    let names = |value: &Value| {
        let names = value.as_array().map_or(&[][..], |it| it);
        let names = names.iter().map(|name| format!("`{}`", text(name)));
        names.collect::<Vec<_>>().join(", ")
    };
    for server in servers {
        let hosts = names(&server["hosts"]);
        let owners = names(&server["owners"]);
        let known = match (hosts.as_str(), owners.as_str()) {
            (hosts, "") => hosts.to_owned(),
            ("", owners) => format!("`owned_by` {owners}"),
            (hosts, owners) => format!("{hosts}, `owned_by` {owners}"),
        };
        let known = known.replace("`:", "port `");
        let members = server["profile"].as_object().unwrap().iter();
        let mut members: Vec<_> = members
            .map(|(name, value)| match value {
                Value::Bool(_) => format!("`{name}`"),
                Value::Array(_) => format!("`{name}` {}", names(value)),
                Value::Object(all) => {
                    let all = all.iter();
                    let all = all.map(|(name, to)| format!("`{name}` to `{}`", text(to)));
                    format!("`{name}` {}", all.collect::<Vec<_>>().join(", "))
                }
                value => format!("`{name} = {}`", text(value)),
            })
            .collect();
        members.sort();
        let (name, source) = (text(&server["server"]), text(&server["source"]));
        table += &format!(
            "| [{name}]({source}) | {known} | {} |\n",
            members.join("; ")
        );
    }
    table
}

#[test]
fn the_guide_has_the_known_servers() {
    let guide = include_str!("../../src/guide/profiles.md");
    assert!(
        guide.contains(&table()),
        "the table of the guide must be:\n{}",
        table()
    );
}
