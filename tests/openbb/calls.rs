//! Calls: their forms by era, checks before they are sent, and several at once.

use copilot_wire::json::{Json, Members, Wire as _};
use copilot_wire::openbb::{
    AddGenerativeWidget, AddWidgetToDashboard, Arguments, AssignTasksToAgents, DataSource, Event,
    ExecuteAgentTool, ExecuteClientSql, FunctionCall, GetParamsOptions, GetSkillContent,
    GetWidgetData, ManageNavigationBar, Message, ParamOptionsQuery, PrepareClientSqlTables,
    QueryRequest, SaveSkill, SqlQuery, SqlWidget, TaskRequest, UpdateWidgetInDashboard, Widget,
    WidgetUpdate,
};
use copilot_wire::protocol::{ChartKind, SendError};
use serde_json::json;

use crate::{called, data, decode, plain, read, request};

pub(crate) fn all_widgets(request: &QueryRequest) -> GetWidgetData {
    GetWidgetData::new(request.widgets().map(|(_, widget)| widget))
}

/// `get_widget_data` is written in the form of the request's era.
#[test]
fn the_form_of_the_era() {
    let uuid = "38181a68-9650-4940-84fb-a3f29c8869f3";
    let cases = [
        ("e2_flat_widgets_all_flags", json!({"widget_uuid": uuid})),
        (
            "e2_tool_result_content_string",
            json!({"widget_uuid": uuid}),
        ),
        ("e3_tool_result_data_object", json!({"widget_uuid": uuid})),
        (
            "e4_widget_uuids_tool_data_list",
            json!({"widget_uuids": [uuid, "c276369e-e469-4689-b5fe-3f8c76f7c45a"]}),
        ),
        (
            "e5_tiers_tool_data_content",
            json!({"data_sources": [{"origin": "OpenBB API", "id": "yield_curve",
                "input_args": {"country": "united_states", "startDate": "2025-01-16"}}]}),
        ),
        (
            "v1_tool_result_items",
            json!({"data_sources": [{"widget_uuid": "123e4567-e89b-12d3-a456-426614174000",
                "origin": "openbb", "id": "company_news", "input_args": {"ticker": "AAPL"}}]}),
        ),
    ];
    for (name, expected) in cases {
        let request = request(name);
        let call = called(&request, all_widgets(&request)).unwrap();
        let arguments = call.get("input_arguments").unwrap();
        assert_eq!(
            arguments.decode::<serde_json::Value>().unwrap(),
            expected,
            "{name}"
        );
        // State is returned from February 2025 on.
        let has_state = name.starts_with('v');
        assert_eq!(call.get("extra_state").is_some(), has_state, "{name}");
    }
    let tiers = request("e5_tiers_all_three");
    let call = called(&tiers, all_widgets(&tiers)).unwrap();
    let sources = call
        .get("input_arguments")
        .unwrap()
        .get("data_sources")
        .unwrap();
    let first = sources.elements().next().unwrap();
    assert_eq!(
        first.text(),
        r#"{"widget_uuid":"4dd0de8d-50cc-ff0a-4dd0-de8d50ccff0a","origin":"OpenBB API","id":"stock_price","input_args":{"symbol":"TSLA"}}"#,
    );
}

