//! The handshake of a WebSocket.

use http::header::{
    CONNECTION, HOST, HeaderName, ORIGIN, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
    USER_AGENT,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use super::head::Head;
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
