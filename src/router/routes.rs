//! The routes of a router, and which one answers a request.

use std::any::TypeId;
use std::borrow::Cow;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};

use super::guard::Guard;
use super::path::Path;
use super::{Endpoint, Inner, socket};
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

pub(super) type Params = Vec<(Box<str>, Box<str>)>;

pub(super) enum Found<'a> {
    Route(&'a Route, Params),
    /// The handshake of a WebSocket at the path of this route, for [`Router::socket`](super::Router::socket).
    Socket(&'a Route),
    Preflight,
    OtherMethods(HeaderValue),
    Nothing,
    OtherHost,
}

impl Inner {
    /// Returns the route of a request.
    pub(super) fn find(&self, request: &Parts) -> Found<'_> {
        // Checked before any route, so that a page that uses DNS rebinding does not find out which routes exist.
        if !self.hosts.take(request) {
            return Found::OtherHost;
        }
        let is_handshake = socket::is_handshake(request);
        let mut found = Found::Nothing;
        for path in self.base.strip(request.uri.path()) {
            if is_handshake {
                // A handshake takes precedence over other `GET` routes of the path.
                if let Found::Route(route, _) = self.find_at(&Method::POST, path) {
                    return Found::Socket(route);
                }
            }
            found = self.find_at(&request.method, path);
            if !matches!(found, Found::Nothing) {
                break;
            }
        }
        found
    }

    /// Returns `true` if the router has one of the stores in `needs`.
    fn has(&self, needs: Needs) -> bool {
        #[cfg(feature = "resumable")]
        let replies = needs.replies && self.replies.is_some();
        #[cfg(not(feature = "resumable"))]
        let replies = false;
        replies || needs.conversations && self.conversations.is_some()
    }

    fn find_at(&self, method: &Method, path: &str) -> Found<'_> {
        // A `HEAD` request is answered like a `GET`, and the server omits the body.
        let wanted = if *method == Method::HEAD {
            &Method::GET
        } else {
            method
        };
        let mut allow = Vec::new();
        for route in &self.routes {
            if route.needs.is_some_and(|needs| !self.has(needs)) {
                continue;
            }
            let Some(params) = route.path.matches(path) else {
                continue;
            };
            if route.method == *wanted {
                return Found::Route(route, params);
            }
            allow.push(route.method.as_str());
            if route.method == Method::GET {
                allow.push("HEAD");
            }
        }
        if allow.is_empty() {
            return Found::Nothing;
        }
        // A browser sends this preflight before a `POST` to another origin.
        if *method == Method::OPTIONS {
            return Found::Preflight;
        }
        allow.push("OPTIONS");
        match HeaderValue::from_str(&allow.join(", ")) {
            Ok(allow) => Found::OtherMethods(allow),
            Err(_) => Found::Nothing,
        }
    }
}

/// Returns the refusal of a path without a route. In a debug build it names the feature that has the path.
pub(super) fn no_such_path(path: &str) -> Refusal {
    let absent = |&&(own, _, is_built): &&(&str, &str, bool)| !is_built && own == path;
    let message = match crate::ROUTES.iter().find(absent) {
        Some((_, feature, _)) if cfg!(debug_assertions) => Cow::Owned(format!(
            "no such path: it needs the feature `{feature}` of copilot-wire, and a mount"
        )),
        _ => Cow::Borrowed("no such path"),
    };
    Refusal::new(StatusCode::NOT_FOUND, message)
}
