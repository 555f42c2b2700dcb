//! Members of requests: widgets and their ids, parameters, options, documents and others.

use copilot_wire::openbb::{AttachedDocument, DefaultValue, OptionValue, Role, Widget};

use crate::{read, request};

#[test]
fn derived_ids() {
    let vectors = [
        (
            "OpenBB API",
            "stock_price",
            "4dd0de8d-50cc-ff0a-4dd0-de8d50ccff0a",
        ),
        (
            "OpenBB API",
            "company_news",
            "7bccd626-33db-4a2a-7bcc-d62633db4a2a",
        ),
        (
            "openbb",
            "company_news",
            "c0342601-8c97-9211-c034-26018c979211",
        ),
        ("é", "ü", "cc746548-3340-9405-cc74-654833409405"),
    ];
    for (origin, widget_id, uuid) in vectors {
        assert_eq!(Widget::new(origin, widget_id, "", "").id().unwrap(), uuid);
    }
    let request = request("e5_tiers_all_three");
    let ids: Vec<_> = request
        .widgets()
        .map(|(_, widget)| widget.id().unwrap().into_owned())
        .collect();
    assert_eq!(ids[0], vectors[0].2);
    assert_eq!(ids[1], "b2c45d67-8e9f-4a12-bc3d-123456789abc");
    assert_eq!(request.widget(vectors[0].2).unwrap().name, "Stock Price");
    // Ids are not always UUIDs.
    let odd = read(
        r#"{"messages":[{}],"widgets":{"primary":[{"uuid":"global::B::x::h"},{"uuid":null,"origin":"","widget_id":"x"}]}}"#,
    );
    let ids: Vec<_> = odd
        .widgets()
        .map(|(_, widget)| widget.id().map(Into::into))
        .collect();
    assert_eq!(ids, [Some("global::B::x::h".to_owned()), None]);
}

#[test]
fn parameters_and_their_defaults() {
    let request = request("e5_tiers_all_three");
    let defaults: Vec<_> = request
        .widgets()
        .map(
            |(_, widget)| match widget.param("symbol").unwrap().default_value() {
                DefaultValue::Absent => "absent".to_owned(),
                DefaultValue::Null => "null".to_owned(),
                DefaultValue::Value(value) => value.text().to_owned(),
            },
        )
        .collect();
    assert_eq!(defaults, ["absent", "null", "\"AAPL\""]);
    let undefined = read(
        r#"{"messages":[{}],"widgets":{"extra":[{"params":[{"name":"a","default_value":"<<UNDEFINED>>"}]}]}}"#,
    );
    let (_, widget) = undefined.widgets().next().unwrap();
    assert_eq!(
        widget.param("a").unwrap().default_value(),
        DefaultValue::Absent
    );

    let full = crate::request("v2_full");
    let (_, widget) = full.widgets().next().unwrap();
    let symbol = widget.param("symbol").unwrap();
    assert!(symbol.multi_select && symbol.split_param_on_citation && !symbol.get_options);
    assert_eq!(symbol.current_value.as_ref().unwrap().elements().count(), 2);
    let series = widget.param("series").unwrap();
    assert!(series.get_options);
    assert_eq!(
        series.options_params.first().unwrap().inherit_value_from,
        "symbol"
    );
    assert_eq!(widget.param("code").unwrap().language, "python");
    assert_eq!(widget.columns.iter().collect::<Vec<_>>(), ["date", "close"]);
    let arguments = widget.arguments();
    let arguments: Vec<_> = arguments
        .iter()
        .map(|(name, value)| (name, value.elements().count()))
        .collect();
    assert_eq!(arguments, [("symbol", 2), ("view", 0), ("code", 0)]);
}

