//! Requests to a router, in this process.

use std::convert::Infallible;

use bytes::Bytes;
use copilot_wire::{Body, Router};
use futures::executor::block_on;
use futures::{StreamExt, stream};
use http::Response;
use http::request::Builder;

/// Sends a request with a JSON body.
pub(crate) fn send(router: &Router, request: Builder, body: impl AsRef<[u8]>) -> Response<Body> {
    let body = Bytes::copy_from_slice(body.as_ref());
    let chunks = stream::iter([Ok::<_, Infallible>(body)]);
    let request = request.header("content-type", "application/json");
    block_on(router.handle(request.body(chunks).unwrap()))
}

/// Reads a body to its end.
pub(crate) fn whole(body: Body) -> String {
    let frames: Vec<Bytes> = block_on(body.map(Result::unwrap).collect());
    String::from_utf8(frames.concat()).unwrap()
}
