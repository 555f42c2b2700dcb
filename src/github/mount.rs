//! Mounting of agents and skills, with or without signature verification.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use super::chunk_form::ChunkForm;
use super::verified::Verified;
use super::{GitHub, Skill, SkillCall, SkillReply};
use crate::agent::{Agent, Body};
use crate::json::Json;
use crate::protocol::Refusal;
use crate::router::{
    self, AgentEndpoint, Endpoint, HttpRequest, MountError, RouteKind, Site, json,
};

/// The mount options of an agent or a skill.
///
/// There is no default: the choice between verified requests (`Mount::verified`, feature `verify`)
/// and unverified ones ([`unverified`](Self::unverified)) is explicit, so that verification cannot
/// be forgotten:
///
/// ```compile_fail,E0599
/// let mount = copilot_wire::github::Mount::default();
/// ```
#[derive(Clone)]
#[must_use]
pub struct Mount {
    path: String,
    chunks: ChunkForm,
    body_limit: usize,
    /// `None` if all requests are accepted.
    #[cfg(feature = "verify")]
    verifier: Option<Verifier>,
}

#[cfg(feature = "verify")]
type Verifier = super::verify::Verifier<Arc<dyn super::verify::KeySource>>;

/// A conversation with open files is smaller, because it must fit into a model's context.
const BODY_LIMIT: usize = 8 * 1024 * 1024;

impl Mount {
    /// Creates a mount that accepts all requests, signed or not: for an agent that is not reachable from outside, or
    /// behind a proxy that verifies. `gh debug-cli` sends no signature.
    pub fn unverified() -> Self {
        Self {
            path: "/github".to_owned(),
            chunks: ChunkForm::default(),
            body_limit: BODY_LIMIT,
            #[cfg(feature = "verify")]
            verifier: None,
        }
    }

    /// Creates a mount that accepts only requests that are signed with one of these keys. Other requests get status 401,
    /// and 503 while the keys are not available.
    ///
    /// `gh debug-cli` cannot sign. For local work sign with a `RequestSigner` of `copilot-wire-kit`,
    /// or use [`unverified`](Self::unverified).
    #[cfg(feature = "verify")]
    pub fn verified(keys: impl super::verify::KeySource + 'static) -> Self {
        Self {
            verifier: Some(Verifier::new(Arc::new(keys))),
            ..Self::unverified()
        }
    }

    /// Sets the path. The default is `/github`.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets the form of text chunks. The default is [`ChunkForm::Short`], the form of GitHub's SDK.
    pub fn chunks(mut self, form: ChunkForm) -> Self {
        self.chunks = form;
        self
    }

    /// Sets the size in bytes up to which a request body is read, if that is less than the
    /// [limit of the router](crate::Router::body_limit). The default is 8 MiB.
    ///
    /// A signature covers the complete body, so the server reads up to this size before it knows that the sender is
    /// GitHub.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// Returns the routes of a skill, for [`Router::with`](crate::Router::with). A POST is answered
    /// with plain data.
    ///
    /// ```
    /// # use copilot_wire::async_trait;
    /// # use copilot_wire::github::{Mount, Skill, SkillCall, SkillReply};
    /// # use copilot_wire::protocol::AgentError;
    /// # struct Time;
    /// # #[async_trait]
    /// # impl Skill for Time {
    /// #     type Arguments = serde_json::Value;
    /// #     async fn call(&self, _: SkillCall<serde_json::Value>) -> Result<SkillReply, AgentError> {
    /// #         Ok(SkillReply::text("noon"))
    /// #     }
    /// # }
    /// use copilot_wire::Router;
    ///
    /// let router = Router::new().with(Mount::unverified().path("/time").skill(Time))?;
    /// # let _ = router;
    /// # Ok::<(), copilot_wire::router::MountError>(())
    /// ```
    pub fn skill(
        self,
        skill: impl Skill + 'static,
    ) -> impl FnOnce(&mut Site<'_>) -> Result<(), MountError> {
        move |site| self.gated(site, SkillEndpoint(skill))
    }

    fn gated(
        self,
        site: &mut Site<'_>,
        endpoint: impl Endpoint + 'static,
    ) -> Result<(), MountError> {
        let path = self.path.clone();
        let gated = Gated {
            mount: self,
            endpoint,
        };
        site.route(Method::POST, &path, gated)?;
        // The probe of the platform is not verified, because it is not signed.
        site.route(Method::GET, &path, Probe)
    }

    /// Refuses a request by its headers, before its body is read.
    fn admit_head(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        #[cfg(feature = "verify")]
        if self.verifier.is_some() {
            // Only the form of the headers is checked here: the signature is checked with the body, which is not read
            // if the headers are invalid.
            super::verify::SignatureHeaders::from_headers(headers).map_err(unverified)?;
        }
        let _ = headers;
        Ok(())
    }

