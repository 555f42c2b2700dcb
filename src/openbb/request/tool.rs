//! The MCP tools that the Workspace can run.

use crate::json::model::model;
use crate::json::{Json, Members};
use crate::openbb::{Secret, Url};

/// One MCP tool. They are sent only to agents whose descriptor has `mcp-tools`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tool {
    /// The server that has the tool.
    pub server_id: String,
    /// The name: what stands before the first `_` names the server. It goes back unchanged.
    pub name: String,
    /// Where the server is.
    pub url: Url,
    /// The path of the server's endpoint.
    pub endpoint: String,
    /// What the tool does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub input_schema: Option<Json>,
    /// The token of the server. Secret.
    pub auth_token: Option<Secret>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Tool {
    server_id: "server_id",
    name: "name",
    url: "url",
    endpoint: "endpoint",
    description: "description",
    input_schema: "input_schema",
    auth_token: "auth_token",
});
