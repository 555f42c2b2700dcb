//! A request on its way to an agent.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use http::request::Parts;
use http::{Extensions, HeaderMap, Method, Uri};

use super::Reply;
use crate::protocol::Protocol;

/// A protocol's request, with what HTTP knew about it.
///
/// It dereferences to the typed request.
///
/// It is one pointer, so an agent's future, which keeps what it is given, stays small.
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

    /// Creates a request with what is known of the HTTP request that it came in.
    #[must_use]
    pub fn from_parts(parts: Parts, message: P::Request) -> Self {
        let mut request = Self::new(message);
        request.0.method = parts.method;
        request.0.uri = parts.uri;
        request.0.headers = parts.headers;
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

    /// Returns the path of the route that the request came in on.
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

    /// What middleware left on the HTTP request.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }

    /// A parameter of the path that the request came in on, such as `workspace` of
    /// `/chats/{workspace}/chat/completions`.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.0
            .params
            .iter()
            .find(|(key, _)| **key == *name)
            .map(|(_, value)| &**value)
    }

    /// The id that is stable over the turns of this conversation, when the front end gives one.
    ///
    /// It comes from the client: never a proof of who is talking.
    #[must_use]
    pub fn conversation_id(&self) -> Option<Cow<'_, str>> {
        P::conversation_id(&self.0.message, &self.0.headers)
    }

    /// The typed request alone.
    #[must_use]
    pub fn into_inner(self) -> P::Request {
        self.0.message
    }

    /// Turns request and reply into those of protocol `Q` when that is what they are.
    ///
    /// This is how an agent for every front end uses what only one of them has.
    ///
    /// # Errors
    ///
    /// Hands both back when the request is not of protocol `Q`.
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
            // The pair leaves its place only as a native one.
            (None, None) => unreachable!(),
        }
    }
}

impl<P: Protocol> Deref for Request<P> {
    type Target = P::Request;

    fn deref(&self) -> &P::Request {
        &self.0.message
    }
}

/// Says which headers came, never what they hold: some are secrets.
impl<P: Protocol> fmt::Debug for Request<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("protocol", &P::NAME)
            .field("headers", &self.0.headers.keys().collect::<Vec<_>>())
            .field("params", &self.0.params)
            .finish_non_exhaustive()
    }
}
