//! What a decoder remembers from one event to the next.

use std::borrow::Cow;
use std::fmt;

use crate::json::Json;

/// The shape of a text event that was read in full: what stands before and behind its text.
///
/// Most events of a stream differ from the one before in one text only. An event that begins and
/// ends like that one, with the inside of a JSON string in between, is the same event with another
/// text: that is exact, because the quotes of the string belong to the two ends. So the event as a
/// whole need not be parsed.
pub(super) struct Shape<E> {
    known: Option<Known<E>>,
    /// How many shapes were learned since one was of use.
    in_vain: u8,
}

struct Known<E> {
    head: Box<str>,
    tail: Box<str>,
    event: E,
}

/// After this many shapes that never came again no more are learned: some servers add random
/// padding to every event.
const MAX_IN_VAIN: u8 = 8;

impl<E> Shape<E> {
    /// No shape yet.
    #[must_use]
    pub(super) const fn new() -> Self {
        Self {
            known: None,
            in_vain: 0,
        }
    }

    /// The event that `data` has the shape of, and the text that `data` has in its place.
    pub(super) fn find<'t>(&mut self, data: &'t str) -> Option<(&E, Cow<'t, str>)> {
        let known = self.known.as_ref()?;
        let text = data
            .strip_prefix(&*known.head)?
            .strip_suffix(&*known.tail)?;
        let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        let text = if text.bytes().all(plain) {
            Cow::Borrowed(text)
        } else {
            // Escapes, or something that is not the inside of one string.
            let string = Json::parse(format!("\"{text}\"")).ok()?;
            Cow::Owned(string.string()?.into_owned())
        };
        self.in_vain = 0;
        Some((&known.event, text))
    }

    /// Whether it is worth while to learn the shape of `data`.
    #[must_use]
    pub(super) fn wants(&self, data: &str) -> bool {
        let known = self
            .known
            .as_ref()
            .is_some_and(|known| data.starts_with(&*known.head) && data.ends_with(&*known.tail));
        !known && self.in_vain < MAX_IN_VAIN
    }

    /// Learns the shape of `data`, in which a JSON string with `text_len` bytes between its quotes
    /// begins, quote included, at `text_start`. Nothing is learned when none can be there.
    pub(super) fn learn(&mut self, data: &str, text_start: usize, text_len: usize, event: E) {
        let start = text_start.saturating_add(1);
        let end = start.saturating_add(text_len);
        let parts = data.split_at_checked(start).zip(data.split_at_checked(end));
        let Some(((head, _), (_, tail))) = parts else {
            return;
        };
        if head.ends_with('"') && tail.starts_with('"') {
            self.in_vain = self.in_vain.saturating_add(1);
            self.known = Some(Known {
                head: head.into(),
                tail: tail.into(),
                event,
            });
        }
    }
}

impl<E> Default for Shape<E> {
    fn default() -> Self {
        Self::new()
    }
}

/// Says whether there is one, not what it is.
impl<E> fmt::Debug for Shape<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shape")
            .field("known", &self.known.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned() -> Shape<u8> {
        let mut shape = Shape::new();
        shape.learn(r#"{"a":"one","b":1}"#, 5, 3, 7);
        shape
    }

    #[test]
    fn another_text_has_the_same_shape() {
        let mut shape = learned();
        for (inside, text) in [
            ("é", "é"),
            ("", ""),
            (r#"o\"e\n"#, "o\"e\n"),
            (r"\u00e9", "é"),
        ] {
            let data = format!(r#"{{"a":"{inside}","b":1}}"#);
            assert_eq!(shape.find(&data), Some((&7, text.into())));
        }
    }

    #[test]
    fn anything_else_has_not() {
        let mut shape = learned();
        for data in [
            r#"{"a":"one","b":2}"#,
            r#"{"a": "one","b":1}"#,
            r#"{"a":"\","b":1}"#,
            r#"{"a":"\x","b":1}"#,
            r#"{"a":"x" ,"b":1}"#,
            r#"{"a":"","x":"","b":1}"#,
            // The ends may not overlap.
            r#"{"a":","b":1}"#,
            "{\"a\":\"\n\",\"b\":1}",
            "",
        ] {
            assert_eq!(shape.find(data), None, "{data}");
        }
        assert_eq!(Shape::<u8>::new().find(""), None);
    }

    #[test]
    fn what_never_comes_again_is_not_learned_for_ever() {
        let mut shape = learned();
        let data = |n: usize| format!(r#"{{"a":"x","n":{n}}}"#);
        for n in 0..20 {
            if shape.wants(&data(n)) {
                shape.learn(&data(n), 5, 1, 0);
            }
        }
        assert_eq!(shape.find(&data(6)), Some((&0, "x".into())));
        assert!(!shape.wants(&data(6)), "it is known");
        assert!(shape.wants(&data(19)), "one was of use");
    }

    #[test]
    fn a_place_that_cannot_be_is_not_learned() {
        for (start, len) in [
            (4, 3),
            (5, 2),
            (5, 99),
            (99, 0),
            (usize::MAX, 0),
            (5, usize::MAX),
        ] {
            let mut shape = Shape::new();
            shape.learn(r#"{"a":"one","b":1}"#, start, len, 7);
            assert!(shape.known.is_none(), "{start} {len}");
        }
    }
}
