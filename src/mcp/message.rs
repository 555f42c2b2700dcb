//! JSON-RPC messages, and the checks of their headers.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::HeaderMap;

use super::error::RpcError;
use super::versions::{Era, STATELESS, VERSIONS};
use crate::json::{Json, Kind};

/// The header with the version of the protocol.
pub(super) const VERSION: &str = "mcp-protocol-version";
/// The header with the id of a session.
pub(super) const SESSION: &str = "mcp-session-id";

/// A message that was received.
pub(super) struct Message {
    pub(super) json: Json,
    /// The id of a request or an answer.
    pub(super) id: Option<Json>,
    /// The method of a request or a notification.
    pub(super) method: Option<String>,
}

/// Returns `true` if the id is a text or a number.
pub(super) fn is_id(id: &Json) -> bool {
    matches!(id.kind(), Kind::String | Kind::Number)
}

impl Message {
    pub(super) fn read(body: Bytes) -> Result<Self, RpcError> {
        let json = Json::parse(body).map_err(|error| RpcError::malformed(&error))?;
        match json.kind() {
            Kind::Object => {}
            Kind::Array => {
                return Err(RpcError::invalid(
                    "a batch is not supported: send each message in a request of its own",
                ));
            }
            _ => return Err(RpcError::invalid("a message must be an object")),
        }
        let method = json.get("method");
        let method = method.as_ref().and_then(Json::string);
        Ok(Self {
            id: json.get("id"),
            method: method.map(|method| method.into_owned()),
            json,
        })
    }

    /// Returns a parameter.
    pub(super) fn param(&self, name: &str) -> Option<Json> {
        self.json.get("params")?.get(name)
    }

    fn meta(&self, name: &str) -> Option<Json> {
        self.param("_meta")?.get(name)
    }

    /// Returns the id that an error repeats, if it is valid.
    pub(super) fn known_id(&self) -> Option<&Json> {
        self.id.as_ref().filter(|id| is_id(id))
    }

    /// Checks the headers and returns the form of the protocol.
    pub(super) fn era(&self, headers: &HeaderMap) -> Result<Era, RpcError> {
        let version = self.meta("io.modelcontextprotocol/protocolVersion");
        let in_header = header(headers, VERSION);
        let is_new = version.is_some()
            || in_header == Some(STATELESS)
            || self.method.as_deref() == Some("server/discover");
        if !is_new {
            // The answer to `initialize` named one of these versions.
            return match in_header {
                Some(version) if !VERSIONS.contains(&version) => Err(RpcError::version(version)),
                _ => Ok(Era::Session),
            };
        }
        // A notification is never answered with an error.
        if self.id.is_none() {
            return Ok(Era::Stateless);
        }
        let version = version.as_ref().and_then(Json::string);
        let capabilities = self.meta("io.modelcontextprotocol/clientCapabilities");
        let is_whole = capabilities.is_some_and(|it| it.kind() == Kind::Object);
        let (Some(version), true) = (version, is_whole) else {
            let message = "params._meta must have io.modelcontextprotocol/protocolVersion and \
                           io.modelcontextprotocol/clientCapabilities";
            return Err(RpcError::params(Era::Stateless, message));
        };
        if in_header != Some(&*version) {
            return Err(RpcError::header(VERSION));
        }
        if version != STATELESS {
            return Err(RpcError::version(&version));
        }
        if header(headers, "mcp-method") != self.method.as_deref() {
            return Err(RpcError::header("mcp-method"));
        }
        if self.method.as_deref() == Some("tools/call") {
            let name = self.param("name").unwrap_or_default();
            let named = header(headers, "mcp-name").map(decoded);
            if named.as_deref() != name.string().as_deref() {
                return Err(RpcError::header("mcp-name"));
            }
        }
        Ok(Era::Stateless)
    }
}

/// Returns the value of a header, without the spaces around it.
pub(super) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    Some(headers.get(name)?.to_str().ok()?.trim())
}

/// Decodes a header value that may be written as `=?base64?…?=`.
fn decoded(value: &str) -> String {
    let inner = value.strip_prefix("=?base64?");
    let inner = inner.and_then(|inner| inner.strip_suffix("?="));
    let bytes = inner.and_then(|inner| BASE64_STANDARD.decode(inner).ok());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.unwrap_or_else(|| value.to_owned())
}
