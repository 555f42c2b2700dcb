//! Lists of OpenBB Workspace that no other front end has: what a call is checked against, and what a reply refers to.

use bytes::Bytes;
use copilot_wire::json::Json;
use copilot_wire::openbb::{Artifact, FunctionCall, OpenBb, QueryRequest, Reply, StatusUpdate};
use copilot_wire::protocol::{Citation, Env, Part, Protocol, Session, ToolCall};

use super::{List, each};
use crate::Work;

/// Reads a request with more members.
fn read(more: &str) -> QueryRequest {
    let (head, ()) = http::Request::post("/").body(()).unwrap().into_parts();
    let body = format!(r#"{{"messages":[{{"role":"human","content":"hi"}}],{more}}}"#);
    OpenBb::read(&head, Bytes::from(body))
        .map_err(|_| "refused")
        .unwrap()
}

fn session(request: &QueryRequest) -> Session<Reply> {
    OpenBb::session(request, &(), &Env::default())
}

/// Calls a tool.
fn called(more: &str, name: &'static str, arguments: &str) -> Work {
    let request = read(more);
    let arguments = Json::parse(arguments.to_owned()).unwrap();
    Box::new(move || {
        let call = ToolCall::new(name, &arguments).unwrap();
        let mut out = Vec::new();
        let calls = Part::Calls(std::slice::from_ref(&call));
        session(&request).part(calls, &mut out).unwrap();
        out.len()
    })
}

/// Makes a call whose arguments are refused.
fn refused(count: usize, of: &str, element: &str) -> Work {
    let list = each(count, |_| element.to_owned());
    let tools = format!(
        r#""tools":[{{"server_id":"1","name":"a_b","input_schema":{{"properties":{{"l":{{"items":{of}}}}}}}}}]"#
    );
    let request = read(&tools);
    let arguments = Json::parse(format!(r#"{{"l":[{list}]}}"#)).unwrap();
    Box::new(move || {
        let call = ToolCall::new("a_b", &arguments).unwrap();
        let mut session = session(&request);
        let refused = session.part(Part::Calls(std::slice::from_ref(&call)), &mut Vec::new());
        refused.unwrap_err().to_string().len()
    })
}

/// Calls a tool with a schema.
fn schema(schema: &str, arguments: &str) -> Work {
    let tools = format!(r#""tools":[{{"server_id":"1","name":"a_b","input_schema":{schema}}}]"#);
    called(&tools, "a_b", arguments)
}

/// Calls a tool with a list of elements that all have a schema.
fn elements(count: usize, of: &str, element: &str) -> Work {
    let list = each(count, |_| element.to_owned());
    schema(
        &format!(r#"{{"properties":{{"l":{{"items":{of}}}}}}}"#),
        &format!(r#"{{"l":[{list}]}}"#),
    )
}

fn members(count: usize, value: &str) -> String {
    format!("{{{}}}", each(count, |at| format!(r#""k{at:04}":{value}"#)))
}

fn names(count: usize) -> String {
    format!("[{}]", each(count, |at| format!(r#""k{at:04}""#)))
}

fn state(count: usize) -> Work {
    let state = members(count, "1");
    let pending = each(count, |_| {
        r#"{"function":"f","input_arguments":{}}"#.to_owned()
    });
    let request = |state: String| {
        let last = format!(
            r#"{{"role":"tool","function":"f","input_arguments":{{}},"data":[],"extra_state":{state}}}"#
        );
        read(&format!(r#""messages":[{last}]"#))
    };
    let own = request(state);
    let pending = request(format!(r#"{{"pending_bridge_calls":[{pending}]}}"#));
    Box::new(move || {
        let call = FunctionCall::raw("f", Json::parse("{}".to_owned()).unwrap());
        let carried = call.clone().state_from(&own).extra_state.unwrap();
        let both = call.extra_state(carried).state_from(&own);
        assert!((OpenBb::EXTRAS.next_call)(&pending).is_some());
        both.extra_state.unwrap().members().count()
    })
}

fn artifacts(count: usize) -> Work {
    let entries = each(count, |at| {
        format!(r#"{{"uuid":"u","name":"T {}"}}"#, at + 2)
    });
    let request = read(&format!(r#""context":[{entries}]"#));
    Box::new(move || {
        let mut session = session(&request);
        let artifact = |at: usize| Artifact::text("T", "x").uuid(format!("a{at:04}"));
        let steps = (0..count).fold(StatusUpdate::info("m"), |step, at| {
            step.artifact(artifact(at))
        });
        let mut out = Vec::new();
        for at in 0..count {
            session.output(&artifact(at).into(), &mut out).unwrap();
        }
        session.output(&steps.into(), &mut out).unwrap();
        out.len()
    })
}

fn citations(count: usize) -> Work {
    let widgets = each(count, |at| {
        format!(r#"{{"origin":"o","widget_id":"w{at:04}"}}"#)
    });
    let entries = each(count, |at| format!(r#"{{"uuid":"u{at:04}","name":"T"}}"#));
    let request = read(&format!(
        r#""widgets":{{"primary":[{widgets}]}},"context":[{entries}]"#
    ));
    Box::new(move || {
        let mut session = session(&request);
        let mut out = Vec::new();
        for at in 0..count {
            for document in [format!("openbb_widget_w{at:04}"), format!("u{at:04}")] {
                let citation = Citation::new("t").document(document);
                session.part(Part::Cite(&citation), &mut out).unwrap();
            }
        }
        out.len()
    })
}

pub(super) fn lists() -> Vec<List> {
    vec![
        List::new("openbb-call-params", |count| {
            let params = each(count, |at| {
                format!(r#"{{"name":"k{at:04}","type":"number","current_value":0}}"#)
            });
            let widgets = format!(
                r#""widgets":{{"primary":[{{"origin":"o","widget_id":"w","params":[{params}]}}]}}"#
            );
            called(&widgets, "openbb_widget_w", &members(count, "1"))
        }),
        List::new("openbb-call-properties", |count| {
            let (required, properties) = (names(count), members(count, r#"{"type":"number"}"#));
            schema(
                &format!(r#"{{"required":{required},"properties":{properties}}}"#),
                &members(count, "1"),
            )
        }),
        List::new("openbb-call-numbers", |count| {
            let numbers = each(count, |at| (1000 + at).to_string());
            elements(
                count,
                &format!(r#"{{"enum":[{numbers}]}}"#),
                &(999 + count).to_string(),
            )
        }),
        List::new("openbb-call-choices", |count| {
            let last = format!(r#""k{:04}""#, count - 1);
            elements(count, &format!(r#"{{"enum":{}}}"#, names(count)), &last)
        }),
        List::new("openbb-call-types", |count| {
            let types = each(count, |_| r#""null""#.to_owned());
            elements(count, &format!(r#"{{"type":[{types},"object"]}}"#), "{}")
        }),
        List::new("openbb-call-required", |count| {
            let required = each(count, |_| r#""a""#.to_owned());
            elements(
                count,
                &format!(r#"{{"required":[{required}]}}"#),
                r#"{"a":1}"#,
            )
        }),
        List::new("openbb-call-required-items", |count| {
            // In an element that has them all every one is looked up, so there is one.
            let of = format!(
                r#"{{"required":{},"properties":{{"a":{{}}}}}}"#,
                names(count)
            );
            refused(count, &of, r#"{"a":1}"#)
        }),
        List::new("openbb-calls-of-a-tool", |count| {
            let properties = members(count, "{}");
            let tools = format!(
                r#""tools":[{{"server_id":"1","name":"a_b","input_schema":{{"properties":{properties}}}}}]"#
            );
            let request = read(&tools);
            let call = ToolCall::new("a_b", &serde_json::json!({"k0000": 1})).unwrap();
            let calls = vec![call; count];
            Box::new(move || {
                let mut out = Vec::new();
                session(&request)
                    .part(Part::Calls(&calls), &mut out)
                    .unwrap();
                out.len()
            })
        }),
        List::new("openbb-call-items", |count| {
            let of = format!(r#"{{"properties":{}}}"#, members(count, "{}"));
            elements(count, &of, r#"{"k0000":1}"#)
        }),
        List::new("openbb-state", state),
        List::new("openbb-artifact-names", artifacts),
        List::new("openbb-cited", citations),
    ]
}
