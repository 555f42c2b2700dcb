//! The running check of one endpoint.

use std::fmt;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use super::blocks::Lines;
use super::exchange::{Asker, Exchange};
use super::judge::Judge;
use super::rule::Rule;
use crate::front_end::post;
use crate::kit::Kit;
use crate::signer::Signer;
use copilot_wire::protocol::Refusal;

/// A request body with the rule for its answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trial {
    /// The name of the request in findings.
    pub name: String,
    /// The body of the request.
    pub body: Bytes,
    /// The rule that is broken if the status is not 200. `None` to accept every status.
    pub rule: Option<&'static Rule>,
}

impl Trial {
    /// Creates a request body. With a `rule`, the status of its answer must be 200.
    pub fn new(rule: Option<&'static Rule>, name: &str, body: impl Into<Bytes>) -> Self {
        Self {
            name: name.to_owned(),
            body: body.into(),
            rule,
        }
    }

    /// Reads requests from a JSON list of objects with a `name` and a `body`. Empty if the text is not such a list.
    pub fn list(rule: &'static Rule, list: &str) -> Vec<Self> {
        #[derive(Deserialize)]
        struct Entry {
            name: String,
            body: Value,
        }
        let entries: Vec<Entry> = serde_json::from_str(list).unwrap_or_default();
        let entries = entries.into_iter();
        entries
            .map(|entry| Self::new(Some(rule), &entry.name, entry.body.to_string()))
            .collect()
    }

    /// Returns the body as JSON, `null` if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Sets the member `model` of the body. A body that is not a JSON object remains unchanged.
    #[must_use]
    pub fn model(mut self, model: &str) -> Self {
        if let Value::Object(mut body) = self.json() {
            body.insert("model".to_owned(), model.into());
            self.body = Value::Object(body).to_string().into();
        }
        self
    }
}

/// Creates an array of [`Trial`] from the files `fixtures/FOLDER/NAME.json` of the crate that calls the macro. Each
/// request has the name of its file.
///
/// ```ignore
/// let requests = recorded_files! { Some(&REQUEST), "openbb": "req_v2_full" "req_v1_context_items" };
/// ```
///
/// [`Trial`]: crate::check::Trial
#[macro_export]
macro_rules! recorded_files {
    ($rule:expr, $folder:literal: $($name:literal)+) => {
        [$($crate::check::Trial::new(
            $rule,
            $name,
            include_bytes!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/fixtures/", $folder, "/", $name, ".json"
            )).as_slice(),
        )),+]
    };
}

/// A stream to check.
#[derive(Debug)]
#[non_exhaustive]
pub struct Stream<'a> {
    /// The request and its answer.
    pub exchange: &'a Exchange,
    /// The blocks of the body.
    pub blocks: Vec<Lines<'a>>,
    /// The body of the request as JSON. `None` if the request is not known.
    pub asked: Option<Value>,
}

/// The settings of a target.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) path: Option<String>,
    pub(super) model: Option<String>,
    pub(super) headers: HeaderMap,
    pub(super) signer: Option<Box<dyn Signer>>,
}

/// The running check of one endpoint: it sends requests as the front end does, and collects
/// findings.
pub struct Exam<'a> {
    pub(super) asker: Asker<'a>,
    pub(super) judge: &'a mut Judge,
    pub(super) settings: &'a Settings,
    pub(super) kit: Kit,
    /// Headers that the endpoint requires in later requests.
    pub(super) session: HeaderMap,
}

impl<'a> Exam<'a> {
    /// Increases the expected number of requests.
    pub fn plan(&mut self, requests: usize) {
        self.asker.planned += requests;
    }

    /// Returns the collector of findings.
    pub fn judge(&mut self) -> &mut Judge {
        self.judge
    }

    /// Returns the path to post to. `None` if the target sets none.
    pub fn path(&self) -> Option<&'a str> {
        self.settings.path.as_deref()
    }

    /// Returns the model to request. `None` if the target sets none.
    pub fn model(&self) -> Option<&'a str> {
        self.settings.model.as_deref()
    }

    /// Returns the signer. `None` if the front end does not sign requests or the target has no key.
    pub fn signer(&self) -> Option<&'a dyn Signer> {
        let signer = self.settings.signer.as_deref();
        signer.filter(|_| self.signs())
    }

    /// Returns `true` if the front end signs its requests.
    pub(super) fn signs(&self) -> bool {
        (self.kit.keys)().is_some()
    }

    /// Returns `true` if the protocol refuses requests with JSON.
    pub(super) fn refuses_with_json(&self) -> bool {
        let refusal = (self.kit.refuse)(&Refusal::new(StatusCode::BAD_REQUEST, ""));
        let kind = refusal.headers().get(CONTENT_TYPE);
        kind.is_some_and(|kind| kind == "application/json")
    }

    /// Adds a header to the requests that follow, such as the id of a session that the endpoint has begun.
    pub fn add_header(&mut self, name: HeaderName, value: HeaderValue) {
        self.session.insert(name, value);
    }

    /// Creates a request with the headers that the front end sends, without a signature. The path is `/` if `path` is
    /// not valid.
    pub fn request(&self, method: Method, path: &str, body: impl Into<Bytes>) -> Request<Bytes> {
        let mut request = post(path, body);
        *request.method_mut() = method;
        let headers = request.headers_mut();
        headers.extend((self.kit.headers)());
        headers.extend(self.session.clone());
        // Added after the protocol's own headers: a header of the target replaces the front end's header of the same
        // name.
        headers.extend(self.settings.headers.clone());
        request
    }

    /// Creates a `POST` as the front end sends it, signed if the front end signs and there is a key. The path is `/` if
    /// `path` is not valid.
    pub fn post(&self, path: &str, body: impl Into<Bytes>) -> Request<Bytes> {
        let mut request = self.request(Method::POST, path, body);
        if let Some(signer) = self.signer() {
            // The signature covers the bytes as they are sent: the endpoint verifies these bytes before it parses
            // anything.
            let signature = signer.sign(request.body());
            request.headers_mut().extend(signature);
        }
        request
    }
}

/// Shows the names of headers, never their values, and the path without its query.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.as_deref();
        let path = path.map(|path| path.split_once('?').map_or(path, |(path, _)| path));
        f.debug_struct("Settings")
            .field("path", &path)
            .field("model", &self.model)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Exam<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exam")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
