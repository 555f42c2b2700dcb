//! Replies: their start and end, and the shared parts.

use copilot_wire::Router;
use copilot_wire::github::{
    ChatRequest, ChunkForm, Confirmation, CopilotError, ErrorKind, Message, Mount, Output,
    Reference,
};
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::Citation;
use futures::StreamExt;
use http::{HeaderMap, Method, StatusCode};

use crate::server::{ACK, agent, ask, post, send, strictly};
use crate::{debug_cli, vs_code};

#[test]
fn the_acknowledgement_does_not_wait_for_the_agent() {
    let router = Router::new()
        .mount(
            Mount::unverified(),
            agent(|_, _| async { std::future::pending().await }),
        )
        .unwrap();
    let body = ChatRequest::new([Message::new("user", "hi")]).to_json();
    let body = futures::stream::iter([Ok::<_, std::convert::Infallible>(body)]);
    let request = http::Request::post("/github")
        .header("content-type", "application/json")
        .body(body)
        .unwrap();
    let response = futures::executor::block_on(router.handle(request));
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(
        response.headers()["cache-control"],
        "no-cache, no-transform"
    );
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    let first = futures::executor::block_on(response.into_body().next());
    assert_eq!(first.unwrap().unwrap(), ACK.as_bytes());
}

#[test]
fn a_reply_has_one_event_of_copilots_at_most() {
    // An agent of this protocol may send any event; the shared parts then become text.
    let reply = ask(agent(|_, reply| async move {
        reply
            .send(Reference::new("tide.table", "1", "Table"))
            .await?;
        reply.cite(Citation::new("Almanac")).await?;
        Ok(())
    }));
    let (cli, shown) = strictly(&reply);
    assert_eq!(cli.references.len(), 1);
    assert!(shown.text.contains("Almanac"));
    let reply = ask(agent(|_, reply| async move {
        reply
            .send(Reference::new("tide.table", "1", "Table"))
            .await?;
        let error = CopilotError::new(ErrorKind::Function, "c", "m", "i");
        reply.send(Output::from(error)).await?;
        Ok(reply.end(Confirmation::new("1", "t", "m"))?)
    }));
    assert!(debug_cli::read(&reply).is_err(), "three events");
    assert!(vs_code::read(&vs_code::relay(&reply).unwrap()).is_ok());
}

#[test]
fn chunks_can_be_full() {
    let router = Router::new()
        .mount(
            Mount::unverified().path("/full").chunks(ChunkForm::Full),
            agent(|_, reply| async move {
                reply.text("one").await?;
                Ok(reply.text("two").await?)
            }),
        )
        .unwrap();
    let body = ChatRequest::new([Message::new("user", "hi")]).to_json();
    let reply = send(&router, Method::POST, "/full", &HeaderMap::new(), body).body;
    assert_eq!(debug_cli::read(&reply).unwrap().text, "onetwo");
    // Read directly, as the custom endpoint of an OpenAI client.
    assert_eq!(vs_code::read(&reply).unwrap().text, "onetwo");
    assert_eq!(
        reply
            .matches("\"object\":\"chat.completion.chunk\"")
            .count(),
        4
    );
}

#[test]
fn the_path_answers_a_probe_and_refuses_the_rest() {
    let router = Router::new()
        .mount(Mount::unverified(), agent(|_, _| async { Ok(()) }))
        .unwrap();
    let none = HeaderMap::new();
    let probe = send(&router, Method::GET, "/github", &none, "");
    assert_eq!((probe.status, probe.body.as_str()), (StatusCode::OK, "OK"));
    assert_eq!(probe.headers["content-type"], "text/plain; charset=utf-8");
    let put = send(&router, Method::PUT, "/github", &none, "");
    assert_eq!(put.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(put.headers["allow"], "POST, GET, HEAD, OPTIONS");
    assert_eq!(post(&router, "").status, StatusCode::BAD_REQUEST);
    assert_eq!(post(&router, "{").status, StatusCode::BAD_REQUEST);
    let empty = post(&router, r#"{"messages":[]}"#);
    assert_eq!(empty.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        empty.body.contains("\"path\":\"messages\""),
        "{}",
        empty.body
    );
    let taken = router.mount(Mount::unverified(), agent(|_, _| async { Ok(()) }));
    assert!(matches!(
        taken.unwrap_err(),
        copilot_wire::router::MountError::Taken { .. }
    ));
}
