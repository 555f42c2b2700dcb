//! The handshake of a WebSocket.

use bytes::BytesMut;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, ORIGIN,
    SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, TRANSFER_ENCODING, UPGRADE,
    USER_AGENT,
};
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderValue, Method, Response, StatusCode, Uri};

use super::{Factory, Socket};
use crate::agent::{Body, TurnLimits};
use crate::protocol::Refusal;
use crate::router::admission::busy;
use crate::router::{Found, Inner, Route, RouteKind, Router, refuse};

/// Returns `true` if a request is the handshake of a WebSocket over HTTP/1.1 (RFC 6455, section 4.1), which
/// [`Router::socket`] answers.
#[must_use]
pub fn is_handshake(request: &Parts) -> bool {
    let has = |name: HeaderName, token: &str| {
        let mut values = request.headers.get_all(name).iter();
        values.any(|value| {
            let mut tokens = value.to_str().unwrap_or_default().split(',');
            tokens.any(|it| it.trim().eq_ignore_ascii_case(token))
        })
    };
    request.method == Method::GET && has(UPGRADE, "websocket") && has(CONNECTION, "upgrade")
}

/// Returns the refusal of a handshake at a path without a socket.
///
/// After 426 Codex sends its request by `POST` at once. After any other status it first repeats the handshake, six
/// times, and after 400 it gives up.
pub(in crate::router) fn no_socket(route: &Route) -> Response<Body> {
    let message = "there are no WebSockets here: post the request";
    let refusal = Refusal::new(StatusCode::UPGRADE_REQUIRED, message);
    let mut response = route.endpoint.refuse(&refusal);
    let headers = response.headers_mut();
    // RFC 9110, section 15.5.22: the required protocol must be named. Section 7.8: `upgrade` needs its connection
    // option.
    headers.insert(UPGRADE, HeaderValue::from_static("HTTP/1.1"));
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    response
}

impl Router {
    /// Opens a WebSocket for a request that [is a handshake](is_handshake). The server answers it with status 101, and
    /// then passes messages to and from the [`Socket`].
    ///
    /// The host and the guards are checked as for any request. The origin of a web page must be [allowed](Router::cors)
    /// or be the origin of this server, because browsers let every page open a WebSocket. A page of another origin must
    /// not gain more from the user's cookies and passwords than with `fetch`: of its handshake only the URI, `host`,
    /// `origin` and `user-agent` are retained, and no extensions.
    ///
    /// # Errors
    ///
    /// The response that refuses a handshake. Its status is 426 if there is no WebSocket; some clients then send their
    /// requests by `POST`.
    pub async fn socket(&self, request: Parts) -> Result<Socket, Response<Body>> {
        let inner = self.inner();
        let origin = inner.cors.origin(&request.headers, &inner.origins);
        self.open(&inner, request).await.map_err(|mut refused| {
            inner.cors.apply(origin, refused.headers_mut());
            refused
        })
    }

    async fn open(&self, inner: &Inner, mut request: Parts) -> Result<Socket, Response<Body>> {
        let refused = |status, message| refuse(&Refusal::new(status, message));
        let route = match inner.find(&request) {
            Found::Socket(route) => route,
            Found::OtherHost => {
                let message = "host not allowed";
                return Err(refused(StatusCode::MISDIRECTED_REQUEST, message));
            }
            _ => return Err(refused(StatusCode::NOT_FOUND, "there is no WebSocket")),
        };
        let factory = inner.socket_of(route).ok_or_else(|| no_socket(route))?;
        if !request.headers.contains_key(SEC_WEBSOCKET_KEY) {
            let message = "the header sec-websocket-key is missing";
            return Err(refused(StatusCode::BAD_REQUEST, message));
        }
        let version = request.headers.get(SEC_WEBSOCKET_VERSION);
        if version.is_none_or(|version| version != "13") {
            // RFC 6455, section 4.4.
            let message = "the version of WebSockets must be 13";
            let mut refused = refused(StatusCode::UPGRADE_REQUIRED, message);
            let version = HeaderValue::from_static("13");
            refused.headers_mut().insert(SEC_WEBSOCKET_VERSION, version);
            return Err(refused);
        }
        if !has_own_origin(&request.headers) {
            inner
                .check_origin(&request.headers)
                .map_err(|refusal| refuse(&refusal))?;
            // Browsers add the user's cookies and passwords to every handshake, which `fetch` does not let a page of
            // another origin do. A proxy or middleware may have turned them into other headers and extensions.
            let names: Vec<_> = request.headers.keys().cloned().collect();
            for name in names {
                let is_of_socket = name.as_str().starts_with("sec-websocket-");
                if !is_of_socket && !OF_FOREIGN.contains(&name) {
                    request.headers.remove(name);
                }
            }
            request.extensions.clear();
        }
        let refused = |refusal: Refusal| route.endpoint.refuse(&refusal);
        let subprotocol = factory();
        let head = Head::of(&request);
        if !subprotocol.has_headers() {
            let mut request = request;
            request.extensions.insert(RouteKind::Socket);
            for guard in inner.guards.iter().chain(&route.guards) {
                request = guard.check(request).await.map_err(refused)?;
            }
        }
        let turns = &inner.turns;
        // A connection is not a turn: only a shutdown refuses it.
        let admitted = turns.admits(&TurnLimits::default(), None, || inner.env.now());
        admitted.map_err(|reason| refused(busy(reason)))?;
        let running = turns.enter();
        Ok(Socket::new(self.clone(), inner, head, subprotocol, running))
    }
}

