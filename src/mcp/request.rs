//! The request of a client: a call of a tool.

use std::sync::Arc;

use bytes::Bytes;

use super::dialog::Dialog;
use super::error::RpcError;
use super::message::{Message, is_id};
use super::random::is_random;
use super::versions::{Era, STATELESS};
use crate::conversations::Chain;
use crate::json::{Json, Kind, Members, Wire};

/// The argument with the question.
pub(super) const QUESTION: &str = "question";

/// The argument with the handle of a conversation.
pub(super) const CONVERSATION: &str = "conversation";

/// The character between the random part of a state and the proof.
pub(super) const SEPARATOR: char = '|';

/// The key of the only input request.
pub(super) const INPUT: &str = "confirm";

/// The maximum size in bytes of an id or a progress token.
const LONGEST_ID: usize = 256;

/// Returns the sentence at the end of an answer that contains the handle.
pub(super) fn continuation(handle: &str) -> String {
    format!("\n\nTo ask more about this, call again with `{CONVERSATION}`: \"{handle}\".")
}

/// Returns `true` if a state has the form of this server's states. The check of the proof ignores text after the proof.
fn is_state(state: &str) -> bool {
    let parts = state.split_once(SEPARATOR);
    // Without a mount, the random part is empty.
    parts.is_some_and(|(nonce, asked)| {
        (nonce.is_empty() || is_random(nonce)) && asked.ends_with(')')
    })
}

/// A call of a tool: the JSON-RPC request `tools/call`.
///
/// ```
/// use copilot_wire::json::Wire as _;
/// use copilot_wire::mcp::CallRequest;
///
/// let request = CallRequest::new(1, "ask", "How much?");
/// assert_eq!(
///     &*request.to_json(),
///     br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"question":"How much?"}}}"#,
/// );
/// assert_eq!(request.stateless().params.meta.version(), "2026-07-28");
/// ```
#[derive(Clone, Default, PartialEq, Wire)]
#[non_exhaustive]
#[wire(fixed(jsonrpc = "2.0"))]
#[must_use]
pub struct CallRequest {
    /// The id: a text or a number.
    pub id: Json,
    /// The method: `tools/call`.
    #[wire(always, cut)]
    pub method: String,
    /// The parameters.
    #[wire(always)]
    pub params: CallParams,
    /// Members that this crate does not know.
    pub unknown: Members,
    #[wire(skip)]
    pub(super) found: Found,
}

/// The parameters of a call.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct CallParams {
    /// The name of the tool.
    #[wire(always, cut)]
    pub name: String,
    /// The arguments: an object.
    pub arguments: Json,
    /// The answers to the questions of an earlier result, by their keys: each is an object with an `action`.
    #[wire(name = "inputResponses")]
    pub input_responses: Members,
    /// The state of the earlier result, unchanged.
    #[wire(name = "requestState", content)]
    pub request_state: String,
    /// The metadata.
    #[wire(name = "_meta")]
    pub meta: Meta,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The metadata of a request.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(empty_is_absent)]
pub struct Meta {
    /// The version of the protocol; empty in versions with sessions.
    #[wire(name = "io.modelcontextprotocol/protocolVersion", cut)]
    pub protocol_version: String,
    /// The capabilities of the client.
    #[wire(name = "io.modelcontextprotocol/clientCapabilities")]
    pub client_capabilities: Json,
    /// The token for progress messages: a text or an integer. Without a token no progress is sent.
    #[wire(name = "progressToken")]
    pub progress_token: Json,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Meta {
    /// Returns the version of the protocol; empty in versions with sessions.
    pub fn version(&self) -> &str {
        &self.protocol_version
    }

    /// Returns `true` if the client shows questions as forms.
    fn has_dialogs(&self) -> bool {
        has_dialogs(&self.client_capabilities)
    }
}

/// Returns `true` if a client with these capabilities shows questions as forms. An empty `elicitation` means forms.
pub(super) fn has_dialogs(capabilities: &Json) -> bool {
    let elicitation = capabilities.get("elicitation").unwrap_or_default();
    elicitation.kind() == Kind::Object
        && (elicitation.members().next().is_none() || elicitation.get("form").is_some())
}

/// Facts about a call that the endpoint adds, which are not in the message.
#[derive(Clone, Default)]
pub(super) struct Found {
    pub(super) era: Era,
    /// `true` if the client reads streams.
    pub(super) is_stream: bool,
    /// `true` if the client reads events that have an id and no data.
    pub(super) is_primed: bool,
    /// `true` if the version of the client has no links in results.
    pub(super) is_plain: bool,
    /// The earlier turns, each with the question and the answer.
    pub(super) turns: Vec<(String, String)>,
    pub(super) chain: Chain,
    /// The handle of this turn, if there is a store.
    pub(super) handle: Option<Arc<str>>,
    /// The id of the reply, if the endpoint chose one.
    pub(super) reply: Option<String>,
    /// The dialog, for a client that answers questions while the stream is open.
    pub(super) dialog: Option<Arc<Dialog>>,
    /// The question that was asked in the dialog, and `true` if the user accepted.
    pub(super) answer: Option<(String, bool)>,
}

opaque_debug!(Found);

/// These facts are not part of the message.
impl PartialEq for Found {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl CallRequest {
    /// Creates a call with a question, in the form of versions with sessions.
    pub fn new(id: u64, tool: impl Into<String>, question: &str) -> Self {
        let mut call = Self {
            id: Json::encode(&id).unwrap_or_default(),
            method: "tools/call".to_owned(),
            ..Self::default()
        };
        call.params.name = tool.into();
        call.params.arguments = Json::object(|arguments| {
            arguments.str(QUESTION, question);
        });
        call
    }

