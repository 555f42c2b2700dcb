//! The scanner while a text is read in the same way by all renderers.

use std::mem;

use super::doubtful::{self, Doubtful};
use super::line::{FENCE, LABEL, MARK, MATH, ODD, classes};
use super::tag::{self, Tag};
use super::{MAX_LINE, MAX_NAMES, Unclosable, end_tags, next_active};

/// Renderers may read the line in more than one way.
#[derive(Debug)]
pub(super) struct Doubt;

/// The constructs that are open in a text that all renderers read in the same way.
#[derive(Clone, Debug, Default)]
pub(super) struct Exact {
    /// The line that is being read. Plain text is left out where [`Exact::is_quiet`].
    line: String,
    /// The line has a character that neither indents nor marks a list, a quotation or a table.
    begun: bool,
    /// The line has what may be a tag.
    tagged: bool,
    fence: Option<Fence>,
    block: Block,
    /// The elements that are open.
    elements: Vec<Element>,
    /// The size of their end tags.
    size: usize,
    /// Display mathematics are open, for renderers that have them.
    math: bool,
    /// They may be, or may not.
    odd_math: bool,
    /// A line began with `[`, and no `]` has come since: it may go on as the label of a link's
    /// definition.
    label: bool,
}

/// An element that is open.
#[derive(Clone, Debug)]
struct Element {
    name: String,
    /// Its start tag is HTML, in no paragraph, list or quotation.
    top: bool,
    /// Its start tag is on the line that is being read.
    here: bool,
}

/// Fenced code (CommonMark, fenced code blocks).
#[derive(Clone, Debug)]
struct Fence {
    character: char,
    length: usize,
    indent: usize,
}

/// The lines since the last blank line.
#[derive(Clone, Debug, Default)]
struct Block {
    /// A line came before.
    begun: bool,
    html: Html,
    /// All of it from that line on is HTML, in no paragraph, list or quotation.
    top: bool,
    /// Backticks cannot be relied upon to begin a code span.
    no_spans: bool,
    /// There was a backtick that may begin a code span.
    open_span: bool,
    /// An end tag may be part of a link's destination or of a formula.
    no_ends: bool,
}

/// `true` if a line of the block began with a tag, so that the block may be HTML.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Html {
    #[default]
    None,
    /// The tag had nothing before it.
    AtStart,
    /// It may stand in a list or a quotation.
    Within,
}

