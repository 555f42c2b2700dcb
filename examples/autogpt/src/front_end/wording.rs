//! Texts of others inside Markdown.

/// The most of a text that is shown as a part of something.
const SHOWN: usize = 600;

/// The most of a line.
const LINE: usize = 120;

/// The start of a text.
pub(super) fn shortened(text: &str) -> String {
    cut(text, SHOWN)
}

fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A text as a block of code, which nothing in it can leave (CommonMark, fenced code blocks: the end
/// is at least as long as the start).
pub(super) fn code_block(text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}text\n{text}\n{fence}")
}

/// The start of a text as code inside a line (CommonMark, code spans: the end is as long as the
/// start).
pub(super) fn code_span(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    let line = cut(&line.join(" "), LINE);
    let ticks = "`".repeat(longest_run(&line) + 1);
    // One space at each side is not shown.
    format!("{ticks} {line} {ticks}")
}

/// Returns a model's text as Markdown without images and HTML. The address of an image could carry
/// away what the model has read, and an open comment or element could hide what follows (CommonMark,
/// images and raw HTML).
pub(super) fn without_images(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match (character, rest.peek()) {
            ('!', Some('[')) => out.push_str("!\\"),
            // A backslash would itself be escaped by one in front of it.
            ('<', Some(next)) if next.is_ascii_alphabetic() || matches!(next, '!' | '?' | '/') => {
                out.push_str("&lt;");
            }
            _ => out.push(character),
        }
    }
    out
}

/// A text as a quotation.
pub(super) fn quote(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

/// The length of the longest run of backticks.
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

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(cut("äöü", 2), "äö...");
        assert_eq!(cut("äö", 2), "äö");
    }
}
