//! The request, as an agent receives it.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use bytes::BytesMut;
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderValue, Method, Uri};

use super::Reply;
use crate::protocol::Protocol;

/// A protocol's request, with the method, URI, headers and extensions of its HTTP request.
///
/// It dereferences to the typed request.
///
/// It is one pointer, so that the future of an agent, which stores its arguments, stays small.
pub struct Request<P: Protocol>(Box<Inner<P>>);

struct Inner<P: Protocol> {
    message: P::Request,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    extensions: Extensions,
    params: Vec<(Box<str>, Box<str>)>,
    /// The path of the route.
    path: Option<Arc<str>>,
}

impl<P: Protocol> Request<P> {
    /// Creates a request that did not come over HTTP: a `POST` to `/` without headers.
    #[must_use]
    pub fn new(message: P::Request) -> Self {
        Self(Box::new(Inner {
            message,
            method: Method::POST,
            uri: Uri::default(),
            headers: HeaderMap::new(),
            extensions: Extensions::new(),
            params: Vec::new(),
            path: None,
        }))
    }

    /// Creates a request with the method, URI, headers and extensions of an HTTP request.
    ///
    /// URI and headers are copied: a server parses them in place, and an agent that has its request
    /// for minutes would retain the server's read buffer.
    #[must_use]
    pub fn from_parts(parts: Parts, message: P::Request) -> Self {
        let mut request = Self::new(message);
        request.0.method = parts.method;
        request.0.uri = copied_uri(parts.uri);
        request.0.headers = parts.headers;
        copy_values(&mut request.0.headers);
        request.0.extensions = parts.extensions;
        request
    }

    pub(crate) fn with_params(mut self, params: Vec<(Box<str>, Box<str>)>) -> Self {
        self.0.params = params;
        self
    }

    pub(crate) fn with_path(mut self, path: Arc<str>) -> Self {
        self.0.path = Some(path);
        self
    }

    /// Returns the path of the route.
    pub(super) fn path(&self) -> Option<Arc<str>> {
        self.0.path.clone()
    }

    /// Returns the method of the HTTP request.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.0.method
    }

    /// Returns the address of the HTTP request, with its query.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.0.uri
    }

    /// Returns the headers of the HTTP request.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.0.headers
    }

    /// Returns the extensions of the HTTP request, to which guards and middleware add.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }

    /// Returns a parameter of the path, such as `workspace` of
    /// `/chats/{workspace}/chat/completions`.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.0
            .params
            .iter()
            .find(|(key, _)| **key == *name)
            .map(|(_, value)| &**value)
    }

    /// Returns the id that is the same for all turns of a conversation, if the front end sends one.
    ///
    /// It comes from the client, so it proves nothing about the user.
    #[must_use]
    pub fn conversation_id(&self) -> Option<Cow<'_, str>> {
        P::conversation_id(&self.0.message, &self.0.headers)
    }

    /// Returns the typed request.
    #[must_use]
    pub fn into_inner(self) -> P::Request {
        self.0.message
    }

    /// Downcasts request and reply to those of protocol `Q`.
    ///
    /// This is how an agent for all front ends uses what only one of them has.
    ///
    /// # Errors
    ///
    /// Returns both unchanged when the request is not of protocol `Q`.
    #[expect(clippy::type_complexity)]
    pub fn native<Q: Protocol>(
        self,
        reply: Reply<P>,
    ) -> Result<(Request<Q>, Reply<Q>), (Self, Reply<P>)> {
        let mut pair = Some((self, reply));
        let any: &mut dyn Any = &mut pair;
        let native = any
            .downcast_mut::<Option<(Request<Q>, Reply<Q>)>>()
            .and_then(Option::take);
        match (native, pair) {
            (Some(native), _) => Ok(native),
            (None, Some(pair)) => Err(pair),
            // The pair is taken only when the downcast succeeds.
            (None, None) => unreachable!(),
        }
    }
}

fn copied_uri(uri: Uri) -> Uri {
    Uri::try_from(uri.to_string()).unwrap_or(uri)
}

/// Moves all values into one buffer of their own.
fn copy_values(headers: &mut HeaderMap) {
    let size = headers.values().map(HeaderValue::len).sum();
    let mut buffer = BytesMut::with_capacity(size);
    for value in headers.values_mut() {
        buffer.extend_from_slice(value.as_bytes());
        if let Ok(mut copy) = HeaderValue::from_maybe_shared(buffer.split().freeze()) {
            copy.set_sensitive(value.is_sensitive());
            *value = copy;
        }
    }
}

impl<P: Protocol> Deref for Request<P> {
    type Target = P::Request;

    fn deref(&self) -> &P::Request {
        &self.0.message
    }
}

/// Shows the names of the headers and never their values: some are secrets.
impl<P: Protocol> fmt::Debug for Request<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("protocol", &P::NAME)
            .field("headers", &self.0.headers.keys().collect::<Vec<_>>())
            .field("params", &self.0.params)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn nothing_is_left_of_the_buffer_that_a_server_parsed() {
        let buffer = Bytes::from("/v1/query?a=b value secret".to_owned());
        let shared = |from, to| buffer.slice(from..to);
        let mut headers = HeaderMap::new();
        let mut secret = HeaderValue::from_maybe_shared(shared(20, 26)).unwrap();
        secret.set_sensitive(true);
        headers.append(
            "x-one",
            HeaderValue::from_maybe_shared(shared(14, 19)).unwrap(),
        );
        headers.append("x-one", HeaderValue::from_static(""));
        headers.append("x-two", secret);
        let before = headers.clone();
        copy_values(&mut headers);
        assert_eq!(headers, before);
        assert!(headers["x-two"].is_sensitive() && !headers["x-one"].is_sensitive());
        drop(before);

        let uri = copied_uri(Uri::from_maybe_shared(shared(0, 13)).unwrap());
        assert_eq!(uri, "/v1/query?a=b");
        for uri in ["*", "/", "http://host:80/a?b", "host:80"] {
            let uri = Uri::try_from(uri).unwrap();
            assert_eq!(copied_uri(uri.clone()), uri);
        }
        assert!(buffer.is_unique());
    }
}
