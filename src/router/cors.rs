//! The origins from which browsers may call (CORS).

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE, EXPIRES, HeaderName,
    LAST_MODIFIED, ORIGIN, PRAGMA, VARY,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use crate::agent::Body;
use crate::protocol::Refusal;

const REQUEST_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

/// The response headers that a page may read without being exposed (Fetch, CORS-safelisted response-header name), and
/// `vary`, which is for caches.
const SAFELISTED: [HeaderName; 8] = [
    CACHE_CONTROL,
    CONTENT_LANGUAGE,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    EXPIRES,
    LAST_MODIFIED,
    PRAGMA,
    VARY,
];

/// The origins from which browsers may call (CORS).
///
/// A front end that runs in a browser calls the agent from another origin. Every response to an allowed origin has the
/// CORS headers, including refusals: without them the user would see only a network failure. A page may read every
/// header of a response.
///
/// By default the known origins of the mounted front ends may call.
/// Their pages may also call an agent on the user's own machine (the private network preflight
/// of Chromium).
#[derive(Clone, Debug)]
#[must_use]
pub struct Cors {
    origins: Origins,
    private_network: bool,
}

#[derive(Clone, Debug)]
enum Origins {
    Any,
    /// These origins and, with `mounted`, the origins of the mounted front ends.
    List {
        origins: Vec<HeaderValue>,
        mounted: bool,
    },
}

impl Default for Cors {
    fn default() -> Self {
        Self {
            origins: Origins::List {
                origins: Vec::new(),
                mounted: true,
            },
            // Chromium sends this preflight when a public page calls an agent on the user's own machine, which is
            // common during development.
            private_network: true,
        }
    }
}

impl Cors {
    /// Allows no origin.
    pub fn none() -> Self {
        Self {
            origins: Origins::List {
                origins: Vec::new(),
                mounted: false,
            },
            private_network: false,
        }
    }

    /// Allows every origin. For public agents, not for one on a private network.
    pub fn any() -> Self {
        Self {
            origins: Origins::Any,
            private_network: false,
        }
    }

    /// Adds an origin, such as `https://workspace.example.com`.
    pub fn allow(mut self, origin: HeaderValue) -> Self {
        if let Origins::List { origins, .. } = &mut self.origins {
            origins.push(origin);
        }
        self
    }

    /// Sets whether pages of the public network may call when this server is on a private one.
    pub fn private_network(mut self, allow: bool) -> Self {
        self.private_network = allow;
        self
    }

    /// Returns the value of `access-control-allow-origin` for a request.
    pub(super) fn origin(
        &self,
        headers: &HeaderMap,
        of_mounts: &[HeaderValue],
    ) -> Option<HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        match &self.origins {
            Origins::Any => Some(HeaderValue::from_static("*")),
            Origins::List { origins, mounted } => {
                let allowed = origins.contains(origin) || *mounted && of_mounts.contains(origin);
                allowed.then(|| origin.clone())
            }
        }
    }

    /// Answers a preflight; [`apply`](Self::apply) adds the origin.
    pub(super) fn preflight(
        &self,
        request: &HeaderMap,
        of_mounts: &[HeaderValue],
    ) -> Response<Body> {
        if request.contains_key(ORIGIN) && self.origin(request, of_mounts).is_none() {
            let refusal = Refusal::new(StatusCode::FORBIDDEN, "this origin is not allowed");
            return super::refusals::refuse(&refusal);
        }
        let mut response = Response::new(Body::full(""));
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        let methods = HeaderValue::from_static("GET, POST, DELETE, OPTIONS");
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        // An allowed origin may send any header, because users can add headers in the front end.
        if let Some(asked) = request.get(ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
        }
        if self.private_network && request.contains_key(REQUEST_PRIVATE_NETWORK) {
            headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
        }
        response
    }

    /// Adds the CORS headers of a response to an allowed origin.
    pub(super) fn apply(&self, origin: Option<HeaderValue>, headers: &mut HeaderMap) {
        if let Origins::List { .. } = self.origins {
            // A cache must not give the response for one origin to another (Fetch, CORS protocol
            // and HTTP caches).
            let vary = "origin, access-control-request-headers, \
                        access-control-request-private-network";
            headers.insert(VARY, HeaderValue::from_static(vary));
        }
        if let Some(origin) = origin {
            if let Some(exposed) = exposed(headers) {
                headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
            }
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
    }
}

/// Returns the names of the headers that a page can read only if they are exposed. Every header of the response is
/// meant for the client, so whatever a mount, a guard or a refusal has added is in it.
fn exposed(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut names = String::new();
    for name in headers.keys() {
        let hidden = !SAFELISTED.contains(name) && !name.as_str().starts_with("access-control-");
        if hidden {
            if !names.is_empty() {
                names.push_str(", ");
            }
            names.push_str(name.as_str());
        }
    }
    let is_empty = names.is_empty();
    HeaderValue::try_from(names).ok().filter(|_| !is_empty)
}
