//! Tests of the strict checkers: they accept valid replies, and reject every mutation.

use crate::fixtures::bytes;
use crate::{debug_cli, vs_code};

const GOOD: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\",\"role\":\"assistant\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Ahoy\",\"role\":\"assistant\"}}]}\n\n",
    "event: copilot_references\ndata: [{\"type\":\"a.b\",\"id\":\"1\",\"data\":{},\"metadata\":{\"display_name\":\"One\"}}]\n\n",
    "data: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"delta\":{\"content\":null}}]}\n\n",
    "data: [DONE]\n\n",
);

const QUESTION: &str = "event: copilot_confirmation\ndata: {\"type\":\"action\",\"title\":\"t\",\"message\":\"m\",\"confirmation\":{\"id\":\"1\"}}\n\n";
const ERRORS: &str = "event: copilot_errors\ndata: [{\"type\":\"agent\",\"code\":\"c\",\"message\":\"m\",\"identifier\":\"i\"}]\n\n";

/// Returns the valid reply with another event instead of the references.
fn with(event: &str) -> String {
    let start = GOOD.find("event: ").unwrap();
    let end = GOOD[start..].find("\n\n").unwrap() + start + 2;
    [&GOOD[..start], event, &GOOD[end..]].concat()
}

fn vs_code(reply: &str) -> Result<vs_code::Chat, String> {
    vs_code::read(&vs_code::relay(reply)?)
}

#[test]
fn good_replies_pass() {
    for reply in [GOOD.to_owned(), with(QUESTION), with(ERRORS), with("")] {
        let cli = debug_cli::read(&reply).unwrap();
        let chat = vs_code(&reply).unwrap();
        assert_eq!((cli.text.as_str(), chat.text.as_str()), ("Ahoy", "Ahoy"));
    }
    for name in ["sse-hello-world.sse", "sse-confirmation-turn.sse"] {
        let reply = String::from_utf8(bytes(name).to_vec()).unwrap();
        debug_cli::read(&reply).unwrap();
        vs_code(&reply).unwrap();
    }
    let relayed = String::from_utf8(bytes("sse-relayed-to-client.sse").to_vec()).unwrap();
    // The documentation's example has `icon` instead of a URI.
    let chat = vs_code::read(&relayed.replace("\"display_icon\":\"icon\",", "")).unwrap();
    assert_eq!(chat.references, ["http://blackbeard.com/story/1"]);
    assert_eq!(chat.warnings, ["something was skipped"]);
    assert_eq!(chat.dialogs[0].0, "Are you sure you want to proceed?");
}

