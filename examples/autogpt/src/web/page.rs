use scraper::node::Node;
use scraper::{ElementRef, Html, Selector};
use url::Url;

/// Elements that do not end a line.
const INLINE: [&str; 15] = [
    "a", "abbr", "b", "code", "em", "i", "mark", "q", "s", "small", "span", "strong", "sub", "sup",
    "u",
];

/// The text of an HTML page: without `script` and `style`, lines trimmed and split at double
/// spaces, empty ones dropped.
#[must_use]
pub fn page_text(html: &str) -> String {
    let document = Html::parse_document(html);
    let mut text = String::new();
    // In document order, without recursion: pages may nest deeply. `None` ends a line.
    let mut nodes = vec![Some(document.tree.root())];
    while let Some(node) = nodes.pop() {
        let Some(node) = node else {
            text.push('\n');
            continue;
        };
        match node.value() {
            Node::Text(part) => text.push_str(part),
            Node::Element(element) if matches!(element.name(), "script" | "style") => {}
            Node::Element(element) if !INLINE.contains(&element.name()) => {
                text.push('\n');
                nodes.push(None);
                nodes.extend(node.children().rev().map(Some));
            }
            _ => nodes.extend(node.children().rev().map(Some)),
        }
    }
    let phrases = text.lines().flat_map(|line| line.split("  "));
    let phrases = phrases.map(str::trim).filter(|phrase| !phrase.is_empty());
    phrases.collect::<Vec<_>>().join("\n")
}

/// The title of an HTML page.
#[must_use]
pub fn page_title(html: &str) -> Option<String> {
    let document = Html::parse_document(html);
    let title = document.select(&Selector::parse("title").ok()?).next()?;
    let title = text_of(title);
    (!title.is_empty()).then_some(title)
}

/// The first links of an HTML page, as `text (address)`, addresses made absolute.
#[must_use]
pub fn page_links(html: &str, base: &str, count: usize) -> Vec<String> {
    let document = Html::parse_document(html);
    let base = Url::parse(base).ok();
    let Ok(anchors) = Selector::parse("a[href]") else {
        return Vec::new();
    };
    let link = |anchor: ElementRef<'_>| {
        let address = anchor.attr("href")?;
        let absolute = base.as_ref().and_then(|base| base.join(address).ok());
        let address = absolute.map_or_else(|| address.to_owned(), String::from);
        Some(format!("{} ({address})", text_of(anchor)))
    };
    let links = document.select(&anchors).filter_map(link);
    links.take(count).collect()
}

fn text_of(element: ElementRef<'_>) -> String {
    let words: Vec<&str> = element.text().flat_map(str::split_whitespace).collect();
    words.join(" ")
}
