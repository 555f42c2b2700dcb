//! The bytes around every piece of text of a reply.

use bytes::Bytes;

use crate::json::short::Token;
use crate::json::template::Template;
use crate::json::{Escape, escape};

/// The maximum size in bytes of the text of one event. Escaped, it has at most six times as many bytes; the lowest
/// known limit of a client is 10 million.
pub(crate) const LONGEST_PIECE: usize = 1 << 20;

/// The bytes before and after every piece of text of a reply, until the state of the session changes.
///
/// If a session has a text frame, the reply writes text without calling the session: the head, the escaped text, the
/// tail. Text of more than 1 MiB is left to the session.
#[derive(Clone, Debug)]
#[must_use]
pub struct TextFrame {
    head: Bytes,
    tail: Bytes,
    policy: Escape,
    template: Option<Template>,
}

impl TextFrame {
    /// Creates a frame from the bytes before and after the text. The text is the inside of a JSON string and is escaped
    /// by `policy`.
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
    pub(super) fn of(write: impl Fn(String, &mut Vec<u8>)) -> Option<Self> {
        let (mut one, mut two) = (Vec::new(), Vec::new());
        write("\u{1}\u{2028}".to_owned(), &mut one);
        write("\u{2}\u{2028}".to_owned(), &mut two);
        // JSON escapes the first characters as `\u0001` and `\u0002`, which differ in the last digit.
        let digit = one.iter().zip(&two).position(|(one, two)| one != two)?;
        let (head, tail) = (one.get(..=digit)?, one.get(digit + 1..)?);
        let head = head.strip_suffix(br"\u0001")?;
        if two.get(digit + 1..)? != tail {
            return None;
        }
        let (tail, policy) = match tail.strip_prefix(br"\u2028") {
            Some(tail) => (tail, Escape::JsonAndSeparators),
            None => (tail.strip_prefix("\u{2028}".as_bytes())?, Escape::Json),
        };
        Some(Self::new(head.to_vec(), tail.to_vec(), policy))
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
