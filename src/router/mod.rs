//! Handling of one HTTP request: paths, CORS, limits and refusals.

mod admission;
mod configuration;
mod content_coding;
mod cors;
mod current;
mod endpoint;
mod guard;
mod hosts;
#[cfg(feature = "http-body")]
mod http_body;
mod intake;
mod keys;
mod mount_error;
mod path;
#[cfg(feature = "playground")]
mod playground;
mod refusals;
mod routes;
mod search;
mod settings;
mod site;
pub mod socket;
mod subprotocol;
#[cfg(feature = "tower")]
mod tower;
mod upload;
mod version;

pub use configuration::Router;
pub use cors::Cors;
#[allow(unused_imports, reason = "not every protocol adds an endpoint")]
pub(crate) use endpoint::AgentEndpoint;
pub use endpoint::{Endpoint, HttpRequest, RouteKind, json, stream};
pub use keys::{Keys, KeysError};
pub use mount_error::MountError;
pub use path::{escape_segment, path_params};
pub use site::{Mount, Site};
