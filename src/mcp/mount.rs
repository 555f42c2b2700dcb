//! Mounting an agent as a tool.

use std::sync::Arc;

use http::Method;

use super::Mcp;
use super::calls::Calls;
use super::dialog::Dialogs;
use super::documents;
use super::endpoint::Messages;
use super::server::{Mounted, Server, Tool, Tools};
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
#[must_use]
pub struct Mount {
    path: String,
    tool: Tool,
    server: Option<Server>,
}

impl Mount {
    /// Creates a mount of a tool with a name and a description. Models decide by both when to call the tool.
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
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets the display name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.tool.title = Some(title.into());
        self
    }

    /// Sets the description of the argument `question`.
    pub fn question(mut self, description: impl Into<String>) -> Self {
        self.tool.question = description.into();
        self
    }

    /// Declares that the agent changes nothing. Clients then run the tool without asking their user.
    pub fn read_only(self) -> Self {
        self.hint("readOnlyHint", true)
    }

    /// Declares whether the agent may delete or overwrite something.
    pub fn destructive(self, destructive: bool) -> Self {
        self.hint("destructiveHint", destructive)
    }

    /// Declares whether repeating a call with the same question has no further effect.
    pub fn idempotent(self, idempotent: bool) -> Self {
        self.hint("idempotentHint", idempotent)
    }

    /// Declares whether the agent accesses anything outside of its own data, such as the web.
    pub fn open_world(self, open: bool) -> Self {
        self.hint("openWorldHint", open)
    }

    fn hint(mut self, name: &'static str, value: bool) -> Self {
        self.tool.hints.retain(|(hint, _)| *hint != name);
        self.tool.hints.push((name, value));
        self
    }

    /// Makes Claude Code offer the tool to its model at once, instead of only when the model searches for tools.
    pub fn always_load(mut self) -> Self {
        self.tool.always_load = true;
        self
    }

    /// Sets the description of the server. It applies to all tools at a path, so only the first mount at the path sets
    /// it. The default has the name of the first tool.
    pub fn server(mut self, server: Server) -> Self {
        self.server = Some(server);
        self
    }
}

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
