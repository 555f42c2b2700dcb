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

/// The faults, a line each: the stream, how many places change, what becomes what, and the rules that find it. `~` is a
/// line end.
const FAULTS: &str = r#"
text 1 | data: {"type":"response.output_text.delta" | data: x{"type": | json repeat sequence-number
text 1 | event: response.output_text.delta~ | | event-name
text 1 | event: response.output_text.delta~ | event: response.output_text.delta~id: 1~ | id
text 1 | "sequence_number":4 | "sequence_number":7 | sequence-number
text 9 | response.created | response.queued | created
text 1 | "truncation":"disabled", | | object
text 9 | "id":"resp_ | "id":" | response-id
text 1 | "delta":"Hel" | "delta":"Hal" | repeat
text 1 | event: response.completed | data: [DONE]~~ | end
text 1 | data: [DONE]~~ | | done
failed 9 | "message":"Away." | "message":"" | failed
call 9 | \"port\": | \"port\" | call/arguments
text 9 | "usage":{ | "usage":null,"x":{ | usage
text 1 | event: response.output_item.added~data: {"type":"response.output_item.added" | event: response.other~data: {"type":"response.other" | item
"#;

/// Every rule finds its fault, and no other rule does.
#[test]
fn faults_are_found() {
    for line in FAULTS.trim().lines() {
        let parts: Vec<_> = line.split('|').map(|part| part.trim_matches(' ')).collect();
        let [stream, from, to, rules] = parts[..] else {
            panic!("{line}")
        };
        let (stream, places) = stream.split_once(' ').unwrap();
        let [from, to] = [from, to].map(|text| text.replace('~', "\n"));
        let good = fixture(&format!("{stream}.sse"));
        let mut bad = good.replacen(&from, &to, places.parse().unwrap());
        if rules == "end" {
            bad.truncate(bad.find(&to).unwrap() + to.len());
        }
        let mut rules: Vec<_> = rules
            .split(' ')
            .map(|rule| match rule.contains('/') {
                true => rule.to_owned(),
                false => format!("responses/{rule}"),
            })
            .collect();
        rules.sort_unstable();
        let report = recorded(kit::<Responses>(), bad.as_bytes());
        let mut found: Vec<_> = report.findings.iter().map(|it| it.rule.id).collect();
        found.sort_unstable();
        assert_eq!(found, rules, "{line}");
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
