//! The writing of one reply.

use std::convert::Infallible;

use super::event::{CALL, CHUNK, Names, write_event};
use super::legacy::Era;
use super::marker::{Piece, pieces};
use super::message::Role;
use super::reply::{Parsed, Reply, To};
use super::request::widget_tools;
use super::{FunctionCall, Output, QueryRequest, call};
use crate::protocol::{Blocks, End, Env, Part, SendError, Session};

pub(super) fn session(request: &QueryRequest, env: &Env) -> Session<Reply> {
    let state = request.workspace_state.as_ref();
    let agents = state.is_some_and(|state| !state.agents.is_empty());
    let entries = request.context.iter().flat_map(|context| context.entries());
    let context: Vec<_> = entries
        .map(|entry| (entry.uuid.clone(), entry.name.clone()))
        .collect();
    let mut names = Names::default();
    // The Workspace finds an artifact by its name in the chat, so a new one must not reuse a name. The context has
    // the artifacts that the Workspace still stores; markers name those that it no longer stores.
    for (uuid, name) in &context {
        names.take(name, uuid);
    }
    for message in request
        .messages
        .iter()
        .filter(|message| message.role == Role::Ai)
    {
        let text = message.raw_text().unwrap_or_default();
        for piece in pieces(&text) {
            if let Piece::Artifact(name) = piece {
                names.take_if_free(name);
            }
        }
    }
    let reply = Reply {
        env: env.clone(),
        era: Era::from_request(request),
        has_client_sql: request.option("client-sql").is_on(),
        has_orchestration: agents || request.option("agent-orchestration").is_on(),
        // In reverse, because the last one remains.
        tools: (request.tools.iter().rev())
            .map(|tool| (tool.name.clone(), Box::new((tool.clone(), Parsed::new()))))
            .collect(),
        widgets: widget_tools(request)
            .map(|(name, _, widget)| (name, widget.clone(), Parsed::new()))
            .collect(),
        context,
        names,
        known: None,
    };
    // Events are independent: text is not framed by others.
    Session::new(reply).frame(CHUNK).unchecked()
}

impl Blocks for Reply {
    type Output = Output;
    type Ending = FunctionCall;
    type Event = Infallible;

    fn write(&self, never: &Infallible, _: &mut Vec<u8>) {
        match *never {}
    }

    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        self.write_part(part, to)
    }

    fn output(&mut self, output: &Output, to: &mut To<'_>) -> Result<(), SendError> {
        output.write(&mut self.names, to.stream())
    }

    fn ending(&mut self, call: &FunctionCall, to: &mut To<'_>) -> Result<(), SendError> {
        let call = call::prepare(&call.clone().filled(), self)?;
        // The citations are written first, because nothing may follow the call.
        to.sources(self)?;
        write_event(CALL, &call, to.stream());
        Ok(())
    }

    // The end of the body is the end of the turn.
    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        if let End::Failed(failure) = end {
            // The message starts a new paragraph, because text may have been written before.
            to.text(self, &format!("\n\n{}", failure.message));
        }
        Ok(())
    }
}
