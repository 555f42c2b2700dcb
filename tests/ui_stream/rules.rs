//! Every rule of the conformance kit is broken once by a server written by hand, and found alone.

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire::testing::check::{Endpoint, EndpointBody, EndpointError, Report, Target, check};
use copilot_wire::testing::kit;
use copilot_wire::ui_stream::UiStream;
use futures::executor::block_on;
use http::{HeaderValue, Method, Request, Response};
use serde_json::Value;

use crate::support::router;

/// What is answered, before it is spoilt.
struct Answer {
    status: u16,
    headers: Vec<(&'static str, &'static str)>,
    body: String,
}

impl Answer {
    fn plain(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type", "text/plain")],
            body: body.to_owned(),
        }
    }

    /// The same stream with something else in place of `from`.
    fn said(mut self, from: &str, to: &str) -> Self {
        if self.is_stream() {
            assert!(self.body.contains(from), "{from}: {}", self.body);
            self.body = self.body.replace(from, to);
        }
        self
    }

    fn is_stream(&self) -> bool {
        self.body.starts_with("data: ")
    }
}

type Fault = fn(&Request<Bytes>, Answer) -> Answer;

/// A server without this crate's encoder that does everything right, but for one thing.
struct Script(Fault);

const TEXT: &str = "data: {\"type\":\"text-start\",\"id\":\"t1\"}\n\n\
    data: {\"type\":\"text-delta\",\"id\":\"t1\",\"delta\":\"Hello\"}\n\n\
    data: {\"type\":\"text-end\",\"id\":\"t1\"}\n\n";
const STEP: &str = "data: {\"type\":\"start-step\"}\n\n";
const END_STEP: &str = "data: {\"type\":\"finish-step\"}\n\n";
const FINISH: &str = "data: {\"type\":\"finish\"}\n\n";
const DONE: &str = "data: [DONE]\n\n";
const CALL: &str = "data: {\"type\":\"tool-input-available\",\"toolCallId\":\"c9\",\"toolName\":\"f\",\"input\":{}}\n\n";
const OUTPUT: &str =
    "data: {\"type\":\"tool-output-available\",\"toolCallId\":\"c9\",\"output\":{}}\n\n";

impl Script {
    fn right(request: &Request<Bytes>) -> Answer {
        let path = request.uri().path();
        match (request.method(), path) {
            (&Method::POST, "/api/chat") => {}
            (&Method::GET, "/api/chat/chat-1/stream") => return Answer::plain(204, ""),
            (_, "/api/chat") => return Answer::plain(405, "post here"),
            _ => return Answer::plain(404, "nothing here"),
        }
        if request.body().len() > 1024 * 1024 {
            return Answer::plain(413, "too large");
        }
        let asked: Value = serde_json::from_slice(request.body()).unwrap_or_default();
        let Some(last) = asked["messages"].as_array().and_then(|all| all.last()) else {
            return Answer::plain(400, "messages are missing");
        };
        let id = match last["role"].as_str() {
            Some("assistant") => last["id"].as_str().unwrap(),
            _ => "m9",
        };
        let start = format!("data: {{\"type\":\"start\",\"messageId\":\"{id}\"}}\n\n");
        Answer {
            status: 200,
            headers: vec![
                ("content-type", "text/event-stream"),
                ("cache-control", "no-cache"),
                ("x-accel-buffering", "no"),
                ("x-vercel-ai-ui-message-stream", "v1"),
            ],
            body: [&*start, STEP, TEXT, END_STEP, FINISH, DONE].concat(),
        }
    }
}

