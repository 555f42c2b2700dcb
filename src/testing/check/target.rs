//! What to ask for, and where.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};

#[cfg(feature = "verify")]
use crate::github::verify::RequestSigner;

/// A chat front end, by the protocol that it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Front {
    /// The OpenBB Workspace.
    OpenBb,
    /// GitHub Copilot.
    GitHub,
    /// Clients of OpenAI's chat completions.
    OpenAi,
    /// Clients of Meilisearch chat.
    Meilisearch,
}

/// What to ask an endpoint for, and where.
///
/// ```
/// use copilot_wire::testing::check::{Front, Target};
///
/// let target = Target::new(Front::OpenAi).path("/v1/chat/completions").model("parrot");
/// ```
pub struct Target {
    pub(super) front: Front,
    pub(super) path: Option<String>,
    pub(super) model: Option<String>,
    pub(super) headers: HeaderMap,
    #[cfg(feature = "verify")]
    pub(super) signer: Option<RequestSigner>,
}

impl Target {
    /// The default paths of a protocol.
    #[must_use]
    pub fn new(front: Front) -> Self {
        Self {
            front,
            path: None,
            model: None,
            headers: HeaderMap::new(),
            #[cfg(feature = "verify")]
            signer: None,
        }
    }

    /// Sets where to post. The defaults are `/v1/query` (or what the descriptor says), `/github`,
    /// `/v1/chat/completions` and `/chats/default/chat/completions`.
    ///
    /// Of an OpenBB agent, `agents.json` is looked for at the root of the endpoint.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets the model that OpenAI and Meilisearch clients ask for. The default is the first one that
    /// the endpoint lists.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds a header to every request, such as an API key. Preflights are the browser's, and have none.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// Signs every request for GitHub, and judges what the endpoint does with signatures that are
    /// wrong. The endpoint must know the key of `signer`.
    #[cfg(feature = "verify")]
    #[must_use]
    pub fn signer(mut self, signer: RequestSigner) -> Self {
        self.signer = Some(signer);
        self
    }

    /// The front end whose part is played.
    #[must_use]
    pub fn front(&self) -> Front {
        self.front
    }
}

/// Says which headers there are, never what they hold.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("front", &self.front)
            .field("path", &self.path)
            .field("model", &self.model)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
