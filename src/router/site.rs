//! Mounting: adds the routes of agents to a router.

use std::any::TypeId;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Method};

use super::endpoint::{AgentEndpoint, Document, Endpoint, HttpRequest};
use super::guard::Guard;
use super::mount_error::MountError;
use super::path::Path;
use super::routes::{Needs, Route};
use super::settings::Settings;
use super::subprotocol::Subprotocol;
use super::version::Version;
use crate::agent::Agent;
use crate::protocol::{Protocol, Refusal};

/// A description of how an agent is mounted: its protocol and its routes.
///
/// Every protocol has an implementation, such as a descriptor or a model. Implement it for a protocol of your own:
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
    /// The protocol of the agent.
    type Protocol: Protocol;

    /// Adds the routes.
    ///
    /// # Errors
    ///
    /// [`MountError`] when a path is taken or not valid, or this mount conflicts with an earlier one.
    fn mount(
        self,
        agent: Arc<dyn Agent<Self::Protocol>>,
        site: &mut Site<'_>,
    ) -> Result<(), MountError>;
}

/// The routes of a router, to which a [`Mount`] adds its own.
#[derive(Debug)]
pub struct Site<'a> {
    pub(super) router: &'a mut Version,
    /// The guards of all routes that are added later.
    pub(super) guards: Vec<Guard>,
}