impl Exact {
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        // These are read together with the character behind them.
        let joins = |last| matches!(last, b'\\' | b']' | b'$' | b'`' | b'<');
        self.begun && !self.tagged && !self.line.bytes().next_back().is_some_and(joins)
    }

    /// Reads up to the end of a line. Returns the result and the rest of the text; `None` if
    /// the line goes on.
    pub(super) fn feed<'a>(&mut self, text: &'a str) -> Option<(Result<(), Doubt>, &'a str)> {
        let mut rest = text;
        loop {
            if self.is_quiet() {
                let next = next_active(rest.as_bytes())?;
                rest = rest.get(next..)?;
            }
            let mut characters = rest.chars();
            let character = characters.next()?;
            let after = characters.as_str();
            if character == '\n' {
                return Some(match self.end_line() {
                    Ok(()) => (Ok(()), after),
                    // The line end is for the next state.
                    doubt => (doubt, rest),
                });
            }
            rest = after;
            self.push(character);
            // The line is needed as a whole: in doubt it is read again, by the other state.
            if self.line.len() > MAX_LINE {
                return Some((Err(Doubt), rest));
            }
        }
    }

    #[inline]
    fn push(&mut self, character: char) {
        let fence = self.fence.as_ref();
        if self.line.as_bytes().last() == Some(&b'<') && fence.is_none_or(|it| !it.is_certain()) {
            self.tagged |= character.is_ascii_alphabetic() || matches!(character, '/' | '!' | '?');
        }
        self.begun = self.begun
            || match fence {
                None => is_word(character),
                Some(_) => !matches!(character, ' ' | '\t' | '`' | '~'),
            };
        self.line.push(character);
    }

    /// Reads the line. It is retained if renderers may differ.
    fn end_line(&mut self) -> Result<(), Doubt> {
        let mut line = mem::take(&mut self.line);
        let whole = line.strip_suffix('\r').unwrap_or(&line);
        let read = match classes(whole) {
            has if has & ODD != 0 && is_odd(whole) => Err(Doubt),
            has => self.line(whole, has),
        };
        if read.is_ok() {
            line.clear();
            (self.begun, self.tagged) = (false, false);
        }
        self.line = line;
        read
    }

    pub(super) fn into_doubtful(self) -> Doubtful {
        let fence = self.fence.map_or(0, |fence| fence.length);
        let mut doubtful = Doubtful::new(names(self.elements), fence, self.math || self.odd_math);
        doubtful.feed(&self.line);
        doubtful
    }

    /// Returns `true` if the text is exact to its end.
    pub(super) fn completes(mut self) -> bool {
        self.end_line().is_ok() && !self.label
    }

    /// Returns the text that closes all open constructs.
    pub(super) fn finish(mut self) -> Result<String, Unclosable> {
        if self.end_line().is_err() || self.label {
            return self.into_doubtful().closers();
        }
        let mut out = String::new();
        if let Some(fence) = &self.fence {
            if fence.indent == 0 {
                let fence = fence.character.to_string().repeat(fence.length);
                out += &format!("\n{fence}\n\n");
            } else {
                out.push_str("\n\n");
                doubtful::fences(fence.length, &mut out);
            }
        }
        if self.math || self.odd_math {
            out.push_str("\n\n");
            doubtful::math(&mut out);
        }
        if !self.elements.is_empty() {
            out.push_str("\n\n");
            // CommonMark, HTML blocks: of the sixth kind, whichever tags follow on the line.
            out.push_str("</dir>");
            end_tags(&names(self.elements), &mut out);
            out.push_str("\n\n");
        }
        Ok(out)
    }

    /// Reads a line whose bytes have these classes.
    fn line(&mut self, line: &str, has: u8) -> Result<(), Doubt> {
        // Nearly all lines have no active byte.
        if self.fence.is_none() && has == 0 {
            if line.trim_ascii().is_empty() {
                self.block = Block::default();
            } else {
                self.end_content_line();
            }
            return Ok(());
        }
        if let Some(fence) = &self.fence {
            if fence.ends(line)? {
                self.fence = None;
            }
            return Ok(());
        }
        let text = line.trim_matches([' ', '\t']);
        if text.is_empty() {
            self.block = Block::default();
            return Ok(());
        }
        if text == "$$" {
            self.math = !self.math;
        } else if has & MATH != 0 {
            self.odd_math |= text.matches("$$").count() % 2 == 1;
        }
        let fence = match has & FENCE {
            0 => None,
            _ => Fence::begin(line)?,
        };
        if let Some(fence) = fence {
            // In these a fence is text for some renderers and begins code for others.
            if self.math || self.odd_math || self.block.html != Html::None {
                return Err(Doubt);
            }
            self.fence = Some(fence);
            self.block = Block::default();
            return Ok(());
        }
        if has & LABEL != 0 {
            // A definition may be in a list or a quotation: their markers come first.
            let label = text.trim_start_matches(|c: char| !is_word(c) && c != '[');
            let ends = label.contains(']');
            self.label = !ends && (self.label || label.starts_with('['));
        }
        match has & !(ODD | MARK) {
            0 if self.block.html == Html::None => self.block.no_spans |= has & MARK != 0,
            _ => self.inline(line)?,
        }
        self.end_content_line();
        Ok(())
    }

    fn end_content_line(&mut self) {
        self.block.begun = true;
        let elements = self.elements.iter_mut().rev();
        for element in elements.take_while(|element| element.here) {
            element.here = false;
        }
    }

    fn inline(&mut self, line: &str) -> Result<(), Doubt> {
        let markers = line.find(|c| is_word(c) || c == '<').unwrap_or(line.len());
        let (markers, _) = line.split_at(markers);
        let mut rest = line;
        while let Some(next) = next_active(rest.as_bytes()) {
            (_, rest) = rest.split_at(next);
            let mut characters = rest.chars();
            let character = characters.next().unwrap_or_default();
            let after = characters.as_str();
            rest = match character {
                '\\' => self.escape(after)?,
                '`' => self.span(rest),
                '[' | '|' | '{' => {
                    self.block.no_spans = true;
                    after
                }
                '$' => {
                    self.block.no_spans = true;
                    self.block.no_ends = true;
                    after
                }
                // A link's definition (CommonMark) takes in what follows, and tags in it are not
                // tags.
                ']' if after.starts_with(':') => return Err(Doubt),
                ']' => {
                    self.block.no_ends |= after.starts_with('(');
                    after
                }
                '<' => {
                    let first = rest.len() + markers.len() == line.len();
                    self.markup(after, markers, first)?
                }
                _ => after,
            };
        }
        Ok(())
    }

    /// Skips a backslash escape (CommonMark); HTML has none.
    fn escape<'a>(&mut self, after: &'a str) -> Result<&'a str, Doubt> {
        self.block.no_spans = true;
        match after.chars().next() {
            Some('<') if self.block.html != Html::None => Err(Doubt),
            Some('`') if self.block.html != Html::None => Ok(after),
            Some(next) if next.is_ascii_punctuation() => Ok(after.get(1..).unwrap_or_default()),
            _ => Ok(after),
        }
    }

    /// Skips a code span, or else the backticks that may begin one.
    fn span<'a>(&mut self, text: &'a str) -> &'a str {
        let after = text.trim_start_matches('`');
        let length = text.len() - after.len();
        if !self.block.no_spans && self.block.html == Html::None {
            let mut rest = after;
            while let Some((_, tail)) = rest.split_once('`') {
                let next = tail.trim_start_matches('`');
                let code = after.len() - tail.len() - 1;
                if tail.len() - next.len() + 1 == length {
                    // In a table a bar would end the cell and the code with it.
                    match after.get(..code) {
                        Some(code) if !code.contains('|') => return next,
                        _ => break,
                    }
                }
                rest = next;
            }
        }
        self.block.no_spans = true;
        self.block.open_span = true;
        after
    }

    /// Reads the construct at a `<`, on a line that has these `markers`; `first` if nothing else is
    /// before it.
    fn markup<'a>(&mut self, after: &'a str, markers: &str, first: bool) -> Result<&'a str, Doubt> {
        let tag = match after.chars().next() {
            Some('!' | '?') => return Err(Doubt),
            Some('/') => tag::end(after.get(1..).unwrap_or_default()),
            Some(next) if next.is_ascii_alphabetic() => tag::start(after),
            _ => return Ok(after),
        };
        let (name, rest) = match tag {
            Tag::Text if self.block.html == Html::None => {
                // CommonMark, autolinks: one could take in a backtick.
                let end = after.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>'));
                let (link, _) = after.split_at(end.unwrap_or(after.len()));
                self.block.no_spans |= link.contains('`');
                return Ok(after);
            }
            Tag::Text | Tag::Doubt => return Err(Doubt),
            Tag::Whole { .. } if self.block.open_span || self.math || self.odd_math => {
                return Err(Doubt);
            }
            Tag::Whole { name, rest } => (name, rest),
        };
        if !tag::is_ordinary(&name) {
            return Err(Doubt);
        }
        if first && self.block.html == Html::None && !markers.contains(|c| !is_marker(c)) {
            let at_start = markers.is_empty();
            self.block.html = if at_start {
                Html::AtStart
            } else {
                Html::Within
            };
            // The seventh kind of HTML block is a tag with nothing behind it, and after no paragraph.
            let alone = !self.block.begun && rest.trim_matches([' ', '\t']).is_empty();
            self.block.top = at_start && (alone || tag::begins_html(&name));
        }
        if tag::is_barrier(&name) && !self.block.top {
            return Err(Doubt);
        }
        if !after.starts_with('/') {
            return self.open(name).map(|()| rest);
        }
        // HTML, any other end tag: it does not reach beyond the paragraph or item that it stands in.
        // CommonMark, indented code blocks, also within a list or a quotation.
        let indented = markers.contains('\t') || markers.contains("    ");
        let code = indented && self.block.html != Html::AtStart;
        let closes = |element: &Element| {
            element.name == name && (element.here || element.top && self.block.top)
        };
        if code || self.block.no_ends || !self.elements.last().is_some_and(closes) {
            return Err(Doubt);
        }
        self.elements.pop();
        self.size -= name.len();
        Ok(rest)
    }

    fn open(&mut self, name: String) -> Result<(), Doubt> {
        if tag::is_void(&name) {
            return Ok(());
        }
        self.size += name.len();
        if self.size > MAX_NAMES || self.elements.len() > MAX_NAMES {
            return Err(Doubt);
        }
        let top = self.block.top;
        let here = true;
        self.elements.push(Element { name, top, here });
        Ok(())
    }
}

