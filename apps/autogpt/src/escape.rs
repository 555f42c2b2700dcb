//! Escapes of characters that could disguise text.
//!
//! A carriage return overwrites a line, an escape sequence moves the cursor, a bidirectional mark reorders its
//! neighbours: each could make one command look like another. They are replaced by escapes such as `\u{1b}`. In a text
//! that the user approves, blanks that are invisible or look like another blank are replaced too.
//!
//! The module also shortens texts that are shown.

use copilot_wire::protocol::plain_text;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Escapes a text of several lines. Only `\n` ends a line, alone or after `\r`.
pub fn lines(text: &str) -> String {
    // A carriage return alone would let the rest of a line overwrite its beginning.
    let text = text.replace("\r\n", "\n");
    written_out(&text, |c| matches!(c, '\n' | '\t') || is_blank(c))
}

/// Escapes a text of several lines, blanks included, and indents all but the first.
pub fn indented(text: &str, width: usize) -> String {
    let text = written_out(&lines(text), |c| !is_blank(c));
    text.replace('\n', &format!("\n{}", " ".repeat(width)))
}

/// Escapes a text for one line, such as a name, blanks included.
pub fn line(text: &str) -> String {
    written_out(text, |_| false)
}

/// The number of characters of an excerpt.
pub const EXCERPT: usize = 600;

/// Returns an excerpt from the start of a text.
pub fn shortened(text: &str) -> String {
    truncated(text, EXCERPT)
}

/// Returns the first `most` characters of a text, and `...` if there are more.
pub(crate) fn truncated(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Shortens a text to `most` characters, the last of which are a note of the omitted number.
pub fn shortened_to(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let end = most.saturating_sub(CUT_NOTE);
    let start: String = text.chars().take(end).collect();
    format!(
        "{start}\n[Cut: {} more characters are left out.]",
        count - end
    )
}

/// The maximum length of the note.
const CUT_NOTE: usize = 80;

fn written_out(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if (is_hidden(character) || is_blank(character)) && !stays(character) {
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

/// Returns `true` for spaces other than the usual one, and for invisible characters that are not
/// [hidden](is_hidden): of those that [`plain_text`] writes as code points, all except operators. In ordinary text they
/// are harmless; in a code block a line of them may end the block.
fn is_blank(character: char) -> bool {
    match character.general_category() {
        _ if character.is_ascii() => false,
        GeneralCategory::SpaceSeparator => true,
        GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::MathSymbol => false,
        _ => plain_text(character.encode_utf8(&mut [0; 4])).starts_with("（U"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_written_out_where_the_user_agrees() {
        for blank in "\u{a0}\u{2003}\u{3000}\u{3164}\u{2800}\u{e000}\u{fffc}\u{1d159}".chars() {
            let text = format!("a\n{blank}\nb");
            let escaped = blank.escape_unicode();
            assert_eq!(indented(&text, 1), format!("a\n {escaped}\n b"));
            assert_eq!(line(&blank.to_string()), escaped.to_string());
            assert_eq!(lines(&text), text);
        }
    }

    #[test]
    fn a_cut_is_noted() {
        assert_eq!(truncated("äöü", 2), "äö...");
        assert_eq!(truncated("äö", 2), "äö");
        assert_eq!(shortened_to("äöü", 3), "äöü");
        let cut = shortened_to(&"ab ".repeat(100), 200);
        assert!(cut.chars().count() <= 200, "{cut}");
        assert!(
            cut.ends_with("ab \n[Cut: 180 more characters are left out.]"),
            "{cut}"
        );
    }

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
