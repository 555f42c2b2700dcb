//! The name that an agent is mounted under.

/// A model, as a client sees it: the name that an agent is mounted under.
///
/// ```
/// use copilot_wire::anthropic::Model;
///
/// let model = Model::new("analyst").path("/agents/v1/messages");
/// assert_eq!(model.id(), "analyst");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    id: String,
    path: String,
    retries: bool,
}

impl Model {
    /// Creates a model.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            path: "/v1/messages".into(),
            retries: false,
        }
    }

    /// Sets the path. The default is `/v1/messages`. Clients are given what is before `/v1/messages`
    /// as their base URL.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets whether clients may send a request again whose stream failed. The default is no.
    ///
    /// The header that forbids it is sent before the agent runs, so it cannot depend on the failure.
    /// With `false`, a failure that the agent calls
    /// [retryable](crate::protocol::AgentError::retryable) is not retried by clients that obey the
    /// header, such as Copilot's command line. With `true`, every failure in a stream is retried by
    /// those clients, and an agent with side effects has them several times.
    #[must_use]
    pub fn retries(mut self, retries: bool) -> Self {
        self.retries = retries;
        self
    }

    /// Returns the name that requests ask for.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the path without a slash at its end.
    pub(super) fn path_text(&self) -> &str {
        self.path.strip_suffix('/').unwrap_or(&self.path)
    }

    pub(super) fn may_retry(&self) -> bool {
        self.retries
    }
}
