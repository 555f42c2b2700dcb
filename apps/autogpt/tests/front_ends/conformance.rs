//! The agent keeps every rule of every front end.

use std::convert::Infallible;

use bytes::Bytes;
use copilot_wire_kit::check::{Target, check};

use futures::stream;
use http::Request;

use crate::bench::Bench;
use crate::scripted::command;

#[tokio::test]
async fn it_is_clean_for_every_front_end() {
    for kit in copilot_wire_kit::kits() {
        let bench = Bench::new();
        // A search that finds something, and a command that is asked about.
        bench.replies([
            command("web_search", r#"{"query":"tea"}"#),
            command("effect", "{}"),
        ]);
        let (router, signer) = bench.served();
        let report = check(&router, Target::new(kit).signer(signer)).await;
        assert!(report.is_clean(), "{}\n{report}", kit.name);
    }
}

#[tokio::test]
async fn the_playground_is_served() {
    let (router, _) = Bench::new().served();
    let empty = stream::iter([Ok::<_, Infallible>(Bytes::new())]);
    let response = router.handle(Request::get("/").body(empty).unwrap()).await;
    assert_eq!(response.status(), 200);
    assert_eq!(
        response.headers()["content-type"],
        "text/html; charset=utf-8"
    );
}
