//! The search for the route of a request.

use http::request::Parts;
use http::{HeaderValue, Method};

use super::routes::{Found, Needs, is_handshake};
use super::version::Version;

impl Version {
    /// Returns the route of a request.
    pub(super) fn find(&self, request: &Parts) -> Found<'_> {
        // Checked before any route, so that a page that uses DNS rebinding does not find out which routes exist.
        if !self.settings.hosts.take(request) {
            return Found::OtherHost;
        }
        let is_handshake = is_handshake(request);
        let mut found = Found::Nothing;
        for path in self.settings.base.strip(request.uri.path()) {
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
        let replies = needs.replies && self.settings.replies.is_some();
        #[cfg(not(feature = "resumable"))]
        let replies = false;
        replies || needs.conversations && self.settings.conversations.is_some()
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

    /// Returns what creates the subprotocol of a WebSocket at a route.
    pub(super) fn socket_of(
        &self,
        route: &super::routes::Route,
    ) -> Option<&super::subprotocol::Factory> {
        let mut sockets = self.sockets.iter();
        sockets.find_map(|(path, factory)| (*path == route.path).then_some(factory))
    }
}
