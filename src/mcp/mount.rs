//! Mounting an agent as a tool.

use std::sync::Arc;

use http::{HeaderValue, Method};

use super::Mcp;
use super::calls::Calls;
use super::dialog::Dialogs;
use super::documents;
use super::endpoint::Messages;
use crate::agent::Agent;
use crate::router::{self, MountError, Site};

/// Mounts an agent as a tool at `POST /mcp`. Each mount at a path is another tool.
///
/// Clients decide by the annotations whether they ask their user before a call: Codex and Copilot run a tool without
/// asking only if it is [read-only](Self::read_only).
///
/// ```
/// use copilot_wire::mcp::{Mount, Server};
///
/// let mount = Mount::new("ask", "Asks the analyst one question, and returns its answer.")
///     .title("Ask the analyst")
///     .read_only()
///     .server(Server::new("analyst", "1.0.0"));
/// # drop(mount);
/// ```
#[derive(Clone, Debug)]
pub struct Mount {
    path: String,
    tool: Tool,
    server: Option<Server>,
}

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
    #[must_use]
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
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the instructions, which clients add to those of their model.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets where clients get a token: the public URL of the tools, such as `https://example.com/mcp`, and the URLs of
    /// authorization servers. The metadata document is served at `/.well-known/oauth-protected-resource/mcp`. Responses
    /// with status 401 name the document, unless the guard has set `www-authenticate` itself.
    ///
    /// Guards of a [site](Site::guard) do not apply to the document. A guard of the router must admit
    /// [documents](crate::router::RouteKind::Document).
    #[must_use]
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
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        if let Some(protection) = &mut self.protection {
            protection.scopes = scopes.into_iter().map(Into::into).collect();
        }
        self
    }
}

impl Protection {
    /// Returns the path of the metadata document for tools at `path` of the public URL.
    fn path(&self, path: &str) -> String {
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

impl Mount {
    /// Creates a mount of a tool with a name and a description. Models decide by both when to call the tool.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            path: "/mcp".to_owned(),
            tool: Tool {
                name: name.into(),
                title: None,
                description: description.into(),
                question: "The question".to_owned(),
                hints: Vec::new(),
                always_load: false,
            },
            server: None,
        }
    }

    /// Sets the path. The default is `/mcp`.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets the display name.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.tool.title = Some(title.into());
        self
    }

    /// Sets the description of the argument `question`.
    #[must_use]
    pub fn question(mut self, description: impl Into<String>) -> Self {
        self.tool.question = description.into();
        self
    }

    /// Declares that the agent changes nothing. Clients then run the tool without asking their user.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.hint("readOnlyHint", true)
    }

    /// Declares whether the agent may delete or overwrite something.
    #[must_use]
    pub fn destructive(self, destructive: bool) -> Self {
        self.hint("destructiveHint", destructive)
    }

    /// Declares whether repeating a call with the same question has no further effect.
    #[must_use]
    pub fn idempotent(self, idempotent: bool) -> Self {
        self.hint("idempotentHint", idempotent)
    }

    /// Declares whether the agent accesses anything outside of its own data, such as the web.
    #[must_use]
    pub fn open_world(self, open: bool) -> Self {
        self.hint("openWorldHint", open)
    }

    fn hint(mut self, name: &'static str, value: bool) -> Self {
        self.tool.hints.retain(|(hint, _)| *hint != name);
        self.tool.hints.push((name, value));
        self
    }

    /// Makes Claude Code offer the tool to its model at once, instead of only when the model searches for tools.
    #[must_use]
    pub fn always_load(mut self) -> Self {
        self.tool.always_load = true;
        self
    }

    /// Sets the description of the server. It applies to all tools at a path, so only the first mount at the path sets
    /// it. The default has the name of the first tool.
    #[must_use]
    pub fn server(mut self, server: Server) -> Self {
        self.server = Some(server);
        self
    }
}

/// The tools of a router, each with its path and its agent.
#[derive(Clone, Default)]
pub(super) struct Tools(Vec<Arc<Mounted>>);

pub(super) struct Mounted {
    path: String,
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

/// Returns `true` if all clients accept the name.
fn is_name(name: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(is_valid)
}

impl router::Mount for Mount {
    type Protocol = Mcp;

    fn mount(self, agent: Arc<dyn Agent<Mcp>>, site: &mut Site<'_>) -> Result<(), MountError> {
        let path = self.path.strip_suffix('/').unwrap_or(&self.path).to_owned();
        let invalid = |message: String| Err(MountError::Invalid(message));
        if !is_name(&self.tool.name) {
            return invalid(format!(
                "the name of a tool must have 1 to 64 letters, digits, `_` and `-`: {}",
                self.tool.name
            ));
        }
        // Shared by all mounts of a router.
        site.shared::<Dialogs>();
        site.shared::<Calls>();
        let tools = site.shared::<Tools>();
        let is_first = tools.at(&path).next().is_none();
        if tools.at(&path).any(|it| it.tool.name == self.tool.name) {
            return invalid(format!("tool already mounted: {}", self.tool.name));
        }
        if !is_first && self.server.is_some() {
            return invalid(format!(
                "the first tool at a path sets the server, not this one: {}",
                self.tool.name
            ));
        }
        let name = &self.tool.name;
        let server = self.server;
        let server = server.unwrap_or_else(|| Server::new(name, env!("CARGO_PKG_VERSION")));
        if let Some(protection) = server.protection.clone() {
            site.document(&protection.path(&path), move |_| {
                documents::metadata(&protection)
            })?;
        }
        #[cfg(feature = "resumable")]
        site.resumable_route(Method::GET, &path, super::resume::Resume)?;
        site.shared_route(Method::POST, &path, Messages { server })?;
        // Last: a mount that fails adds no tool.
        site.shared::<Tools>().0.push(Arc::new(Mounted {
            path,
            tool: self.tool,
            agent,
        }));
        Ok(())
    }
}