impl Site<'_> {
    /// Adds a guard to the routes that are added to this site afterwards, except [documents](Self::document), which all
    /// mounts share. The guards of the router run first; see [`Router::guard`](super::Router::guard).
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
    /// [`MountError`] when a path is taken or not valid, or `what` conflicts with an earlier mount.
    pub fn mount<M: Mount>(
        &mut self,
        what: M,
        agent: impl Agent<M::Protocol> + 'static,
    ) -> Result<(), MountError> {
        what.mount(Arc::new(agent), self)
    }

    /// Returns the state of type `T` that all mounts on this router share. Its first value is the default.
    ///
    /// Use it for a [document](Self::document) or a [route](Self::shared_route) of several mounts: each mount adds an
    /// entry, and [`HttpRequest::shared`] returns the state with all entries.
    pub fn shared<T: Clone + Default + Send + Sync + 'static>(&mut self) -> &mut T {
        self.settings().shared.get_or_insert_with(T::default)
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

    /// Adds a route that several mounts share: the first mount adds it, later mounts reuse it. The endpoint
    /// distinguishes the mounts by their [shared state](Self::shared).
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is not valid, is taken by an endpoint of another type, or was added with other
    /// guards, which would not protect this mount.
    pub fn shared_route<E: Endpoint + 'static>(
        &mut self,
        method: Method,
        path: &str,
        endpoint: E,
    ) -> Result<(), MountError> {
        let guards = self.guards.clone();
        self.add(method, path, guards, Some(TypeId::of::<E>()), endpoint)
    }

    /// Adds a route that several mounts share, and that exists only on a router with resumable replies.
    ///
    /// # Errors
    ///
    /// The same errors as [`shared_route`](Self::shared_route).
    #[cfg(feature = "resumable")]
    pub fn resumable_route<E: Endpoint + 'static>(
        &mut self,
        method: Method,
        path: &str,
        endpoint: E,
    ) -> Result<(), MountError> {
        self.stored_route(method, path, endpoint, |needs| needs.replies = true)
    }

    /// Adds a route that several mounts share, and that exists only on a router with
    /// [conversations](super::Router::conversations).
    ///
    /// # Errors
    ///
    /// The same errors as [`shared_route`](Self::shared_route).
    pub fn conversation_route<E: Endpoint + 'static>(
        &mut self,
        method: Method,
        path: &str,
        endpoint: E,
    ) -> Result<(), MountError> {
        self.stored_route(method, path, endpoint, |needs| needs.conversations = true)
    }

    /// Adds a route that exists only on a router with one of the stores for which it was added.
    fn stored_route<E: Endpoint + 'static>(
        &mut self,
        method: Method,
        path: &str,
        endpoint: E,
        set: fn(&mut Needs),
    ) -> Result<(), MountError> {
        let count = self.router.routes.len();
        self.shared_route(method.clone(), path, endpoint)?;
        let path = Path::parse(path)?;
        for (at, route) in self.router.routes.iter_mut().enumerate() {
            // A route that was added without a condition keeps existing without a store.
            let is_conditional = at >= count || route.needs.is_some();
            if is_conditional && route.method == method && route.path == path {
                set(route.needs.get_or_insert_default());
            }
        }
        Ok(())
    }

    fn settings(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.router.settings)
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
            // If two templates overlap, the order of the mounts would decide which route answers.
            if shared.is_none() || other.shared != shared || other.path != parsed {
                let path = path.to_owned();
                return Err(MountError::Taken { method, path });
            }
            let is_same = |(one, two): (&Guard, &Guard)| one.is(two);
            let same = other.guards.len() == guards.len();
            // The existing route would run without the guards of this mount.
            if !(same && other.guards.iter().zip(&guards).all(is_same)) {
                let message = format!("what shares a path needs the same guards: {method} {path}");
                return Err(MountError::Invalid(message));
            }
            return Ok(());
        }
        #[cfg(feature = "playground")]
        if let Some(protocol) = endpoint.protocol().filter(|_| method == Method::POST) {
            let front = (protocol, format!("{parsed:?}"));
            self.settings().fronts.push(front);
        }
        self.router.routes.push(Route {
            method,
            path: parsed,
            text: path.into(),
            guards,
            shared,
            needs: None,
            endpoint: Arc::new(endpoint),
        });
        Ok(())
    }

    /// Adds an agent that answers `POST` requests at a path.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken or not valid.
    pub fn agent<P: Protocol>(
        &mut self,
        path: &str,
        agent: Arc<dyn Agent<P>>,
    ) -> Result<(), MountError> {
        self.agent_with(path, agent, P::Settings::default())
    }

    /// Adds an agent, like [`agent`](Self::agent), with the settings of its mount.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken or not valid.
    pub fn agent_with<P: Protocol>(
        &mut self,
        path: &str,
        agent: Arc<dyn Agent<P>>,
        settings: P::Settings,
    ) -> Result<(), MountError> {
        let name = None;
        self.route(
            Method::POST,
            path,
            AgentEndpoint {
                agent,
                settings,
                name,
            },
        )
    }

    /// Adds an agent, like [`agent`](Self::agent), with a name for [reports](crate::protocol::Turn::agent).
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken or not valid.
    pub fn named_agent<P: Protocol>(
        &mut self,
        path: &str,
        name: &str,
        agent: Arc<dyn Agent<P>>,
    ) -> Result<(), MountError> {
        let (settings, name) = (P::Settings::default(), Some(name.into()));
        self.route(
            Method::POST,
            path,
            AgentEndpoint {
                agent,
                settings,
                name,
            },
        )
    }

    /// Adds a [WebSocket](super::socket) to a path at which an agent answers `POST` requests. `make` creates the
    /// subprotocol of each connection. The guards of the `POST` route apply. Several mounts may share a path: only the
    /// first one adds the WebSocket.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is not valid.
    pub fn socket<D: Subprotocol + 'static>(
        &mut self,
        path: &str,
        make: impl Fn() -> D + Send + Sync + 'static,
    ) -> Result<(), MountError> {
        let path = Path::parse(path)?;
        if self.router.sockets.iter().all(|(other, _)| *other != path) {
            let make = move || -> Box<dyn Subprotocol> { Box::new(make()) };
            self.router.sockets.push((path, Arc::new(make)));
        }
        Ok(())
    }

    /// Adds a JSON document that is created for every request. Several mounts may share a document if they pass the
    /// same closure: only the first one adds it.
    ///
    /// Guards of the router apply to it, but not guards of a site, because it may list agents of other sites.
    ///
    /// # Errors
    ///
    /// [`MountError`] when the path is taken or not valid.
    pub fn document<F>(&mut self, path: &str, make: F) -> Result<(), MountError>
    where
        F: Fn(&HttpRequest) -> Vec<u8> + Send + Sync + 'static,
    {
        let kind = TypeId::of::<F>();
        self.add(Method::GET, path, Vec::new(), Some(kind), Document(make))
    }

    /// Allows pages of these origins to call, unless the router has its own [`Cors`](super::Cors). Use it for front
    /// ends that are web pages with known origins.
    pub fn origins(&mut self, origins: impl IntoIterator<Item = HeaderValue>) {
        for origin in origins {
            let known = &mut self.settings().origins;
            if !known.contains(&origin) {
                known.push(origin);
            }
        }
    }
}
