//! How an agent is mounted: as a model.

use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use http::{Method, Response};

use super::card::{list, unknown_model};
use super::{Dialect, Model};
use crate::agent::{Agent, Body};
use crate::protocol::Refusal;
use crate::router::{Call, Endpoint, Mount, MountError, Site};

/// A model with its agent.
type Mounted<P> = (Model<P>, Arc<dyn Agent<P>>);

/// The models of one dialect in a router.
struct Models<P>(Vec<Mounted<P>>);

impl<P> Default for Models<P> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<P> Clone for Models<P> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Answers at `POST /v1` and [`Dialect::PATH`], with `stream` and without, and is listed at
/// `GET /v1/models`.
///
/// Several agents share these paths: the request's `model` says which one answers, the first one
/// when it says nothing. To mount one agent under several names, mount clones of an `Arc`.
impl<P: Dialect> Mount for Model<P> {
    type Protocol = P;

    fn mount(self, agent: Arc<dyn Agent<P>>, site: &mut Site<'_>) -> Result<(), MountError> {
        let base = self.base_path();
        let base = base
            .ok_or_else(|| MountError::Path(self.path.clone()))?
            .to_owned();
        let models = site.shared::<Models<P>>();
        if models
            .find(&base, self.id())
            .is_ok_and(|(model, _)| model.id() == self.id())
        {
            let message = format!("model already mounted: {}", self.id());
            return Err(MountError::Invalid(message));
        }
        let card = self.card.clone();
        models.0.push((self, agent));
        let path = format!("{base}{}", P::PATH);
        P::routes(&path, site)?;
        site.shared_route(Method::POST, &path, Answers::<P>::at(&base))?;
        list(site, &base, card, P::refuse)
    }
}

impl<P: Dialect> Models<P> {
    /// Returns the models that share this base path.
    fn at<'a>(&'a self, base: &'a str) -> impl Iterator<Item = &'a Mounted<P>> {
        self.0
            .iter()
            .filter(move |(model, _)| model.base_path() == Some(base))
    }

    /// Returns the model that a request asks for; the first one when it does not say.
    fn find<'a>(&'a self, base: &'a str, id: &str) -> Result<&'a Mounted<P>, Refusal> {
        self.at(base)
            .find(|(model, _)| id.is_empty() || model.id() == id)
            .ok_or_else(unknown_model)
    }
}

/// The requests to all models of one dialect at a base path.
struct Answers<P> {
    base: String,
    dialect: PhantomData<fn() -> P>,
}

impl<P> Answers<P> {
    fn at(base: &str) -> Self {
        Self {
            base: base.to_owned(),
            dialect: PhantomData,
        }
    }
}

impl<P: Dialect> Answers<P> {
    async fn answer(&self, mut call: Call) -> Result<(Response<Body>, bool), Refusal> {
        let body = std::mem::take(&mut call.body);
        let mut message = P::read(&call.parts, body)?;
        let models = call.shared::<Models<P>>().ok_or_else(unknown_model)?;
        let name = P::model(&mut message);
        let (model, agent) = models.find(&self.base, name)?;
        if name.is_empty() {
            model.id().clone_into(name);
        }
        let may_retry = model.may_retry;
        let response = match P::answer_itself(&message, call.env()) {
            Some(response) => response,
            None => {
                let agent = Arc::clone(agent);
                call.answer_request(agent, message).await
            }
        };
        Ok((response, may_retry))
    }
}

#[async_trait]
impl<P: Dialect> Endpoint for Answers<P> {
    async fn call(&self, call: Call) -> Response<Body> {
        let env = call.env().clone();
        let answer = self.answer(call).await;
        let (mut response, may_retry) =
            answer.unwrap_or_else(|refusal| (self.refuse(&refusal), false));
        P::finish(&mut response, may_retry, &env);
        response
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        P::refuse(refusal).map(Body::full)
    }

    fn protocol(&self) -> Option<&'static str> {
        Some(P::NAME)
    }
}
