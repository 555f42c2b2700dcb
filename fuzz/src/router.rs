//! Any HTTP request to a router with every protocol on it.

use std::convert::Infallible;

use bytes::Bytes;
use copilot_wire::protocol::{AgentError, Conversation, Protocol};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use copilot_wire_kit::Toolkit;
use copilot_wire_kit::Visit;
use futures::executor::block_on;
use futures::{StreamExt, stream};
use http::header::CONTENT_TYPE;

use super::input::{Chunks, Input};

const LIMIT: usize = 4096;

struct Echo;

#[async_trait]
impl<P: Protocol> Agent<P> for Echo {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default();
        Ok(reply.text(&prompt).await?)
    }
}

/// A router with every protocol on it, and the paths and headers of their requests.
struct Mounted {
    router: Router,
    paths: Vec<&'static str>,
    names: Vec<&'static str>,
}

impl Visit for Mounted {
    fn visit<P: Toolkit>(&mut self) {
        self.router = self.router.clone().mount(P::mount(), Echo).unwrap();
        self.paths.extend(P::SAMPLE.paths);
        self.names.extend(P::SAMPLE.headers);
    }
}

fn mounted() -> Mounted {
    let mut mounted = Mounted {
        router: Router::new().body_limit(LIMIT),
        // The first one is the input's own.
        paths: vec![""],
        names: vec![
            "content-type",
            "content-length",
            "origin",
            "access-control-request-private-network",
            "access-control-request-headers",
        ],
    };
    mounted.visit_all();
    mounted.names.push("authorization");
    mounted
}

const METHODS: [&str; 6] = ["POST", "GET", "HEAD", "OPTIONS", "PUT", "patch"];

/// Sends a request with any method, path, headers and body.
pub fn router(data: &[u8]) {
    let Mounted {
        router,
        paths,
        names,
    } = mounted();
    let mut input = Input(data);
    let method = METHODS[usize::from(input.below(METHODS.len() as u8))];
    let path = match paths[usize::from(input.below(paths.len() as u8))] {
        "" => input.text(),
        path => path.to_owned(),
    };
    let mut request = http::Request::builder().method(method).uri(path);
    if input.flag() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    for _ in 0..input.below(4) {
        let name = names[usize::from(input.below(names.len() as u8))];
        request = request.header(name, input.bytes());
    }
    let how = input.byte();
    let Ok(request) = request.body(input.0) else {
        return;
    };
    let (length, method) = (request.body().len(), request.method().clone());
    let request = request.map(|body| stream::iter(Chunks::new(body, how).map(Ok::<_, Infallible>)));
    let response = block_on(router.handle(request));
    let status = response.status();
    let content_type = response.headers().get(CONTENT_TYPE).cloned();
    let frames: Vec<Bytes> = block_on(
        response
            .into_body()
            .filter_map(async |frame| frame.ok())
            .collect(),
    );
    let body = frames.concat();
    match content_type.as_ref().map(|value| value.as_bytes()) {
        Some(b"text/event-stream") => assert_eq!(status, 200),
        Some(b"application/json") => {
            assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_ok());
        }
        // A probe, and refusals of protocols whose clients show them as they are.
        Some(b"text/plain; charset=utf-8") => assert!(!body.is_empty()),
        Some(other) => panic!("{:?}", String::from_utf8_lossy(other)),
        None => assert!(body.is_empty() && status.is_success(), "{status}"),
    }
    assert!(
        !status.is_server_error() || status == http::StatusCode::NOT_IMPLEMENTED,
        "{status}"
    );
    if method == http::Method::POST && length > LIMIT {
        assert!(!status.is_success(), "{status}: {length} bytes were read");
    }
}
