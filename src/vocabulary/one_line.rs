//! Display of foreign text on one line.

use std::fmt::{self, Write as _};

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// A wrapper that displays a value on one line, for logs and terminals: control characters, line and paragraph
/// separators, and invisible characters that format the text around them (the general categories `Cc`, `Zl`, `Zp`
/// and `Cf`) are escapes such as `\n` and `\u{202e}`.
///
/// A line break in foreign text would start a second line, which could imitate a line of the program. A directional
/// mark would show the rest of the line in another order.
///
/// ```
/// use copilot_wire::protocol::OneLine;
///
/// assert_eq!(OneLine("no such file: a\u{202e}\nb").to_string(), r"no such file: a\u{202e}\nb");
/// ```
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "a wrapper, as it is used")]
pub struct OneLine<T>(pub T);

impl<T: fmt::Display> fmt::Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaped(f), "{}", self.0)
    }
}

struct Escaped<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl fmt::Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(is_hidden) {
            let (clean, tail) = rest.split_at(at);
            self.0.write_str(clean)?;
            let mut tail = tail.chars();
            if let Some(hidden) = tail.next() {
                write!(self.0, "{}", hidden.escape_default())?;
            }
            rest = tail.as_str();
        }
        self.0.write_str(rest)
    }
}

/// Returns `true` for a character that [`OneLine`] escapes.
fn is_hidden(character: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
    !matches!(character, ' '..='~')
        && matches!(
            character.general_category(),
            Control | Format | LineSeparator | ParagraphSeparator
        )
}
