//! The user of a request.

use std::sync::Arc;

/// The authenticated user of a request, which a guard or middleware adds to the extensions of the request.
///
/// Questions in text are bound to the user, so that no other user can answer them, and a resumable reply belongs to its
/// user. Without this extension all callers count as one user, and replies [per user](crate#features) are not
/// resumable.
///
/// ```
/// use copilot_wire::Router;
/// use copilot_wire::protocol::User;
///
/// # fn user_of(_: &http::HeaderMap) -> Option<String> { None }
/// let router = Router::new().guard(async |mut parts: http::request::Parts| {
///     if let Some(id) = user_of(&parts.headers) {
///         parts.extensions.insert(User::new(id));
///     }
///     Ok(parts)
/// });
/// # let _ = router;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct User {
    /// The id of the user at this server.
    pub id: Arc<str>,
}

impl User {
    /// Creates a user from an authenticated id.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self { id: id.into() }
    }
}
