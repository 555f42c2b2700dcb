//! The rules of a stream that only some protocols have.

use std::borrow::Cow;
use std::pin::Pin;

use http::HeaderMap;

use super::{Ending, Protocol};

/// A future that waits for the answer to a question; see [`Extras::answered`].
pub type Answered<R> = Pin<Box<dyn Future<Output = Option<R>> + Send>>;

/// The ability of a front end to resume a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Resumption {
    /// The front end cannot request a reply again.
    Never,
    /// The front end may request a reply again.
    Possible,
    /// The front end was told that it can resume the reply, so a reply that cannot be stored is refused.
    Required,
}

/// The rules that only some protocols have: [`Protocol::EXTRAS`].
///
/// A protocol sets its own and takes the others from [`NONE`](Self::NONE): `Extras { awaits_output: true,
/// ..Extras::NONE }`.
#[expect(clippy::exhaustive_structs, reason = "made with `..Extras::NONE`")]
pub struct Extras<P: Protocol> {
    /// `true` if the head of a streamed response is sent only with the first output of the agent, so that an earlier
    /// failure has an HTTP status: for clients that retry a turn whose stream fails. See
    /// [`Router::first_output_timeout`](crate::Router::first_output_timeout).
    pub awaits_output: bool,

    /// `true` if the [keep-alive](super::Blocks::keep_alive) is an event that changes the reply, such as a numbered
    /// event. A resumable reply then stores it like other events.
    pub stores_keep_alive: bool,

    /// Returns `false` if the request wants the answer as one JSON document in place of a stream.
    ///
    /// The session then writes that document once the turn is answered, and nothing before. A failed turn is answered
    /// by [`Protocol::refuse`].
    pub is_stream: fn(&P::Request) -> bool,

    /// Adds the settings of a mount to a request, such as tools that the request does not list.
    pub apply: fn(&P::Settings, &mut P::Request),

    /// Returns the text that binds a question to its conversation: a proof counts only with the same text. By default
    /// the [id of the conversation](Protocol::conversation_id) if the body contains it.
    pub question_scope: for<'a> fn(&'a P::Request) -> Option<Cow<'a, str>>,

    /// Returns a future that waits for the user's answer to the question that ends the turn, for front ends that send
    /// the answer while the stream is open. The agent then runs again with the request that the future returns, and
    /// continues the same reply. If the function or the future returns `None`, the reply ends.
    pub answered: fn(&P::Request) -> Option<Answered<P::Request>>,

    /// Returns an event that ends the turn without running the agent: the next of several calls that an agent made at
    /// once, for a front end that runs one call per turn.
    pub next_call: fn(&P::Request) -> Option<Ending<P>>,

    /// Returns whether the front end can request the reply to this request again, from a router with resumable replies.
    pub resumption: fn(&P::Request) -> Resumption,

    /// Records that the reply is stored, so that a client can resume it. Called before anything is written.
    pub stored: fn(&mut P::Blocks),

    /// Writes a failure as the end of a stream whose server crashed, when another server sends the stored events of the
    /// reply to the client. The arguments are the first event of the reply, empty if it is not known, and the number
    /// that the next event would have.
    pub lost: fn(&[u8], u64, &mut Vec<u8>),

    /// Adds the headers that all streams of this protocol have in addition to the common headers.
    pub response_headers: fn(&mut HeaderMap),
}

impl<P: Protocol> Extras<P> {
    /// The rules of a protocol that has none of its own.
    pub const NONE: Self = Self {
        awaits_output: false,
        stores_keep_alive: false,
        is_stream: |_| true,
        apply: |_, _| (),
        question_scope: conversation_scope::<P>,
        answered: |_| None,
        next_call: |_| None,
        resumption: |_| Resumption::Never,
        stored: |_| (),
        lost: |_, _, _| (),
        response_headers: |_| (),
    };
}

fn conversation_scope<P: Protocol>(request: &P::Request) -> Option<Cow<'_, str>> {
    // Headers are ignored: some clients send the id of a trace in them.
    let no_headers = HeaderMap::new();
    let id = P::conversation_id(request, &no_headers)?;
    Some(Cow::Owned(id.into_owned()))
}

opaque_debug!(impl[P: Protocol] Extras for Extras<P>);
