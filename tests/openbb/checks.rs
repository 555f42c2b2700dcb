//! Calls before they are sent: checks, state, and several at once.

use copilot_wire::json::Wire as _;
use copilot_wire::openbb::{
    AddGenerativeWidget, CallQueue, DataSource, Event, ExecuteAgentTool, ExecuteClientSql,
    FunctionCall, GetWidgetData, ManageNavigationBar, Message, OpenBb, QueryRequest, SqlQuery,
};
use copilot_wire::protocol::{Protocol, SendError};
use serde_json::json;

use crate::calls::{all_widgets, full_request};
use crate::{called, data, decode, plain, read, request};

/// Unsupported functions and invalid arguments are typed errors.
#[test]
fn what_is_checked_before_a_call_leaves() {
    let full_request = full_request();
    let unsupported = |request: &QueryRequest, call: FunctionCall| {
        let outcome = data(request, call);
        assert!(
            matches!(outcome, Err(SendError::Unsupported(_))),
            "{outcome:?}"
        );
    };
    let invalid = |request: &QueryRequest, call: FunctionCall| match data(request, call) {
        Err(SendError::Invalid(message)) => message,
        other => panic!("{other:?}"),
    };
    let sql: fn() -> FunctionCall = || ExecuteClientSql::new([SqlQuery::new("s", ["u"])]).into();
    unsupported(&plain(), sql());
    unsupported(
        &plain(),
        FunctionCall::new("prepare_client_sql_tables", &json!({"widgets": [{}]})).unwrap(),
    );
    unsupported(
        &plain(),
        FunctionCall::new("assign_tasks_to_agents", &json!({"task_requests": [{}]})).unwrap(),
    );
    unsupported(
        &full_request,
        FunctionCall::new("create_widget", &json!({})).unwrap(),
    );
    unsupported(
        &full_request,
        FunctionCall::new("update_widget", &json!({})).unwrap(),
    );
    invalid(
        &full_request,
        FunctionCall::new("execute_client_sql", &json!({"queries": []})).unwrap(),
    );
    let query = || SqlQuery::new("s", ["u"]);
    for queries in [
        vec![query(); 6],
        vec![query(), SqlQuery::new("s", [""; 0])],
        vec![query().limit(1001)],
    ] {
        invalid(&full_request, ExecuteClientSql::new(queries).into());
    }
    let most = ExecuteClientSql::new(vec![query().limit(1000); 5]);
    assert!(data(&full_request, FunctionCall::from(most)).is_ok());
    let many = json!({"widgets": vec![json!({}); 11]});
    invalid(
        &full_request,
        FunctionCall::new("prepare_client_sql_tables", &many).unwrap(),
    );
    invalid(
        &full_request,
        FunctionCall::new("assign_tasks_to_agents", &json!({})).unwrap(),
    );
    invalid(
        &full_request,
        ManageNavigationBar::create(Vec::<String>::new()).into(),
    );
    invalid(
        &full_request,
        ManageNavigationBar::rename_tabs(Vec::<(String, String)>::new()).into(),
    );

    let tools: Vec<_> = full_request.tools.iter().collect();
    let execute = |index: usize, arguments: serde_json::Value| -> FunctionCall {
        ExecuteAgentTool::new(tools[index], &arguments)
            .unwrap()
            .into()
    };
    assert_eq!(
        invalid(&full_request, execute(0, json!({}))),
        "tool web_search: query is missing"
    );
    assert_eq!(
        invalid(&full_request, execute(0, json!({"query": 1}))),
        "tool web_search: query must be of type \"string\""
    );
    assert_eq!(
        invalid(&full_request, execute(0, json!({"query": "x", "n": 1.5}))),
        "tool web_search: n must be of type \"integer\""
    );
    assert_eq!(
        invalid(&full_request, execute(0, json!([]))),
        "the arguments of a tool must be an object"
    );
    invalid(&full_request, execute(1, json!({})));
    invalid(&full_request, execute(2, json!({})));
    unsupported(&plain(), execute(0, json!({"query": "x"})));

    // A raw call sends functions that this crate or the request does not know.
    let raw = FunctionCall::raw(
        "execute_client_sql",
        crate::json(r#"{"queries":[{"sql":"s"}]}"#),
    );
    assert!(data(&plain(), raw).unwrap().contains("extra_state"));
    let latest = FunctionCall::new("a_function_of_2027", &json!({})).unwrap();
    let mut session = OpenBb::session(&plain(), &(), &crate::env());
    let mut out = Vec::new();
    session.ending(&latest, &mut out).unwrap();
    assert!(
        String::from_utf8(out)
            .unwrap()
            .contains("a_function_of_2027")
    );
}

#[test]
fn state_that_is_never_empty_and_never_invented() {
    let call = || FunctionCall::from(GetWidgetData::new([DataSource::new("o", "i")]));
    let state = |call: FunctionCall| called(&plain(), call).unwrap().get("extra_state").unwrap();
    assert_eq!(
        state(call()).text(),
        r#"{"copilot_function_call_arguments":{"data_sources":[{"origin":"o","id":"i","input_args":{}}]}}"#,
    );
    assert_eq!(state(call().extra_state(crate::json("{}"))), state(call()));
    assert_eq!(
        state(call().extra_state(crate::json(r#"{"a":1}"#))).text(),
        r#"{"a":1}"#
    );
    assert_eq!(
        state(call().summary("Fetch")).text(),
        r#"{"copilot_function_call_arguments":{"summary":"Fetch"}}"#
    );
    // Large arguments are not copied into the state.
    let long = FunctionCall::from(AddGenerativeWidget::note("n", &"x".repeat(10_000)));
    assert_eq!(
        state(long).text(),
        r#"{"copilot_function_call_arguments":{"summary":"add_generative_widget"}}"#
    );
    // A state of the agent is sent to old front ends too: they repeat the complete call.
    let old = request("e2_flat_widgets_all_flags");
    let own = FunctionCall::from(all_widgets(&old)).extra_state(crate::json(r#"{"a":1}"#));
    let sent = data(&old, own).unwrap();
    let content = serde_json::to_string(&sent).unwrap();
    let back = read(format!(
        r#"{{"messages":[{{"role":"ai","content":{content}}},{{"role":"tool","function":"get_widget_data","content":"x"}}]}}"#
    ));
    assert_eq!(back.extra_state().unwrap().text(), r#"{"a":1}"#);
}

#[test]
fn arguments_are_checked_against_the_schema_of_the_tool() {
    let fault = |schema: &str, arguments: &str| {
        let request = read(format!(
            r#"{{"messages":[{{}}],"tools":[{{"server_id":"1","name":"a_b","input_schema":{schema}}}]}}"#
        ));
        let tool = request.tools.first().unwrap();
        let call = ExecuteAgentTool::new(tool, &crate::json(arguments)).unwrap();
        let fault = data(&request, FunctionCall::from(call)).err()?.to_string();
        Some(fault.replacen("not valid in this protocol: tool a_b: ", "", 1))
    };
    let schema = r#"{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer"},
        "t":{"type":["string","null"]},"k":{"enum":["a","b"]},
        "l":{"type":"array","items":{"type":"object","required":["x"]}}},"required":["q"]}"#;
    for (arguments, expected) in [
        (r#"{"q":"x"}"#, None),
        (
            r#"{"q":"x","n":1.0,"t":null,"k":"b","l":[{"x":1}],"more":true}"#,
            None,
        ),
        (r#"{"q":"x","l":[{"x":1},{}]}"#, Some("l[1].x is missing")),
    ] {
        assert_eq!(fault(schema, arguments).as_deref(), expected, "{arguments}");
    }
    // Odd schemas let everything pass.
    for schema in [
        "null",
        "true",
        "[]",
        r#"{"type":"thing"}"#,
        r#"{"required":7}"#,
        r#"{"type":7}"#,
    ] {
        assert_eq!(fault(schema, r#"{"a":1}"#), None, "{schema}");
    }
}

/// Errors are short, even if the names and lists in the request are long.
#[test]
fn faults_are_small() {
    let long = "n".repeat(100_000);
    let list = format!(r#"[{}1]"#, r#""nothing","#.repeat(100_000));
    let types = format!(r#"[{}"null"]"#, r#""boolean","#.repeat(100_000));
    let fault = |tool: &str, schema: &str, arguments: &str| {
        let request = read(format!(
            r#"{{"messages":[{{}}],"tools":[{{"server_id":"1","name":"{tool}","input_schema":{schema}}}]}}"#
        ));
        let tool = request.tools.first().unwrap();
        let call = ExecuteAgentTool::new(tool, &crate::json(arguments)).unwrap();
        data(&request, FunctionCall::from(call))
            .unwrap_err()
            .to_string()
    };
    let of = |schema: &str| {
        fault(
            "a_b",
            &format!(r#"{{"properties":{{"k":{schema}}}}}"#),
            r#"{"k":7}"#,
        )
    };
    let not_valid = "not valid in this protocol: tool a_b: k";
    assert_eq!(
        of(r#"{"enum":["a","b"]}"#),
        format!(r#"{not_valid} must be one of ["a","b"]"#)
    );
    assert_eq!(
        of(&format!(r#"{{"enum":{list}}}"#)),
        format!("{not_valid} must be one of the 2 allowed values")
    );
    assert_eq!(
        of(&format!(r#"{{"type":{types}}}"#)),
        format!("{not_valid} must be of another type")
    );
    let short = format!("{}…", "n".repeat(64));
    let required = format!(r#"{{"required":["{long}"]}}"#);
    assert_eq!(
        fault(&format!("a_{long}"), &required, "{}"),
        format!(
            "not valid in this protocol: tool a_{}…: {short} is missing",
            "n".repeat(62)
        ),
    );
    let inside =
        format!(r#"{{"properties":{{"{long}":{{"items":{{"items":{{"type":"null"}}}}}}}}}}"#);
    assert_eq!(
        fault("a_b", &inside, &format!(r#"{{"{long}":[[],[null,7]]}}"#)),
        format!(r#"not valid in this protocol: tool a_b: {short}[1][1] must be of type "null""#),
    );
}

/// Returns the request that follows a call, as the Workspace sends it.
fn reply_to(request: &QueryRequest, call: FunctionCall) -> QueryRequest {
    let out = crate::encode(request, [call.into()]).unwrap();
    let Event::FunctionCall(call) = decode(&out).unwrap().remove(0) else {
        panic!()
    };
    let mut next = request.clone();
    next.messages.push(Message::ai_call(&call));
    next.messages.push(Message::tool(
        &call,
        crate::json(r#"[{"status":"success"}]"#),
    ));
    read(next.to_json())
}

#[test]
fn several_calls_at_once() {
    let mut queue = CallQueue::new();
    for name in ["a", "b", "c"] {
        queue.push(ManageNavigationBar::add_tabs([name]));
    }
    let mut request = full_request();
    let mut ran = Vec::new();
    let mut next = queue.next();
    while let Some(call) = next {
        let call = call.state_member("turn", crate::json("7"));
        ran.push(call.input_arguments.get("tabs").unwrap().text().to_owned());
        request = reply_to(&request, call);
        assert_eq!(
            request.extra_state().unwrap().get("turn").unwrap().text(),
            "7"
        );
        next = (OpenBb::EXTRAS.next_call)(&request);
    }
    assert_eq!(
        ran,
        [
            r#"[{"name":"a"}]"#,
            r#"[{"name":"b"}]"#,
            r#"[{"name":"c"}]"#
        ]
    );
    assert!((OpenBb::EXTRAS.next_call)(&request).is_none());
    // The queue of OpenBB's own agent has the same form.
    let recorded = (OpenBb::EXTRAS.next_call)(&crate::request("v2_bridge_result_and_documents"));
    assert_eq!(recorded.unwrap().function, "manage_navigation_bar");
    // A message of the user cancels the queue; the state is still there.
    let mut interrupted = crate::request("v2_bridge_result_and_documents");
    interrupted.messages.push(Message::human("Stop"));
    assert!((OpenBb::EXTRAS.next_call)(&interrupted).is_none());
    assert!(
        interrupted
            .extra_state()
            .unwrap()
            .get("turn_usage")
            .is_some()
    );
    // A browser can send any state.
    let state = |pending: &str| {
        read(format!(
            r#"{{"messages":[{{"role":"tool","function":"f","data":[],"extra_state":{{"pending_bridge_calls":{pending}}}}}]}}"#
        ))
    };
    for odd in [
        "7",
        "null",
        "[7,null,{}]",
        r#"[{"function":"","input_arguments":{}},{"function":"f","input_arguments":[]}]"#,
    ] {
        assert!((OpenBb::EXTRAS.next_call)(&state(odd)).is_none(), "{odd}");
    }
    let call = r#"{"function":"execute_client_sql","input_arguments":{"queries":[{"sql":"x"}]}}"#;
    let many = state(&format!("[{}]", vec![call; 1000].join(",")));
    let first = (OpenBb::EXTRAS.next_call)(&many).unwrap();
    let waiting = first.extra_state.as_ref().unwrap();
    let waiting = waiting.get("pending_bridge_calls").unwrap();
    assert_eq!(waiting.elements().count(), 63);
    // Queued calls from the browser are checked like any other call.
    let refused = data(&plain(), first);
    assert!(matches!(refused, Err(SendError::Unsupported(_))));
}
