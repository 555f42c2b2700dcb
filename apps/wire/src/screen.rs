//! Standard output.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use copilot_wire::json::{self, Escape};
use serde::Serialize;

use crate::verdict::Failure;

/// Standard output: readable lines, or lines of JSON.
pub(crate) struct Screen {
    out: BufWriter<StdoutLock<'static>>,
    json: bool,
    colour: bool,
}

/// The style of a text on a terminal.
#[derive(Clone, Copy)]
pub(crate) enum Style {
    /// Secondary text.
    Dim,
    /// A heading.
    Bold,
    /// A fault.
    Bad,
    /// A success.
    Good,
    /// A question, or the object of a message.
    Note,
}

impl Screen {
    /// Creates the output. Colours are used on a terminal, unless `NO_COLOR` is set.
    pub(crate) fn new(json: bool) -> Self {
        // An empty `NO_COLOR` counts as unset (no-color.org).
        let unset = |name| std::env::var_os(name).is_none_or(|value| value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let out = io::stdout().lock();
        Self {
            colour: !json && unset("NO_COLOR") && !dumb && out.is_terminal(),
            out: BufWriter::new(out),
            json,
        }
    }

    /// Returns `true` if the output is lines of JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Writes a text unchanged.
    pub(crate) fn text(&mut self, text: impl Display) -> Result<(), Failure> {
        Ok(write!(self.out, "{text}")?)
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: impl Display) -> Result<(), Failure> {
        Ok(writeln!(self.out, "{line}")?)
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json_line<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        let mut line = Vec::new();
        // Written to a buffer first, so that a value that cannot be serialized leaves no partial line.
        json::write(value, Escape::Json, &mut line).map_err(Failure::new)?;
        line.push(b'\n');
        Ok(self.out.write_all(&line)?)
    }

    /// Flushes the output.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }

    /// Formats a text in a style, if colours are on.
    pub(crate) fn paint(&self, style: Style, text: impl Display) -> String {
        if !self.colour {
            return text.to_string();
        }
        let code = match style {
            Style::Dim => "2",
            Style::Bold => "1",
            Style::Bad => "1;31",
            Style::Good => "32",
            Style::Note => "36",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Formats a text from elsewhere on one line, without control characters.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    clean(text, |_| false)
}

/// Formats a text from elsewhere with its line ends and tabs, without other control characters.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    clean(text, |letter| matches!(letter, '\n' | '\t'))
}

fn clean(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let odd = |letter: char| (letter.is_control() || is_unseen(letter)) && !keep(letter);
    if !text.contains(odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '\n' if odd(letter) => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' if odd(letter) => out.push_str("\\t"),
            letter if odd(letter) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    Cow::Owned(out)
}

/// Returns `true` for invisible characters that change how the text around them is shown: line ends of some terminals,
/// the byte order mark, and characters that set the direction of writing.
fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{61c}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Formats the beginning of a long text, on one line.
pub(crate) fn short(text: &str) -> Cow<'_, str> {
    const SHOWN: usize = 160;
    match text.char_indices().nth(SHOWN) {
        // Truncated before it is escaped, so that a long text is not copied completely and no escape is split.
        Some((end, _)) => {
            let start = text.get(..end).unwrap_or_default();
            Cow::Owned(format!("{}… ({} bytes)", plain(start), text.len()))
        }
        None => plain(text),
    }
}
