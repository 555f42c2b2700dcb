//! The scanner for text that renderers read in different ways.

use super::{MAX_NAMES, Unclosable, tag};

/// The longest name of an element, and the longest fence, that is closed.
const MAX_RUN: usize = 256;

/// Ends every comment, attribute and element of raw text, whichever is open, and shows nothing if
/// none is.
///
/// CommonMark, HTML blocks: together the lines hold the end of every kind of block that a blank line
/// does not end, and each line starts such a block itself (`dir` makes one of the sixth kind). HTML,
/// tokenization: in an open attribute the quotes end it; otherwise they are one more attribute of an
/// end tag. A comment in a comment ends with it. The brackets end a link's definition whose label or
/// title goes on across blank lines, as some renderers have it.
const RESET: &str = "</dir '\"()[]>\n<!-- -->\n<??>\n<![CDATA[]]>\n\
    </dir></script></style></textarea></title></xmp></iframe></noembed></noframes></noscript></pre>\
    </listing>";

/// Ends the innermost of each block that a renderer makes of Markdown. Its own end tags are lost
/// where raw text or an attribute swallows them.
const BLOCKS: &str = "</h1></blockquote></ul></ol></table>";

/// The constructs that may be open in a text that renderers read in different ways.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubtful {
    /// Names in the order of their start tags; none is ever removed.
    names: Vec<String>,
    /// The size of their end tags.
    size: usize,
    /// Something that cannot be closed.
    unclosable: bool,
    /// The name of the tag that is being read, from behind `<`.
    name: Option<String>,
    /// The last character, and how often it came in a row.
    run: (char, usize),
    /// The longest run of characters that make a fence.
    fence: usize,
    /// Display mathematics may be open.
    math: bool,
    /// The most blocks that a renderer can have left open: the markers at the starts of lines.
    blocks: usize,
    /// Only markers have come on this line.
    markers: bool,
    /// The last word, in lower case, and whether white space followed it.
    word: (String, bool),
}

impl Doubtful {
    /// Creates the state in which `names` and a fence of a length may be open.
    pub(super) fn new(names: Vec<String>, fence: usize, math: bool) -> Self {
        let mut doubtful = Self {
            fence,
            math,
            markers: true,
            blocks: 1,
            ..Self::default()
        };
        for name in names {
            doubtful.push(name);
        }
        doubtful
    }

    pub(super) fn feed(&mut self, text: &str) {
        for character in text.chars() {
            self.name(character);
            self.attribute(character);
            self.marker(character);
            let (last, count) = self.run;
            let count = if last == character { count + 1 } else { 1 };
            self.run = (character, count);
            match character {
                // The longest run: a fence is ended by one at least as long as that which began it.
                '`' | '~' => self.fence = self.fence.max(count),
                // Never reset: if it is not open after all, `math` shows an empty formula.
                '$' => self.math |= count == 2,
                _ => {}
            }
        }
    }

    fn marker(&mut self, character: char) {
        match character {
            '\n' | '\r' => self.markers = true,
            ' ' | '\t' => {}
            '>' | '-' | '*' | '+' | '#' | '=' | '|' | '.' | ')' if self.markers => self.blocks += 1,
            c => self.markers &= c.is_ascii_digit(),
        }
    }

    /// Reads a character of a tag's name, which only white space, `/` and `>` end (HTML, tag name state).
    fn name(&mut self, character: char) {
        let Some(name) = &mut self.name else {
            if self.run.0 == '<' && character.is_ascii_alphabetic() {
                self.name = Some(character.to_string());
            }
            return;
        };
        if matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0C' | '/' | '>') {
            self.end_name();
        } else if name.len() < MAX_RUN {
            name.push(character);
        } else {
            self.unclosable = true;
        }
    }

    /// Adds a name. A `<` in it is part of the name in HTML, and begins another in Markdown.
    fn end_name(&mut self) {
        let Some(name) = self.name.take() else { return };
        for (at, _) in name.match_indices('<') {
            let inner = name.get(at + 1..).unwrap_or_default();
            if inner.starts_with(|c: char| c.is_ascii_alphabetic()) {
                self.push(inner.to_owned());
            }
        }
        self.push(name);
    }

    fn push(&mut self, name: String) {
        let name = name.to_ascii_lowercase();
        self.unclosable |= tag::is_unclosable(&name);
        if tag::is_void(&name) {
            return;
        }
        self.size += name.len() + "</>".len();
        if self.size > MAX_NAMES {
            self.unclosable = true;
            return;
        }
        self.names.push(name);
    }

    /// Finds the names of attributes that have a value.
    fn attribute(&mut self, character: char) {
        let (word, ended) = &mut self.word;
        match character {
            '=' => {
                self.unclosable |= tag::is_styling(word);
                word.clear();
            }
            c if c.is_whitespace() => *ended = true,
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.') => {
                if *ended {
                    word.clear();
                    *ended = false;
                }
                // One character more than the longest that is looked for.
                if word.len() < 6 {
                    word.push(c);
                }
            }
            _ => word.clear(),
        }
    }

    pub(super) fn closers(&self) -> Result<String, Unclosable> {
        let mut end = self.clone();
        end.end_name();
        if end.unclosable || end.fence > MAX_RUN {
            return Err(Unclosable);
        }
        let mut out = "\n\n".to_owned();
        if end.fence >= 3 {
            fences(end.fence, &mut out);
        }
        if end.math {
            math(&mut out);
        }
        // After fences and formulas, which take everything for text; before the end tags, which
        // comments and raw text would swallow.
        out.push_str(RESET);
        let blocks = end.blocks * BLOCKS.len();
        let barriers = end.names.iter().filter(|name| tag::is_barrier(name));
        if blocks.saturating_mul(barriers.count() + 1) > MAX_NAMES {
            return Err(Unclosable);
        }
        let blocks = format!("</p>{}", BLOCKS.repeat(end.blocks));
        out.push_str(&blocks);
        // The innermost element is closed first.
        for name in end.names.iter().rev() {
            out += &format!("</{name}>");
            if tag::is_barrier(name) {
                out.push_str(&blocks);
            }
        }
        out.push_str("\n\n");
        Ok(out)
    }
}

/// Ends any fenced code of at most this length, and if none is open shows an empty one: with a word
/// behind it a fence can begin a block and cannot end one.
pub(super) fn fences(length: usize, out: &mut String) {
    for character in ["`", "~"] {
        let fence = character.repeat(length);
        *out += &format!("{fence} text\n{fence}\n\n");
    }
}

/// Ends display mathematics, and if none is open shows an empty formula, in the same way.
pub(super) fn math(out: &mut String) {
    out.push_str("$$ text\n$$\n\n");
}
