//! One reply as a protocol writes it.

use bytes::Bytes;
use http::StatusCode;

use super::{Framing, Part, Refusal, SendError};
use crate::json::short::Token;
use crate::json::template::Template;
use crate::json::{Escape, escape};

/// The bytes around every piece of text of a reply, as long as the session stays as it is.
///
/// A session that has one lets the reply write text without it: the head, the text with what JSON
/// escapes, the tail. [`Session::text`] must write the same bytes.
#[derive(Clone, Debug)]
pub struct TextFrame {
    head: Bytes,
    tail: Bytes,
    policy: Escape,
    template: Option<Template>,
}

impl TextFrame {
    /// Creates a frame from the bytes before and behind the text, which is the inside of a JSON
    /// string escaped by `policy`.
    #[must_use]
    pub fn new(head: impl Into<Bytes>, tail: impl Into<Bytes>, policy: Escape) -> Self {
        let (head, tail) = (head.into(), tail.into());
        Self {
            // Made once per session: the template only pays off over many tokens.
            template: Template::new(&head, &tail),
            head,
            tail,
            policy,
        }
    }

    /// Creates a frame that is the same for every reply.
    #[must_use]
    pub const fn from_static(head: &'static [u8], tail: &'static [u8], policy: Escape) -> Self {
        Self {
            head: Bytes::from_static(head),
            tail: Bytes::from_static(tail),
            policy,
            template: Template::new(head, tail),
        }
    }

    /// Creates the frame of events that differ in one text only, which `write` appends an event with. `None` if
    /// they differ in more.
    pub(super) fn of(policy: Escape, write: impl Fn(String, &mut Vec<u8>)) -> Option<Self> {
        let (mut one, mut two) = (Vec::new(), Vec::new());
        write("\u{1}".to_owned(), &mut one);
        write("\u{2}".to_owned(), &mut two);
        // JSON escapes both by their numbers, which differ in the last digit.
        let digit = one.iter().zip(&two).position(|(one, two)| one != two)?;
        let (head, tail) = (one.get(..=digit)?, one.get(digit + 1..)?);
        let head = head.strip_suffix(br"\u0001")?;
        (two.get(digit + 1..)? == tail).then(|| Self::new(head.to_vec(), tail.to_vec(), policy))
    }

    /// Appends the event with this token.
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

    /// Appends the event with this text.
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
    /// `true` if the client may retry the turn. An agent with side effects would have them
    /// twice, so the default is no.
    pub retryable: bool,
    /// `true` if the conversation is too long for the model. Clients that know this may compact it.
    pub too_long: bool,
}

impl<'a> Failure<'a> {
    /// Creates a failure that must not be retried.
    #[must_use]
    pub fn new(message: &'a str) -> Self {
        Self {
            message,
            retryable: false,
            too_long: false,
        }
    }

    /// Returns the failure as the answer to a request.
    pub(crate) fn to_refusal(self, status: StatusCode) -> Refusal {
        let refusal = Refusal::new(status, self.message.to_owned());
        match (self.too_long, self.retryable) {
            (true, _) => refusal.code(Refusal::TOO_LONG),
            (_, true) => refusal.code("overloaded").retryable(),
            _ => refusal.code("agent_failed"),
        }
    }
}

/// One reply: its ids, its time, what the request switched on, and what has been written so far.
///
/// Every method appends to `out` and never removes what is there. The caller truncates `out` again
/// when a method returns an error or panics, so a method that fails must leave the session as it
/// was. The caller never passes empty text and calls nothing after [`finish`](Self::finish),
/// [`cancelled`](Self::cancelled) or [`fail`](Self::fail).
pub trait Session: Send + 'static {
    /// An event that does not end the turn.
    type Output;
    /// An event that ends the turn.
    type Ending;

    /// Takes note that the reply is stored, so that a client can resume it. Called before anything is written.
    /// Nothing by default.
    fn set_stored(&mut self) {}

    /// Writes the beginning of a stream, before the agent's first part. Nothing by default.
    fn open(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// Returns the bytes around every piece of text from here on, or `None` when text has to go
    /// through [`text`](Self::text): because a block must be opened first, or because every event
    /// has a number.
    fn text_frame(&self) -> Option<TextFrame> {
        None
    }

    /// Writes a piece of the answer's text.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the text cannot be sent to this front end.
    fn text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError>;

    /// Writes any other part of the shared vocabulary, or its nearest honest equivalent. A part that the
    /// front end has no place for, or that this session does not know, writes nothing; calls that it
    /// cannot make are an error.
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

    /// Returns `true` if an event of the agent's own has made the answer a failure: one without a stream
    /// then has the status 400. `false` by default.
    fn is_failed(&self) -> bool {
        false
    }

    /// Writes the end of a turn that was answered.
    fn finish(&mut self, out: &mut Vec<u8>);

    /// Writes the end of a turn that was cancelled: what was written so far is the answer. As
    /// [`finish`](Self::finish) by default.
    fn cancelled(&mut self, out: &mut Vec<u8>) {
        self.finish(out);
    }

    /// Returns the id of the reply, if it is part of what is written and front ends ask for the reply by
    /// it. `None` by default.
    fn reply_id(&self) -> Option<&str> {
        None
    }

    /// Writes the end of a stream whose turn failed.
    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>);
}
