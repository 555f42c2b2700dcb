//! The plain text of a question as a reader sees it, and the canonical form in which texts are compared.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_compatible;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// The maximum number of characters of a word; longer words are broken.
const LONGEST_WORD: usize = 40;

/// The maximum number of combining marks after a letter.
const MOST_MARKS: usize = 2;

/// The number of equal marks that are written of a run that is too long to be written in full. A count follows them.
const MOST_EQUAL: usize = 2;

/// Returns text as one line that every front end shows unchanged, whatever markup, math, template or directive syntax
/// it supports, and so does a terminal. Line breaks become ` ⏎ `, and words of more than 40 characters are broken with
/// ` ↩ `.
///
/// Punctuation is replaced, so use this function for text that is read and not copied, such as what a model writes
/// before a question. For names and cells in Markdown there is [`escape_markdown`](crate::protocol::escape_markdown).
///
/// ```
/// use copilot_wire::protocol::plain_text;
///
/// assert_eq!(plain_text("<b>rm -rf</b>"), "＜b＞rm -rf＜/b＞");
/// ```
///
/// The result has no character that a front end reads as syntax or does not show. Nothing is escaped, because an escape
/// is itself syntax in some front end: ASCII punctuation becomes its fullwidth form, brackets become fullwidth
/// parentheses, and an invisible character becomes its code point, `（U＋200B）`. Letters, digits and symbols that are not
/// operators remain.
pub fn plain_text(text: &str) -> String {
    let mut out = Line::default();
    let lines = text.split(['\n', '\r']).map(str::trim);
    for line in lines.filter(|line| !line.is_empty()) {
        if !out.text.is_empty() {
            out.space();
            out.push('⏎');
            out.space();
        }
        let mut characters = line.chars().peekable();
        while let Some(character) = characters.next() {
            let kind = Kind::of(character);
            let mut count = 1;
            // Thousands of them would fill the screen and scroll the text before them away.
            if matches!(kind, Kind::Mark | Kind::Invisible) {
                while characters.next_if_eq(&character).is_some() {
                    count += 1;
                }
            }
            // A host name would become a link, and the markup of the link would end a construct that was opened before
            // it.
            let next = characters.peek();
            let joins = match character {
                '.' => next.is_some_and(|next| !next.is_whitespace()),
                '/' => out.text.ends_with(['/', '／']) || next == Some(&'/'),
                _ => false,
            };
            let kind = if joins {
                Kind::fullwidth(character)
            } else {
                kind
            };
            let written = if count > MOST_EQUAL + 1 {
                MOST_EQUAL
            } else {
                count
            };
            match kind {
                Kind::Space => out.space(),
                Kind::Invisible => out.code_point(character, count),
                _ => {
                    for _ in 0..written {
                        out.write(character, &kind);
                    }
                    if written < count {
                        out.words(&format!("（x{count}）"));
                    }
                }
            }
        }
    }
    out.text.truncate(out.text.trim_end().len());
    out.text
}

/// The maximum number of marks after a letter above a question: more marks would overlap the lines below.
const MOST_MARKS_ABOVE: usize = 3;

/// Returns `true` if no renderer can use `text` to hide a part of the text below it: `text` has only letters, digits,
/// and punctuation that begins no markup except lists and rules.
pub(super) fn is_plain(text: &str) -> bool {
    let mut marks = 0;
    let mut characters = text.chars().peekable();
    !has_block(text)
        && std::iter::from_fn(|| Some((characters.next()?, characters.peek().copied()))).all(
            |(character, next)| {
                let is_mark = !character.is_ascii() && matches!(Kind::of(character), Kind::Mark);
                marks = if is_mark { marks + 1 } else { 0 };
                match character {
                    ' ' | '\t' | '\n' | '\r' => true,
                    '.' | ',' | ';' | '?' | '!' | '-' | '/' | '\'' | '"' | '(' | ')' => true,
                    // A colon with a name after it begins a directive or a link.
                    ':' => next.is_none_or(char::is_whitespace),
                    character if character.is_ascii() => character.is_ascii_alphanumeric(),
                    '\u{2018}'..='\u{201F}' | '«' | '»' | '‹' | '›' => true,
                    _ if is_mark => marks <= MOST_MARKS_ABOVE,
                    character => matches!(Kind::of(character), Kind::Shown | Kind::Space),
                }
            },
        )
}

/// Returns `true` if `text` is one word of a machine, such as an id, a time, a URL, a media type or base64. No renderer
/// can use it to hide a part of other texts: it has no brackets, quotes, backticks, tildes, bars or dollars, and no
/// sign that begins a block.
pub(super) fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:+=,@&?#%".contains(&byte);
    let is_double = |pair: &[u8]| matches!(pair, b"::" | b"%%");
    !has_block(text) && text.bytes().all(is_part) && !text.as_bytes().windows(2).any(is_double)
}

/// Returns `true` if a text has the start of a block that sets classes and attributes, or of front matter: admonitions,
/// details, and blocks of PyMdown.
fn has_block(text: &str) -> bool {
    let is_block = |signs: &[u8]| matches!(signs, b"!!!" | b"???" | b"///" | b"+++");
    text.as_bytes().windows(3).any(is_block)
}

/// The way in which a character is shown.
enum Kind {
    /// The character is shown as it is.
    Shown,
    /// Another character is shown in its place.
    Replaced(char),
    /// A combining mark, shown on the character before it.
    Mark,
    /// White space, shown as a space.
    Space,
    /// The code point of the character is shown.
    Invisible,
}

