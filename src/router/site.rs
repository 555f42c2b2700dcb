//! Mounting: what adds routes to a router.

use std::any::TypeId;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Method};

use super::endpoint::{AgentEndpoint, Call, Document, Endpoint};
use super::guard::Guard;
use super::path::Path;
use super::{Inner, Route};
use crate::agent::Agent;
use crate::protocol::{Protocol, Refusal};

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
    /// The guards of what is added from here on.
    pub(super) guards: Vec<Guard>,
}

impl Site<'_> {
    /// Adds a guard to the routes that are added to this site after it, but for
    /// [documents](Self::document), which belong to all mounts. The guards of the router run before it;
    /// see [`Router::guard`](super::Router::guard).
    pub fn guard<F, R>(&mut self, check: F)
    where
        F: Fn(Parts) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Parts, Refusal>> + Send + 'static,
    {
        self.guards.push(Guard::new(check));
    }

    /// Mounts an agent, as [`Router::mount`](super::Router::mount) does.
    ///
    /// # Errors
    ///
    /// [`MountError`] when a path is taken or not valid, or `what` cannot be mounted beside what is
    /// mounted already.
    pub fn mount<M: Mount>(
        &mut self,
        what: M,
        agent: impl Agent<M::Protocol> + 'static,
    ) -> Result<(), MountError> {
        what.mount(Arc::new(agent), self)
    }

    /// Returns the state of type `T` that all mounts on this router share. It is empty at first.
    ///
    /// So several mounts have a [document](Self::document) or a [route](Self::shared_route) together:
    /// [`Call::shared`] has all of them when it is asked for.
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
        let guards = self.guards.clone();
        self.add(method, path, guards, None, endpoint)
    }

    /// Adds a route that several mounts have together: the first one adds it, and for the others it is
    /// there already. What tells them apart is in their [shared state](Self::shared).
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is not valid, when an endpoint of another type has it, or when the
    /// other mounts have other guards: those would not guard this one.
    pub fn shared_route<E: Endpoint + 'static>(
        &mut self,
        method: Method,
        path: &str,
        endpoint: E,
    ) -> Result<(), MountError> {
        let guards = self.guards.clone();
        self.add(method, path, guards, Some(TypeId::of::<E>()), endpoint)
    }

    fn add(
        &mut self,
        method: Method,
        path: &str,
        guards: Vec<Guard>,
        shared: Option<TypeId>,
        endpoint: impl Endpoint + 'static,
    ) -> Result<(), MountError> {
        let parsed = Path::parse(path)?;
        let mut routes = self.router.routes.iter();
        if let Some(other) =
            routes.find(|route| route.method == method && route.path.overlaps(&parsed))
        {
            if shared.is_none() || other.shared != shared || other.path != parsed {
                let path = path.to_owned();
                return Err(MountError::Taken { method, path });
            }
            let is_same = |(one, two): (&Guard, &Guard)| one.is(two);
            let same = other.guards.len() == guards.len();
            if !(same && other.guards.iter().zip(&guards).all(is_same)) {
                let message = format!("what shares a path needs the same guards: {method} {path}");
                return Err(MountError::Invalid(message));
            }
            return Ok(());
        }
        self.router.routes.push(Route {
            method,
            path: parsed,
            text: path.into(),
            guards,
            shared,
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

    /// Adds a JSON document, made whenever it is asked for. Several mounts may have one together: the
    /// first one adds it, and for the others, which come with the same closure, it is there already.
    ///
    /// Guards of the router cover it, those of a site do not: it may list agents of other sites.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken or not valid.
    pub fn document<F>(&mut self, path: &str, make: F) -> Result<(), MountError>
    where
        F: Fn(&Call) -> Vec<u8> + Send + Sync + 'static,
    {
        let kind = TypeId::of::<F>();
        self.add(Method::GET, path, Vec::new(), Some(kind), Document(make))
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
