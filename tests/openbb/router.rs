//! Requests over HTTP: paths, refusals, feedback, the id of the chat.

use std::sync::{Arc, Mutex};

use copilot_wire::json::List;
use copilot_wire::openbb::{Descriptor, Feedback, GetWidgetData, OpenBb, Vote};
use copilot_wire::protocol::{AgentError, Conversation, Protocol};
use copilot_wire::router::MountError;
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait};
use http::{Response, StatusCode};

use crate::{exchange, fixture, fixtures, workspace};

/// An agent that reports the user's prompt and the chat, and requests a widget if there is one.
struct Analyst;

#[async_trait]
impl Agent<OpenBb> for Analyst {
    async fn answer(
        &self,
        request: Request<OpenBb>,
        reply: Reply<OpenBb>,
    ) -> Result<(), AgentError> {
        let id = request.conversation_id().unwrap_or_default().into_owned();
        reply
            .text(&format!("[{id}] {}", request.prompt().unwrap_or_default()))
            .await?;
        reply.status("Looking").await?;
        for result in request.results() {
            reply
                .text(&format!("\n{} {} bytes", result.name, result.content.len()))
                .await?;
        }
        let widget = request.widgets().next().map(|(_, widget)| widget);
        if let (Some(widget), None) = (widget, request.last_result()) {
            reply.end(GetWidgetData::new([widget]))?;
        }
        Ok(())
    }
}

struct Echo;

#[async_trait]
impl<P: Protocol> Agent<P> for Echo {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        Ok(reply.text(&request.prompt().unwrap_or_default()).await?)
    }
}

pub(crate) fn router(descriptor: Descriptor) -> Router {
    Router::new().mount(descriptor, Analyst).unwrap()
}

fn whole(response: Response<Body>) -> (StatusCode, String) {
    (response.status(), exchange::whole(response.into_body()))
}

pub(crate) fn get(router: &Router, path: &str) -> String {
    let (status, text) = whole(exchange::send(router, http::Request::get(path), ""));
    assert_eq!(status, 200, "{path}");
    text
}

pub(crate) fn post(router: &Router, path: &str, body: impl AsRef<[u8]>) -> (StatusCode, String) {
    let request = http::Request::post(path).header("x-trace-id", "chat-1");
    whole(exchange::send(router, request, body))
}

#[test]
fn every_recorded_request_gets_an_answer_that_the_workspace_takes() {
    let router = router(Descriptor::new("a", "A", "d"));
    for name in fixtures("req_", ".json") {
        let (status, text) = post(&router, "/v1/query", fixture(&name));
        assert_eq!(status, 200, "{name}");
        let turn = workspace::read(text.as_bytes())
            .unwrap_or_else(|fault| panic!("{name}: {fault:?}\n{text}"));
        let waited = name == "req_v2_bridge_result_and_documents.json" && turn.call.is_some();
        assert!(
            waited || turn.text.starts_with("[chat-1] "),
            "{name}: {}",
            turn.text
        );
    }
}

#[test]
fn refusals_over_http() {
    let router = router(Descriptor::new("a", "A", "d"));
    let cases = [
        ("", 400),
        ("{\"messages\":", 400),
        ("{}", 422),
        (r#"{"messages":[]}"#, 422),
        ("[]", 422),
    ];
    for (body, expected) in cases {
        let (status, text) = post(&router, "/v1/query", body);
        assert_eq!(status, expected, "{body}");
        let error: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(error["error"]["message"].is_string(), "{text}");
    }
}

#[test]
fn several_agents_on_one_server() {
    let second = || Descriptor::new("b", "B", "d").path("/second/query");
    let router = router(Descriptor::new("a", "A", "d"))
        .mount(second(), Echo)
        .unwrap();
    let document: serde_json::Value = serde_json::from_str(&get(&router, "/agents.json")).unwrap();
    assert_eq!(document.as_object().unwrap().len(), 2);
    let body = r#"{"messages":[{"role":"human","content":"hi"}]}"#;
    let (_, text) = post(&router, "/second/query", body);
    assert_eq!(workspace::read(text.as_bytes()).unwrap().text, "hi");
    let (_, text) = post(&router, "/v1/query", body);
    assert_eq!(
        workspace::read(text.as_bytes()).unwrap().text,
        "[chat-1] hi"
    );

    let taken = router.clone().mount(Descriptor::new("c", "C", "d"), Echo);
    assert!(matches!(taken.unwrap_err(), MountError::Taken { .. }));
    for (id, name) in [("b", "C"), ("c", "b")] {
        let same = router
            .clone()
            .mount(Descriptor::new(id, name, "d").path("/c"), Echo);
        assert!(matches!(same.unwrap_err(), MountError::Invalid(_)));
    }
    let bad = Router::new().mount(Descriptor::new("C D", "C", "d"), Echo);
    assert!(matches!(bad.unwrap_err(), MountError::Invalid(_)));
}

#[test]
fn feedback() {
    let feedback: Arc<Mutex<Vec<Feedback>>> = Arc::default();
    let list = Arc::clone(&feedback);
    let router = router(Descriptor::new("a", "A", "d").feedback("/v1/feedback"))
        .with(copilot_wire::openbb::feedback(
            "/v1/feedback",
            move |feedback| {
                let list = Arc::clone(&list);
                async move {
                    if feedback.user_comment == "fail" {
                        return Err(AgentError::new("the database is away"));
                    }
                    list.lock().unwrap().push(feedback);
                    Ok(())
                }
            },
        ))
        .unwrap();
    let (status, _) = post(&router, "/v1/feedback", fixture("feedback_request.json"));
    assert_eq!(status, 200);
    let (status, _) = post(
        &router,
        "/v1/feedback",
        r#"{"vote":"thumbs_up","trace_id":"","new":1}"#,
    );
    assert_eq!(status, 200);
    let (status, text) = post(
        &router,
        "/v1/feedback",
        r#"{"vote":"thumbs_up","user_comment":"fail"}"#,
    );
    assert_eq!(
        (status.as_u16(), text.contains("the database is away")),
        (500, true)
    );
    for (body, expected) in [("{}", 422), ("[]", 422), ("", 400), (r#"{"vote":7}"#, 422)] {
        assert_eq!(post(&router, "/v1/feedback", body).0, expected, "{body}");
    }
    let feedback = feedback.lock().unwrap();
    assert_eq!(feedback[0].vote, Vote::ThumbsDown);
    assert_eq!(feedback[0].tags.len(), 2);
    assert_eq!(feedback[0].trace_id, "request-trace-id");
    // For custom agents only the header has the chat's id.
    assert_eq!(feedback[1].trace_id, "chat-1");
    assert_eq!(feedback[1].tags, List::new());
    assert_eq!(feedback[1].unknown.len(), 2);
}
