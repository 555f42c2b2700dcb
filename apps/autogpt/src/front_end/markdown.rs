//! Markdown with text from models and web pages.

use crate::escape::truncated;

/// The length of a line, in characters.
const LINE_CHARS: usize = 120;

/// Returns a text as a code block that its content cannot close: the closing fence must be at least
/// as long as the opening one (CommonMark, fenced code blocks).
pub(super) fn code_block(text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}text\n{text}\n{fence}")
}

/// Returns the start of a text on one line.
pub(super) fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    truncated(&words.join(" "), LINE_CHARS)
}

/// Returns the start of a text as a code span that its content cannot close: both delimiters have
/// the same length (CommonMark, code spans).
pub(super) fn code_span(text: &str) -> String {
    let line = line(text);
    let ticks = "`".repeat(longest_run(&line) + 1);
    // One space on each side is removed when it is rendered.
    format!("{ticks} {line} {ticks}")
}

/// Returns a model's text as Markdown without images and HTML. The URL of an image could leak what
/// the model has read, and an unclosed comment or element could hide what follows (CommonMark,
/// images and raw HTML).
pub(super) fn without_images(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match (character, rest.peek()) {
            // After the mark, because the text may end with a backslash that escapes a backslash before the mark.
            ('!', Some('[')) => out.push_str("!\\"),
            // A backslash could itself be escaped by a backslash before it.
            ('<', Some(next)) if next.is_ascii_alphabetic() || matches!(next, '!' | '?' | '/') => {
                out.push_str("&lt;");
            }
            _ => out.push(character),
        }
    }
    out
}

/// Returns a text as a block quotation.
pub(super) fn quote(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|character| character != '`').map(str::len);
    runs.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stays_code() {
        assert_eq!(code_block("a"), "```text\na\n```");
        assert_eq!(code_block("```\nb"), "````text\n```\nb\n````");
        assert_eq!(code_span("a\n b"), "` a b `");
        assert_eq!(code_span("a `` b"), "``` a `` b ```");
    }

    #[test]
    fn images_stay_text() {
        assert_eq!(without_images("a! [b](c) <3"), "a! [b](c) <3");
        assert_eq!(without_images("![x](u) !![y]"), "!\\[x](u) !!\\[y]");
        assert_eq!(without_images("\\![x] \\\\![y]"), "\\!\\[x] \\\\!\\[y]");
        assert_eq!(without_images("<IMG src=u>\\<b"), "&lt;IMG src=u>\\&lt;b");
    }

    #[test]
    fn html_stays_text() {
        for text in ["<!-- a", "<?", "<!X", "<!CDATA", "</script>", "<b hidden>"] {
            let shown = without_images(&format!("a{text}"));
            assert_eq!(shown, format!("a&lt;{}", &text[1..]));
        }
        assert_eq!(without_images("<![CDATA["), "&lt;!\\[CDATA[");
        assert_eq!(without_images("1 < 2 <= 3 <- 4 <"), "1 < 2 <= 3 <- 4 <");
    }
}
