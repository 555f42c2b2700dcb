//! How an agent is mounted: as a model.

use std::sync::Arc;

use async_trait::async_trait;
use http::{Method, Response, StatusCode};

use super::model::{self, COMPLETIONS};
use super::{Model, OpenAi};
use crate::agent::{Agent, Body};
use crate::protocol::{Protocol, Refusal};
use crate::router::{Call, Endpoint, Mount, MountError, Site, json};

/// The models of a router, each with its agent.
#[derive(Clone, Default)]
struct Models(Vec<(Model, Arc<dyn Agent<OpenAi>>)>);

/// Answers at `POST /v1/chat/completions`, with `stream` and without, and is listed at
/// `GET /v1/models`.
///
/// Several agents share these paths: the request's `model` says which one answers, the first one
/// when it says nothing. To mount one agent under several names, mount clones of an `Arc`.
impl Mount for Model {
    type Protocol = OpenAi;

    fn mount(self, agent: Arc<dyn Agent<OpenAi>>, site: &mut Site<'_>) -> Result<(), MountError> {
        let models = site.shared::<Models>();
        let base = self.base_path();
        let base = base
            .ok_or_else(|| MountError::Path(self.path.clone()))?
            .to_owned();
        if models
            .find(&base, self.id())
            .is_ok_and(|(model, _)| model.id() == self.id())
        {
            let message = format!("model already mounted: {}", self.id());
            return Err(MountError::Invalid(message));
        }
        models.0.push((self, agent));
        let here = Here(base.clone());
        site.shared_route(Method::POST, &format!("{base}{COMPLETIONS}"), here)?;
        let one = OneModel(Here(base.clone()));
        site.shared_route(Method::GET, &format!("{base}/models/{{model}}"), one)?;
        site.document(&format!("{base}/models"), move |call| {
            let models = call.shared::<Models>().into_iter();
            model::documents(
                models
                    .flat_map(|models| models.at(&base))
                    .map(|(model, _)| model),
            )
        })
    }
}

/// Mounts a model of this name.
macro_rules! mount_name {
    ($name:ty) => {
        impl Mount for $name {
            type Protocol = OpenAi;

            fn mount(
                self,
                agent: Arc<dyn Agent<OpenAi>>,
                site: &mut Site<'_>,
            ) -> Result<(), MountError> {
                Model::from(self).mount(agent, site)
            }
        }
    };
}

mount_name!(&str);
mount_name!(String);

impl Models {
    /// Returns the models that share this base path.
    fn at<'a>(
        &'a self,
        base: &'a str,
    ) -> impl Iterator<Item = &'a (Model, Arc<dyn Agent<OpenAi>>)> {
        self.0
            .iter()
            .filter(move |(model, _)| model.base_path() == Some(base))
    }

    /// Returns the model that a request asks for; the first one when it does not say.
    fn find<'a>(
        &'a self,
        base: &'a str,
        id: &str,
    ) -> Result<&'a (Model, Arc<dyn Agent<OpenAi>>), Refusal> {
        self.at(base)
            .find(|(model, _)| id.is_empty() || model.id() == id)
            .ok_or_else(|| {
                Refusal::new(StatusCode::NOT_FOUND, "no such model")
                    .code("model_not_found")
                    .at("model")
            })
    }
}

/// `POST /v1/chat/completions` for all models of a base path.
struct Here(String);

impl Here {
    fn find<'a>(
        &'a self,
        call: &'a Call,
        id: &str,
    ) -> Result<&'a (Model, Arc<dyn Agent<OpenAi>>), Refusal> {
        static NONE: Models = Models(Vec::new());
        call.shared().unwrap_or(&NONE).find(&self.0, id)
    }
}

#[async_trait]
impl Endpoint for Here {
    async fn call(&self, mut call: Call) -> Response<Body> {
        let body = std::mem::take(&mut call.body);
        let mut message = match OpenAi::read(&call.parts, body) {
            Ok(message) => message,
            Err(refusal) => return self.refuse(&refusal),
        };
        let agent = match self.find(&call, &message.model) {
            Ok((model, agent)) => {
                if message.model.is_empty() {
                    model.id().clone_into(&mut message.model);
                }
                Arc::clone(agent)
            }
            Err(refusal) => return self.refuse(&refusal),
        };
        call.answer_request(agent, message).await
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        OpenAi::refuse(refusal).map(Body::full)
    }

    fn protocol(&self) -> Option<&'static str> {
        Some(OpenAi::NAME)
    }
}

/// `GET /v1/models/{model}`.
struct OneModel(Here);

#[async_trait]
impl Endpoint for OneModel {
    async fn call(&self, call: Call) -> Response<Body> {
        match self.0.find(&call, call.param("model").unwrap_or_default()) {
            Ok((model, _)) => json(StatusCode::OK, model.to_json()),
            Err(refusal) => self.refuse(&refusal),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        self.0.refuse(refusal)
    }
}