#[test]
fn options_in_both_forms() {
    let list = request("v17_options_list_tools_state");
    assert_eq!(list.option("web-search"), OptionValue::On);
    assert_eq!(list.option("model"), "gpt-4o".into());
    assert_eq!(list.option("agent-name"), "My Bot = v2".into());
    let map = request("v2_full");
    assert_eq!(map.option("web-search"), OptionValue::On);
    assert_eq!(map.option("deep-research"), OptionValue::Off);
    assert_eq!(map.option("model"), "gpt-4o".into());
    for request in [list, map, crate::plain()] {
        assert!(!request.option("absent").is_on());
    }
    let empty = read(r#"{"messages":[{}],"workspace_options":{"agent-name":""}}"#);
    assert!(!empty.option("agent-name").is_on());
}

#[test]
fn everything_else_that_a_request_has() {
    let state = request("v17_options_list_tools_state");
    let tool = state.tools.first().unwrap();
    assert_eq!(
        (tool.server_id.as_str(), tool.name.as_str()),
        ("1", "search_docs")
    );
    let workspace = state.workspace_state.as_ref().unwrap();
    assert_eq!(workspace.current_page_context, "dashboard");
    assert_eq!(
        workspace.action_history.first().unwrap(),
        "opened dashboard"
    );
    assert_eq!(
        workspace.agents.first().unwrap().holder_url,
        "http://localhost:7777"
    );
    let dashboard = workspace.current_dashboard_info.as_ref().unwrap();
    let tab = dashboard.tabs.first().unwrap();
    assert_eq!(tab.widgets.first().unwrap().name, "Stock Price");
    assert_eq!(dashboard.tabs.len(), 2);

    let v1 = request("v1_context_items");
    assert_eq!(v1.timezone, "Europe/Lisbon");
    assert_eq!(v1.urls.first().unwrap(), "https://example.com/report");
    assert!(v1.force_web_search);
    assert_eq!(
        v1.api_keys.unwrap().openai_api_key.unwrap().expose(),
        "sk-test-not-a-key"
    );

    let e2 = request("e2_flat_widgets_all_flags");
    assert!(e2.allow_direct_retrieval);
    let endpoints = e2.unknown.get("custom_direct_retrieval_endpoints").unwrap();
    let first = endpoints.elements().next().unwrap();
    assert_eq!(first.get("category").unwrap().string().unwrap(), "My Data");
    let (_, widget) = e2.widgets().next().unwrap();
    assert_eq!(
        widget
            .metadata
            .as_ref()
            .unwrap()
            .get("symbol")
            .unwrap()
            .text(),
        "\"AAPL\""
    );

    let documents = request("v2_bridge_result_and_documents");
    assert_eq!(
        documents.documents.first().unwrap().bytes().unwrap(),
        b"%PDF-1.4\n"
    );
    assert_eq!(
        documents.documents.last().unwrap().url,
        "https://files.example.com/notes.md"
    );
    assert!(documents.workspace_state.unwrap().extra_widgets_slim);

    let skills = request("v2_skill_content_result");
    assert_eq!(
        skills.skills_catalog.first().unwrap().updated_at,
        "2026-03-22T12:00:00Z"
    );
    assert_eq!(
        skills.selected_skills.first().unwrap().content_markdown,
        "# Earnings"
    );

    let summary = request("draft_summary_message");
    let message = summary
        .messages
        .iter()
        .find(|message| message.role == Role::Summary)
        .unwrap();
    assert_eq!(message.covered_through_message_id, "m2");

    let repost = request("v2_repost_as_sent_by_workspace");
    assert_eq!(repost.messages.len() + repost.messages.invalid().count(), 7);
    assert_eq!(repost.tools.first().unwrap().name, "tools_web_search");
}

/// Clients write base64 in more ways than one; what is no base64 is no file.
#[test]
fn files_in_every_spelling_of_base64() {
    let file = |text: &str| {
        let body = serde_json::json!({"messages": [{}], "uploaded_files": [{"data_base64": text}]});
        let request = read(body.to_string());
        request.uploaded_files.first().unwrap().bytes()
    };
    for (text, bytes) in [
        ("JVBERi0xLjQK", &b"%PDF-1.4\n"[..]),
        ("JVBE\r\nRi0x\tLj QK\n", b"%PDF-1.4\n"),
        ("YQ==\n", b"a"),
        ("YQ", b"a"),
        ("YQ=\n==", b"a"),
        // The bits behind the last byte mean nothing.
        ("YR==", b"a"),
        ("YWI", b"ab"),
        ("//79", b"\xff\xfe\xfd"),
        ("__79", b"\xff\xfe\xfd"),
        ("-_+/", b"\xfb\xff\xbf"),
        ("=", b""),
    ] {
        assert_eq!(file(text).as_deref(), Some(bytes), "{text:?}");
    }
    for text in [
        "",
        "A",
        "A===",
        "YWJjA",
        "A=A=",
        "YQ==YQ==",
        "not base64!",
        "Yé",
        "YQ\u{b}",
    ] {
        assert_eq!(file(text), None, "{text:?}");
    }
    for (bytes, text) in [
        (&b""[..], ""),
        (b"a", "YQ=="),
        (b"ab", "YWI="),
        (b"\xff\xfe\xfd", "//79"),
    ] {
        assert_eq!(AttachedDocument::new("1", "a", bytes).content_b64, text);
    }
}

#[test]
fn what_is_secret_in_a_url_is_not_printed() {
    let url = "https://user:SECRET@example.com/report?token=SECRET";
    let body = serde_json::json!({
        "messages": [{"role": "human", "content": "hi"}],
        "urls": [url],
        "documents": [{"name": "a", "url": url}],
        "uploaded_files": [{"name": "a", "url": url}],
        "tools": [{"name": "a_b", "url": url}],
    });
    let request = read(body.to_string());
    assert_eq!(request.urls.first().unwrap(), url);
    assert_eq!(request.tools.first().unwrap().url, url);
    let printed = format!("{request:?}");
    assert_eq!(
        printed.matches("…@example.com/report").count(),
        4,
        "{printed}"
    );
    assert!(!printed.contains("SECRET"), "{printed}");
}

#[test]
fn the_table_of_a_widget() {
    let widget = |metadata: &str| {
        let request = format!(
            r#"{{"messages":[{{"role":"human","content":"a"}}],"widgets":{{"primary":[{{"origin":"o","widget_id":"w","metadata":{metadata}}}]}}}}"#
        );
        read(request).widgets().next().unwrap().1.clone()
    };
    let prices = widget(
        r#"{"data_table":{"dialect":"duckdb-wasm","table_name":"prices_u1","row_count":10,"columns":[{"name":"symbol","type":"VARCHAR","label":"Symbol"},{"name":"close","type":"DOUBLE"}],"primary_key":"symbol"}}"#,
    );
    let table = prices.data_table().unwrap();
    assert_eq!(table.dialect, "duckdb-wasm");
    assert_eq!(table.table_name, "prices_u1");
    assert_eq!(table.row_count, Some(10));
    let columns = table.columns.iter();
    let columns: Vec<_> = columns.map(|c| (&*c.name, &*c.kind, &*c.label)).collect();
    assert_eq!(
        columns,
        [("symbol", "VARCHAR", "Symbol"), ("close", "DOUBLE", "")]
    );
    assert_eq!(
        table.unknown.get("primary_key").unwrap().text(),
        "\"symbol\""
    );
    for none in [
        "{}",
        "null",
        r#"{"data_table":[]}"#,
        r#"{"data_table":{"dialect":"duckdb-wasm"}}"#,
        r#"{"schema":{"tableName":"T","columns":[]}}"#,
    ] {
        assert_eq!(widget(none).data_table(), None, "{none}");
    }
}
