//! Replies: their start and end, and the shared parts.

use copilot_wire::Router;
use copilot_wire::github::{
    ChatRequest, ChunkForm, Confirmation, CopilotError, ErrorKind, Message, Mount, Output,
    Reference,
};
use copilot_wire::json::Json;
use copilot_wire::protocol::{
    self, AgentError, Chart, ChartKind, Citation, Notice, SendError, Status, Table, ToolCall,
};
use futures::StreamExt;
use http::{HeaderMap, Method, StatusCode};
use serde_json::json;

use crate::server::{ACK, DONE, agent, ask, post, send, strictly};
use crate::{debug_cli, vs_code};

#[test]
fn a_reply_opens_with_the_acknowledgement_and_ends_with_done() {
    let reply = ask(agent(|_, reply| async move {
        reply.text("Hello, ").await?;
        reply.text("\"world\"\n\u{2028}").await?;
        Ok(())
    }));
    let text = |text: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\",\"role\":\"assistant\"}}}}]}}\n\n"
        )
    };
    let expected = [
        ACK,
        &text("Hello, "),
        &text("\\\"world\\\"\\n\u{2028}"),
        DONE,
    ];
    assert_eq!(reply, expected.concat());
    strictly(&reply);
    assert_eq!(ask(agent(|_, _| async { Ok(()) })), [ACK, DONE].concat());
}

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
fn a_failure_is_sent_then_done() {
    let reply = ask(agent(|_, reply| async move {
        reply.text("one").await?;
        Err(AgentError::new("The database is away."))
    }));
    let (cli, shown) = strictly(&reply);
    assert_eq!(shown.warnings, ["The database is away."]);
    assert_eq!(
        cli.errors,
        [
            json!({"type": "agent", "code": "agent_failed", "message": "The database is away.", "identifier": "agent"})
        ]
    );
    for reply in [
        ask(agent(|_, _| async { panic!("a bug") })),
        ask(agent(|_, _| async { Err(AgentError::new("")) })),
    ] {
        let (_, shown) = strictly(&reply);
        assert_eq!(shown.warnings.len(), 1);
        assert_eq!(shown.text, "");
    }
    // Notices and citations before the failure are sent, in the same event.
    let reply = ask(agent(|_, reply| async move {
        reply
            .cite(Citation::new("A").url("https://a.example"))
            .await?;
        reply.error("half is missing").await?;
        Err(AgentError::new("The rest is missing, too."))
    }));
    let (_, shown) = strictly(&reply);
    assert_eq!(
        shown.warnings,
        ["half is missing", "The rest is missing, too."]
    );
    assert!(
        shown.text.contains("[A](https://a.example)"),
        "{}",
        shown.text
    );
}

fn table() -> Table {
    Table::new("Tides", &[json!({"port": "Brest", "metres": 7.1})]).unwrap()
}

#[test]
fn every_part_has_an_equivalent() {
    let reply = ask(agent(|_, reply| async move {
        reply.status(Status::new("Reading")).await?;
        reply.text("High water: ").await?;
        reply.table(table()).await?;
        let kind = ChartKind::Bar {
            x: "port".into(),
            y: vec!["metres".into()],
        };
        let rows = [json!({"port": "Brest", "metres": 7.1})];
        reply
            .chart(Chart::new("Chart", kind, &rows).unwrap())
            .await?;
        reply
            .cite(Citation::new("Almanac").url("https://tides.example/a"))
            .await?;
        reply
            .cite(Citation::new("Almanac").url("https://tides.example/a"))
            .await?;
        reply
            .cite(
                Citation::new("")
                    .url("not a url")
                    .document("src/a.rs")
                    .excerpt("7.1"),
            )
            .await?;
        let call = ToolCall::new("anything", &json!({})).unwrap();
        let error = reply.call(call).unwrap_err();
        assert!(matches!(error, SendError::Unsupported(_)));
        Ok(())
    }));
    let (cli, shown) = strictly(&reply);
    assert!(shown.text.starts_with("High water: "));
    assert_eq!(
        shown.text.matches("| Brest | 7.1 |").count()
            + shown.text.matches("| 7.1 | Brest |").count(),
        2,
        "{}",
        shown.text
    );
    assert!(!shown.text.contains("Reading"));
    assert_eq!(cli.text, shown.text);
    assert_eq!(shown.references, ["https://tides.example/a", "src/a.rs"]);
    assert_eq!(
        cli.references,
        [
            json!({"type": "citation", "id": "https://tides.example/a", "data": {}, "is_implicit": false, "metadata": {"display_name": "Almanac", "display_url": "https://tides.example/a"}}),
            json!({"type": "citation", "id": "src/a.rs", "data": {"document": "src/a.rs", "excerpt": "7.1"}, "is_implicit": false, "metadata": {"display_name": "src/a.rs"}}),
        ]
    );
    // The queued event is written before the ending and after all text.
    let at = |text: &str| reply.find(text).unwrap();
    assert!(at("Brest") < at("copilot_references") && at("copilot_references") < at(DONE));
}

#[test]
fn a_reply_has_one_event_of_copilots_at_most() {
    let reply = ask(agent(|_, reply| async move {
        reply
            .error(
                Notice::new("No tides today.")
                    .code("tides")
                    .identifier("brest"),
            )
            .await?;
        reply
            .cite(Citation::new("Almanac").url("https://tides.example/a"))
            .await?;
        reply.error(Notice::new("").code("")).await?;
        reply.text("Sorry.").await?;
        Ok(())
    }));
    let (cli, shown) = strictly(&reply);
    assert_eq!(shown.warnings, ["No tides today.", "Something went wrong."]);
    assert_eq!(cli.errors[0]["code"], "tides");
    assert_eq!(cli.errors[0]["identifier"], "brest");
    assert_eq!(cli.errors[1]["code"], "error");
    assert!(shown.text.contains("[Almanac](https://tides.example/a)"));

    let reply = ask(agent(|_, reply| async move {
        reply.error("No tides today.").await?;
        reply.cite(Citation::new("Almanac")).await?;
        Ok(reply.confirm(protocol::Confirmation::new("q", "", ""))?)
    }));
    let (_, shown) = strictly(&reply);
    assert!(shown.text.contains("No tides today.") && shown.text.contains("Almanac"));
    assert_eq!(
        shown.dialogs,
        [(
            "Please confirm".into(),
            "Please confirm".into(),
            json!({"id": "q"})
        )]
    );

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
fn the_data_of_a_question_cannot_change_its_id() {
    let reply = ask(agent(|_, reply| async move {
        let data = Json::parse(r#"{"id":"forged","9":1,"n":[1.0]}"#).unwrap();
        let question = protocol::Confirmation::new("q", "t", "m").data(data);
        Ok(reply.confirm(question)?)
    }));
    assert!(
        reply.contains(r#""confirmation":{"9":1,"id":"q","n":[1.0]}"#),
        "{reply}"
    );
    strictly(&reply);
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
