//! Errors of mounting.

use http::Method;

/// An error of mounting an agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// The path and method already have a route.
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
    /// The mount is not valid, or conflicts with an earlier one.
    #[error("{0}")]
    Invalid(String),
}