fn names(elements: Vec<Element>) -> Vec<String> {
    elements.into_iter().map(|element| element.name).collect()
}

impl Fence {
    /// Returns the fence that begins on a line.
    fn begin(line: &str) -> Result<Option<Self>, Doubt> {
        let end = line.find(|c| is_word(c) || c == '<').unwrap_or(line.len());
        let (markers, _) = line.split_at(end);
        if !markers.contains(['`', '~']) {
            return Ok(None);
        }
        let at = [markers.find("```"), markers.find("~~~")];
        let Some(at) = at.into_iter().flatten().min() else {
            return Ok(None);
        };
        let (before, text) = line.split_at(at);
        let character = if text.starts_with('`') { '`' } else { '~' };
        let info = text.trim_start_matches(character);
        if character == '`' && info.contains('`') {
            return Ok(None);
        }
        if before.contains(|c| c != ' ') {
            return Err(Doubt);
        }
        Ok(Some(Self {
            character,
            length: text.len() - info.len(),
            indent: before.len(),
        }))
    }

    /// Returns `true` if the fence begins code wherever it stands: in a list or not.
    fn is_certain(&self) -> bool {
        self.indent <= 3
    }

    /// Returns `true` if the line ends the code. It is in doubt where renderers differ.
    fn ends(&self, line: &str) -> Result<bool, Doubt> {
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        let after = text.trim_start_matches(self.character);
        let length = text.len() - after.len();
        // CommonMark, fenced code blocks: at least as long, nothing behind it. How far it may be
        // indented depends on the list around it, which is not tracked: any other indentation is in
        // doubt.
        if length >= self.length {
            let ends = indent == self.indent && after.trim_end_matches(' ').is_empty();
            return if ends { Ok(true) } else { Err(Doubt) };
        }
        let outside = indent < self.indent && !text.is_empty();
        let markup = !self.is_certain() && text.contains('<');
        if outside || markup {
            return Err(Doubt);
        }
        Ok(false)
    }
}

/// Returns `true` for characters that indent, or mark a list or a quotation: an HTML block may begin
/// behind them.
fn is_marker(character: char) -> bool {
    character.is_ascii_digit()
        || matches!(
            character,
            ' ' | '\t' | '>' | '-' | '*' | '+' | '.' | ')' | ':' | '~'
        )
}

/// Returns `true` if a line has a line end within it, or white space around it that only some take for
/// a blank line.
fn is_odd(line: &str) -> bool {
    let odd = |c: char| c.is_control() && c != '\t';
    line.contains(odd) || line.trim().len() < line.trim_matches([' ', '\t']).len()
}

/// Returns `true` for characters that no block marker has: the text after them on a line is
/// within a paragraph, a heading or a cell.
fn is_word(character: char) -> bool {
    character.is_ascii_alphabetic() || !character.is_ascii() && !character.is_whitespace()
}
