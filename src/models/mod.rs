//! Models: the names that agents are mounted under in the dialects of language models, and the list
//! of all of them.
//!
//! A [`Model`] mounts an agent for one dialect. Models of several dialects share one list at
//! `GET /v1/models`, where each name stands once.

mod card;
mod mount;
mod reminder;

use std::marker::PhantomData;

use http::Response;

use crate::agent::Body;
use crate::protocol::{Env, Protocol};
use crate::router::{MountError, Site};

use card::Card;
pub(crate) use reminder::split_reminder;

/// A protocol whose requests name a model.
pub trait Dialect: Protocol {
    /// The path of its requests below a client's base URL, such as `/chat/completions`.
    const PATH: &'static str;

    /// Returns the name of the model that a request asks for; empty when it names none.
    fn model(request: &mut Self::Request) -> &mut String;

    /// Adds the routes that belong to this one, which is at `path`. None by default.
    ///
    /// # Errors
    ///
    /// [`MountError`] when something else has a path.
    fn routes(path: &str, site: &mut Site<'_>) -> Result<(), MountError> {
        let _ = (path, site);
        Ok(())
    }

    /// Answers a request that is not for an agent. `None` by default.
    fn answer_itself(request: &Self::Request, env: &Env) -> Option<Response<Body>> {
        let _ = (request, env);
        None
    }

    /// Changes the head of a response. `may_retry` says that the model's clients may send a request
    /// again that failed. Nothing by default.
    fn finish(response: &mut Response<Body>, may_retry: bool, env: &Env) {
        let _ = (response, may_retry, env);
    }
}

/// A model, as a client sees it: the name that an agent is mounted under.
#[derive(Debug)]
pub struct Model<P> {
    card: Card,
    path: String,
    /// Whether clients may send a request again that failed.
    pub(crate) may_retry: bool,
    dialect: PhantomData<fn() -> P>,
}

impl<P: Dialect> Model<P> {
    /// Creates a model.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            card: Card::new(id.into()),
            path: format!("/v1{}", P::PATH),
            may_retry: false,
            dialect: PhantomData,
        }
    }

    /// Sets who the model belongs to.
    #[must_use]
    pub fn owned_by(mut self, owner: impl Into<String>) -> Self {
        self.card.owned_by = owner.into();
        self
    }

    /// Sets when the model was made, in seconds since 1970.
    #[must_use]
    pub fn created(mut self, unix_time: u64) -> Self {
        self.card.created = unix_time;
        self
    }

    /// Sets the path, which ends in [`Dialect::PATH`]. The default is `/v1` and that.
    /// Clients are given what is before [`Dialect::PATH`] as their base URL; the models are listed
    /// beside it.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Returns the name that requests ask for.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.card.id
    }

    /// Returns the path of the client's base URL; `None` when the path is not below one.
    fn base_path(&self) -> Option<&str> {
        let path = self.path.strip_suffix('/').unwrap_or(&self.path);
        path.strip_suffix(P::PATH)
    }
}

impl<P> Clone for Model<P> {
    fn clone(&self) -> Self {
        Self {
            card: self.card.clone(),
            path: self.path.clone(),
            may_retry: self.may_retry,
            dialect: PhantomData,
        }
    }
}

impl<P: Dialect> From<&str> for Model<P> {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

impl<P: Dialect> From<String> for Model<P> {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}
