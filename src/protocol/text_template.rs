//! Reading of text events that differ from the previous one only in their text.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

use crate::json::{Json, Kind, string_between};

/// An event that may hold a piece of text.
pub(crate) trait TextEvent: Clone {
    /// The name of the member that counts the events of a stream. It stands before the text.
    const COUNTER: Option<&'static str> = None;

    /// Returns the text of an event that can have any other text as well.
    fn text_mut(&mut self) -> Option<&mut String>;

    /// Returns the place of the text in the data of the event.
    fn text_place(data: &Json) -> Option<Json>;

    /// Sets the member [`COUNTER`](Self::COUNTER).
    fn set_counter(&mut self, _: u64) {}
}

/// The last text event that was parsed, with the bytes before and after its text.
///
/// Most events of a stream differ from the one before in one text only, or in that and a number.
/// Data that begins and ends like the last one, with the inside of a JSON string in between, is the
/// same event with another text: that is exact, because the quotes of the string belong to the two
/// ends. So the event as a whole need not be parsed.
pub(crate) struct TextTemplate<E> {
    known: Option<Known<E>>,
    /// The number of templates that were stored since one was used.
    in_vain: u8,
}

struct Known<E> {
    head: Box<str>,
    /// The bytes between the counter and the text.
    middle: Option<Box<str>>,
    tail: Box<str>,
    /// The event with an empty text.
    event: E,
}

/// The number of unused templates after which no more are stored: some servers add random padding to
/// every event.
const MAX_IN_VAIN: u8 = 8;

impl<E: TextEvent> TextTemplate<E> {
    /// Reads an event: from the template if `data` fits it, otherwise with `read`.
    #[inline]
    pub(crate) fn read<F>(
        &mut self,
        data: &str,
        read: impl FnOnce() -> Result<E, F>,
    ) -> Result<E, F> {
        if let Some(event) = self.fill(data) {
            self.in_vain = 0;
            return Ok(event);
        }
        let event = read()?;
        if self.in_vain < MAX_IN_VAIN {
            if let Some(known) = Known::new(data, &event) {
                self.in_vain += 1;
                self.known = Some(known);
            }
        }
        Ok(event)
    }

    fn fill(&self, data: &str) -> Option<E> {
        let known = self.known.as_ref()?;
        let (counter, text) = known.strip(data)?;
        let mut event = known.event.clone();
        if let Some(counter) = counter {
            event.set_counter(counter);
        }
        *event.text_mut()? = text.into_owned();
        Some(event)
    }
}

impl<E: TextEvent> Known<E> {
    /// Returns the counter and the text of `data` if nothing else is different. Empty text may be
    /// read in another way, so it never fits.
    fn strip<'t>(&self, data: &'t str) -> Option<(Option<u64>, Cow<'t, str>)> {
        let mut rest = data.strip_prefix(&*self.head)?;
        let mut counter = None;
        if let Some(middle) = &self.middle {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, after) = rest.split_at_checked(digits)?;
            // RFC 8259, section 6: a number has no leading zeros, so the whole would not be JSON.
            let is_canonical = !number.starts_with('0') || number.len() == 1;
            counter = Some(number.parse().ok().filter(|_| is_canonical)?);
            rest = after.strip_prefix(&**middle)?;
        }
        let text = rest.strip_suffix(&*self.tail)?;
        let start = data.len() - rest.len();
        let text = string_between(data, start, start + text.len())?;
        (!text.is_empty()).then_some((counter, text))
    }

    /// Creates the template of an event if it has text without escapes.
    fn new(data: &str, event: &E) -> Option<Self> {
        let mut event = event.clone();
        let text = std::mem::take(event.text_mut()?);
        let json = Json::parse(Bytes::copy_from_slice(data.as_bytes())).ok()?;
        // Both are slices of one buffer; the white space before the whole is not part of it.
        let place = |json: &Json| json.as_bytes().as_ptr().addr();
        let before = data.len() - data.trim_ascii_start().len();
        let offset = |part: &Json| Some(place(part).checked_sub(place(&json))? + before);

        let inside = E::text_place(&json).filter(|text| text.kind() == Kind::String)?;
        let start = offset(&inside)? + 1;
        let end = start + inside.as_bytes().len().checked_sub(2)?;
        let (mut head, mut middle) = (data.get(..start)?, None);
        // Text with escapes differs from its source: its length in the data is not that of the
        // text.
        if data.get(start..end)? != text {
            return None;
        }
        let counter = E::COUNTER.and_then(|key| json.get(key));
        let counter = counter.filter(|counter| counter.as_u64().is_some());
        let at = counter.as_ref().and_then(offset).filter(|at| *at < start);
        if let (Some(counter), Some(at)) = (counter, at) {
            middle = Some(head.get(at + counter.as_bytes().len()..)?.into());
            head = head.get(..at)?;
        }
        let tail = data.get(end..)?.into();
        let head = head.into();
        Some(Self {
            head,
            middle,
            tail,
            event,
        })
    }
}

