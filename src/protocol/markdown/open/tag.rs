//! Tags, by the grammar that Markdown and HTML share.

/// Elements that have no end tag (HTML, void elements), and the old name of one.
const VOID: [&str; 14] = [
    "area", "br", "col", "embed", "frame", "hr", "image", "img", "input", "keygen", "param",
    "source", "track", "wbr",
];

/// Elements whose content is not ordinary HTML, or which parsers treat apart.
const SPECIAL: [&str; 19] = [
    "applet", "base", "head", "iframe", "listing", "meta", "noembed", "noframes", "noscript",
    "object", "optgroup", "option", "pre", "script", "select", "template", "textarea", "title",
    "xmp",
];

/// Elements after which nothing is certain to be visible: those that no end tag closes for certain
/// (a form is not found behind a table), and those that can cover or restyle what follows them.
const UNCLOSABLE: [&str; 10] = [
    "body",
    "dialog",
    "form",
    "frameset",
    "html",
    "math",
    "link",
    "plaintext",
    "style",
    "svg",
];

/// CommonMark, HTML blocks: elements that begin one of the sixth kind, in which all is HTML.
const BLOCK: [&str; 45] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "legend",
    "li",
    "main",
    "menu",
    "menuitem",
    "nav",
    "ol",
    "p",
    "param",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "ul",
];

/// HTML, element scopes: end tags do not reach beyond these, so that what a renderer itself began
/// around one is not ended by the renderer's own end tags.
const BARRIER: [&str; 9] = [
    "applet", "button", "caption", "marquee", "object", "table", "td", "template", "th",
];

/// Returns `true` for elements beyond which end tags do not reach.
pub(super) fn is_barrier(name: &str) -> bool {
    BARRIER.contains(&name)
}

/// Returns `true` for elements whose tags at the start of a line begin HTML up to a blank line.
pub(super) fn begins_html(name: &str) -> bool {
    BLOCK.contains(&name)
}

/// Returns `true` for elements without content.
pub(super) fn is_void(name: &str) -> bool {
    VOID.contains(&name)
}

/// Returns `true` for elements whose content is ordinary HTML up to their end tag.
pub(super) fn is_ordinary(name: &str) -> bool {
    !SPECIAL.contains(&name) && !is_unclosable(name)
}

/// Returns `true` for elements that can hide what follows even their end tag.
pub(super) fn is_unclosable(name: &str) -> bool {
    UNCLOSABLE.contains(&name)
}

/// Returns `true` for attributes that can move an element over what follows it.
pub(super) fn is_styling(attribute: &str) -> bool {
    attribute.eq_ignore_ascii_case("style") || attribute.eq_ignore_ascii_case("class")
}

/// The construct that `<` and a letter, or `</`, begin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tag<'a> {
    /// A tag that every parser reads in the same way, and the text after it.
    Whole { name: String, rest: &'a str },
    /// Text within a paragraph: an element's name cannot go on like this. Not so within HTML.
    Text,
    /// Anything else.
    Doubt,
}

/// Parses a start tag; `text` begins after `<`.
pub(super) fn start(text: &str) -> Tag<'_> {
    let (name, mut rest) = name(text);
    match rest.chars().next() {
        Some(' ' | '\t' | '/' | '>') if !name.is_empty() => {}
        // CommonMark, raw HTML: a name ends at white space, `/` or `>`. A line end is in doubt,
        // because the tag may continue on the next line.
        Some(next) if !next.is_whitespace() && !next.is_control() => return Tag::Text,
        _ => return Tag::Doubt,
    }
    loop {
        let next = rest.trim_start_matches([' ', '\t']);
        if let Some(rest) = next.strip_prefix('>').or_else(|| next.strip_prefix("/>")) {
            return whole(name, rest);
        }
        // Attributes need white space between them. Parsers of HTML forgive its absence, Markdown
        // does not.
        if next.len() == rest.len() {
            return Tag::Doubt;
        }
        match attribute(next) {
            Some(after) => rest = after,
            None => return Tag::Doubt,
        }
    }
}

/// Parses an end tag; `text` begins after `</`.
pub(super) fn end(text: &str) -> Tag<'_> {
    let (name, rest) = name(text);
    let next = rest.trim_start_matches([' ', '\t']);
    match next.strip_prefix('>') {
        Some(rest) if !name.is_empty() => whole(name, rest),
        _ if next.is_empty() || next.len() < rest.len() => Tag::Doubt,
        _ => Tag::Text,
    }
}

fn whole<'a>(name: &str, rest: &'a str) -> Tag<'a> {
    // Names of elements have no case in HTML.
    let name = name.to_ascii_lowercase();
    Tag::Whole { name, rest }
}

/// Parses a tag name (CommonMark).
fn name(text: &str) -> (&str, &str) {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return ("", text);
    }
    split(text, |c| c.is_ascii_alphanumeric() || c == '-')
}

/// Parses an attribute (CommonMark) and returns the text after it. Values that could be read as
/// something else, in a table or a code span, are rejected.
fn attribute(text: &str) -> Option<&str> {
    text.strip_prefix(|c: char| c.is_ascii_alphabetic() || c == '_' || c == ':')?;
    let (name, rest) = split(text, |c| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.' | '-')
    });
    if is_styling(name) {
        return None;
    }
    let value = rest.trim_start_matches([' ', '\t']);
    let Some(value) = value.strip_prefix('=') else {
        return Some(rest);
    };
    let value = value.trim_start_matches([' ', '\t']);
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    let (value, rest) = match quote {
        Some(quote) => value.get(1..)?.split_once(quote)?,
        None => split(value, |c| {
            !matches!(c, ' ' | '\t' | '"' | '\'' | '=' | '<' | '>' | '`')
        }),
    };
    let clear = !value.contains(['<', '`', '|', '\\', '$']);
    (clear && (quote.is_some() || !value.is_empty())).then_some(rest)
}

fn split(text: &str, part: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !part(c)).unwrap_or(text.len());
    text.split_at(end)
}
