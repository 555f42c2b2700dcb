//! Escapes of characters that could disguise text.
//!
//! A carriage return overwrites a line, an escape sequence moves the cursor, a bidirectional mark
//! reorders its neighbours: each could make one command look like another. They are replaced by
//! escapes such as `\u{1b}`.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Escapes a text of several lines. Only `
/// ` ends a line, alone or after `\r`.
#[must_use]
pub fn lines(text: &str) -> String {
    // A carriage return alone would let the rest of a line overwrite its beginning.
    written_out(&text.replace("\r\n", "\n"), |c| matches!(c, '\n' | '\t'))
}

/// Escapes a text of several lines, and indents all but the first.
#[must_use]
pub fn indented(text: &str, width: usize) -> String {
    lines(text).replace('\n', &format!("\n{}", " ".repeat(width)))
}

/// Escapes a text for one line, such as a name.
#[must_use]
pub fn line(text: &str) -> String {
    written_out(text, |_| false)
}

fn written_out(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) && !stays(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}

/// Returns `true` for control characters, marks of direction and other line ends. Joiners are
/// allowed: scripts and emoji need them.
fn is_hidden(character: char) -> bool {
    let hidden = matches!(
        character.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
    );
    hidden && !matches!(character, '\u{200c}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_written_out() {
        let hidden = "\u{0}\u{7}\u{8}\u{b}\u{c}\r\u{1b}\u{7f}\u{85}\u{9b}\u{ad}\u{61c}\u{200b}\u{200e}\
            \u{2028}\u{2029}\u{202e}\u{2066}\u{2069}\u{feff}\u{e0041}";
        for character in hidden.chars() {
            let text = format!("a{character}b");
            let shown = format!("a{}b", character.escape_unicode());
            assert_eq!(line(&text), shown);
            assert_eq!(lines(&text), shown);
        }
        assert_eq!(line("a\nb\tc"), "a\\u{a}b\\u{9}c");
    }

    #[test]
    fn what_can_be_seen_stays() {
        let text = "äß \u{5d0} \u{2211} \u{1f469}\u{200d}\u{1f4bb} \"'`\\";
        assert_eq!(line(text), text);
        assert_eq!(lines("a\n\tb\r\nc"), "a\n\tb\nc");
        assert_eq!(indented("a\nb\r\nc", 2), "a\n  b\n  c");
    }
}
