//! A document as a source.

use copilot_wire::json::Json;
use copilot_wire::protocol::Citation;

/// The number of characters of a document that are shown.
const EXCERPT: usize = 160;

/// Returns a document as a source. The names of its attributes depend on the index.
pub(crate) fn citation(document: &Json) -> Citation {
    let text = |names: &[&str]| {
        names.iter().find_map(|name| {
            let value = document.get(name)?.string()?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        })
    };
    let title = text(&["title", "name", "hierarchy_lvl1", "label", "heading"])
        .or_else(|| Some(document.get("id")?.text().trim_matches('"').to_owned()))
        .unwrap_or_else(|| "document".to_owned());
    let mut citation = Citation::new(title);
    if let Some(url) = text(&["url", "link", "permalink", "href"])
        .filter(|url| url.starts_with("https://") || url.starts_with("http://"))
    {
        citation = citation.url(url);
    }
    match text(&["overview", "description", "summary", "excerpt"]) {
        Some(excerpt) => citation.excerpt(shortened(&excerpt)),
        None => citation,
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}
