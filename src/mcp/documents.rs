//! The answers to all requests except calls.

use super::request::{CONVERSATION, QUESTION};
use super::server::{Protection, Server, Tool};
use super::versions::{Era, STATELESS, VERSIONS};
use crate::json::wire::object;
use crate::json::{Escape, Json, ObjectWriter, ValueWriter, WriteError};

/// The time in milliseconds for which a client may cache the description of the server: an hour.
const SERVER_TTL: u64 = 3_600_000;

/// The time in milliseconds for which a client may cache the list of tools: five minutes.
const TOOLS_TTL: u64 = 300_000;

/// Writes an answer.
pub(super) fn answer(
    id: &Json,
    result: impl FnOnce(&mut ObjectWriter<'_>) -> Result<(), WriteError>,
) -> Vec<u8> {
    let mut out = Vec::new();
    let to = ValueWriter::new(&mut out, Escape::JsonAndSeparators);
    object(to, |message| {
        message.str("jsonrpc", "2.0").raw("id", id);
        // The closures write texts and raw values, which cannot fail.
        let _ = message.object("result", result);
    });
    out
}

fn texts(
    object: &mut ObjectWriter<'_>,
    key: &'static str,
    texts: &[impl AsRef<str>],
) -> Result<(), WriteError> {
    object.array(key, texts, |text, to| {
        to.str(text.as_ref());
        Ok(())
    })?;
    Ok(())
}

/// Writes the capability `tools`.
fn capabilities(result: &mut ObjectWriter<'_>) -> Result<(), WriteError> {
    result.object("capabilities", |capabilities| {
        capabilities.object("tools", |_| Ok(()))?;
        Ok(())
    })?;
    Ok(())
}

fn info(server: &Server, info: &mut ObjectWriter<'_>) {
    info.str("name", &server.name)
        .opt_str("title", server.title.as_deref())
        .str("version", &server.version);
}

/// Writes the answer to `server/discover`.
pub(super) fn discover(id: &Json, server: &Server) -> Vec<u8> {
    answer(id, |result| {
        result.str("resultType", "complete");
        texts(result, "supportedVersions", &VERSIONS)?;
        capabilities(result)?;
        result
            .opt_str("instructions", server.instructions.as_deref())
            .u64("ttlMs", SERVER_TTL)
            .str("cacheScope", "public");
        result.object("_meta", |meta| {
            meta.object("io.modelcontextprotocol/serverInfo", |it| {
                info(server, it);
                Ok(())
            })?;
            Ok(())
        })?;
        Ok(())
    })
}

/// Returns the version for a client that requests one in `initialize`: the same, or the newest that has this request.
pub(super) fn agreed(requested: &str) -> &'static str {
    let mut known = VERSIONS.into_iter().filter(|it| *it != STATELESS);
    let newest = known.clone().next().unwrap_or(STATELESS);
    known.find(|it| *it == requested).unwrap_or(newest)
}

/// Writes the answer to `initialize`.
pub(super) fn initialize(id: &Json, server: &Server, version: &str) -> Vec<u8> {
    answer(id, |result| {
        result.str("protocolVersion", version);
        capabilities(result)?;
        result.object("serverInfo", |it| {
            info(server, it);
            Ok(())
        })?;
        result.opt_str("instructions", server.instructions.as_deref());
        Ok(())
    })
}

/// Writes the list of tools. With `continues`, each tool has the argument `conversation` for a handle.
pub(super) fn tools<'a>(
    id: &Json,
    era: Era,
    tools: impl Iterator<Item = &'a Tool>,
    continues: bool,
) -> Vec<u8> {
    answer(id, |result| {
        if era == Era::Stateless {
            // The list depends on whether the user has conversations.
            result
                .str("resultType", "complete")
                .u64("ttlMs", TOOLS_TTL)
                .str("cacheScope", "private");
        }
        result.array("tools", tools, |it, to| {
            to.object(|to| tool(it, continues, to))
        })?;
        Ok(())
    })
}

fn argument(
    properties: &mut ObjectWriter<'_>,
    name: &'static str,
    description: &str,
) -> Result<(), WriteError> {
    properties.object(name, |argument| {
        argument
            .str("type", "string")
            .str("description", description);
        Ok(())
    })?;
    Ok(())
}

fn tool(tool: &Tool, continues: bool, to: &mut ObjectWriter<'_>) -> Result<(), WriteError> {
    to.str("name", &tool.name)
        .opt_str("title", tool.title.as_deref())
        .str("description", &tool.description);
    to.object("inputSchema", |schema| {
        schema.str("type", "object");
        schema.object("properties", |properties| {
            argument(properties, QUESTION, &tool.question)?;
            if continues {
                let description = "The handle at the end of an earlier answer, to go on with it";
                argument(properties, CONVERSATION, description)?;
            }
            Ok(())
        })?;
        texts(schema, "required", &[QUESTION])?;
        schema.bool("additionalProperties", false);
        Ok(())
    })?;
    if !tool.hints.is_empty() {
        to.object("annotations", |annotations| {
            for (name, value) in &tool.hints {
                annotations.bool(name, *value);
            }
            Ok(())
        })?;
    }
    if tool.always_load {
        to.object("_meta", |meta| {
            meta.bool("anthropic/alwaysLoad", true);
            Ok(())
        })?;
    }
    Ok(())
}

/// Writes the metadata of a protected resource (RFC 9728).
pub(super) fn metadata(protection: &Protection) -> Vec<u8> {
    let mut out = Vec::new();
    let to = ValueWriter::new(&mut out, Escape::JsonAndSeparators);
    object(to, |document| {
        document.str("resource", &protection.resource);
        // Writing texts cannot fail.
        let _ = texts(document, "authorization_servers", &protection.servers);
        if !protection.scopes.is_empty() {
            let _ = texts(document, "scopes_supported", &protection.scopes);
        }
    });
    out
}
