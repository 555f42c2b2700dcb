//! The handshake of a WebSocket.

use http::header::{
    CONNECTION, HOST, HeaderName, ORIGIN, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
    USER_AGENT,
};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use super::connection::Socket;
use super::head::Head;
use crate::agent::{Body, TurnLimits};
use crate::protocol::Refusal;
use crate::router::refusals::{busy, refuse};
use crate::router::routes::{Found, no_socket};
use crate::router::settings::has_own_origin;
use crate::router::version::Version;
use crate::router::{RouteKind, Router};

impl Router {
    /// Opens a WebSocket for a request that [is a handshake](super::is_handshake). The server answers it with status
    /// 101, and then passes messages to and from the [`Socket`].
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
        let version = self.version();
        let settings = &version.settings;
        let origin = settings.cors.origin(&request.headers, &settings.origins);
        self.open(&version, request).await.map_err(|mut refused| {
            settings.cors.apply(origin, refused.headers_mut());
            refused
        })
    }

    async fn open(&self, version: &Version, mut request: Parts) -> Result<Socket, Response<Body>> {
        let refused = |status, message| refuse(&Refusal::new(status, message));
        let route = match version.find(&request) {
            Found::Socket(route) => route,
            Found::OtherHost => {
                let message = "host not allowed";
                return Err(refused(StatusCode::MISDIRECTED_REQUEST, message));
            }
            _ => return Err(refused(StatusCode::NOT_FOUND, "there is no WebSocket")),
        };
        let factory = version.socket_of(route).ok_or_else(|| no_socket(route))?;
        if !request.headers.contains_key(SEC_WEBSOCKET_KEY) {
            let message = "the header sec-websocket-key is missing";
            return Err(refused(StatusCode::BAD_REQUEST, message));
        }
        let asked = request.headers.get(SEC_WEBSOCKET_VERSION);
        if asked.is_none_or(|version| version != "13") {
            // RFC 6455, section 4.4.
            let message = "the version of WebSockets must be 13";
            let mut refused = refused(StatusCode::UPGRADE_REQUIRED, message);
            let version = HeaderValue::from_static("13");
            refused.headers_mut().insert(SEC_WEBSOCKET_VERSION, version);
            return Err(refused);
        }
        if !has_own_origin(&request.headers) {
            version
                .settings
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
            for guard in version.settings.guards.iter().chain(&route.guards) {
                request = guard.check(request).await.map_err(refused)?;
            }
        }
        let settings = &version.settings;
        let turns = &settings.turns;
        // A connection is not a turn: only a shutdown refuses it.
        let admitted = turns.admits(&TurnLimits::default(), None, || settings.env.now());
        admitted.map_err(|reason| refused(busy(reason)))?;
        let running = turns.enter();
        Ok(Socket::new(
            self.clone(),
            settings,
            head,
            subprotocol,
            running,
        ))
    }
}

/// The headers that are retained of a handshake by a page of another origin.
const OF_FOREIGN: [HeaderName; 5] = [CONNECTION, HOST, ORIGIN, UPGRADE, USER_AGENT];