impl Kind {
    /// Returns the fullwidth form of an ASCII character: these forms have the order of ASCII.
    fn fullwidth(character: char) -> Self {
        let fullwidth = char::from_u32(u32::from(character) + 0xFEE0);
        fullwidth.map_or(Self::Invisible, Self::Replaced)
    }

    fn of(character: char) -> Self {
        use GeneralCategory as Category;
        match character {
            'A'..='Z' | 'a'..='z' | '0'..='9' => return Self::Shown,
            ',' | '.' | '/' | ';' | '-' | '?' => return Self::Shown,
            '\'' => return Self::Replaced('’'),
            '"' => return Self::Replaced('”'),
            '!'..='~' => return Self::fullwidth(character),
            // Characters that `plain_text` itself writes: a second call must not change its output.
            '！'..='～' | '⏎' | '↩' | '’' | '”' => return Self::Shown,
            _ if is_blank(character) => return Self::Invisible,
            _ => {}
        }
        match character.general_category() {
            Category::NonspacingMark | Category::SpacingMark | Category::EnclosingMark => {
                Self::Mark
            }
            Category::Control if character.is_whitespace() => Self::Space,
            Category::SpaceSeparator | Category::LineSeparator | Category::ParagraphSeparator => {
                Self::Space
            }
            Category::Control
            | Category::Format
            | Category::PrivateUse
            | Category::Surrogate
            | Category::Unassigned => Self::Invisible,
            // Some chat clients read brackets and operators of any script as tags and citations.
            Category::OpenPunctuation => Self::Replaced('（'),
            Category::ClosePunctuation => Self::Replaced('）'),
            Category::InitialPunctuation | Category::FinalPunctuation => Self::Replaced('”'),
            Category::MathSymbol => Self::Invisible,
            _ => Self::Shown,
        }
    }
}

/// Returns `true` if a character has no shape although its general category is that of a mark, a letter or a symbol.
fn is_blank(character: char) -> bool {
    matches!(character,
        // `Default_Ignorable_Code_Point` of Unicode, without the characters of the categories `Cf` and `Cn`: joiners,
        // fillers, inherent vowels, and selectors of variants.
        '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FFA0}' | '\u{E0100}'..='\u{E01EF}'
        // Blanks and placeholders, which no property of Unicode tells apart: of Braille, of musical notes, of Khitan,
        // of hieroglyphs, and of objects.
        | '\u{2800}' | '\u{1D159}' | '\u{16FE4}' | '\u{13441}' | '\u{13442}' | '\u{FFFC}')
}

/// The line of plain text that is being written.
#[derive(Default)]
struct Line {
    text: String,
    /// The number of characters since the last space.
    word: usize,
    /// The number of consecutive marks at the end.
    marks: usize,
}

impl Line {
    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
        self.word = 0;
        self.marks = 0;
    }

    fn push(&mut self, character: char) {
        self.text.push(character);
        self.word += 1;
    }

    fn write(&mut self, character: char, kind: &Kind) {
        if matches!(kind, Kind::Mark) {
            self.marks += 1;
            if self.marks > MOST_MARKS {
                return self.code_point(character, 1);
            }
            // A mark belongs to the character before it and does not begin a word.
            self.text.push(character);
            return;
        }
        self.marks = 0;
        self.break_before(1);
        self.push(match kind {
            Kind::Replaced(other) => *other,
            _ => character,
        });
    }

    /// Writes characters that must stay in one word.
    fn words(&mut self, text: &str) {
        self.break_before(text.chars().count());
        text.chars().for_each(|character| self.push(character));
    }

    fn code_point(&mut self, character: char, count: usize) {
        let code_point = u32::from(character);
        match count {
            1 => self.words(&format!("（U＋{code_point:04X}）")),
            _ => self.words(&format!("（U＋{code_point:04X} x{count}）")),
        }
    }

    /// Breaks the current word with a visible sign if `more` characters would make it too long.
    fn break_before(&mut self, more: usize) {
        if self.word + more > LONGEST_WORD {
            self.space();
            self.text.push_str("↩ ");
        }
    }
}

/// Returns the canonical form of a text: only its letters and digits, normalized (NFKC), in lower case.
///
/// Texts are compared in this form because clients trim, quote, wrap and normalize the messages that they return.
pub(super) fn canonical(text: &str) -> String {
    normalized(text).flat_map(letters).collect()
}

/// Returns the normalized characters (NFKC) of a text. Their iterator holds 32 characters at most, because no more than
/// 30 consecutive combining marks are ordered (Stream-Safe Text Format, UAX #15).
pub(super) fn normalized(text: &str) -> impl Iterator<Item = char> {
    text.stream_safe().nfkc()
}

/// Returns the letters and digits of a character in lower case.
pub(super) fn letters(character: char) -> impl Iterator<Item = char> {
    let lower = character.to_lowercase();
    lower.filter(|letter| letter.is_alphanumeric())
}

/// Returns the number of times that a code occurs among the letters and digits of a text, normalized (NFKC).
pub(super) fn count(text: &str, code: &str) -> usize {
    let mut last = std::collections::VecDeque::with_capacity(code.len() + 1);
    let mut found = 0;
    let mut push = |character: char| {
        if character.is_ascii_digit() {
            last.push_back(character);
            if last.len() > code.len() {
                last.pop_front();
            }
            found += usize::from(last.iter().copied().eq(code.chars()));
        } else if character.is_alphanumeric() {
            last.clear();
        }
    };
    for character in text.chars() {
        match character.is_ascii() {
            true => push(character),
            // Digits compose with nothing, so each character can be normalized by itself.
            false => decompose_compatible(character, &mut push),
        }
    }
    found
}