    /// Sets the handle of the conversation that the question continues.
    pub fn conversation(mut self, handle: &str) -> Self {
        let question = self.question().unwrap_or_default();
        self.params.arguments = Json::object(|arguments| {
            arguments.str(QUESTION, &question).str(CONVERSATION, handle);
        });
        self
    }

    /// Sets the token for progress messages.
    pub fn progress(mut self, token: u64) -> Self {
        self.params.meta.progress_token = Json::encode(&token).unwrap_or_default();
        self
    }

    /// Converts this to a call of the version without sessions, of a client that shows questions as forms.
    pub fn stateless(mut self) -> Self {
        let meta = &mut self.params.meta;
        STATELESS.clone_into(&mut meta.protocol_version);
        meta.client_capabilities = Json::object(|capabilities| {
            // Writing an empty object cannot fail.
            let _ = capabilities.object("elicitation", |_| Ok(()));
        });
        self
    }

    /// Sets the answer to the question of an earlier result, with the state of that result.
    pub fn respond(mut self, state: impl Into<String>, accepted: bool) -> Self {
        let action = if accepted { "accept" } else { "decline" };
        let response = Json::object(|response| {
            response.str("action", action);
        });
        self.params.input_responses.set(INPUT, response);
        self.params.request_state = state.into();
        self
    }

    /// Returns the question; `None` if the argument `question` is not a text.
    pub fn question(&self) -> Option<String> {
        self.argument(QUESTION)
    }

    /// Returns the handle of the conversation that the question continues.
    pub fn handle(&self) -> Option<String> {
        let handle = self.argument(CONVERSATION);
        handle.filter(|handle| !handle.is_empty())
    }

    /// Returns the name of an argument that the schema of the tool does not have.
    pub(super) fn unknown_argument(&self) -> Option<String> {
        let mut arguments = self.params.arguments.members();
        arguments.find_map(|(name, value)| {
            let is_known = [QUESTION, CONVERSATION].contains(&&*name);
            (!is_known && !value.is_null()).then(|| name.chars().take(64).collect())
        })
    }

    fn argument(&self, name: &str) -> Option<String> {
        Some(self.params.arguments.get(name)?.string()?.into_owned())
    }

    /// Returns `true` if the client answers questions in a dialog, in the version without sessions.
    pub(super) fn has_forms(&self) -> bool {
        self.found.era == Era::Stateless && self.params.meta.has_dialogs()
    }

    /// Returns the answer to the question of an earlier result: the state, and `true` if the action is `accept`.
    pub(super) fn response(&self) -> Option<(&str, bool)> {
        if let Some((asked, accepted)) = &self.found.answer {
            return Some((asked, *accepted));
        }
        let response = self.params.input_responses.get(INPUT)?;
        let action = response.get("action").unwrap_or_default();
        let accepted = action.string().as_deref() == Some("accept");
        let state = &*self.params.request_state;
        let (_, asked) = state.split_once(SEPARATOR).unwrap_or(("", state));
        (!state.is_empty()).then_some((asked, accepted))
    }

    /// Returns the random part of a question's scope, so that calls with the same arguments ask separate questions. The
    /// client returns it with the answer.
    pub(super) fn nonce(&self) -> &str {
        let own = self.found.reply.as_deref().unwrap_or_default();
        if self.found.answer.is_some() || self.response().is_none() {
            return own;
        }
        let nonce = self.params.request_state.split_once(SEPARATOR);
        nonce.map_or("", |(nonce, _)| nonce)
    }

    /// Parses a message that calls a tool.
    pub(super) fn read(message: &Message, era: Era) -> Result<Self, RpcError> {
        if message.method.as_deref() != Some("tools/call") {
            return Err(RpcError::no_method(era));
        }
        let mut call = Self::from_raw(&message.json).unwrap_or_default();
        if !is_id(&call.id) || call.id.as_bytes().len() > LONGEST_ID {
            return Err(RpcError::invalid("id must be a text or a number"));
        }
        let token = &call.params.meta.progress_token;
        let is_token = token.kind() == Kind::String || token.as_i64().is_some();
        if !token.is_null() && (!is_token || token.as_bytes().len() > LONGEST_ID) {
            let place = "params._meta.progressToken must be a text or an integer";
            return Err(RpcError::params(era, place));
        }
        if call.params.name.is_empty() {
            return Err(RpcError::params(era, "params.name must be a text"));
        }
        let arguments = &mut call.params.arguments;
        if !arguments.is_null() && arguments.kind() != Kind::Object {
            return Err(RpcError::params(era, "params.arguments must be an object"));
        }
        // The id is copied, so that the body can be released before the end of the call.
        call.id = Json::parse(Bytes::copy_from_slice(call.id.as_bytes())).unwrap_or_default();
        let state = &call.params.request_state;
        if !state.is_empty() && !is_state(state) {
            let place = "params.requestState is not one of this server";
            return Err(RpcError::params(era, place));
        }
        call.found.era = era;
        Ok(call)
    }
}
