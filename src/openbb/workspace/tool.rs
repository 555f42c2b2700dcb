//! MCP tools that the Workspace can run.

use crate::json::{Json, Members, Wire};
use crate::openbb::{Secret, Url};

/// An MCP tool. Tools are sent only to agents whose descriptor has `mcp-tools`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(
    never_empty,
    new = "Creates a tool of a server, for clients. The name is the wire's, with the prefix of the server: `github_search`."
)]
pub struct Tool {
    /// The id of the tool's server.
    #[wire(new)]
    pub server_id: String,
    /// The name; its part before the first `_` names the server. A call must repeat it unchanged.
    #[wire(new)]
    pub name: String,
    /// The URL of the server.
    pub url: Url,
    /// The path of the server's endpoint.
    pub endpoint: String,
    /// The description.
    #[wire(set = "Sets what the tool does.")]
    pub description: String,
    /// The JSON schema of the arguments.
    pub input_schema: Option<Json>,
    /// The access token for the server; a secret.
    pub auth_token: Option<Secret>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl Tool {
    /// Sets the JSON schema of the arguments. Without one the arguments are not checked.
    #[must_use]
    pub fn input_schema(mut self, schema: Json) -> Self {
        self.input_schema = Some(schema);
        self
    }
}
