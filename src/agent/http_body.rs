//! The implementation of `http_body::Body`, for hyper, axum, tonic and other crates that use it.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::{Body, Interrupted};

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Interrupted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Interrupted>>> {
        self.poll(cx)
            .map(|frame| frame.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.is_done()
    }

    fn size_hint(&self) -> SizeHint {
        self.size()
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
