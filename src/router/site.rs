//! Mounting: what adds routes to a router.

use std::sync::Arc;

use http::{HeaderValue, Method};

use super::endpoint::{AgentEndpoint, Call, Document, Endpoint};
use super::path::Path;
use super::{Inner, Route};
use crate::agent::Agent;
use crate::protocol::Protocol;

/// Why an agent cannot be mounted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// Something else answers at this path already.
    #[error("path already mounted: {method} {path}")]
    Taken {
        /// The method.
        method: Method,
        /// The path.
        path: String,
    },
    /// The path does not start with a slash, or a parameter in it is not like `{name}`.
    #[error("invalid path: `{0}` must start with `/` and have parameters like `{{name}}`")]
    Path(String),
    /// What is mounted is not valid beside what is mounted already, or at all.
    #[error("{0}")]
    Invalid(String),
}

/// What an agent is mounted as: it says which protocol the agent speaks and adds the routes.
///
/// Every protocol has one, such as a descriptor or a model. A protocol of your own has its own:
///
/// ```
/// use std::sync::Arc;
///
/// use copilot_wire::Agent;
/// use copilot_wire::protocol::Protocol;
/// use copilot_wire::router::{Mount, MountError, Site};
///
/// /// An agent of any protocol at a path.
/// struct At<P>(&'static str, std::marker::PhantomData<fn() -> P>);
///
/// impl<P: Protocol> Mount for At<P> {
///     type Protocol = P;
///
///     fn mount(self, agent: Arc<dyn Agent<P>>, site: &mut Site<'_>) -> Result<(), MountError> {
///         site.agent(self.0, agent)
///     }
/// }
/// ```
pub trait Mount {
    /// The protocol that the agent speaks.
    type Protocol: Protocol;

    /// Adds the routes.
    ///
    /// # Errors
    ///
    /// [`MountError`] when a path is taken or not valid, or this cannot be mounted beside what is
    /// mounted already.
    fn mount(
        self,
        agent: Arc<dyn Agent<Self::Protocol>>,
        site: &mut Site<'_>,
    ) -> Result<(), MountError>;
}

/// The routes of a router, as a [`Mount`] sees them.
#[derive(Debug)]
pub struct Site<'a> {
    pub(super) router: &'a mut Inner,
}

impl Site<'_> {
    /// Returns the state of type `T` that all mounts on this router share. It is empty at first.
    ///
    /// So several mounts have a document together: the first one adds the route, and
    /// [`Call::shared`] has all of them when the document is asked for.
    pub fn shared<T: Clone + Default + Send + Sync + 'static>(&mut self) -> &mut T {
        self.router.shared.get_or_insert_with(T::default)
    }

    /// Adds a route. A path such as `/chats/{workspace}` has parameters; a trailing slash makes no
    /// difference.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken or not valid.
    pub fn route(
        &mut self,
        method: Method,
        path: &str,
        endpoint: impl Endpoint + 'static,
    ) -> Result<(), MountError> {
        let parsed = Path::parse(path)?;
        let mut routes = self.router.routes.iter();
        if routes.any(|route| route.method == method && route.path.overlaps(&parsed)) {
            let path = path.to_owned();
            return Err(MountError::Taken { method, path });
        }
        self.router.routes.push(Route {
            method,
            path: parsed,
            endpoint: Arc::new(endpoint),
        });
        Ok(())
    }

    /// Adds an agent that answers `POST` requests at a path of its own.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken or not valid.
    pub fn agent<P: Protocol>(
        &mut self,
        path: &str,
        agent: Arc<dyn Agent<P>>,
    ) -> Result<(), MountError> {
        self.route(Method::POST, path, AgentEndpoint(agent))
    }

    /// Adds a JSON document, made whenever it is asked for.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken or not valid.
    pub fn document(
        &mut self,
        path: &str,
        make: impl Fn(&Call) -> Vec<u8> + Send + Sync + 'static,
    ) -> Result<(), MountError> {
        self.route(Method::GET, path, Document(make))
    }

    /// Lets pages of these origins call, unless the router has a [`Cors`](super::Cors) of its own:
    /// for a front end that is a web page of known origin.
    pub fn origins(&mut self, origins: impl IntoIterator<Item = HeaderValue>) {
        for origin in origins {
            if !self.router.origins.contains(&origin) {
                self.router.origins.push(origin);
            }
        }
    }
}
