//! Escapes of characters that could disguise text.
//!
//! A carriage return overwrites a line, an escape sequence moves the cursor, a bidirectional mark reorders its
//! neighbours: each could make one command look like another. They are replaced by escapes such as `\u{1b}`. In a text
//! that the user approves, blanks that are invisible or look like another blank are replaced too.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Escapes a text of several lines. Only `\n` ends a line, alone or after `\r`.
#[must_use]
pub fn lines(text: &str) -> String {
    // A carriage return alone would let the rest of a line overwrite its beginning.
    let text = text.replace("\r\n", "\n");
    written_out(&text, |c| matches!(c, '\n' | '\t') || is_blank(c))
}

/// Escapes a text of several lines, blanks included, and indents all but the first.
#[must_use]
pub fn indented(text: &str, width: usize) -> String {
    let text = written_out(&lines(text), |c| !is_blank(c));
    text.replace('\n', &format!("\n{}", " ".repeat(width)))
}

/// Escapes a text for one line, such as a name, blanks included.
#[must_use]
pub fn line(text: &str) -> String {
    written_out(text, |_| false)
}

/// Returns the estimated number of characters that a question with this text has as a line of text
/// ([`plain_text`](copilot_wire::protocol::plain_text)), where a line break has three, a long word is broken, and an
/// invisible character is its code point. The estimate is never too low, except for U+FFFC and U+1D159.
#[must_use]
pub fn shown_length(text: &str) -> usize {
    shown_within(text, usize::MAX).unwrap_or(usize::MAX)
}

/// Returns the [length](shown_length) of a text, or `None` if it exceeds `most`. The text is read only up to this
/// point.
#[must_use]
pub fn shown_within(text: &str, most: usize) -> Option<usize> {
    let mut length = Shown::default();
    for character in text.chars() {
        length.add(character);
        if length.all > most {
            return None;
        }
    }
    Some(length.all)
}

/// Shortens a text so that a question shows at most `most` characters of it, with a note of the omitted number.
#[must_use]
pub fn shortened_to(text: &str, most: usize) -> String {
    let mut length = Shown::default();
    // The end of the text that fits together with the note.
    let mut end = 0;
    for (at, character) in text.char_indices() {
        if length.all + CUT_NOTE <= most {
            end = at;
        }
        length.add(character);
        if length.all > most {
            let (start, rest) = text.split_at(end);
            let left = rest.chars().count();
            return format!("{start}\n[Cut: {left} more characters are left out.]");
        }
    }
    text.to_owned()
}

/// The maximum length of the note.
const CUT_NOTE: usize = 80;

/// The length of the text read so far, as a line of a question.
#[derive(Default)]
struct Shown {
    all: usize,
    word: usize,
}

impl Shown {
    fn add(&mut self, character: char) {
        use GeneralCategory as Category;
        let width = match character {
            '\n' | '\r' => 3,
            _ if character.is_whitespace() => 1,
            ' '..='~' => 1,
            _ if is_filler(character) => CODE_POINT,
            _ => match character.general_category() {
                Category::NonspacingMark
                | Category::SpacingMark
                | Category::EnclosingMark
                | Category::MathSymbol
                | Category::Control
                | Category::Format
                | Category::PrivateUse
                | Category::Surrogate
                | Category::Unassigned => CODE_POINT,
                _ => 1,
            },
        };
        if character.is_whitespace() {
            self.word = 0;
        } else {
            if self.word > 0 && self.word + width > LONGEST_WORD {
                self.all += 3;
                self.word = 0;
            }
            self.word += width;
        }
        self.all += width;
    }
}

/// The length of a code point as it is shown, `(U+10FFFF)`.
const CODE_POINT: usize = 10;

/// The number of characters after which a word is broken.
const LONGEST_WORD: usize = 40;

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

/// Returns `true` for spaces other than the usual one, and for invisible characters. In ordinary text they are
/// harmless; in a code block a line of them may end the block.
fn is_blank(character: char) -> bool {
    let blank = matches!(
        character.general_category(),
        GeneralCategory::SpaceSeparator | GeneralCategory::PrivateUse | GeneralCategory::Unassigned
    );
    (blank && character != ' ') || is_filler(character)
}

/// Returns `true` for letters, marks and symbols that are not drawn.
fn is_filler(character: char) -> bool {
    matches!(
        character,
        '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_written_out_where_the_user_agrees() {
        for blank in "\u{a0}\u{2003}\u{3000}\u{3164}\u{2800}\u{e000}".chars() {
            let text = format!("a\n{blank}\nb");
            let escaped = blank.escape_unicode();
            assert_eq!(indented(&text, 1), format!("a\n {escaped}\n b"));
            assert_eq!(line(&blank.to_string()), escaped.to_string());
            assert_eq!(lines(&text), text);
        }
    }

    #[test]
    fn a_text_is_as_long_as_it_is_shown() {
        assert_eq!(shown_length("two words"), 9);
        assert_eq!(shown_length("a\nb"), 5);
        assert_eq!(shown_length(&"x".repeat(100)), 106);
        assert_eq!(shown_within(&"x".repeat(100), 106), Some(106));
        assert_eq!(shown_within(&"x".repeat(100), 105), None);
        assert_eq!(shown_length("\u{2211}"), 10);
        assert_eq!(shown_length("日本語 😀"), 5);
        assert_eq!(shortened_to("a b", 3), "a b");
        let cut = shortened_to(&"ab ".repeat(100), 200);
        assert!(shown_length(&cut) <= 200, "{cut}");
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