impl Inner {
    /// Refuses pages of origins that may not open a WebSocket.
    pub(super) fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        if has_own_origin(headers) || self.cors.origin(headers, &self.origins).is_some() {
            return Ok(());
        }
        let message = "this origin is not allowed";
        Err(Refusal::new(StatusCode::FORBIDDEN, message))
    }

    fn socket_of(&self, route: &Route) -> Option<&Factory> {
        let mut sockets = self.sockets.iter();
        sockets.find_map(|(path, factory)| (*path == route.path).then_some(factory))
    }
}

/// Returns `true` if a request comes from a page of this server, or from no page.
fn has_own_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else {
        return true;
    };
    let host = origin
        .to_str()
        .ok()
        .and_then(|origin| origin.split_once("://"));
    let own = headers.get(HOST).and_then(|host| host.to_str().ok());
    host.is_some_and(|(_, host)| own.is_some_and(|own| own.eq_ignore_ascii_case(host)))
}

/// The headers that are retained of a handshake by a page of another origin.
const OF_FOREIGN: [HeaderName; 5] = [CONNECTION, HOST, ORIGIN, UPGRADE, USER_AGENT];

/// The headers of a handshake that concern its connection, or the body that a handshake does not have.
const OF_CONNECTION: [HeaderName; 7] = [
    CONNECTION,
    UPGRADE,
    CONTENT_TYPE,
    CONTENT_LENGTH,
    TRANSFER_ENCODING,
    ACCEPT,
    ACCEPT_ENCODING,
];

/// The part of a handshake's head that the requests on its connection share, in a compact form.
pub(super) struct Head {
    path: Box<str>,
    query: Box<str>,
    /// Names and values alternately, each followed by a line feed, which neither can contain.
    headers: Box<[u8]>,
    extensions: Extensions,
    /// The first subprotocol that the client offers.
    pub(super) subprotocol: Option<HeaderValue>,
}

impl Head {
    fn of(request: &Parts) -> Self {
        let mut headers = Vec::new();
        for (name, value) in &request.headers {
            let is_of_socket = name.as_str().starts_with("sec-websocket-");
            if !is_of_socket && !OF_CONNECTION.contains(name) {
                for text in [name.as_ref(), value.as_bytes()] {
                    headers.extend_from_slice(text);
                    headers.push(b'\n');
                }
            }
        }
        let offered = request.headers.get(SEC_WEBSOCKET_PROTOCOL);
        let first = offered.and_then(|offered| offered.to_str().ok()?.split(',').next());
        Self {
            path: request.uri.path().trim_end_matches('/').into(),
            query: request.uri.query().unwrap_or_default().into(),
            headers: headers.into(),
            extensions: request.extensions.clone(),
            subprotocol: first.and_then(|first| HeaderValue::from_str(first.trim()).ok()),
        }
    }

    /// Returns the head of a request on this connection. Headers of the handshake take precedence over `more`.
    pub(super) fn request(&self, method: Method, path: &str, more: &HeaderMap) -> Option<Parts> {
        let mark = if self.query.is_empty() { "" } else { "?" };
        let root = if self.path.is_empty() && path.is_empty() {
            "/"
        } else {
            ""
        };
        let uri = format!("{root}{}{path}{mark}{}", self.path, self.query);
        let (mut parts, ()) = http::Request::new(()).into_parts();
        parts.method = method;
        parts.uri = Uri::try_from(uri).ok()?;
        // All values share one buffer.
        let mut bytes = BytesMut::from(&*self.headers);
        let mut texts = self.headers.split(|byte| *byte == b'\n');
        while let (Some(name), Some(value)) = (texts.next(), texts.next()) {
            let _ = bytes.split_to(name.len() + 1);
            let value_bytes = bytes.split_to(value.len()).freeze();
            let _ = bytes.split_to(1);
            let name = HeaderName::from_bytes(name).ok()?;
            let value = HeaderValue::from_maybe_shared(value_bytes).ok()?;
            parts.headers.append(name, value);
        }
        for (name, value) in more {
            if !parts.headers.contains_key(name) {
                parts.headers.append(name, value.clone());
            }
        }
        let json = HeaderValue::from_static("application/json");
        parts.headers.insert(CONTENT_TYPE, json);
        parts.extensions = self.extensions.clone();
        Some(parts)
    }
}
