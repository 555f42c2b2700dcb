//! The dialects of models' servers.

use std::any::Any;

use bytes::Bytes;

use super::{Dialect, Names, Profile, PromptResult};
use crate::agent::Request;
use crate::json::Json;
use crate::protocol::{
    Call, Completion, Conversation, FrameKind, Output, Protocol, Session, Tool, ToolChoice,
};

/// A dialect of models' servers: how a model is called, and how its stream is relayed.
pub trait Upstream: Dialect<Event: Sync, Request: Prompt<Upstream = Self>> {
    /// The name of the provider of this dialect in OpenTelemetry's conventions.
    const PROVIDER: &'static str;

    /// Creates a request to a model from a conversation of any front end, with what the server of a profile wants of
    /// the conversation.
    fn prompt(conversation: &impl Conversation, profile: &Profile) -> Self::Request;

    /// Reads an answer that is a document, as the events of a stream that says the same. `None` if it is not an answer.
    fn document(document: &Json) -> Option<Vec<Self::Event>>;

    /// Updates a session by an event of another server, whose frame becomes a part of the reply, so that the session
    /// can continue or fail the reply.
    fn follow(session: &mut Session<Self::Blocks>, event: &Self::Event) -> FrameKind;

    /// Converts an event into output of a reply of the same dialect, with everything that only this dialect has. `None`
    /// for calls, which the end of the relay writes, and for the end of the stream, which the reply writes itself.
    fn native(event: &Self::Event) -> Option<Output<Self>>;
}

/// A request to a model's server.
pub trait Prompt: Clone + Send {
    /// The dialect of the request.
    type Upstream: Upstream<Request = Self>;

    /// The names of the limit of an answer's tokens, the usual one first.
    const LIMITS: &'static [&'static str];

    /// Copies a request of a front end of this dialect for a model's server, without the members that concern only the
    /// server of the front end, such as stored conversations.
    fn again(&self) -> Self;

    /// Changes what a profile does not allow in the messages and the tools.
    fn conform(&mut self, profile: &Profile, names: &mut Names);

    /// Serializes the request: for a stream that includes the usage, or for a document.
    fn body(&mut self, is_stream: bool) -> Bytes;

    /// Appends an answer to the request, and the results of its calls, for the next request. The calls are those of the
    /// answer, in its order, with unique ids, and with arguments that are JSON objects.
    fn extend(&mut self, answer: Completion, calls: Vec<(Call<'_>, PromptResult<'_>)>);

    /// Adds tools to those that the answer may call. They replace others of the same name.
    fn offer(&mut self, tools: Vec<Tool<'_>>);

    /// Sets the choice among the tools.
    fn choose(&mut self, choice: &ToolChoice<'_>);
}

impl Profile {
    /// Creates the request to a model that answers the request of a front end: a [copy](Prompt::again) with all settings
    /// if the dialects are the same, otherwise a request from the [conversation](Upstream::prompt). The caller must set
    /// the model.
    ///
    /// The copy has questions in text as the client sent them, with their codes. If an agent asks questions with
    /// [`Reply::confirm`](crate::Reply::confirm), use [`Upstream::prompt`] instead.
    pub fn ask<U: Upstream, P: Protocol>(&self, request: &Request<P>) -> U::Request {
        let any: &dyn Any = &**request;
        match any.downcast_ref::<U::Request>() {
            Some(request) => request.again(),
            None => U::prompt(&**request, self),
        }
    }
}