impl<E> Default for TextTemplate<E> {
    fn default() -> Self {
        Self {
            known: None,
            in_vain: 0,
        }
    }
}

/// Shows whether there is a template, not its text.
impl<E> fmt::Debug for TextTemplate<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextTemplate")
            .field("known", &self.known.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Numbered {
        n: u64,
        a: String,
    }

    impl TextEvent for Numbered {
        const COUNTER: Option<&'static str> = Some("n");

        fn text_mut(&mut self) -> Option<&mut String> {
            Some(&mut self.a)
        }

        fn text_place(data: &Json) -> Option<Json> {
            data.get("a")
        }

        fn set_counter(&mut self, n: u64) {
            self.n = n;
        }
    }

    /// Reads in full, and sets `parsed`.
    fn parse(data: &str, parsed: &mut bool) -> Result<Numbered, ()> {
        *parsed = true;
        let json = Json::parse(data.to_owned()).map_err(|_| ())?;
        let a = json.get("a").and_then(|a| Some(a.string()?.into_owned()));
        let n = json.get("n").and_then(|n| n.as_u64());
        Ok(Numbered {
            n: n.unwrap_or_default(),
            a: a.ok_or(())?,
        })
    }

    fn learned(first: &str) -> TextTemplate<Numbered> {
        let mut template = TextTemplate::default();
        let read = template.read(first, || parse(first, &mut false));
        assert!(read.is_ok(), "{first}");
        template
    }

    #[track_caller]
    fn fits(first: &str, data: &str, expected: Option<(u64, &str)>) {
        let filled = learned(first).fill(data);
        let expected = expected.map(|(n, a)| Numbered { n, a: a.into() });
        assert_eq!(filled, expected, "{first} {data}");
        if filled.is_some() {
            assert_eq!(filled, parse(data, &mut false).ok(), "{data}");
        }
    }

    #[test]
    fn another_text_or_number_fits() {
        let plain = r#"{"a":"one","b":1}"#;
        for (inside, text) in [("é", "é"), (r#"o\"e\n"#, "o\"e\n"), (r"\u00e9", "é")] {
            let data = format!(r#"{{"a":"{inside}","b":1}}"#);
            fits(plain, &data, Some((0, text)));
        }
        let numbered = r#" {"x":[],"n":7,"i":"i","a":"one"}"#;
        fits(
            numbered,
            r#" {"x":[],"n":8,"i":"i","a":"two"}"#,
            Some((8, "two")),
        );
        fits(
            numbered,
            r#" {"x":[],"n":0,"i":"i","a":"x"}"#,
            Some((0, "x")),
        );
        let largest = r#" {"x":[],"n":18446744073709551615,"i":"i","a":"x"}"#;
        fits(numbered, largest, Some((u64::MAX, "x")));
    }

    #[test]
    fn anything_else_does_not() {
        for data in [
            r#"{"a":"one","b":2}"#,
            r#"{"a": "one","b":1}"#,
            r#"{"a":"\","b":1}"#,
            r#"{"a":"\x","b":1}"#,
            r#"{"a":"x" ,"b":1}"#,
            r#"{"a":"","x":"","b":1}"#,
            r#"{"a":"","b":1}"#,
            // The ends may not overlap.
            r#"{"a":","b":1}"#,
            "{\"a\":\"\n\",\"b\":1}",
            "",
        ] {
            fits(r#"{"a":"one","b":1}"#, data, None);
        }
        for number in [
            "",
            "-1",
            "1.0",
            "01",
            "1e1",
            "18446744073709551616",
            "\"1\"",
        ] {
            let data = format!(r#"{{"n":{number},"a":"one"}}"#);
            fits(r#"{"n":7,"a":"one"}"#, &data, None);
        }
        assert_eq!(TextTemplate::<Numbered>::default().fill(""), None);
    }

    #[test]
    fn a_counter_behind_the_text_belongs_to_the_tail() {
        fits(r#"{"a":"x","n":1}"#, r#"{"a":"x","n":2}"#, None);
    }

    #[test]
    fn what_never_comes_again_is_not_learned_for_ever() {
        let data = |n: usize| format!(r#"{{"a":"x","p":{n}}}"#);
        let mut template = learned(&data(0));
        for n in 1..20 {
            let _ = template.read(&data(n), || parse(&data(n), &mut false));
        }
        let last = usize::from(MAX_IN_VAIN) - 1;
        let mut parsed = false;
        let _ = template.read(&data(last), || parse(&data(last), &mut parsed));
        assert!(!parsed, "it is known");
        let _ = template.read(&data(19), || parse(&data(19), &mut parsed));
        assert!(template.fill(&data(19)).is_some(), "one was of use");
    }

    #[test]
    fn text_with_escapes_is_not_learned() {
        assert!(learned(r#"{"a":"\n"}"#).known.is_none());
    }
}
