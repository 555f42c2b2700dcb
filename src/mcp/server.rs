//! The server at a path, and its tools.

use std::sync::Arc;

use http::HeaderValue;

use super::Mcp;
use crate::agent::Agent;

/// A tool in the list of tools.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: String,
    /// The description of the argument `question`.
    pub(super) question: String,
    pub(super) hints: Vec<(&'static str, bool)>,
    pub(super) always_load: bool,
}

/// The description of a server, for all tools at one path.
#[derive(Clone, Debug)]
#[must_use]
pub struct Server {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) title: Option<String>,
    pub(super) instructions: Option<String>,
    pub(super) protection: Option<Protection>,
}

/// The metadata of a protected resource.
#[derive(Clone, Debug)]
pub(super) struct Protection {
    pub(super) resource: String,
    pub(super) servers: Vec<String>,
    pub(super) scopes: Vec<String>,
}

impl Server {
    /// Creates a server with a name and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            title: None,
            instructions: None,
            protection: None,
        }
    }

    /// Sets the display name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the instructions, which clients add to those of their model.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets where clients get a token: the public URL of the tools, such as `https://example.com/mcp`, and the URLs of
    /// authorization servers. The metadata document is served at `/.well-known/oauth-protected-resource/mcp`. Responses
    /// with status 401 name the document, unless the guard has set `www-authenticate` itself.
    ///
    /// Guards of a [site](crate::router::Site::guard) do not apply to the document. A guard of the router must admit
    /// [documents](crate::router::RouteKind::Document).
    pub fn protected<S: Into<String>>(
        mut self,
        resource: impl Into<String>,
        servers: impl IntoIterator<Item = S>,
    ) -> Self {
        self.protection = Some(Protection {
            resource: resource.into(),
            servers: servers.into_iter().map(Into::into).collect(),
            scopes: Vec::new(),
        });
        self
    }

    /// Sets the scopes that clients request for a token. Has no effect without [`protected`](Self::protected).
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        if let Some(protection) = &mut self.protection {
            protection.scopes = scopes.into_iter().map(Into::into).collect();
        }
        self
    }
}

impl Protection {
    /// Returns the path of the metadata document for tools at `path` of the public URL.
    pub(super) fn path(&self, path: &str) -> String {
        format!("/.well-known/oauth-protected-resource{path}")
    }

    /// Returns the value of `www-authenticate` that names the document.
    pub(super) fn challenge(&self) -> Option<HeaderValue> {
        let (scheme, rest) = self.resource.split_once("://")?;
        let (host, path) = match rest.split_once('/') {
            Some((host, path)) => (host, format!("/{path}")),
            None => (rest, String::new()),
        };
        let document = format!("{scheme}://{host}{}", self.path(&path));
        HeaderValue::from_str(&format!("Bearer resource_metadata=\"{document}\"")).ok()
    }
}

/// The tools of a router, each with its path and its agent.
#[derive(Clone, Default)]
pub(super) struct Tools(pub(super) Vec<Arc<Mounted>>);

pub(super) struct Mounted {
    pub(super) path: String,
    pub(super) tool: Tool,
    pub(super) agent: Arc<dyn Agent<Mcp>>,
}

impl Tools {
    /// Returns an iterator over the tools at a path.
    pub(super) fn at<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Arc<Mounted>> {
        self.0.iter().filter(move |mounted| mounted.path == path)
    }
}

opaque_debug!(Mounted);
