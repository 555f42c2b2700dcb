//! The folders of a session.

use std::path::{Path, PathBuf};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::McpServer;

use crate::prompt::invalid;

/// The folders of a session, and the servers that its agent may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Workspace {
    /// The folder in which the user works; an absolute path.
    pub cwd: PathBuf,
    /// Other folders; absolute paths.
    pub additional_directories: Vec<PathBuf>,
    /// MCP servers that the user has configured for the agent. They are not started.
    pub mcp_servers: Vec<McpServer>,
}

impl Workspace {
    pub(crate) fn new(
        cwd: PathBuf,
        additional_directories: Vec<PathBuf>,
        mcp_servers: Vec<McpServer>,
    ) -> Result<Self, Error> {
        if !is_absolute(&cwd) {
            return Err(invalid("cwd", "expected an absolute path"));
        }
        let is_relative = |path: &PathBuf| !is_absolute(path);
        if let Some(at) = additional_directories.iter().position(is_relative) {
            let place = format!("additionalDirectories[{at}]");
            return Err(invalid(&place, "expected an absolute path"));
        }
        Ok(Self {
            cwd,
            additional_directories,
            mcp_servers,
        })
    }
}

/// Returns `true` if a path is absolute on the editor's system, which may be another one.
fn is_absolute(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let has_drive =
        matches!(text.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    path.is_absolute() || has_drive || text.starts_with(['/', '\\'])
}
