//! The writer of one reply of a protocol.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;

use super::{Framing, Part, Refusal, SendError};
use crate::json::short::Token;
use crate::json::template::Template;
use crate::json::{Escape, escape};

/// The maximum size in bytes of the text of one event. Escaped, it has at most six times as many bytes; the lowest known
/// limit of a client is 10 million.
pub(crate) const LONGEST_PIECE: usize = 1 << 20;

/// The bytes before and after every piece of text of a reply, until the state of the session changes.
///
/// If a session has a text frame, the reply writes text without calling the session: the head, the escaped text, the
/// tail. [`Session::text`] must write the same bytes. Text of more than 1 MiB is left to the session.
#[derive(Clone, Debug)]
pub struct TextFrame {
    head: Bytes,
    tail: Bytes,
    policy: Escape,
    template: Option<Template>,
}

impl TextFrame {
    /// Creates a frame from the bytes before and after the text. The text is the inside of a JSON string and is escaped
    /// by `policy`.
    #[must_use]
    pub fn new(head: impl Into<Bytes>, tail: impl Into<Bytes>, policy: Escape) -> Self {
        let (head, tail) = (head.into(), tail.into());
        Self {
            // Created once per session, because a template pays off only over many tokens.
            template: Template::new(&head, &tail),
            head,
            tail,
            policy,
        }
    }

    /// Creates a frame from static bytes, which all replies share.
    #[must_use]
    pub const fn from_static(head: &'static [u8], tail: &'static [u8], policy: Escape) -> Self {
        Self {
            head: Bytes::from_static(head),
            tail: Bytes::from_static(tail),
            policy,
            template: Template::new(head, tail),
        }
    }

    /// Creates the frame of events that `write` appends. `None` if two events with different texts differ in more than
    /// the text.
    pub(super) fn of(policy: Escape, write: impl Fn(String, &mut Vec<u8>)) -> Option<Self> {
        let (mut one, mut two) = (Vec::new(), Vec::new());
        write("\u{1}".to_owned(), &mut one);
        write("\u{2}".to_owned(), &mut two);
        // JSON escapes the two texts as `\u0001` and `\u0002`, which differ in the last digit.
        let digit = one.iter().zip(&two).position(|(one, two)| one != two)?;
        let (head, tail) = (one.get(..=digit)?, one.get(digit + 1..)?);
        let head = head.strip_suffix(br"\u0001")?;
        (two.get(digit + 1..)? == tail).then(|| Self::new(head.to_vec(), tail.to_vec(), policy))
    }

    /// Appends the event of a token.
    #[inline(always)]
    pub(crate) fn write_token(&self, token: Token, out: &mut Vec<u8>) {
        match &self.template {
            Some(template) => template.write(token, out),
            None => {
                out.extend_from_slice(&self.head);
                token.write(out);
                out.extend_from_slice(&self.tail);
            }
        }
    }

    /// Appends the event of a text.
    #[inline]
    pub fn write(&self, text: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        escape(text, self.policy, out);
        out.extend_from_slice(&self.tail);
    }
}

/// The failure of a turn, as it is sent to the front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure<'a> {
    /// A message for the user.
    pub message: &'a str,
    /// `true` if the client may retry the turn. `false` by default, because a retry would repeat the side effects of an
    /// agent.
    pub retryable: bool,
    /// `true` if the conversation is too long for the model. Some clients then compact the conversation.
    pub too_long: bool,
    /// The code or the class of an error that was read from a stream. A session writes its own.
    pub code: Option<&'a str>,
}

impl<'a> Failure<'a> {
    /// Creates a failure that must not be retried.
    #[must_use]
    pub fn new(message: &'a str) -> Self {
        Self {
            message,
            retryable: false,
            too_long: false,
            code: None,
        }
    }

    /// Converts the failure into the refusal of a request, with `status`. A client may retry after `delay`.
    pub(crate) fn to_refusal(self, status: StatusCode, delay: Option<Duration>) -> Refusal {
        let refusal = Refusal::new(status, self.message.to_owned());
        match (self.too_long, delay) {
            (true, _) => refusal.code(Refusal::TOO_LONG),
            (_, Some(delay)) => refusal.code("overloaded").retry_after(delay),
            _ => refusal.code("agent_failed"),
        }
    }
}

/// The kind of a frame of another server, in a reply that passes the frames on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameKind {
    /// A part of the answer.
    Output,
    /// A frame before the answer, such as its head: if the turn fails before any output, it is not sent.
    Preamble,
    /// A frame that is not sent: the reply has its own, or the client did not ask for it.
    Dropped,
}

/// The state of one reply: its ids, its time, the options of the request, and the progress of the reply.
///
/// Every method appends to `out` and never removes bytes. A stream gets whole events from each method. If a method
/// returns an error or panics, the caller truncates `out` to its former length, so a method that fails must leave the
/// session unchanged. The caller never passes empty text, and calls no method after [`finish`](Self::finish),
/// [`cancelled`](Self::cancelled) or [`fail`](Self::fail).
pub trait Session: Send + 'static {
    /// An event that does not end the turn.
    type Output;
    /// An event that ends the turn.
    type Ending;

    /// Records that the reply is stored, so that a client can resume it. Called before anything is written. Does
    /// nothing by default.
    fn set_stored(&mut self) {}

    /// Writes the beginning of a stream, before the agent's first part. Writes nothing by default.
    fn open(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// Returns the bytes before and after every piece of text from now on. `None` if the reply must call
    /// [`text`](Self::text) for each piece, because a block must be opened first or every event has a number.
    fn text_frame(&self) -> Option<TextFrame> {
        None
    }

    /// Writes a piece of the answer's text.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the text cannot be sent to this front end.
    fn text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError>;

    /// Writes any other part of the shared vocabulary, or its closest accurate equivalent. Writes nothing for a part
    /// that the front end cannot show or that this session does not know. A call that cannot be made is an error.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the part cannot be sent to this front end.
    fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), SendError>;

    /// Writes an event of the protocol that does not end the turn.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the event cannot be sent to this front end.
    fn output(&mut self, output: &Self::Output, out: &mut Vec<u8>) -> Result<(), SendError>;

    /// Writes an event of the protocol that ends the turn.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the event cannot be sent to this front end.
    fn ending(&mut self, ending: &Self::Ending, out: &mut Vec<u8>) -> Result<(), SendError>;

    /// Writes a keep-alive after a period of silence. By default the keep-alive of the
    /// [framing](Framing::keep_alive) of the protocol: a comment, or nothing.
    fn keep_alive(&mut self, framing: Framing, out: &mut Vec<u8>) {
        out.extend_from_slice(framing.keep_alive());
    }

    /// Returns `true` if an event that is specific to the protocol has made the answer a failure. An answer without a
    /// stream then has the status 400. `false` by default.
    fn is_failed(&self) -> bool {
        false
    }

    /// Writes the end of an answered turn.
    fn finish(&mut self, out: &mut Vec<u8>);

    /// Writes the end of a cancelled turn: the output so far is the answer. By default the same as
    /// [`finish`](Self::finish).
    fn cancelled(&mut self, out: &mut Vec<u8>) {
        self.finish(out);
    }

    /// Returns the id of the reply if it is part of the output and front ends request the reply by this id. `None` by
    /// default.
    fn reply_id(&self) -> Option<&str> {
        None
    }

    /// Writes the end of a stream whose turn failed.
    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>);
}
