//! Serves the playground.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_DNS_PREFETCH_CONTROL,
};
use http::{HeaderValue, Method, Response};

use super::endpoint::{Call, Document, Endpoint};
use super::{Inner, MountError, Router};
use crate::agent::Body;
use crate::playground::{self, Front, Fronts};

/// Where the page asks what is mounted.
const FRONTS: &str = "/playground.json";

impl Router {
    /// Serves the playground at `GET /`: a page to talk to the agents of this router from, as each
    /// of their front ends would, with every event and every request in sight.
    ///
    /// It offers all agents, also those that are mounted later. It is meant for local work: whoever
    /// reaches the page reaches the agents.
    ///
    /// # Errors
    ///
    /// [`MountError`] when something else has the path `/` or `/playground.json`.
    pub fn playground(mut self) -> Result<Self, MountError> {
        self.route(Method::GET, "/", Page)?;
        self.route(Method::GET, FRONTS, Document(Bytes::new()))?;
        Ok(self)
    }
}

impl Inner {
    /// Writes down anew what is mounted, once the playground is.
    pub(super) fn list_fronts(&mut self) {
        let fronts = self.routes.iter().filter_map(|route| {
            let protocol = route.endpoint.protocol()?;
            (route.method == Method::POST).then(|| Front {
                protocol,
                path: format!("{:?}", route.path),
            })
        });
        let fronts = Fronts {
            fronts: fronts.collect(),
            signing: false,
        };
        let list = self
            .routes
            .iter_mut()
            .find(|route| route.path.matches(FRONTS).is_some());
        if let Some(route) = list {
            route.endpoint = Arc::new(Document(Bytes::from(fronts.to_json())));
        }
    }
}

/// The page.
struct Page;

#[async_trait]
impl Endpoint for Page {
    async fn call(&self, call: Call) -> Response<Body> {
        let nonce = call.env.uuid();
        let mut response = Response::new(Body::full(playground::page(&nonce)));
        let headers = response.headers_mut();
        let mut put = |name, value| headers.insert(name, HeaderValue::from_static(value));
        put(CONTENT_TYPE, "text/html; charset=utf-8");
        put(CACHE_CONTROL, "no-store");
        put(X_CONTENT_TYPE_OPTIONS, "nosniff");
        put(REFERRER_POLICY, "no-referrer");
        put(X_DNS_PREFETCH_CONTROL, "off");
        // A UUID makes a valid value. Without a policy nothing on the page may run.
        let policy = HeaderValue::from_str(&playground::policy(&nonce))
            .unwrap_or(HeaderValue::from_static("default-src 'none'"));
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        response
    }
}
