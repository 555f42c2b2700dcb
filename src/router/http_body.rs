//! Requests whose body is an `http_body::Body`: hyper's, axum's, tower-http's.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use http::{Request, Response};

use super::Router;
use crate::agent::Body;

impl Router {
    /// Answers one request whose body is any [`http_body::Body`]; see [`handle`](Self::handle).
    ///
    /// # Cancel safety
    ///
    /// The same as for [`handle`](Self::handle).
    pub async fn handle_body<B: http_body::Body>(&self, request: Request<B>) -> Response<Body> {
        // A boxed body is `Unpin`, so no pin projection is needed. This is one allocation per request.
        self.handle(request.map(|body| Data(Box::pin(body)))).await
    }
}

/// A stream of the data frames of a body. Trailers are ignored.
struct Data<B>(Pin<Box<B>>);

impl<B: http_body::Body> Stream for Data<B> {
    type Item = Result<B::Data, B::Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            return Poll::Ready(match ready!(self.0.as_mut().poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => Some(Ok(data)),
                    Err(_trailers) => continue,
                },
                Some(Err(error)) => Some(Err(error)),
                None => None,
            });
        }
    }
}
