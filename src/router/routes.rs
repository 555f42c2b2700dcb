//! The routes of a router, and which one answers a request.

use std::any::TypeId;
use std::borrow::Cow;
use std::sync::Arc;

use http::header::{CONNECTION, HeaderName, UPGRADE};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use super::Endpoint;
use super::guard::Guard;
use super::path::{Params, Path};
use crate::agent::Body;
use crate::protocol::Refusal;

#[derive(Clone)]
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: Path,
    /// The path as text, for reports.
    pub(super) text: Arc<str>,
    /// The guards of the scope in which the route was added.
    pub(super) guards: Vec<Guard>,
    /// The type of the endpoint, if several mounts may add the route.
    pub(super) shared: Option<TypeId>,
    /// The route exists only if the router has one of these stores.
    pub(super) needs: Option<Needs>,
    pub(super) endpoint: Arc<dyn Endpoint>,
}

/// A set of stores of a router.
#[derive(Clone, Copy, Default)]
pub(super) struct Needs {
    #[cfg(feature = "resumable")]
    pub(super) replies: bool,
    pub(super) conversations: bool,
}

pub(super) enum Found<'a> {
    Route(&'a Route, Params),
    /// The handshake of a WebSocket at the path of this route, for [`Router::socket`](super::Router::socket).
    Socket(&'a Route),
    Preflight,
    OtherMethods(HeaderValue),
    Nothing,
    OtherHost,
}

/// Returns the refusal of a path without a route, by the paths to look up for it. In a debug build it names the feature that has the path.
pub(super) fn no_such_path<'a>(mut lookups: impl Iterator<Item = &'a str>) -> Refusal {
    let absent = lookups.find_map(|path| {
        let mut routes = crate::ROUTES.iter();
        routes.find(|(own, _, is_built)| !is_built && *own == path)
    });
    let message = match absent {
        Some((_, feature, _)) if cfg!(debug_assertions) => Cow::Owned(format!(
            "no such path: it needs the feature `{feature}` of copilot-wire, and a mount"
        )),
        _ => Cow::Borrowed("no such path"),
    };
    Refusal::new(StatusCode::NOT_FOUND, message)
}

/// Returns `true` if a request is the handshake of a WebSocket over HTTP/1.1 (RFC 6455, section 4.1), which
/// [`Router::socket`](super::Router::socket) answers.
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
pub(super) fn no_socket(route: &Route) -> Response<Body> {
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
