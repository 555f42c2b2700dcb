//! Escaping of text so that Markdown shows it unchanged.

/// Escapes text, such as a name or a cell, so that Markdown shows it as it is, on one line. Line breaks and other
/// control characters become spaces, and characters that change the direction of the text are removed.
///
/// CommonMark and GFM renderers show the result as plain text anywhere in a line. Extensions of single renderers, such
/// as formulas, are not escaped.
///
/// ```
/// use copilot_wire::protocol::escape_markdown;
///
/// assert_eq!(escape_markdown("a|b <i>*c*</i>"), r"a\|b \<i\>\*c\*\</i\>");
/// ```
// CommonMark, backslash escapes: any ASCII punctuation may be escaped. Here only the characters are escaped that can
// begin a construct inside a line: emphasis, code, links and images, HTML, table cells (GFM, tables). An underscore
// inside a word begins no construct.
pub fn escape_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        // Characters that change the direction of the surrounding text.
        if matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}') {
            continue;
        }
        // Line breaks, and invisible characters that control a terminal.
        if character.is_whitespace() || character.is_control() {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
            before = ' ';
            continue;
        }
        let in_word =
            before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
        let special = match character {
            // CommonMark, emphasis: an underscore inside a word is text, as in many identifiers.
            '_' => !in_word,
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~' | '&' => true,
            _ => false,
        };
        if special {
            out.push('\\');
        }
        out.push(character);
        before = character;
    }
    out.truncate(out.trim_end().len());
    out
}

/// Escapes text at the start of a line, where a heading, a list or a rule could begin (CommonMark,
/// leaf and container blocks).
pub(super) fn line(text: &str) -> String {
    let text = escape_markdown(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let at = match text.get(digits..).unwrap_or_default().as_bytes() {
        [b'#' | b'+' | b'-', ..] if digits == 0 => 0,
        // An ordered list needs a space or the end of the line after its marker.
        [b'.' | b')'] | [b'.' | b')', b' ', ..] if digits > 0 => digits,
        _ => return text,
    };
    let (before, after) = text.split_at(at);
    format!("{before}\\{after}")
}

/// Returns the target of a link in Markdown. `None` if the URL is neither of the web nor of mail.
pub(super) fn target(url: &str) -> Option<String> {
    let url = url.trim();
    let (scheme, _) = url.split_once(':')?;
    let scheme = scheme.to_ascii_lowercase();
    if !matches!(scheme.as_str(), "http" | "https" | "mailto") {
        return None;
    }
    let mut out = String::with_capacity(url.len());
    for character in url.chars() {
        match character {
            // These characters would end the target or escape its end.
            '(' | ')' | '<' | '>' | '\\' | '"' | '`' | '|' | ' ' => percent(character, &mut out),
            control if control.is_control() || control.is_whitespace() => {
                percent(control, &mut out);
            }
            other => out.push(other),
        }
    }
    Some(out)
}

fn percent(character: char, out: &mut String) {
    use std::fmt::Write as _;
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        // Writing to a string does not fail.
        let _ = write!(out, "%{byte:02X}");
    }
}
