//! The emulated client and the rules of the conformance kit.

use std::time::Duration;

use bytes::Bytes;
use copilot_wire::mcp::Mcp;
use copilot_wire::protocol::{Confirmation, Conversation as _};
use copilot_wire::{Router, async_trait};
use copilot_wire_kit::check::{Endpoint, EndpointBody, EndpointError, Target, check, recorded};
use copilot_wire_kit::mcp::McpClient;
use copilot_wire_kit::{Harness, Next, kit};
use futures::executor::block_on;
use futures::{TryStreamExt as _, stream};
use http::{HeaderValue, Request, Response};
use serde_json::{Value, json};

use crate::support::agent;

#[test]
fn an_agent_keeps_all_rules() {
    block_on(async {
        let router = Router::new()
            .mount(
                crate::support::mount(),
                agent(|_, reply| async move {
                    reply.status("Reading").await?;
                    Ok(reply.text("Hi").await?)
                }),
            )
            .unwrap();
        let report = check(&router, Target::new(kit::<Mcp>())).await;
        assert!(report.is_clean(), "{report}");
    });
}

/// A server as others write them: of the versions with sessions alone, which it demands, and without streams.
struct Documents {
    router: Router,
    /// The member of the first tool that has this value.
    schema: Option<Value>,
}

#[async_trait]
impl Endpoint for Documents {
    async fn call(&self, request: Request<Bytes>) -> Result<Response<EndpointBody>, EndpointError> {
        let asked: Value = serde_json::from_slice(request.body()).unwrap_or_default();
        let refused = match asked["method"].as_str() {
            Some("server/discover") => Some("Unsupported protocol version"),
            Some("initialize") | None => None,
            Some(_) if request.headers().get("mcp-session-id").is_none() => {
                Some("Missing session ID")
            }
            Some(_) => None,
        };
        if let Some(message) = refused {
            let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": message}});
            let body = stream::iter([Ok(Bytes::from(error.to_string()))]);
            let response = Response::builder()
                .status(400)
                .header("content-type", "application/json");
            return Ok(response.body(Box::pin(body) as EndpointBody).unwrap());
        }
        let (mut head, body) = Endpoint::call(&self.router, request).await?.into_parts();
        let body: Vec<Bytes> = body.try_collect().await?;
        let mut text = String::from_utf8(body.concat()).unwrap();
        if let Some((_, data)) = text.rsplit_once("data: ") {
            text = data.trim().to_owned();
            head.headers
                .insert("content-type", HeaderValue::from_static("application/json"));
        }
        if let Some(schema) = &self.schema {
            let named = format!("\"outputSchema\":{schema},\"inputSchema\"");
            text = text.replace("\"inputSchema\"", &named);
        }
        let session = HeaderValue::from_static("s1");
        head.headers.insert("mcp-session-id", session);
        let body: EndpointBody = Box::pin(stream::iter([Ok(Bytes::from(text))]));
        Ok(Response::from_parts(head, body))
    }

    async fn sleep(&self, duration: Duration) {
        Endpoint::sleep(&self.router, duration).await;
    }
}

/// Neither sessions nor documents nor an older version are faults; a schema that the result does not keep is one.
#[test]
fn a_server_with_sessions_and_documents_is_judged() {
    for (schema, broken) in [
        (None, &["mcp/discover"][..]),
        (
            Some(json!({"type": "object"})),
            &["mcp/output-schema", "mcp/discover"],
        ),
    ] {
        let agent = agent(|_, reply| async move { Ok(reply.text("Hi").await?) });
        let router = Router::new().mount(crate::support::mount(), agent).unwrap();
        let endpoint = Documents { router, schema };
        let report = block_on(check(&endpoint, Target::new(kit::<Mcp>())));
        assert!(report.rules().eq(broken.iter().copied()), "{report}");
        for rule in ["mcp/list", "mcp/result", "mcp/text", "http/disconnect"] {
            assert!(report.passed.contains(&rule), "{report}");
        }
    }
}

#[test]
fn a_question_is_asked_and_answered() {
    block_on(async {
        let asking = agent(|request, reply| async move {
            match request.decision() {
                None => reply.confirm(Confirmation::new("go", "Go on?", "All of it."))?,
                Some(answer) if answer.accepts("go") => {
                    let prompt = request.prompt().unwrap_or_default().into_owned();
                    reply.text(format!("Done: {prompt}")).await?;
                }
                Some(_) => reply.text("Not done.").await?,
            }
            Ok(())
        });
        let mut harness = Harness::new(McpClient::new("ask"), asking);
        for (accepted, text) in [(true, "Done: work"), (false, "Not done.")] {
            let turn = harness.prompt("work").await.unwrap();
            let Next::Question(question) = turn.next() else {
                panic!("{turn:?}");
            };
            // With a title: without one it would be a question in text.
            let asked = [&*question.id, &*question.title, &*question.message];
            assert_eq!(asked, ["go", "Go on?", "All of it."]);
            let turn = harness.decide(accepted).await.unwrap();
            assert_eq!(turn.text(), text);
            assert!(turn.faults().is_empty(), "{turn:?}");
        }
    });
}

/// A stream, and the rules that it breaks.
const FAULTS: [(&str, &[&str]); 8] = [
    (
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n",
        &["mcp/result"],
    ),
    ("data: {\"a\":1}\n\n", &["mcp/frame", "mcp/result"]),
    (
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n",
        &["mcp/after-result", "mcp/text"],
    ),
    (
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\",\"annotations\":null}]}}\n\n",
        &["mcp/null"],
    ),
    (
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"hologram\"},{\"type\":\"text\",\"text\":\"\"}]}}\n\n",
        &["mcp/content"],
    ),
    (
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\"}],\"structuredContent\":{}}}\n\n",
        &["mcp/structured"],
    ),
    (
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":2}}\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":2}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}}\n\n",
        &["mcp/progress"],
    ),
    (
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"input_required\"}}\n\n",
        &["mcp/state"],
    ),
];

#[test]
fn faults_are_found() {
    for (stream, broken) in FAULTS {
        let report = recorded(kit::<Mcp>(), stream.as_bytes());
        let mut found: Vec<_> = report.rules().collect();
        found.sort_unstable();
        assert_eq!(found, broken, "{stream}");
    }
}
