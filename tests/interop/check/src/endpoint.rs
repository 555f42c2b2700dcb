//! An endpoint over a socket.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::testing::check::{Endpoint, EndpointBody, EndpointError};
use copilot_wire::{Body, async_trait};
use futures_core::Stream;
use http::header::HOST;
use http::{HeaderValue, Request, Response};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// A server on this machine. Every request has a connection of its own.
pub(crate) struct Local {
    pub(crate) port: u16,
}

#[async_trait]
impl Endpoint for Local {
    async fn call(
        &self,
        mut request: Request<Bytes>,
    ) -> Result<Response<EndpointBody>, EndpointError> {
        let host = HeaderValue::from_str(&format!("127.0.0.1:{}", self.port));
        request
            .headers_mut()
            .insert(HOST, host.map_err(EndpointError::new)?);
        let socket = TcpStream::connect(("127.0.0.1", self.port)).await;
        let socket = TokioIo::new(socket.map_err(EndpointError::new)?);
        let connection = http1::handshake(socket).await;
        let (mut sender, connection) = connection.map_err(EndpointError::new)?;
        tokio::spawn(connection);
        let response = sender.send_request(request.map(Body::full)).await;
        let response = response.map_err(EndpointError::new)?;
        Ok(response.map(|body| Box::pin(Pieces(body)) as EndpointBody))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// The data frames of a body.
struct Pieces(Incoming);

impl Stream for Pieces {
    type Item = Result<Bytes, EndpointError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match ready!(Pin::new(&mut self.0).poll_frame(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(EndpointError::new(error)))),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
            }
        }
    }
}
