//! Requests of clients.

use bytes::Bytes;
use copilot_wire::json::Json;
use copilot_wire::meilisearch::admin::{
    IndexChange, IndexSettings, Setting, Source, WorkspaceChange, WorkspaceSettings, Workspaces,
};
use copilot_wire::meilisearch::{ApiKey, ChatRequest, Instance, InvalidKey, Message, Tools};
use serde_json::Value;

use crate::support::{fixture, fixture_json};

fn key() -> ApiKey {
    ApiKey::new("sk-0123456789abcdef0123456789abcdef").unwrap()
}

fn server() -> Instance {
    Instance::new("https://search.example.com/")
        .unwrap()
        .key(key())
}

#[test]
fn every_endpoint_has_its_request() {
    let server = server();
    let chat = ChatRequest::new("m", [Message::user("hi")]);
    let workspace = WorkspaceChange::default();
    let index = IndexChange::default();
    for (request, expected) in [
        (server.chat("w", &chat), "POST /chats/w/chat/completions"),
        (server.search_nothing(), "POST /multi-search"),
        (server.enable_chats(true), "PATCH /experimental-features"),
        (server.workspaces(0, 20), "GET /chats?offset=0&limit=20"),
        (server.workspace("w"), "GET /chats/w"),
        (server.delete_workspace("w"), "DELETE /chats/w"),
        (server.settings("w"), "GET /chats/w/settings"),
        (
            server.change_settings("w", &workspace),
            "PATCH /chats/w/settings",
        ),
        (server.reset_settings("w"), "DELETE /chats/w/settings"),
        (server.index_settings("i"), "GET /indexes/i/settings/chat"),
        (
            server.change_index_settings("i", &index),
            "PATCH /indexes/i/settings/chat",
        ),
        (
            server.reset_index_settings("i"),
            "DELETE /indexes/i/settings/chat",
        ),
    ] {
        let request = request.unwrap();
        let (method, target) = expected.split_once(' ').unwrap();
        assert_eq!(request.method(), method);
        assert_eq!(
            request.uri().to_string(),
            format!("https://search.example.com{target}")
        );
        assert!(request.headers()["authorization"].is_sensitive());
        let json = request.headers().get("content-type");
        assert_eq!(json.is_some(), !request.body().is_empty(), "{expected}");
        assert!(!format!("{request:?}").contains("0123456789"));
    }
    let body = server.enable_chats(true).unwrap().into_body();
    assert_eq!(body, &br#"{"chatCompletions":true}"#[..]);
    let body = server.search_nothing().unwrap().into_body();
    assert_eq!(body, &br#"{"queries":[]}"#[..]);
}

#[test]
fn a_name_is_one_segment() {
    let server = server();
    let request = server.workspace("a/b c?d#é").unwrap();
    assert_eq!(request.uri().path(), "/chats/a%2Fb%20c%3Fd%23%C3%A9");
    for bad in ["", ".", ".."] {
        assert!(server.workspace(bad).is_err());
    }
    for bad in ["", "search.example.com", "http://", "http://x/?q"] {
        assert!(Instance::new(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_redacted_key_is_never_sent_back() {
    let body = Bytes::from(fixture("workspace_settings_response.json"));
    let settings = WorkspaceSettings::from_json(&body).unwrap();
    let shown = settings.redacted_api_key.unwrap();
    assert_eq!(ApiKey::new(shown.clone()), Err(InvalidKey::Redacted));
    assert_eq!(key().redacted(), shown);
    for length in [1, 9, 10, 19, 20, 29, 30, 64] {
        let key = ApiKey::new("k".repeat(length)).unwrap();
        assert_eq!(
            ApiKey::new(key.redacted()),
            Err(InvalidKey::Redacted),
            "{length}"
        );
    }
    for bad in ["", "a b", "a\nb", "é"] {
        assert_eq!(ApiKey::new(bad), Err(InvalidKey::Characters), "{bad:?}");
    }
    assert_eq!(format!("{:?}", server()).matches("sk-").count(), 0);
}

#[test]
fn workspace_settings_are_those_of_the_recording() {
    let mut change = WorkspaceChange::default();
    change.source = Source::OpenAi.into();
    change.base_url = "http://127.0.0.1:9911/v1".into();
    change.api_key = key().into();
    change.prompts.system = "SYSTEM PROMPT OF THE WORKSPACE".into();
    change.prompts.search_description = "DESCRIPTION OF THE SEARCH TOOL".into();
    change.prompts.search_q_param = "DESCRIPTION OF q".into();
    change.prompts.search_filter_param = "DESCRIPTION OF filter".into();
    change.prompts.search_index_uid_param = "DESCRIPTION OF index_uid".into();
    let body: Value = serde_json::from_slice(&change.to_json()).unwrap();
    assert_eq!(body, fixture_json("workspace_settings_patch.json"));
    assert!(!format!("{change:?}").contains("0123456789"));

    let settings = Bytes::from(fixture("recorded/settings_get_custom/body.json"));
    let settings = WorkspaceSettings::from_json(&settings).unwrap();
    assert_eq!(settings.source, Source::OpenAi);
    assert_eq!(
        settings.base_url.as_deref(),
        Some("http://127.0.0.1:9911/v1")
    );
    assert_eq!(settings.org_id, None);
    assert_eq!(
        settings.prompts.search_q_param.as_deref(),
        Some("DESCRIPTION OF q")
    );
    assert!(settings.unknown.is_empty() && settings.prompts.unknown.is_empty());

    assert_eq!(WorkspaceChange::default().to_json(), "{}");
    change.api_key = Setting::Reset;
    assert!(
        String::from_utf8(change.to_json().into())
            .unwrap()
            .contains(r#""apiKey":null"#)
    );
}

#[test]
fn workspaces_are_listed() {
    let page = Bytes::from(fixture("recorded/chats_list/body.json"));
    let page = Workspaces::from_json(&page).unwrap();
    let uids: Vec<_> = page.results.iter().map(|it| &*it.uid).collect();
    assert_eq!(uids, ["az", "closed", "custom", "mis", "oai", "vllm"]);
    assert_eq!((page.offset, page.limit, page.total), (0, 20, 6));
}

#[test]
fn index_settings_go_both_ways() {
    let recorded = fixture("index_chat_settings.json");
    let settings = IndexSettings::from_json(&recorded).unwrap();
    assert!(settings.unknown.is_empty());
    let mut change = IndexChange::default();
    change.description = settings.description.unwrap().into();
    change.document_template = settings.document_template.unwrap().into();
    change.document_template_max_bytes = settings.document_template_max_bytes.unwrap().into();
    change.search_parameters = settings.search_parameters.unwrap().into();
    let body: Value = serde_json::from_slice(&change.to_json()).unwrap();
    let recorded: Value = serde_json::from_slice(&recorded).unwrap();
    assert_eq!(body, recorded);
}

#[test]
fn the_tools_are_declared_as_documented_with_the_servers_names() {
    let declared = |tools| {
        let request = ChatRequest::new("m", []).tools(tools);
        let body: Value = serde_json::from_slice(&request.to_json()).unwrap();
        body["tools"].clone()
    };
    assert_eq!(declared(Tools::NONE), Value::Null);
    let two = declared(Tools::SOURCES.with(Tools::PROGRESS));
    assert_eq!(two.as_array().unwrap().len(), 2);
    let ours = declared(Tools::ALL);
    let documented = fixture_json("tools_documented_2026.json");
    for (ours, documented) in ours
        .as_array()
        .unwrap()
        .iter()
        .zip(documented.as_array().unwrap())
    {
        let function = &ours["function"];
        assert_eq!(function["name"], documented["function"]["name"]);
        assert_eq!(
            function["description"],
            documented["function"]["description"]
        );
        let known = |tool: &Value| -> Vec<String> {
            let members = tool["function"]["parameters"]["properties"]
                .as_object()
                .unwrap();
            let name = |key: &String| {
                key.replace("function_parameters", "function_arguments")
                    .replace("documents", "sources")
            };
            let mut names: Vec<_> = members.keys().map(name).collect();
            names.sort();
            names
        };
        assert_eq!(known(ours), known(documented));
    }
    // The recorded notifications match the declarations.
    for (place, kind) in [
        (0, "progress"),
        (1, "append_assistant"),
        (1, "append_tool"),
        (2, "sources"),
    ] {
        let sent = fixture_json("decoded_tool_arguments.json")[kind]["decoded_arguments"].clone();
        let schema = &ours[place]["function"]["parameters"];
        for key in sent.as_object().unwrap().keys() {
            assert!(schema["properties"].get(key).is_some(), "{kind}: {key}");
        }
        for key in schema["required"].as_array().unwrap() {
            assert!(sent.get(key.as_str().unwrap()).is_some(), "{kind}: {key}");
        }
    }
}

#[test]
fn parameters_go_with_the_request_and_cannot_change_what_it_is() {
    let request = ChatRequest::new("m", [Message::user("hi")])
        .parameter("temperature", &0.5)
        .unwrap()
        .parameter("stream", &false)
        .unwrap();
    assert_eq!(
        String::from_utf8(request.to_json().into()).unwrap(),
        r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}],"temperature":0.5}"#
    );
    let read = ChatRequest::read(&request.to_json()).unwrap();
    assert_eq!(
        read.parameters.get("temperature"),
        Some(&Json::parse("0.5").unwrap())
    );
    assert_eq!(read.to_json(), request.to_json());
}
