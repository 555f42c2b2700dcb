//! Serves the playground.

use std::collections::BTreeMap;

use async_trait::async_trait;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_DNS_PREFETCH_CONTROL,
};
use http::{HeaderMap, StatusCode, header};
use http::{HeaderValue, Method, Response};

use super::settings::Settings;
use super::{Endpoint, HttpRequest, MountError, RouteKind, Router};
use crate::agent::Body;
use crate::json::Escape;
use crate::playground::{self, Front, Fronts};
use crate::protocol::Refusal;

/// The path of the list of agents.
const FRONTS: &str = "/playground.json";

/// The path at which the page requests signatures.
const SIGN: &str = "/playground/sign";

impl Router {
    /// Serves the playground at `GET /`: a page that calls the agents of this router as each of their front ends would,
    /// and shows every request and event.
    ///
    /// It lists all agents, including those that are mounted later. It is meant for local work: everybody who can open
    /// the page can use the agents.
    ///
    /// `scripts` are the emulated front ends, in JavaScript: each adds one with
    /// `addFront(protocol, class)`, where the protocol is a [`Protocol::NAME`] and the class extends
    /// the page's `Front`. [`playground`](Self::playground) has those of this crate's protocols.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path `/` or `/playground.json` is taken.
    ///
    /// [`Protocol::NAME`]: crate::Protocol::NAME
    pub fn playground_with(
        self,
        scripts: impl IntoIterator<Item = &'static str>,
    ) -> Result<Self, MountError> {
        self.with(|site| {
            site.route(Method::GET, "/", Page(playground::page(scripts)))?;
            site.document(FRONTS, |call| fronts(&call.settings))
        })
    }

    /// Lets the playground sign its requests to agents that verify signatures, at `POST /playground/sign`, so that
    /// these agents need no exception for it. `sign` returns the headers to send with a body, byte for byte.
    ///
    /// Everybody who can reach this server can have any body signed. So mount only agents that verify with keys created
    /// for this purpose, and no agent that does real work for the owners of those keys. Requests from pages of other
    /// origins are refused.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken.
    pub fn playground_signer(
        self,
        sign: impl Fn(&[u8]) -> HeaderMap + Send + Sync + 'static,
    ) -> Result<Self, MountError> {
        self.with(|site| {
            site.shared::<Signing>().0 = true;
            site.route(Method::POST, SIGN, Sign(sign))
        })
    }
}

/// `true` if this router signs requests for the playground.
#[derive(Clone, Copy, Default)]
struct Signing(bool);

/// Returns the list of the mounted agents.
fn fronts(settings: &Settings) -> Vec<u8> {
    let fronts = settings.fronts.iter().map(|(protocol, path)| Front {
        protocol,
        path: path.clone(),
    });
    let signing = settings.shared.get::<Signing>();
    let fronts = Fronts {
        fronts: fronts.collect(),
        signing: signing.is_some_and(|signing| signing.0),
    };
    fronts.to_json()
}

/// The page as the text before the nonce and the text after it.
struct Page([String; 2]);

#[async_trait]
impl Endpoint for Page {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        // New for each response: with a predictable nonce, injected scripts could run.
        let nonce = call.env().uuid();
        let mut response = Response::new(Body::full(self.0.join(&nonce)));
        let headers = response.headers_mut();
        let mut put = |name, value| headers.insert(name, HeaderValue::from_static(value));
        put(CONTENT_TYPE, "text/html; charset=utf-8");
        put(CACHE_CONTROL, "no-store");
        put(X_CONTENT_TYPE_OPTIONS, "nosniff");
        put(REFERRER_POLICY, "no-referrer");
        put(X_DNS_PREFETCH_CONTROL, "off");
        // A UUID is always a valid header value.
        let policy = HeaderValue::from_str(&playground::policy(&nonce))
            .unwrap_or(HeaderValue::from_static("default-src 'none'"));
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        response
    }

    /// Returns the text that a person reads in the browser: the page has no key to send.
    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        let text = format!(
            "{refusal}\n\nA guard of this router also guards the playground, which has no key to send. Guard the agents \
             alone: see Router::with and Site::guard.\n"
        );
        let kind = HeaderValue::from_static("text/plain; charset=utf-8");
        refusal.to_response(kind, text).map(Body::full)
    }

    fn kind(&self) -> RouteKind {
        RouteKind::Document
    }
}

/// The endpoint that signs a body as the front end's platform does, with test keys.
struct Sign<F>(F);

#[async_trait]
impl<F: Fn(&[u8]) -> HeaderMap + Send + Sync> Endpoint for Sign<F> {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        let authority = call.parts.uri.authority().map(http::uri::Authority::as_str);
        if !is_own_page(&call.parts.headers, authority) {
            let message = "only the playground of this server may ask";
            return self.refuse(&Refusal::new(StatusCode::FORBIDDEN, message));
        }
        let signed = (self.0)(&call.body);
        let headers: BTreeMap<&str, &str> = signed
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
            .collect();
        let mut out = Vec::new();
        // Strings always serialize.
        let _ = crate::json::write(&headers, Escape::Json, &mut out);
        super::json(StatusCode::OK, out)
    }
}

/// Returns `true` if a request comes from a page of this server, or from no page.
///
/// Browsers send `sec-fetch-site` on secure connections, and `origin` with every POST.
fn is_own_page(headers: &HeaderMap, authority: Option<&str>) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = text("sec-fetch-site") {
        return site == "same-origin";
    }
    let host = authority.or_else(|| text(header::HOST.as_str()));
    text(header::ORIGIN.as_str()).is_none_or(|origin| {
        let origin = origin.split_once("://").map(|(_, host)| host);
        origin.is_some() && origin == host
    })
}
