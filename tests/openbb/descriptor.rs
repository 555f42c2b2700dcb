//! Descriptors of agents.

use copilot_wire::json::{Json, Wire as _};
use copilot_wire::openbb::{Control, Descriptor, Switch, agents};
use serde_json::json;

use crate::router::{get, router};
use crate::tree::{Tree, difference};
use crate::{fixture, fixtures, json};

fn new() -> Descriptor {
    Descriptor::new("agent", "Agent", "An agent")
}

/// Descriptors of every year are read and written without losing a member.
#[test]
fn every_year() {
    let mut names = fixtures("copilots_", ".json");
    names.extend(fixtures("agents_", ".json"));
    for name in names {
        let document = fixture(&name);
        let entries = agents(&document).unwrap();
        let recorded = json(std::str::from_utf8(&document).unwrap());
        for entry in &entries {
            let before = Tree::of(&recorded.get(&entry.id).unwrap());
            let after = Tree::of(&Json::parse(entry.to_json()).unwrap());
            assert_eq!(difference(&before, &after, ""), None, "{name}");
        }
        assert_eq!(entries.len(), recorded.members().count());
    }
    let entry = |name: &str, index: usize| agents(&fixture(name)).unwrap().remove(index);
    let oldest = entry("copilots_2023_12_link.json", 0);
    assert_eq!(oldest.query_url(), "http://localhost:8000/gohanalyst");
    assert!(!oldest.has("streaming"));
    let flags = entry("copilots_2024_05_has_flags.json", 0);
    assert!(flags.has("streaming") && flags.has("widget-global-search") && !flags.has("feedback"));
    let both = entry("copilots_2025_02_features_and_deprecated.json", 0);
    assert!(both.has("streaming") && !both.has("widget-dashboard-select"));
    let latest = entry("agents_2026_custom_features.json", 0);
    assert!(latest.has("feedback") && latest.has("mcp-tools"));
    let model = Control::from_json(latest.features.get("model").unwrap().text()).unwrap();
    assert_eq!((model.kind.as_str(), model.options.len()), ("select", 2));
    assert!(latest.check().is_ok());
    assert_eq!(
        entry("agents_2026_custom_features.json", 1).query_url(),
        "http://localhost:7777/second/query"
    );
}

#[test]
fn the_document() {
    let descriptor = new()
        .image("/logo.png")
        .enable(Switch::WidgetDashboardSelect)
        .enable(Switch::McpTools)
        .option("web-search")
        .control(
            "model",
            Control::select("Model", "a", [("A", "a"), ("B", "b")]).description("Pick"),
        )
        .control("verbose", Control::toggle("Verbose", false))
        .control("name", Control::text("Name", "Me").placeholder("e.g. Me"))
        .model("m", "M")
        .feedback("/v1/feedback")
        .base_url("http://localhost:7777/");
    let router = router(descriptor);
    let new: serde_json::Value = serde_json::from_str(&get(&router, "/agents.json")).unwrap();
    assert_eq!(
        new,
        json!({"agent": {
            "name": "Agent", "description": "An agent", "image": "/logo.png",
            "endpoints": {"query": "/v1/query", "feedback": "/v1/feedback"},
            "features": {
                "streaming": true, "widget-dashboard-select": true, "widget-dashboard-search": false,
                "mcp-tools": true, "web-search": true, "feedback": true,
                "model": {"label": "Model", "type": "select", "default": "a", "description": "Pick",
                    "options": [{"label": "A", "value": "a"}, {"label": "B", "value": "b"}]},
                "verbose": {"label": "Verbose", "default": false},
                "name": {"label": "Name", "type": "text", "default": "Me", "placeholder": "e.g. Me"},
            },
            "models": [{"id": "m", "name": "M"}],
        }}),
    );
    let old: serde_json::Value = serde_json::from_str(&get(&router, "/copilots.json")).unwrap();
    let old = &old["agent"];
    assert_eq!(old["hasStreaming"], true);
    assert_eq!(old["hasFunctionCalling"], true);
    assert_eq!(old["hasDocuments"], false);
    assert_eq!(old["endpoints"]["query"], "http://localhost:7777/v1/query");
    assert_eq!(old["link"], "http://localhost:7777/v1/query");
    assert_eq!(old["image"], "http://localhost:7777/logo.png");
    assert!(
        old["features"]
            .as_object()
            .unwrap()
            .values()
            .all(serde_json::Value::is_boolean)
    );
}

#[test]
fn what_would_hide_every_agent() {
    let odd = |change: fn(&mut Descriptor)| {
        let mut descriptor = new();
        change(&mut descriptor);
        descriptor.check().unwrap_err().to_string()
    };
    let id = "descriptor: an id may have only lower-case letters, digits, `-` and `_`";
    assert_eq!(odd(|d| d.id = String::new()), id);
    assert_eq!(odd(|d| d.id = "My Agent".into()), id);
    assert_eq!(
        odd(|d| d.name = " ".into()),
        "descriptor: the name must not be empty"
    );
    assert_eq!(
        odd(|d| d.description = String::new()),
        "descriptor: the description must not be empty"
    );
    for place in [
        "not a url",
        "//host",
        "https://",
        "ftp://x",
        "/a b",
        "http:// x",
        "",
    ] {
        let mut descriptor = new().path(place);
        let error = descriptor.check().unwrap_err().to_string();
        assert!(
            error.starts_with("descriptor: the query endpoint must be a URL"),
            "{place}"
        );
        descriptor = new().image(place);
        assert_eq!(descriptor.check().is_err(), !place.is_empty(), "{place}");
    }
    assert_eq!(
        odd(|d| d.features.set("streaming", json("false"))),
        "descriptor: streaming must be on"
    );
    assert_eq!(
        odd(|d| d.features.set("feedback", json("true"))),
        "descriptor: feedback needs the feature and the endpoint"
    );
    let control = new().control("mcp-tools", Control::toggle("x", true));
    assert_eq!(
        control.check().unwrap_err().to_string(),
        "descriptor: feature mcp-tools must be a boolean"
    );
    assert_eq!(
        odd(|d| d.features.set("x", json("null"))),
        "descriptor: feature x must be a boolean or a control"
    );
    let controls = [
        Control::toggle("", true),
        Control::select("S", "a", Vec::<(String, String)>::new()),
        Control::select("S", "z", [("A", "a")]),
        Control::select("S", "a", [("", "a")]),
    ];
    for control in controls {
        let error = new().control("x", control).check().unwrap_err().to_string();
        assert!(error.starts_with("descriptor: feature x "), "{error}");
    }
    let mut wrong = Control::toggle("T", true);
    wrong.default = Some(json("\"yes\""));
    assert!(new().control("x", wrong.clone()).check().is_err());
    wrong.kind = "slider".into();
    assert!(new().control("x", wrong).check().is_err());
    assert!(new().option("a=b").check().is_err());
    for odd in [new().model("a", "A").model("a", "B"), new().model("", "A")] {
        let error = odd.check().unwrap_err().to_string();
        assert_eq!(error, "descriptor: a model needs a unique id and a name");
    }
    assert!(new().path("https://agent.example.com/q").check().is_ok());
}
