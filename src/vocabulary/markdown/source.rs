//! Citations as a Markdown list at the end of an answer.

use std::fmt::Write as _;

use super::plain::{escape_markdown, line, target};
use crate::vocabulary::Citation;

/// Returns the list of sources at the end of an answer. Empty if there are no sources.
pub(crate) fn sources(citations: &[Citation]) -> String {
    if citations.is_empty() {
        return String::new();
    }
    let mut out = "\n\n**Sources**\n\n".to_owned();
    for citation in citations {
        source(citation, &mut out);
    }
    out
}

/// Appends a citation as a list item. It is a link if a chat may open its URL.
fn source(citation: &Citation, out: &mut String) {
    let title = escape_markdown(&citation.title);
    let url = citation.url.as_deref();
    // Writing to a string does not fail.
    let _ = match (title.as_str(), url, url.and_then(target)) {
        ("", Some(url), Some(target)) => write!(out, "- [{}]({target})", escape_markdown(url)),
        (title, _, Some(target)) => write!(out, "- [{title}]({target})"),
        ("", Some(url), None) => write!(out, "- {}", line(url)),
        (_, Some(url), None) => write!(
            out,
            "- {} ({})",
            line(&citation.title),
            escape_markdown(url)
        ),
        ("", None, None) => write!(out, "- (untitled)"),
        (_, None, None) => write!(out, "- {}", line(&citation.title)),
    };
    if let Some(excerpt) = &citation.excerpt {
        let _ = write!(out, ": {}", escape_markdown(excerpt));
    }
    out.push('\n');
}
