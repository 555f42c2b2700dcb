//! The protocol.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response};

use super::error::RpcError;
use super::message::Message;
use super::{
    CallRequest, CallResponse, CallToolResult, Event, Reply, deltas, position, session, thread,
};
use crate::protocol::{
    AgentError, Capabilities, Delta, Env, Extras, FrameDecoder, FrameEvent as _, Protocol, Refusal,
    Resumption, Session,
};

/// The Model Context Protocol.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Mcp;

impl Protocol for Mcp {
    type Request = CallRequest;
    type Settings = ();
    type Event = Event;
    type Blocks = Reply;
    type Decoder = FrameDecoder<Event>;

    const NAME: &'static str = "mcp";
    const CAPABILITIES: Capabilities = Capabilities::STEPS;
    const EXTRAS: Extras<Self> = Extras {
        stores_keep_alive: true,
        question_scope,
        // Waits for the answer to a question on the open stream.
        answered: |request| {
            let dialog = Arc::clone(request.found.dialog.as_ref()?);
            let mut next = request.clone();
            Some(Box::pin(async move {
                next.found.answer = Some(dialog.answered().await?);
                Some(next)
            }))
        },
        resumption: |request| {
            let has_token = !request.params.meta.progress_token.is_null();
            match request.found.is_stream && (has_token || request.found.is_primed) {
                true => Resumption::Possible,
                // The first event id that this client would see is the id of the last event.
                false => Resumption::Never,
            }
        },
        stored: |reply| reply.is_stored = true,
        lost: |first_event, _, out| {
            if let Some(id) = position::call_of(first_event) {
                lost(id, out);
            }
        },
        ..Extras::NONE
    };

    fn read(parts: &Parts, body: Bytes) -> Result<CallRequest, Refusal> {
        let message = Message::read(body).map_err(|error| error.to_refusal())?;
        let call = message.era(&parts.headers);
        let call = call.and_then(|era| CallRequest::read(&message, era));
        let mut call = call.map_err(|error| error.to_refusal())?;
        call.look(&parts.headers);
        Ok(call)
    }

    /// Returns the part of the handle that is the same in all turns of a conversation. A call with the answer to a
    /// question belongs to the conversation of the call that asked it, even without a store.
    fn conversation_id<'a>(request: &'a CallRequest, _: &'a HeaderMap) -> Option<Cow<'a, str>> {
        let root = request.handle();
        let root = root.and_then(|handle| thread::root(&handle).map(str::to_owned));
        root.or_else(|| thread::new_root(request)).map(Cow::Owned)
    }

    fn deltas(event: &Self::Event, to: &mut dyn FnMut(Delta<'_>)) {
        deltas::deltas(event, to);
    }

    fn session(request: &CallRequest, (): &(), env: &Env) -> Session<Reply> {
        session::session(request, env)
    }

    fn refuse(refusal: &Refusal) -> Response<Bytes> {
        let json = HeaderValue::from_static("application/json");
        refusal.to_response(json, RpcError::of(refusal).to_body(None))
    }
}

/// Binds a question in a dialog to the tool and its arguments. A question in text, which another call answers, is bound
/// only to the tool.
fn question_scope(request: &CallRequest) -> Option<Cow<'_, str>> {
    let tool = &request.params.name;
    if !request.has_forms() && request.found.dialog.is_none() && request.response().is_none() {
        return Some(Cow::Borrowed(tool));
    }
    let question = request.question().unwrap_or_default();
    let handle = request.handle().unwrap_or_default();
    let (length, nonce) = (question.len(), request.nonce());
    Some(Cow::Owned(format!(
        "{tool} {length} {question}{handle} {nonce}"
    )))
}

/// Writes the result of a call whose reply was lost.
pub(super) fn lost(id: crate::json::Json, out: &mut Vec<u8>) {
    let mut result = CallToolResult::failed(AgentError::LOST);
    // Required in the version without sessions, and ignored in the others.
    "complete".clone_into(&mut result.result_type);
    Event::Result(CallResponse { id, result }).write(out);
}