#[async_trait]
impl Endpoint for Script {
    async fn call(&self, request: Request<Bytes>) -> Result<Response<EndpointBody>, EndpointError> {
        let answer = (self.0)(&request, Self::right(&request));
        let body = futures::stream::iter([Ok::<_, EndpointError>(Bytes::from(answer.body))]);
        let mut response = Response::new(Box::pin(body) as EndpointBody);
        *response.status_mut() = answer.status.try_into().unwrap();
        for (name, value) in answer.headers {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        Ok(response)
    }

    async fn sleep(&self, _: std::time::Duration) {
        std::future::pending::<()>().await;
    }
}

fn report(endpoint: &dyn Endpoint) -> Report {
    block_on(check(endpoint, Target::new(kit::<UiStream>())))
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    let report = report(&Script(|_, answer| answer));
    assert!(report.is_clean(), "{report}");
}

const FAULTS: &[(&str, Fault)] = &[
    ("ui/request", |asked, answer| {
        let odd = asked.body().windows(8).any(|bytes| bytes == b"tomorrow");
        if odd {
            Answer::plain(400, "odd")
        } else {
            answer
        }
    }),
    ("ui/header", |_, mut answer| {
        answer
            .headers
            .retain(|(name, _)| !name.starts_with("x-vercel"));
        answer
    }),
    ("ui/json", |_, answer| answer.said(TEXT, "data: ping\n\n")),
    ("ui/type", |_, answer| {
        answer.said(TEXT, "data: {\"type\":\"status\"}\n\n")
    }),
    ("ui/newer", |_, answer| {
        answer.said(TEXT, "data: {\"type\":\"reset-step\"}\n\n")
    }),
    ("ui/members", |_, answer| {
        answer.said(TEXT, "data: {\"type\":\"source-url\",\"url\":\"u\"}\n\n")
    }),
    ("ui/extra", |_, answer| {
        answer.said(
            "{\"type\":\"finish\"}",
            "{\"type\":\"finish\",\"finishReason\":\"stop\"}",
        )
    }),
    ("ui/start", |_, answer| {
        let start = "data: {\"type\":\"start\",";
        let early = "data: {\"type\":\"data-x\",\"data\":1,\"transient\":true}\n\n";
        answer.said(start, &[early, start].concat())
    }),
    ("ui/message-id", |_, answer| {
        match answer.body.contains("\"m9\"") {
            true => answer,
            false => answer.said("\"messageId\":\"m1\"", "\"messageId\":\"m2\""),
        }
    }),
    ("ui/step", |_, answer| {
        match answer.body.contains("\"m9\"") {
            true => answer.said(STEP, ""),
            // Behind the result of a tool, pages would post for ever: that is another rule.
            false => answer,
        }
    }),
    ("ui/tool-step", |_, answer| {
        answer.said(TEXT, &[CALL, OUTPUT].concat())
    }),
    ("ui/open-block", |_, answer| {
        answer.said(
            "\"text-delta\",\"id\":\"t1\"",
            "\"text-delta\",\"id\":\"t2\"",
        )
    }),
    ("ui/closed-block", |_, answer| {
        answer.said("data: {\"type\":\"text-end\",\"id\":\"t1\"}\n\n", "")
    }),
    ("ui/tool", |_, answer| answer.said(TEXT, OUTPUT)),
    ("ui/finish", |_, answer| {
        answer.said(&[FINISH, DONE].concat(), "")
    }),
    ("ui/finish-step", |_, answer| answer.said(END_STEP, "")),
    ("ui/after-finish", |_, answer| {
        answer.said(FINISH, &[FINISH, END_STEP].concat())
    }),
    ("ui/done", |_, answer| answer.said(DONE, "")),
    ("ui/refusal", |_, mut answer| {
        if answer.status == 400 {
            answer.headers = vec![("content-type", "application/json")];
            answer.body = "{}".to_owned();
        }
        answer
    }),
    ("ui/resume", |_, answer| match answer.status {
        204 => Answer::plain(404, "nothing here"),
        _ => answer,
    }),
];

#[test]
fn every_fault_is_found_alone() {
    let mut missed = Vec::new();
    for (id, fault) in FAULTS {
        let report = report(&Script(*fault));
        if report.rules().ne([*id]) {
            missed.push(format!("{id}\n{report}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    let rules = kit::<UiStream>()
        .rules()
        .filter(|rule| rule.id.starts_with("ui/"));
    let judged: Vec<&str> = rules.map(|rule| rule.id).collect();
    let broken: Vec<&str> = FAULTS.iter().map(|(id, _)| *id).collect();
    assert_eq!(judged, broken);
}

#[test]
fn an_agent_of_this_crate_breaks_none() {
    let router = router(
        copilot_wire::ui_stream::Mount::new(),
        crate::support::agent(crate::golden::parts),
    );
    let report = report(&router);
    assert!(report.is_clean(), "{report}");
}
