//! Errors of instances and their keys.

/// The reason why an [`Instance`](super::Instance), its key or a request for it cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InstanceError {
    /// The URL of the server has no scheme or host, or has a query.
    #[error("invalid server URL")]
    Url,
    /// The name of a workspace is empty, `.` or `..`.
    #[error("invalid name of a workspace")]
    Workspace,
    /// The key is empty, or has characters that are not valid in a header.
    #[error("a key must be one line of visible ASCII characters")]
    Key,
}
