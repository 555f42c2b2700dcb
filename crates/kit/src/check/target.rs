//! The target of a check.

use std::fmt;

use http::{HeaderName, HeaderValue};

use super::exam::Settings;
use crate::kit::Kit;
use crate::signer::Signer;

/// The target of a check: protocol, path, model, headers and signer.
pub struct Target {
    pub(super) kit: Kit,
    pub(super) settings: Settings,
}

impl Target {
    /// Creates a target at the default paths of a protocol.
    pub fn new(kit: Kit) -> Self {
        Self {
            kit,
            settings: Settings::default(),
        }
    }

    /// Sets the path to post to. The default is the path that the endpoint advertises, or else the
    /// protocol's own path. Documents such as descriptors are looked for at the root of the endpoint.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.settings.path = Some(path.into());
        self
    }

    /// Sets the model to ask for, if the protocol has models. The default is the first one that
    /// the endpoint lists.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.settings.model = Some(model.into());
        self
    }

    /// Adds a header to every request, such as an API key, except to CORS preflights, which a browser sends.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.settings.headers.append(name, value);
        self
    }

    /// Signs every request, if the protocol's front end does so, and checks what the endpoint does
    /// with invalid signatures. The endpoint must know the key of `signer`.
    #[must_use]
    pub fn signer(mut self, signer: impl Signer + 'static) -> Self {
        self.settings.signer = Some(Box::new(signer));
        self
    }

    /// Returns the kit of the protocol.
    pub fn kit(&self) -> Kit {
        self.kit
    }
}

/// Shows the names of headers, never their values.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("protocol", &self.kit.name)
            .field("settings", &self.settings)
            .finish()
    }
}
