//! What the last event began with: most often the next one begins the same.

use super::Event;

/// A name up to this length is remembered.
const LONGEST: usize = 64;

const NAME: &str = "event: ";
const DATA: &str = "data: ";

/// The lines before the data of an event, as encoders write them: `event: NAME`, LF, `data: `.
///
/// An event that begins with them and has one line of data needs no further parsing.
pub(super) struct Head {
    text: String,
    /// Where the name ends; 0 when there is none.
    name_end: usize,
}

impl Head {
    /// The name in it.
    #[inline]
    pub(super) fn name(&self) -> &str {
        let name = self.text.get(NAME.len()..self.name_end);
        name.unwrap_or(Event::DEFAULT_NAME)
    }

    /// Whether it is the head of an event of this name; an empty one is none.
    #[inline]
    pub(super) fn is(&self, name: &[u8]) -> bool {
        if name.is_empty() {
            self.name_end == 0
        } else {
            self.name_end != 0 && name == self.name().as_bytes()
        }
    }

    /// Remembers the name of an event, unless it is a long one. Whether it does.
    pub(super) fn learn(&mut self, name: &str) -> bool {
        if name.len() > LONGEST {
            return false;
        }
        self.text.clear();
        self.name_end = 0;
        if !name.is_empty() {
            self.text.extend([NAME, name, "\n"]);
            self.name_end = NAME.len() + name.len();
        }
        self.text.push_str(DATA);
        true
    }

    /// What follows in an input that begins so.
    #[inline]
    pub(super) fn strip<'b>(&self, input: &'b [u8]) -> Option<&'b [u8]> {
        input.strip_prefix(self.text.as_bytes())
    }
}

impl Default for Head {
    /// The head of an event without a name.
    fn default() -> Self {
        Self {
            text: DATA.into(),
            name_end: 0,
        }
    }
}
