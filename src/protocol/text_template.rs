//! Fast decoding of text events that differ from the previous event only in their text.

use std::borrow::Cow;

use bytes::Bytes;

use super::decode::{Decode, TextMember};
use crate::json::{Reader, first_string, string_between};
use crate::sse;

/// The maximum size in bytes of frames that are joined, apart from the last one.
const LONGEST_RUN: usize = 16 * 1024;

/// The event that was decoded last. It is changed in place if the next event differs only in its text.
pub(super) struct LastEvent<D: Decode> {
    pub(super) event: Option<D::Event>,
    template: Option<Template>,
    /// The number of templates that were created since a template was last used.
    in_vain: u8,
}

/// The number of unused templates after which no more are created: some servers add random padding to
/// every event.
const MAX_IN_VAIN: u8 = 8;

impl<D: Decode> LastEvent<D> {
    pub(super) const fn new() -> Self {
        Self {
            event: None,
            template: None,
            in_vain: 0,
        }
    }

    /// Stores an event. `frame` is its frame if the frame contains no other event.
    pub(super) fn set(&mut self, event: D::Event, frame: Option<&sse::Event<'_>>) -> &D::Event {
        let event = self.event.insert(event);
        self.template = None;
        if let (Some(frame), Some(text), ..MAX_IN_VAIN) = (frame, D::text(event), self.in_vain) {
            self.template = Template::new(frame, text);
            self.in_vain += u8::from(self.template.is_some());
        }
        event
    }

    /// Changes the stored event to the event of `frame`. If they differ in more than the text, drops the stored event
    /// and returns `false`.
    #[inline]
    pub(super) fn change(&mut self, frame: &sse::Event<'_>) -> bool {
        let texts = self.template.as_ref().and_then(|it| it.strip(frame));
        let member = self.event.as_mut().and_then(D::text);
        let (Some((counter, text)), Some(mut member)) = (texts, member) else {
            (self.event, self.template) = (None, None);
            return false;
        };
        member.text.clear();
        member.push(counter, &text);
        self.in_vain = 0;
        true
    }

    /// Changes the stored event to the sum of itself and the next events, as long as they are complete in `input` and
    /// differ from it only in their texts: its text is continued. Appends their frames to `out` as they came, and returns
    /// their number.
    pub(super) fn join(
        &mut self,
        events: &mut sse::Decoder,
        input: &mut &[u8],
        out: &mut Vec<u8>,
    ) -> u64 {
        let member = self.event.as_mut().and_then(D::text);
        let template = self.template.as_ref();
        let template = template.filter(|it| &*it.name == events.last_name());
        let (Some(template), Some(mut member)) = (template, member) else {
            return 0;
        };
        let (all, mut count) = (*input, 0);
        while all.len() - input.len() < LONGEST_RUN {
            let Some((counter, text, rest)) = template.next(events, input) else {
                break;
            };
            member.push(counter, &text);
            (*input, count) = (rest, count + 1);
        }
        sse::escape_separators(all.split_at(all.len() - input.len()).0, out);
        count
    }

    /// Drops the stored event unless it has a template, by which it could be changed.
    pub(super) fn release(&mut self) {
        self.event.take_if(|_| self.template.is_none());
    }
}

/// The name of an event, and the bytes of its data before and after the text.
///
/// Most events of a stream differ from the previous event only in one text, or in one text and a number. If the data
/// begins and ends like the previous data, with the inside of a JSON string in between, the event is the same with
/// another text. This is exact, because the head and the tail contain the quotes of the string. So the event need not
/// be parsed.
struct Template {
    name: Box<str>,
    head: Box<str>,
    /// The bytes between the counter and the text.
    middle: Option<Box<str>>,
    tail: Box<str>,
}

impl Template {
    /// Returns the counter and the text of a frame. `None` if the frame differs in anything else.
    #[inline]
    fn strip<'t>(&self, frame: &'t sse::Event<'_>) -> Option<(Option<u64>, Cow<'t, str>)> {
        let data = frame.data();
        let (counter, rest) = self.counter(data.as_bytes())?;
        let start = data.len() - rest.len();
        let text = rest.strip_suffix(self.tail.as_bytes())?;
        let text = string_between(data, start, start + text.len())?;
        (is_piece(&text) && frame.name() == &*self.name).then_some((counter, text))
    }

    /// Returns the counter and the text of the next frame, and the input after the frame. `None` also if the frame is
    /// not complete in `input`.
    #[inline]
    fn next<'t>(
        &self,
        events: &mut sse::Decoder,
        input: &'t [u8],
    ) -> Option<(Option<u64>, Cow<'t, str>, &'t [u8])> {
        let (counter, rest) = self.counter(events.peek_data(input)?)?;
        let (text, rest) = first_string(rest)?;
        let rest = rest
            .strip_prefix(self.tail.as_bytes())?
            .strip_prefix(b"\n\n")?;
        is_piece(&text).then_some((counter, text, rest))
    }

    /// Returns the counter in data, and the data from the text on.
    #[inline]
    fn counter<'t>(&self, data: &'t [u8]) -> Option<(Option<u64>, &'t [u8])> {
        let rest = data.strip_prefix(self.head.as_bytes())?;
        let Some(middle) = &self.middle else {
            return Some((None, rest));
        };
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = rest.split_at_checked(digits)?;
        // RFC 8259, section 6: a number with leading zeros is not JSON.
        let ([b'0'] | [b'1'..=b'9', ..]) = digits else {
            return None;
        };
        let mut digits = digits.iter().map(|digit| u64::from(digit - b'0'));
        let number = digits.try_fold(0_u64, |it, digit| it.checked_mul(10)?.checked_add(digit))?;
        Some((Some(number), rest.strip_prefix(middle.as_bytes())?))
    }

    /// Creates the template of an event. `None` if its text is empty or contains escapes, or if its data has several
    /// lines.
    fn new(frame: &sse::Event<'_>, member: TextMember<'_>) -> Option<Self> {
        let data = Some(frame.data()).filter(|_| !member.text.is_empty())?;
        let body = Bytes::copy_from_slice(data.as_bytes());
        let place = |path: &[&str]| Reader::new(&body).ok()?.place(path).ok()?;
        let (start, end) = place(member.path).map(|text| (text.start + 1, text.end - 1))?;
        let (mut head, tail, mut middle) = (data.get(..start)?, data.get(end..)?, None);
        let is_quoted = head.ends_with('"') && data.get(start..end)? == member.text;
        // If the text is not equal to its bytes in the data, it contains escapes. A string has no line ends.
        if !is_quoted || [head, tail].iter().any(|it| it.contains('\n')) {
            return None;
        }
        let counter = member.counter.and_then(|(key, _)| place(&[key]));
        if let Some(counter) = counter.filter(|counter| counter.end <= start) {
            if data.get(counter.clone())?.parse::<u64>().is_ok() {
                middle = Some(head.get(counter.end..)?.into());
                head = head.get(..counter.start)?;
            }
        }
        Some(Self {
            name: frame.name().into(),
            head: head.into(),
            middle,
            tail: tail.into(),
        })
    }
}

/// Returns `true` if a text is a piece of a longer one: empty text may have another meaning, and the last character may
/// be half of a pair, whose other half is in a later event.
fn is_piece(text: &str) -> bool {
    !text.is_empty() && !text.ends_with('\u{FFFD}')
}