/// A widget that nobody can be asked for does not cost the data of the others, in the form of any era.
#[test]
fn a_source_without_ids_is_left_out() {
    let read = |widgets: &str| {
        read(format!(
            r#"{{"messages":[{{"role":"human","content":"hi"}}],"widgets":{widgets}}}"#
        ))
    };
    let odd = r#"{"uuid":"","origin":"","widget_id":"","name":"odd"}"#;
    let half = r#"{"uuid":"4dd0de8d-50cc-ff0a-4dd0-de8d50ccff0a","origin":"o","widget_id":""}"#;
    let good = r#"{"uuid":"5dd0de8d-50cc-ff0a-4dd0-de8d50ccff0a","origin":"o","widget_id":"w"}"#;
    let today = read(&format!(r#"{{"primary":[{odd},{half},{good}]}}"#));
    let mut more = all_widgets(&today);
    more.unknown.push("more", Json::encode(&1).unwrap());
    let call = called(&today, more).unwrap();
    let arguments = call.get("input_arguments").unwrap();
    assert_eq!(
        arguments.text(),
        r#"{"more":1,"data_sources":[{"widget_uuid":"5dd0de8d-50cc-ff0a-4dd0-de8d50ccff0a","origin":"o","id":"w","input_args":{}}]}"#
    );
    let old = read(&format!(r#"[{odd},{{"uuid":"u","name":"W"}}]"#));
    let call = called(&old, all_widgets(&old)).unwrap();
    let arguments = call.get("input_arguments").unwrap();
    assert!(arguments.text().contains(r#""u""#), "{}", arguments.text());
    let none = read(&format!(r#"{{"primary":[{odd},{half}]}}"#));
    let refused = data(&none, FunctionCall::from(all_widgets(&none)));
    assert!(matches!(refused, Err(SendError::Invalid(_))), "{refused:?}");
}

/// The call equals the examples in the two documents of October 2024, byte for byte.
#[test]
fn the_call_of_2024() {
    let request = read(
        r#"{"messages":[{"role":"human","content":"What is the current stock price of AAPL?"}],
            "widgets":[{"uuid":"c276369e-e469-4689-b5fe-3f8c76f7c45a","name":"stock price quote widget",
            "description":"Contains the current stock price of a ticker","metadata":{"ticker":"AAPL"}}]}"#,
    );
    let call: FunctionCall = all_widgets(&request).into();
    let out = crate::encode(&request, [call.into()]).unwrap();
    let expected = "event: copilotFunctionCall\ndata: {\"function\":\"get_widget_data\",\
        \"input_arguments\":{\"widget_uuid\":\"c276369e-e469-4689-b5fe-3f8c76f7c45a\"}}\n\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn what_an_era_cannot_say() {
    let mut two = request("e3_tool_result_data_object");
    let (_, widget) = two.widgets().next().unwrap();
    let twice: [&Widget; 2] = [widget, widget];
    let refused = data(&two, FunctionCall::from(GetWidgetData::new(twice)));
    assert!(
        matches!(refused, Err(SendError::Unsupported(_))),
        "{refused:?}"
    );
    two.messages = [Message::human("x")].into_iter().collect();
    let none = data(
        &two,
        FunctionCall::from(GetWidgetData::new([DataSource::new("o", "i")])),
    );
    assert!(matches!(none, Err(SendError::Invalid(_))));
    // Today's form needs an origin, an id and a widget.
    let nameless = data(
        &plain(),
        FunctionCall::from(GetWidgetData::new([DataSource::new("", "i")])),
    );
    assert!(matches!(nameless, Err(SendError::Invalid(_))));
    let nothing = data(&plain(), FunctionCall::from(GetWidgetData::default()));
    assert!(matches!(nothing, Err(SendError::Invalid(_))));
    let array = data(&plain(), FunctionCall::new("f", &[1]).unwrap());
    assert!(matches!(array, Err(SendError::Invalid(_))));
    let unnamed = data(&plain(), FunctionCall::new("", &json!({})).unwrap());
    assert!(matches!(unnamed, Err(SendError::Invalid(_))));
}

/// Returns a request of today that supports all functions.
pub(crate) fn full_request() -> QueryRequest {
    read(
        r#"{"messages":[{"role":"human","content":"hi"}],
            "workspace_options":{"client-sql":true,"agent-orchestration":true},
            "tools":[{"server_id":"2","name":"web_search","url":"u","input_schema":{"type":"object",
                "properties":{"query":{"type":"string"},"n":{"type":"integer"}},"required":["query"]}},
              {"server_id":"3","name":"noserver","url":"u"},{"server_id":"","name":"a_b","url":"u"}],
            "workspace_state":{"agents":[{"holder_url":"http://h","id":"a","name":"A","features":{}}]},
            "widgets":{"primary":[{"origin":"o","widget_id":"w","name":"W","description":"d","params":[],"metadata":{}}]}}"#,
    )
}

/// Returns a call of every function.
pub(crate) fn functions(request: &QueryRequest) -> Vec<FunctionCall> {
    let (_, widget) = request.widgets().next().unwrap();
    let source = || DataSource::from(widget);
    let tool = request.tools.first().unwrap();
    let agent = request
        .workspace_state
        .as_ref()
        .unwrap()
        .agents
        .first()
        .unwrap();
    let rows = json!([{"x": 1, "y": 2}]);
    let line = ChartKind::Line {
        x: "x".into(),
        y: vec!["y".into()],
    };
    let mut arguments = Members::new();
    arguments.push("symbol", crate::json("null"));
    vec![
        GetWidgetData::new([widget]).into(),
        GetWidgetData::new([widget]).extra().into(),
        GetParamsOptions::new([ParamOptionsQuery::new(widget, "symbol", &arguments)]).into(),
        AddWidgetToDashboard::new([source(), DataSource::rich_note("OpenBB", "n", "# N")]).into(),
        UpdateWidgetInDashboard::new(WidgetUpdate::new(widget, arguments.clone())).into(),
        ExecuteAgentTool::new(tool, &json!({"query": "x"}))
            .unwrap()
            .into(),
        AssignTasksToAgents::new([TaskRequest::new("1", agent, "do it")]).into(),
        AddGenerativeWidget::note("n", "text").into(),
        AddGenerativeWidget::html("h", "<p>").inner_tab("t").into(),
        AddGenerativeWidget::table("t", &rows)
            .unwrap()
            .description("d")
            .into(),
        AddGenerativeWidget::chart("c", &line, &rows)
            .unwrap()
            .into(),
        ManageNavigationBar::create(["a"]).into(),
        ManageNavigationBar::add_tabs(["a", "b"]).into(),
        ManageNavigationBar::remove_tabs(["a"]).into(),
        ManageNavigationBar::rename_tabs([("a", "b")]).into(),
        GetSkillContent::new("slug").reason("relevant").into(),
        SaveSkill::new("n", "do").into(),
        ExecuteClientSql::new([SqlQuery::new("select 1", ["u"]).limit(5)]).into(),
        PrepareClientSqlTables::new([SqlWidget::from(widget)]).into(),
    ]
}

/// The Workspace accepts every call, the call has a state, and its arguments are read back typed.
#[test]
fn every_function() {
    let request = full_request();
    for call in functions(&request) {
        let event = Event::from(call.clone());
        let out = crate::encode(&request, [event.clone()]).unwrap();
        let back = decode(&out).unwrap();
        assert_eq!(back, [event]);
        let Event::FunctionCall(back) = &back[0] else {
            panic!()
        };
        let state = back.extra_state.as_ref().unwrap();
        assert!(state.members().next().is_some(), "{}", call.function);
        let typed = back.arguments();
        assert!(!matches!(typed, Arguments::Raw(_)), "{}", call.function);
        // A call that was read is sent without additions.
        let again = crate::encode(&request, [Event::FunctionCall(back.clone())]).unwrap();
        assert_eq!(again, out);
    }
    let (_, widget) = request.widgets().next().unwrap();
    let source = || DataSource::from(widget);
    let direct = FunctionCall::new("get_direct_retrieval_data", &source()).unwrap();
    assert!(
        matches!(direct.arguments(), Arguments::GetDirectRetrievalData(found) if found == source())
    );
}

#[test]
fn arguments_on_the_wire() {
    let request = full_request();
    let arguments = |call: FunctionCall| {
        called(&request, call)
            .unwrap()
            .get("input_arguments")
            .unwrap()
            .text()
            .to_owned()
    };
    assert_eq!(
        arguments(ManageNavigationBar::rename_tabs([("a", "b")]).into()),
        r#"{"operation":"rename_tabs","rename_map":{"a":"b"}}"#
    );
    assert_eq!(
        arguments(ManageNavigationBar::create(["a"]).into()),
        r#"{"operation":"create","tabs":[{"name":"a"}]}"#
    );
    assert_eq!(
        arguments(AddGenerativeWidget::note("n", "t").into()),
        r#"{"widget_type":"note","data":"t","name":"n"}"#
    );
    assert_eq!(
        arguments(SaveSkill::new("", "do").into()),
        r#"{"instructions":"do"}"#
    );
    assert_eq!(
        arguments(ExecuteClientSql::new([SqlQuery::new("s", ["u"]).limit(5)]).into()),
        r#"{"queries":[{"sql":"s","widget_uuids":["u"],"row_limit":5}]}"#,
    );
    let tool =
        ExecuteAgentTool::new(request.tools.first().unwrap(), &json!({"query": "x"})).unwrap();
    assert_eq!(
        arguments(tool.into()),
        r#"{"server_id":"2","tool_name":"web_search","parameters":{"query":"x"}}"#,
    );
    let mut ssm = DataSource::new("o", "i");
    ssm.ssm_request = Some(crate::json(r#"{"query":"q"}"#));
    assert_eq!(
        arguments(GetWidgetData::new([ssm]).into()),
        r#"{"data_sources":[{"origin":"o","id":"i","input_args":{},"ssm_request":{"query":"q"}}]}"#,
    );
}

#[test]
fn calls_of_every_era_are_read_typed() {
    let sources = |name: &str| -> Vec<Option<String>> {
        let request = request(name);
        let call = request.messages.iter().find_map(Message::call).unwrap();
        let Arguments::GetWidgetData(call) = call.arguments() else {
            panic!()
        };
        call.data_sources
            .iter()
            .map(|source| source.widget_uuid.clone())
            .collect()
    };
    let uuid = || Some("38181a68-9650-4940-84fb-a3f29c8869f3".to_owned());
    assert_eq!(sources("e2_tool_result_content_string"), [uuid()]);
    assert_eq!(sources("e4_widget_uuids_tool_data_list")[0], uuid());
    assert_eq!(sources("e5_tiers_tool_data_content"), [None]);
    let unknown = FunctionCall::raw("execute_sql_query", crate::json(r#"{"a":1}"#));
    assert!(
        matches!(unknown.arguments(), Arguments::Raw(json) if json == crate::json(r#"{"a":1}"#))
    );
    let _: bytes::Bytes = GetParamsOptions::default().to_json();
}
