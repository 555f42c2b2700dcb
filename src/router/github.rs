//! Mounts agents and skills for GitHub Copilot.

use async_trait::async_trait;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Response, StatusCode};

use super::endpoint::{Call, Endpoint, Streaming, run};
use super::{MountError, Router, json};
use crate::agent::{Agent, Body};
use crate::github::{GitHub, Mount, Skill, SkillCall, SkillReply};
use crate::json::Json;
use crate::protocol::{Protocol, Refusal};

impl Router {
    /// Mounts an agent for GitHub Copilot: it answers `POST /github`, or the path of the mount.
    ///
    /// `GET` on the same path is the liveness probe of the platform and answers `OK`. The mount
    /// says whether requests are verified; the body is verified before anything of it is parsed.
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
    /// let router = Router::new().github(Mount::unverified(), Echo)?;
    /// # Ok::<(), copilot_wire::router::MountError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken.
    pub fn github(
        self,
        mount: Mount,
        agent: impl Agent<GitHub> + 'static,
    ) -> Result<Self, MountError> {
        self.gated(mount, Streaming::<GitHub, _>::new(agent))
    }

    /// Mounts a skill of a skillset: it answers a POST with plain data.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken.
    pub fn github_skill(
        self,
        mount: Mount,
        skill: impl Skill + 'static,
    ) -> Result<Self, MountError> {
        self.gated(mount, Plain(skill))
    }

    fn gated(
        mut self,
        mount: Mount,
        endpoint: impl Endpoint + 'static,
    ) -> Result<Self, MountError> {
        let path = mount.path().to_owned();
        self.route(Method::POST, &path, Gated { mount, endpoint })?;
        self.route(Method::GET, &path, Probe)?;
        Ok(self)
    }
}

/// An endpoint behind the gate of its mount.
struct Gated<E> {
    mount: Mount,
    endpoint: E,
}

#[async_trait]
impl<E: Endpoint> Endpoint for Gated<E> {
    async fn call(&self, mut call: Call) -> Response<Body> {
        match self.mount.admit(&call.parts.headers, call.body).await {
            Ok(body) => {
                call.body = body.into_inner();
                call.parts.extensions.insert(self.mount.form());
                self.endpoint.call(call).await
            }
            Err(refusal) => self.endpoint.refuse(&refusal),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        self.endpoint.refuse(refusal)
    }

    fn protocol(&self) -> Option<&'static str> {
        self.endpoint.protocol()
    }
}

/// The liveness probe: most samples answer it with a short text.
struct Probe;

#[async_trait]
impl Endpoint for Probe {
    async fn call(&self, call: Call) -> Response<Body> {
        drop(call);
        text("OK")
    }
}

/// A skill, whose answer is no stream.
struct Plain<S>(S);

#[async_trait]
impl<S: Skill> Endpoint for Plain<S> {
    async fn call(&self, call: Call) -> Response<Body> {
        let arguments = Json::parse(call.body).and_then(|body| body.decode::<S::Arguments>());
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(error) => return self.refuse(&error.into()),
        };
        let answer = self.0.call(SkillCall::new(arguments, call.parts.headers));
        match run(GitHub::NAME, &call.env, answer).await {
            Ok(SkillReply::Text(answer)) => text(answer),
            Ok(SkillReply::Json(answer)) => {
                let mut response = json(StatusCode::OK, Vec::new());
                *response.body_mut() = Body::full(answer.as_bytes().clone());
                response
            }
            Err(refusal) => self.refuse(&refusal.code("skill_failed")),
        }
    }
}

/// A short text.
fn text(body: impl Into<String>) -> Response<Body> {
    let mut response = Response::new(Body::full(body.into()));
    response.headers_mut().insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    response
}
