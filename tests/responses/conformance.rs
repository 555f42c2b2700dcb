//! The conformance kit and the played client.

use copilot_wire::agent_fn;
use copilot_wire::protocol::{AgentError, Citation, Confirmation, Conversation, ToolCall, Usage};
use copilot_wire::responses::{Responses, ResponsesRequest, Tool};
use copilot_wire_kit::check::{Target, check, recorded};
use copilot_wire_kit::responses::ResponsesClient;
use copilot_wire_kit::{Harness, ToolOutcome, kit};
use futures::executor::block_on;
use serde_json::json;

use crate::support::{agent, fixture, router};

#[test]
fn this_server_conforms() {
    let router = router(agent_fn::<Responses, _, _>(|request, reply| async move {
        reply.status("Looking").await?;
        let tool = request.tools().next().map(|tool| tool.name.into_owned());
        let answered = request.results().next().is_some();
        reply.text(&request.prompt().unwrap_or_default()).await?;
        match tool {
            Some(tool) if !answered => Ok(reply.call(ToolCall::new(tool, &json!({"a": 1}))?)?),
            _ => Ok(reply
                .cite(Citation::new("A").url("https://a.example"))
                .await?),
        }
    }));
    let report = block_on(check(&router, Target::new(kit::<Responses>())));
    assert!(report.is_clean(), "{report}");
}

#[test]
fn golden_streams_conform() {
    for name in ["text.sse", "words.sse", "call.sse", "failed.sse"] {
        let report = recorded(kit::<Responses>(), fixture(name).as_bytes());
        assert!(report.is_clean(), "{name}: {report}");
    }
}

/// Every rule finds its fault, and no other rule does.
#[test]
fn faults_are_found() {
    let text = fixture("text.sse");
    let failed = fixture("failed.sse");
    let call = fixture("call.sse");
    let cases: &[(&str, String, &[&str])] = &[
        (
            "json",
            text.replacen(
                "data: {\"type\":\"response.output_text.delta\"",
                "data: x{\"type\":",
                1,
            ),
            &[
                "responses/json",
                "responses/sequence-number",
                "responses/repeat",
            ],
        ),
        (
            "name",
            text.replacen("event: response.output_text.delta\n", "", 1),
            &["responses/event-name"],
        ),
        (
            "id",
            text.replacen(
                "event: response.output_text.delta\n",
                "event: response.output_text.delta\nid: 1\n",
                1,
            ),
            &["responses/id"],
        ),
        (
            "number",
            text.replacen("\"sequence_number\":4", "\"sequence_number\":7", 1),
            &["responses/sequence-number"],
        ),
        (
            "created",
            text.replace("response.created", "response.queued"),
            &["responses/created"],
        ),
        (
            "object",
            text.replacen("\"truncation\":\"disabled\",", "", 1),
            &["responses/object"],
        ),
        (
            "response id",
            text.replace("\"id\":\"resp_", "\"id\":\""),
            &["responses/response-id"],
        ),
        (
            "repeat",
            text.replacen("\"delta\":\"Hel\"", "\"delta\":\"Hal\"", 1),
            &["responses/repeat"],
        ),
        (
            "end",
            text.split("event: response.completed")
                .next()
                .unwrap()
                .to_owned()
                + "data: [DONE]\n\n",
            &["responses/end"],
        ),
        (
            "done",
            text.replace("data: [DONE]\n\n", ""),
            &["responses/done"],
        ),
        (
            "failed",
            failed.replace("\"message\":\"Away.\"", "\"message\":\"\""),
            &["responses/failed"],
        ),
        (
            "arguments",
            call.replace("\\\"port\\\":", "\\\"port\\\""),
            &["call/arguments"],
        ),
        (
            "usage",
            text.replace("\"usage\":{", "\"usage\":null,\"x\":{"),
            &["responses/usage"],
        ),
        (
            "item",
            text.replacen(
                "\"type\":\"response.output_item.added\"",
                "\"type\":\"response.other\"",
                1,
            )
            .replacen(
                "event: response.output_item.added",
                "event: response.other",
                1,
            ),
            &["responses/item"],
        ),
    ];
    for (name, stream, expected) in cases {
        let report = recorded(kit::<Responses>(), stream.as_bytes());
        let found: Vec<_> = report
            .findings
            .iter()
            .map(|finding| finding.rule.id)
            .collect();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        let mut sorted = found.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, expected, "{name}");
    }
}

#[test]
fn the_played_client_runs_tools_and_answers_questions() {
    let agent = agent_fn::<Responses, _, _>(|request, reply| async move {
        if let Some(answer) = request.decision() {
            let text = format!("decided: {}", answer.accepts("q-1"));
            return Ok(reply.text(&text).await?);
        }
        let Some(result) = request.results().next() else {
            reply.status("Looking").await?;
            let call = ToolCall::new("get_tide", &json!({"port": "Brest"}))?;
            return Ok(reply.call(call)?);
        };
        let text = format!("The tide: {}", result.content);
        reply.usage(Usage::new(3, 4)).await?;
        reply.text(&text).await?;
        Ok(reply.confirm(Confirmation::new("q-1", "Sure?", "Really?"))?)
    });
    let request = ResponsesRequest::new("m", Vec::new()).instructions("Be kind.");
    let client =
        ResponsesClient::continuing(request).tools([Tool::function("get_tide", "The tide")]);
    let mut harness = Harness::new(client, agent);
    block_on(async {
        let transcript = harness.prompt("Tides?").await.unwrap().to_string();
        assert!(transcript.contains("reasoning: Looking"), "{transcript}");
        assert!(transcript.contains("get_tide"), "{transcript}");
        let answers = [ToolOutcome::text("4.2 m")];
        let transcript = harness.answer(answers).await.unwrap().to_string();
        assert!(transcript.contains("text: The tide: 4.2 m"), "{transcript}");
        assert!(transcript.contains("usage: 3 in, 4 out"), "{transcript}");
        let transcript = harness.decide(true).await.unwrap().to_string();
        assert!(transcript.contains("decided: true"), "{transcript}");
    });
}

#[test]
fn the_played_client_shows_failures() {
    let failing = agent(|reply| async move {
        reply.text("Half").await?;
        Err(AgentError::new("Away."))
    });
    let mut harness = Harness::new(ResponsesClient::new("m"), failing);
    let transcript = block_on(harness.prompt("hi")).unwrap().to_string();
    assert!(transcript.contains("error: Away."), "{transcript}");
}
