//! The first lines of the last event: the next event usually starts with the same bytes.

use super::Event;

/// The maximum length in bytes of a name that is stored.
const LONGEST: usize = 64;

const NAME: &str = "event: ";

/// The lines before the data of an event, as encoders write them: `event: NAME`, LF, `data: `.
///
/// An event that begins with these lines and has one line of data needs no further parsing.
pub(super) struct Head {
    text: String,
    /// The end of the name in `text`; 0 if there is no name.
    name_end: usize,
}

impl Head {
    /// The start of a line of data.
    pub(super) const DATA: &str = "data: ";

    /// Returns `true` if the event has a name.
    pub(super) fn has_name(&self) -> bool {
        self.name_end != 0
    }

    /// Returns the name.
    #[inline]
    pub(super) fn name(&self) -> &str {
        let name = self.text.get(NAME.len()..self.name_end);
        name.unwrap_or(Event::DEFAULT_NAME)
    }

    /// Returns `true` if events with this name start with this head; an empty `name` stands for no name.
    #[inline]
    pub(super) fn is(&self, name: &[u8]) -> bool {
        if name.is_empty() {
            !self.has_name()
        } else {
            self.has_name() && name == self.name().as_bytes()
        }
    }

    /// Stores the name of an event unless it is too long, or one that is not written. Returns `true` if it was stored.
    pub(super) fn store(&mut self, name: &str) -> bool {
        if name.len() > LONGEST || !super::encode::is_written(name) {
            return false;
        }
        self.text.clear();
        self.name_end = 0;
        if !name.is_empty() {
            self.text.extend([NAME, name, "\n"]);
            self.name_end = NAME.len() + name.len();
        }
        self.text.push_str(Self::DATA);
        true
    }

    /// Returns the input after the head, if the input starts with the head.
    #[inline]
    pub(super) fn strip<'b>(&self, input: &'b [u8]) -> Option<&'b [u8]> {
        input.strip_prefix(self.text.as_bytes())
    }
}

impl Default for Head {
    /// Creates the head of an event without a name.
    fn default() -> Self {
        Self {
            text: Self::DATA.into(),
            name_end: 0,
        }
    }
}