#[test]
fn the_debug_cli_refuses_what_is_spoilt() {
    let spoilt = |from: &str, to: &str| {
        let all = [GOOD.to_owned(), with(QUESTION), with(ERRORS)];
        let one = all.iter().find(|reply| reply.contains(from));
        one.unwrap_or_else(|| panic!("{from}"))
            .replacen(from, to, 1)
    };
    let mutations = [
        with(&[QUESTION, ERRORS].concat()),
        with(&[ERRORS, ERRORS].concat()),
        spoilt("data: [DONE]", "id: 1\ndata: [DONE]"),
        spoilt("data: [DONE]", "retry: 1\ndata: [DONE]"),
        spoilt("data: [DONE]", ": ping\ndata: [DONE]"),
        spoilt("event: copilot_references", "event: copilot_reference"),
        spoilt("event: copilot_references", "event: "),
        spoilt("event: copilot_references\n", ""),
        spoilt("\"role\":\"assistant\"", "\ndata: \"role\":\"assistant\""),
        spoilt("\"content\":\"Ahoy\"", "\"content\":7"),
        spoilt("{\"choices\"", "{\"copilot_references\":[],\"choices\""),
        spoilt("{\"choices\"", "{\"copilot_confirmation\":{},\"choices\""),
        spoilt(
            "\"metadata\":{\"display_name\":\"One\"}",
            "\"metadata\":{\"display_name\":\"\"}",
        ),
        spoilt("\"metadata\":{\"display_name\":\"One\"}", "\"metadata\":{}"),
        spoilt(",\"metadata\":{\"display_name\":\"One\"}", ""),
        spoilt("\"type\":\"a.b\"", "\"type\":\"\""),
        spoilt("\"id\":\"1\",\"data\"", "\"data\""),
        spoilt("\"id\":\"1\",\"data\"", "\"id\":1,\"data\""),
        with("event: copilot_references\ndata: []\n\n"),
        with("event: copilot_references\ndata: {}\n\n"),
        with("event: copilot_errors\ndata: []\n\n"),
        spoilt("\"title\":\"t\"", "\"title\":\"\""),
        spoilt("\"message\":\"m\",\"confirmation\"", "\"confirmation\""),
        spoilt("\"type\":\"action\",", ""),
        spoilt("\"code\":\"c\"", "\"code\":\"\""),
        spoilt("\"code\":\"c\"", "\"code\":1"),
        spoilt(",\"identifier\":\"i\"", ""),
        spoilt("\"message\":\"m\",\"identifier\"", "\"identifier\""),
        spoilt("\"type\":\"agent\",", ""),
        GOOD.trim_end().to_owned(),
    ];
    for reply in mutations {
        assert!(debug_cli::read(&reply).is_err(), "{reply}");
    }
}

#[test]
fn vs_code_refuses_what_is_spoilt() {
    let spoilt = |from: &str, to: &str| {
        let all = [GOOD.to_owned(), with(QUESTION), with(ERRORS)];
        let one = all.iter().find(|reply| reply.contains(from));
        one.unwrap_or_else(|| panic!("{from}"))
            .replacen(from, to, 1)
    };
    let text = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"late\"}}]}\n\n";
    let mutations = [
        spoilt("data: [DONE]\n\n", ""),
        spoilt("data: [DONE]", &format!("{text}data: [DONE]")),
        spoilt("\"finish_reason\":\"stop\",", ""),
        spoilt("\"finish_reason\":\"stop\"", "\"finish_reason\":\"\""),
        spoilt("\"content\":\"Ahoy\"", "\"content\":{}"),
        spoilt("\"index\":0", "\"index\":1"),
        spoilt("\"data\":{},", ""),
        spoilt("\"data\":{}", "\"data\":null"),
        spoilt("\"data\":{}", "\"data\":\"x\""),
        spoilt("\"data\":{}", "\"data\":{\"url\":\"relative\"}"),
        spoilt("\"metadata\":{\"display_name\":\"One\"}", "\"metadata\":{}"),
        spoilt(",\"metadata\":{\"display_name\":\"One\"}", ""),
        spoilt(
            "\"display_name\":\"One\"",
            "\"display_name\":\"One\",\"display_icon\":\"icon\"",
        ),
        spoilt("\"title\":\"t\"", "\"title\":null"),
        spoilt("\"message\":\"m\",\"confirmation\"", "\"confirmation\""),
        spoilt("\"confirmation\":{\"id\":\"1\"}", "\"confirmation\":null"),
        spoilt("\"message\":\"m\",\"identifier\"", "\"identifier\""),
        spoilt(
            "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Ahoy\",\"role\":\"assistant\"}}]}",
            "{}",
        ),
        spoilt(
            "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Ahoy\"",
            "{\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"Ahoy\"",
        ),
    ];
    for reply in mutations {
        assert!(vs_code(&reply).is_err(), "{reply}");
    }
    // A URL in the data hides the name. It is valid, but the builder refuses it by default.
    let hidden = spoilt(
        "\"data\":{}",
        "\"data\":{\"url\":\"https://example.com/1\"}",
    );
    assert_eq!(
        vs_code(&hidden).unwrap().references,
        ["https://example.com/1"]
    );
    // Without the platform VS Code does not understand named events.
    assert!(vs_code::read(GOOD).is_err());
}