    /// Verifies a body, or refuses it. No part of it is parsed before.
    async fn admit(&self, headers: &HeaderMap, body: Bytes) -> Result<Verified<Bytes>, Refusal> {
        if body.is_empty() {
            let message = "request body is empty";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, message).code("empty-body"));
        }
        #[cfg(feature = "verify")]
        if let Some(verifier) = &self.verifier {
            return verifier.verify(body, headers).await.map_err(unverified);
        }
        let _ = headers;
        Ok(Verified::assume_verified(body))
    }
}

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mount")
            .field("path", &self.path)
            .field("chunks", &self.chunks)
            .field("body_limit", &self.body_limit)
            .finish_non_exhaustive()
    }
}

/// Creates a refusal with the kind of the error only: without signature, key or body.
#[cfg(feature = "verify")]
fn unverified(error: super::verify::VerifyError) -> Refusal {
    Refusal::new(error.status(), error.to_string()).code(error.kind().as_str())
}

/// Mounts an agent at `POST /github`, or the path of the mount. `GET` on the same path is the
/// liveness probe of the platform and answers `OK`. The body is verified before it is parsed.
///
/// ```
/// # use copilot_wire::protocol::{AgentError, Protocol};
/// # use copilot_wire::{Agent, Reply, Request, async_trait};
/// # struct Echo;
/// # #[async_trait]
/// # impl<P: Protocol> Agent<P> for Echo {
/// #     async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
/// #         Ok(reply.text("hello").await?)
/// #     }
/// # }
/// use copilot_wire::Router;
/// use copilot_wire::github::Mount;
///
/// // Locally, for `gh debug-cli`. In the open: `Mount::verified(keys)`.
/// let router = Router::new().mount(Mount::unverified(), Echo)?;
/// # Ok::<(), copilot_wire::router::MountError>(())
/// ```
impl router::Mount for Mount {
    type Protocol = GitHub;

    fn mount(self, agent: Arc<dyn Agent<GitHub>>, site: &mut Site<'_>) -> Result<(), MountError> {
        let settings = self.chunks;
        self.gated(
            site,
            AgentEndpoint {
                agent,
                settings,
                name: None,
            },
        )
    }
}

/// An endpoint with the check of its mount.
struct Gated<E> {
    mount: Mount,
    endpoint: E,
}

#[async_trait]
impl<E: Endpoint> Endpoint for Gated<E> {
    async fn call(&self, mut call: HttpRequest) -> Response<Body> {
        let body = std::mem::take(&mut call.body);
        match self.mount.admit(&call.parts.headers, body).await {
            Ok(body) => {
                // The endpoint sees only bytes whose sender the gate has accepted.
                call.body = body.into_inner();
                self.endpoint.call(call).await
            }
            Err(refusal) => self.endpoint.refuse(&refusal),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        self.endpoint.refuse(refusal)
    }

    fn admit(&self, parts: &Parts) -> Result<(), Refusal> {
        self.mount.admit_head(&parts.headers)
    }

    fn body_limit(&self) -> Option<usize> {
        Some(self.mount.body_limit)
    }

    fn protocol(&self) -> Option<&'static str> {
        self.endpoint.protocol()
    }

    fn kind(&self) -> RouteKind {
        self.endpoint.kind()
    }
}

/// The liveness probe; most samples answer it with a short text.
struct Probe;

#[async_trait]
impl Endpoint for Probe {
    async fn call(&self, _: HttpRequest) -> Response<Body> {
        text("OK")
    }

    fn kind(&self) -> RouteKind {
        RouteKind::Document
    }
}

/// A skill. Its response is not a stream.
struct SkillEndpoint<S>(S);

#[async_trait]
impl<S: Skill> Endpoint for SkillEndpoint<S> {
    async fn call(&self, mut call: HttpRequest) -> Response<Body> {
        let body = std::mem::take(&mut call.body);
        let arguments = Json::parse(body).and_then(|body| body.decode::<S::Arguments>());
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(error) => return self.refuse(&error.into()),
        };
        let headers = std::mem::take(&mut call.parts.headers);
        let answer = self.0.call(SkillCall::new(arguments, headers));
        match call.run::<GitHub, _>(answer).await {
            Ok(SkillReply::Text(answer)) => text(answer),
            Ok(SkillReply::Json(answer)) => json(StatusCode::OK, answer.as_bytes().clone()),
            Err(refusal) => self.refuse(&refusal.code("skill_failed")),
        }
    }

    fn kind(&self) -> RouteKind {
        RouteKind::Turn
    }
}

/// Returns a response of plain text.
fn text(body: impl Into<String>) -> Response<Body> {
    let mut response = Response::new(Body::full(body.into()));
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}
