//! The user of a request.

/// The authenticated user of a request, which a guard or middleware adds to the extensions of the request.
///
/// Questions are bound to it, so that nobody can answer another user's, and
/// [stored replies](crate#layers) belong to it. Without it all callers are one user.
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
    pub id: Box<str>,
}

impl User {
    /// Creates a user from an authenticated id.
    #[must_use]
    pub fn new(id: impl Into<Box<str>>) -> Self {
        Self { id: id.into() }
    }
}
